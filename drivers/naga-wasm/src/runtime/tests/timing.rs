//! How long a routine takes for each lane, next to Rust's function of a scalar.

use std::hint::black_box;
use std::time::Instant;

use super::{Bench, Routine};

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

fn compare(routine: Routine, from: f32, to: f32, scalar: Option<fn(f32) -> f32>) {
    let xs: Vec<f32> = (0..COUNT).map(|at| from + (to - from) * at as f32 / COUNT as f32).collect();
    let mut bench = Bench::new(routine, COUNT);
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
    println!("{routine:?}: {ours:.2} ns, scalar {theirs:.2} ns");
}

#[test]
#[ignore = "measures, in an optimised build"]
fn lanes_against_scalars() {
    compare(Routine::Exp, -20.0, 20.0, Some(f32::exp));
    compare(Routine::Exp2, -20.0, 20.0, Some(f32::exp2));
    compare(Routine::Log, 0.1, 20.0, Some(f32::ln));
    compare(Routine::Log2, 0.1, 20.0, Some(f32::log2));
    compare(Routine::Pow, 0.1, 9.0, Some(|x| x.powf(x)));
    compare(Routine::Sin, -20.0, 20.0, Some(f32::sin));
    compare(Routine::Cos, -20.0, 20.0, Some(f32::cos));
    compare(Routine::Tan, -20.0, 20.0, Some(f32::tan));
    compare(Routine::Sin, 20_000.0, 40_000.0, Some(f32::sin));
    compare(Routine::Asin, -1.0, 1.0, Some(f32::asin));
    compare(Routine::Acos, -1.0, 1.0, Some(f32::acos));
    compare(Routine::Atan, -5.0, 5.0, Some(f32::atan));
    compare(Routine::Atan2, -5.0, 5.0, Some(|x| x.atan2(x)));
    compare(Routine::Sinh, -5.0, 5.0, Some(f32::sinh));
    compare(Routine::Cosh, -5.0, 5.0, Some(f32::cosh));
    compare(Routine::Tanh, -5.0, 5.0, Some(f32::tanh));
    compare(Routine::Asinh, -5.0, 5.0, Some(f32::asinh));
    compare(Routine::Acosh, 1.0, 5.0, Some(f32::acosh));
    compare(Routine::Atanh, -1.0, 1.0, Some(f32::atanh));
    for routine in [
        Routine::Ldexp,
        Routine::FrexpFraction,
        Routine::FrexpExponent,
        Routine::ToHalf,
        Routine::FromHalf,
        Routine::ReverseBits,
        Routine::Clz,
        Routine::Ctz,
        Routine::Popcnt,
        Routine::DivS,
        Routine::DivU,
        Routine::RemS,
        Routine::RemU,
        Routine::Shl,
        Routine::ShrS,
        Routine::ShrU,
    ] {
        compare(routine, 1.0, 5.0, None);
    }
}
