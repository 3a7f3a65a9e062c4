//! Operations on bits, which have one right answer.

use super::{Helper, Op, map, random};

/// Edges, and numbers of all sizes.
fn words() -> Vec<u32> {
    let edges = [
        0,
        1,
        2,
        3,
        5,
        7,
        10,
        31,
        32,
        33,
        0xff,
        0x7f_ffff,
        0xff_ffff,
        0x1ff_ffff,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
    ];
    let powers = (0..32).flat_map(|bit| [1 << bit, (1u32 << bit).wrapping_sub(1), !(1 << bit)]);
    let sizes = random(200).zip((0..32).cycle()).map(|(word, shift)| word >> shift);
    edges.into_iter().flat_map(|word: u32| [word, word.wrapping_neg(), !word]).chain(powers).chain(sizes).collect()
}

#[track_caller]
fn check_unary(op: Op, xs: &[u32], reference: impl Fn(u32) -> u32) {
    for (&x, got) in xs.iter().zip(map(op, xs, &[])) {
        assert_eq!(got, reference(x), "{op:?} of {x:#x}");
    }
}

#[track_caller]
fn check_binary(op: Op, reference: impl Fn(u32, u32) -> Option<u32>) {
    let words = words();
    let (xs, ys): (Vec<u32>, Vec<u32>) = words.iter().flat_map(|&x| words.iter().map(move |&y| (x, y))).unzip();
    for ((&x, &y), got) in xs.iter().zip(&ys).zip(map(op, &xs, &ys)) {
        if let Some(want) = reference(x, y) {
            assert_eq!(got, want, "{op:?} of {x:#x}, {y:#x}");
        }
    }
}

#[test]
fn bits_of_integers() {
    let all: Vec<u32> = words().into_iter().chain(random(1 << 16)).collect();
    check_unary(Op::Clz, &all, u32::leading_zeros);
    check_unary(Op::Ctz, &all, u32::trailing_zeros);
    check_unary(Op::Popcnt, &all, u32::count_ones);
    check_unary(Op::Helper(Helper::ReverseBits), &all, u32::reverse_bits);
}

#[test]
fn dots_of_bytes() {
    fn dot<T: Into<i64>>(bytes: impl Iterator<Item = (T, T)>) -> Option<u32> {
        let sum: i64 = bytes.map(|(a, b)| a.into() * b.into()).sum();
        Some(sum as u32)
    }
    let unsigned = |x: u32, y: u32| x.to_le_bytes().into_iter().zip(y.to_le_bytes());
    check_binary(Op::Helper(Helper::DotU), |x, y| dot(unsigned(x, y)));
    check_binary(Op::Helper(Helper::DotS), |x, y| dot(unsigned(x, y).map(|(a, b)| (a.cast_signed(), b.cast_signed()))));
}

#[test]
fn division() {
    let signed = |op: fn(i32, i32) -> Option<i32>| {
        move |x: u32, y: u32| op(x.cast_signed(), y.cast_signed()).map(i32::cast_unsigned)
    };
    check_binary(Op::DivS, signed(i32::checked_div));
    check_binary(Op::RemS, signed(i32::checked_rem));
    check_binary(Op::DivU, u32::checked_div);
    check_binary(Op::RemU, u32::checked_rem);
}

#[test]
fn shifts() {
    check_binary(Op::Shl, |x, count| Some(x.wrapping_shl(count)));
    check_binary(Op::ShrU, |x, count| Some(x.wrapping_shr(count)));
    check_binary(Op::ShrS, |x, count| Some(x.cast_signed().wrapping_shr(count).cast_unsigned()));
}

#[test]
fn halves() {
    let all: Vec<u32> = (0..=0xffff).collect();
    let wide = map(Op::Helper(Helper::FromHalf), &all, &[]);
    let back = map(Op::Helper(Helper::ToHalf), &wide, &[]);
    for ((&half, &got), &back) in all.iter().zip(&wide).zip(&back) {
        let got = f32::from_bits(got);
        if half & 0x7fff > 0x7c00 {
            assert!(got.is_nan() && back == half & 0x8000 | 0x7e00, "{half:#x}");
        } else {
            assert_eq!(got.to_bits(), value(half).to_bits(), "{half:#x}");
            assert_eq!(back, half);
        }
    }
    // Bits above the half do not matter.
    let dirty: Vec<u32> = all.iter().map(|half| half | half << 16 ^ 0x1234_0000).collect();
    assert_eq!(map(Op::Helper(Helper::FromHalf), &dirty, &[]), wide);
    // All ties and their neighbours, and random numbers.
    let ties = (0..0x7c00u32).flat_map(|half| {
        let middle = ((f64::from(value(half)) + f64::from(value(half + 1).min(65536.0))) / 2.0) as f32;
        [middle.next_down(), middle, middle.next_up(), -middle]
    });
    let numbers: Vec<u32> = ties.map(f32::to_bits).chain(random(1 << 20)).collect();
    check_unary(Op::Helper(Helper::ToHalf), &numbers, |bits| nearest(f32::from_bits(bits)));
    let numbers: Vec<u32> = numbers.into_iter().filter(|&bits| !f32::from_bits(bits).is_nan()).collect();
    check_unary(Op::Helper(Helper::RoundHalf), &numbers, |bits| value(nearest(f32::from_bits(bits))).to_bits());
}

/// What an `f16` is.
fn value(half: u32) -> f32 {
    let (exponent, fraction) = (half >> 10 & 31, (half & 0x3ff) as f32);
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 => f32::INFINITY,
        _ => (1024.0 + fraction) * 2f32.powi(exponent as i32 - 25),
    };
    if half & 0x8000 == 0 { size } else { -size }
}

/// The nearest `f16`: by how many of its units a number has.
fn nearest(x: f32) -> u32 {
    let sign = x.to_bits() >> 16 & 0x8000;
    let size = f64::from(x.abs());
    if x.is_nan() {
        return sign | 0x7e00;
    }
    let exponent = (((x.to_bits() >> 23) & 0xff) as i32 - 127).clamp(-14, 16);
    let units = (size / 2f64.powi(exponent - 10)).round_ties_even();
    let bits = (units + 1024.0 * f64::from(exponent + 14)).min(f64::from(0x7c00)) as u32;
    sign | bits
}

#[test]
fn scaling_by_powers_of_two() {
    let words = words();
    let exponents = (-320..=320).chain([i32::MIN, i32::MAX, -2000, 2000]);
    let (xs, es): (Vec<u32>, Vec<u32>) =
        words.iter().flat_map(|&x| exponents.clone().map(move |e| (x, e.cast_unsigned()))).unzip();
    for ((&x, &e), got) in xs.iter().zip(&es).zip(map(Op::Helper(Helper::Ldexp), &xs, &es)) {
        let (x, got) = (f32::from_bits(x), f32::from_bits(got));
        let want = (f64::from(x) * 2f64.powi(e.cast_signed().clamp(-400, 400))) as f32;
        assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{x:e}, {e}: {got:e}, not {want:e}");
    }
}

#[test]
fn fractions_and_exponents() {
    let xs: Vec<u32> = words().into_iter().chain(random(1 << 16)).collect();
    let fractions = map(Op::Helper(Helper::FrexpFraction), &xs, &[]);
    let exponents = map(Op::Helper(Helper::FrexpExponent), &xs, &[]);
    for ((&bits, &fraction), &exponent) in xs.iter().zip(&fractions).zip(&exponents) {
        let x = f32::from_bits(bits);
        if x == 0.0 || !x.is_finite() {
            assert_eq!((fraction, exponent), (bits, 0), "{x:e}");
        } else {
            let fraction = f32::from_bits(fraction);
            assert!((0.5..1.0).contains(&fraction.abs()), "{x:e}: {fraction:e}");
            assert_eq!(f64::from(fraction) * 2f64.powi(exponent.cast_signed()), f64::from(x));
        }
    }
}

#[test]
fn lanes_do_not_depend_on_their_neighbours() {
    let words: Vec<u32> = words().into_iter().chain(random(1 << 12)).collect();
    let mut turned = words.clone();
    turned.rotate_left(1);
    for op in [
        Op::Helper(Helper::Log),
        Op::Helper(Helper::Log2),
        Op::Helper(Helper::Pow),
        Op::Helper(Helper::Sin),
        Op::Helper(Helper::Cos),
        Op::Helper(Helper::Tan),
    ] {
        let mut straight = map(op, &words, &words);
        straight.rotate_left(1);
        for ((x, got), want) in turned.iter().zip(map(op, &turned, &turned)).zip(straight) {
            let nan = f32::from_bits(got).is_nan() && f32::from_bits(want).is_nan();
            assert!(nan || got == want, "{op:?} of {x:#x}: {got:#x}, not {want:#x}");
        }
    }
}
