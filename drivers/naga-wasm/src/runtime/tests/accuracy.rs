//! Functions of `f32`, over all exponents and densely where they bend.

use super::{Helper, Op, map_floats, random};

/// What is special to some function.
const SPECIAL: [f32; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -7.25,
    1e-45,
    -1e-45,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    8_388_608.0,
    16_777_217.0,
    -1e10,
];

/// All signs and exponents with 2^11 fractions each.
fn all_exponents() -> impl Iterator<Item = f32> {
    (0..1u32 << 20).zip(random(1 << 20)).map(|(high, low)| f32::from_bits(high << 12 | low >> 20))
}

/// Numbers from one to another, `count` of them.
fn between(from: f32, to: f32, count: usize) -> impl Iterator<Item = f32> {
    random(count).map(move |word| (f64::from(from) + f64::from(to - from) * f64::from(word) / 2f64.powi(32)) as f32)
}

/// How far `got` is from `want`, in units of the last place of an `f32`.
fn ulps(got: f32, want: f64) -> f64 {
    let rounded = want as f32;
    if rounded.is_nan() && got.is_nan() || rounded.to_bits() == got.to_bits() && rounded.is_infinite() {
        return 0.0;
    }
    if rounded == 0.0 && got == 0.0 && rounded.is_sign_negative() != got.is_sign_negative() {
        return f64::INFINITY;
    }
    // Infinity as what would have come after the largest number.
    let wide = if got.is_infinite() { 2f64.powi(128).copysign(f64::from(got)) } else { f64::from(got) };
    let exponent = ((want.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-126, 127);
    let off = (wide - want).abs() / 2f64.powi(exponent - 23);
    if off.is_nan() { f64::INFINITY } else { off }
}

/// The largest error, in ulps, but for what is within `slack`.
#[track_caller]
fn check(op: Op, pairs: &[(f32, f32)], reference: impl Fn(f64, f64) -> f64, bound: f64, slack: f64) {
    let (xs, ys): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
    let mut worst = (0.0, 0.0, 0.0, 0.0, 0.0);
    for ((&x, &y), &got) in xs.iter().zip(&ys).zip(&map_floats(op, &xs, &ys)) {
        let want = reference(f64::from(x), f64::from(y));
        let off = ulps(got, want);
        if off > worst.0 && (off.is_infinite() || (f64::from(got) - want).abs() > slack) {
            worst = (off, x, y, got, want);
        }
    }
    let (off, x, y, got, want) = worst;
    println!("{op:?}: {off:.3} ulp at {x:e}, {y:e}: {got:e} for {want:e}");
    assert!(off <= bound, "{op:?}: {off} ulp at {x:e}, {y:e}: {got:e}, not {want:e}");
}

#[track_caller]
fn check_unary(op: Op, dense: (f32, f32), reference: fn(f64) -> f64, bound: f64) {
    let all = all_exponents().chain(SPECIAL).chain(between(dense.0, dense.1, 1 << 19));
    let pairs: Vec<(f32, f32)> = all.map(|x| (x, 0.0)).collect();
    check(op, &pairs, |x, _| reference(x), bound, 0.0);
}

#[test]
fn exponentials() {
    // The smallest are zero, from where `2^n` would not be normal on.
    let smallest = 2f64.powf(-126.5);
    for (helper, reference) in [(Helper::Exp, f64::exp as fn(f64) -> f64), (Helper::Exp2, f64::exp2)] {
        let all =
            all_exponents().chain(SPECIAL).chain(between(-155.0, 130.0, 1 << 20)).chain(between(-1.0, 1.0, 1 << 19));
        let edge = |x: f32| (reference(f64::from(x)) / smallest - 1.0).abs() < 1e-4;
        let pairs: Vec<(f32, f32)> = all.filter(|&x| !edge(x)).map(|x| (x, 0.0)).collect();
        let flushed = |x: f64, _: f64| if reference(x) < smallest { 0.0 } else { reference(x) };
        check(Op::Helper(helper), &pairs, flushed, 1.1, 0.0);
    }
}

#[test]
fn logarithms() {
    check_unary(Op::Helper(Helper::Log), (0.3, 3.0), f64::ln, 0.9);
    check_unary(Op::Helper(Helper::Log), (0.99, 1.01), f64::ln, 0.9);
    check_unary(Op::Helper(Helper::Log2), (0.3, 3.0), f64::log2, 0.9);
    check_unary(Op::Helper(Helper::Log2), (0.99, 1.01), f64::log2, 0.9);
}

#[test]
fn powers() {
    let reference = |x: f64, y: f64| if y == 0.0 { 1.0 } else { x.powf(y) };
    let special = || SPECIAL.into_iter().filter(|x| x.is_sign_positive());
    // Two cases are ours: minus infinity has no logarithm, and infinitely many ones are no number.
    let defined = |&(x, y): &(f32, f32)| !(x == 1.0 && !y.is_finite() || x.is_nan());
    let mut pairs: Vec<(f32, f32)> = special().flat_map(|x| SPECIAL.map(|y| (x, y))).filter(defined).collect();
    let bases = all_exponents().map(f32::abs).filter(|&x| x > 0.0 && x.is_finite() && x != 1.0);
    // All results.
    pairs.extend(bases.zip(between(-152.0, 130.0, 1 << 20)).map(|(x, log)| (x, log / x.log2())));
    // All powers of what is near 1.
    pairs.extend(between(0.5, 2.0, 1 << 18).zip(between(-200.0, 200.0, 1 << 18)));
    check(Op::Helper(Helper::Pow), &pairs, reference, 0.6, 0.0);
    let negative = map_floats(
        Op::Helper(Helper::Pow),
        &[-2.0, -0.0, -0.0, -2.0, f32::NAN, f32::NAN],
        &[3.0, 3.0, -3.0, 0.0, 1.0, 0.0],
    );
    assert!(negative[0].is_nan() && negative[4].is_nan());
    assert_eq!([negative[1], negative[2], negative[3], negative[5]], [0.0, f32::INFINITY, 1.0, 1.0]);
}

/// Angles as far as they are exact.
fn angles() -> Vec<(f32, f32)> {
    let finite = SPECIAL.into_iter().filter(|x| x.abs() < 1e9 || !x.is_finite());
    let small = all_exponents().filter(|x| x.abs() < 5e8);
    let quarters = (-20_000..20_000).map(|n| (f64::from(n) * std::f64::consts::FRAC_PI_2) as f32);
    let dense = between(-12_900.0, 12_900.0, 1 << 18).chain(between(-8.0, 8.0, 1 << 19));
    finite.chain(small).chain(quarters).chain(dense).map(|x| (x, 0.0)).collect()
}

#[test]
fn trigonometry() {
    check(Op::Helper(Helper::Sin), &angles(), |x, _| x.sin(), 0.9, 0.0);
    check(Op::Helper(Helper::Cos), &angles(), |x, _| x.cos(), 0.9, 0.0);
    check(Op::Helper(Helper::Tan), &angles(), |x, _| x.tan(), 1.2, 0.0);
    let huge = [5e8, 1e10, 1e15, -1e20, 1e30, f32::MAX, f32::MIN];
    for op in [Op::Helper(Helper::Sin), Op::Helper(Helper::Cos)] {
        for (x, got) in huge.iter().zip(map_floats(op, &huge, &huge)) {
            assert!(got.abs() <= 1.0, "{op:?} of {x:e}: {got:e}");
        }
    }
}

#[test]
fn inverse_trigonometry() {
    check_unary(Op::Helper(Helper::Asin), (-1.0, 1.0), f64::asin, 0.6);
    check_unary(Op::Helper(Helper::Acos), (-1.0, 1.0), f64::acos, 0.6);
    check_unary(Op::Helper(Helper::Atan), (-5.0, 5.0), f64::atan, 0.6);
    let mut pairs: Vec<(f32, f32)> = SPECIAL.into_iter().flat_map(|y| SPECIAL.map(|x| (y, x))).collect();
    pairs.extend(between(-4.0, 4.0, 1 << 19).zip(between(-3.0, 5.0, 1 << 19)));
    pairs.extend(all_exponents().zip(random(1 << 20).map(f32::from_bits)));
    check(Op::Helper(Helper::Atan2), &pairs, f64::atan2, 0.6, 0.0);
}

#[test]
fn hyperbolics() {
    check_unary(Op::Helper(Helper::Sinh), (-3.0, 3.0), f64::sinh, 0.7);
    check_unary(Op::Helper(Helper::Cosh), (-3.0, 3.0), f64::cosh, 0.7);
    check_unary(Op::Helper(Helper::Tanh), (-3.0, 3.0), f64::tanh, 6.0);
    check_unary(Op::Helper(Helper::Tanh), (-12.0, 12.0), f64::tanh, 6.0);
    check_unary(Op::Helper(Helper::Asinh), (-3.0, 3.0), f64::asinh, 0.6);
    check_unary(Op::Helper(Helper::Acosh), (1.0, 9.0), f64::acosh, 0.6);
    check_unary(Op::Helper(Helper::Atanh), (-1.0, 1.0), f64::atanh, 0.6);
}
