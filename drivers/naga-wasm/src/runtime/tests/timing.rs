//! How long a op takes for each lane, next to Rust's function of a scalar.

use std::hint::black_box;
use std::time::Instant;

use super::{Bench, Helper, Op};

const COUNT: usize = 1024;
const REPEATS: usize = 300;

/// Nanoseconds for each lane: the fastest of some runs.
fn measure(mut run: impl FnMut()) -> f64 {
    let once = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..REPEATS {
            run();
        }
        start.elapsed().as_secs_f64() * 1e9 / (REPEATS * COUNT) as f64
    };
    (0..7).map(|_| once(&mut run)).fold(f64::INFINITY, f64::min)
}

fn compare(op: Op, from: f32, to: f32, scalar: Option<fn(f32) -> f32>) {
    let xs: Vec<f32> = (0..COUNT).map(|at| from + (to - from) * at as f32 / COUNT as f32).collect();
    let mut bench = Bench::new(op, COUNT);
    let data = bench.memory.data_mut(&mut bench.store);
    for (at, word) in data[..COUNT * 8].chunks_exact_mut(4).enumerate() {
        word.copy_from_slice(&xs[at % COUNT].to_le_bytes());
    }
    let ours = measure(|| bench.map(COUNT * 4));
    let theirs = scalar.map_or(f64::NAN, |scalar| {
        measure(|| {
            for &x in &xs {
                black_box(scalar(x));
            }
        })
    });
    println!("{op:?}: {ours:.2} ns, scalar {theirs:.2} ns");
}

#[test]
#[ignore = "measures, in an optimised build"]
fn lanes_against_scalars() {
    compare(Op::Helper(Helper::Exp), -20.0, 20.0, Some(f32::exp));
    compare(Op::Helper(Helper::Exp2), -20.0, 20.0, Some(f32::exp2));
    compare(Op::Helper(Helper::Log), 0.1, 20.0, Some(f32::ln));
    compare(Op::Helper(Helper::Log2), 0.1, 20.0, Some(f32::log2));
    compare(Op::Helper(Helper::Pow), 0.1, 9.0, Some(|x| x.powf(x)));
    compare(Op::Helper(Helper::Sin), -20.0, 20.0, Some(f32::sin));
    compare(Op::Helper(Helper::Cos), -20.0, 20.0, Some(f32::cos));
    compare(Op::Helper(Helper::Tan), -20.0, 20.0, Some(f32::tan));
    compare(Op::Helper(Helper::Sin), 20_000.0, 40_000.0, Some(f32::sin));
    compare(Op::Helper(Helper::Asin), -1.0, 1.0, Some(f32::asin));
    compare(Op::Helper(Helper::Acos), -1.0, 1.0, Some(f32::acos));
    compare(Op::Helper(Helper::Atan), -5.0, 5.0, Some(f32::atan));
    compare(Op::Helper(Helper::Atan2), -5.0, 5.0, Some(|x| x.atan2(x)));
    compare(Op::Helper(Helper::Sinh), -5.0, 5.0, Some(f32::sinh));
    compare(Op::Helper(Helper::Cosh), -5.0, 5.0, Some(f32::cosh));
    compare(Op::Helper(Helper::Tanh), -5.0, 5.0, Some(f32::tanh));
    compare(Op::Helper(Helper::Asinh), -5.0, 5.0, Some(f32::asinh));
    compare(Op::Helper(Helper::Acosh), 1.0, 5.0, Some(f32::acosh));
    compare(Op::Helper(Helper::Atanh), -1.0, 1.0, Some(f32::atanh));
    for op in [
        Op::Helper(Helper::Ldexp),
        Op::Helper(Helper::FrexpFraction),
        Op::Helper(Helper::FrexpExponent),
        Op::Helper(Helper::ToHalf),
        Op::Helper(Helper::FromHalf),
        Op::Helper(Helper::ReverseBits),
        Op::Clz,
        Op::Ctz,
        Op::Popcnt,
        Op::DivS,
        Op::DivU,
        Op::RemS,
        Op::RemU,
        Op::Shl,
        Op::ShrS,
        Op::ShrU,
    ] {
        compare(op, 1.0, 5.0, None);
    }
}
