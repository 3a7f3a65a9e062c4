//! Functions that WGSL allows an error: compared with `f64`, each within what WGSL says about it.

use crate::table::{Kind, Table};
use crate::values::{between, bits, floats, pairs};

/// A unit in the last place of an `f32` of this size.
fn ulp(x: f64) -> f64 {
    let exponent = (x.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor() as i32).min(127);
    2f64.powi(exponent - 23)
}

/// What `exp` and `exp2` may be off.
fn exp_error(x: f64, want: f64) -> f64 {
    (3.0 + 2.0 * x.abs()) * ulp(want)
}

/// What `log` and `log2` may be off.
fn log_error(x: f64, want: f64) -> f64 {
    if (0.5..=2.0).contains(&x) { 2f64.powi(-21) } else { 3.0 * ulp(want) }
}

/// What the logarithm of something may be off that is itself off by at most so much.
fn log_of(x: f64, off: f64) -> f64 {
    if off >= x { f64::INFINITY } else { (x / (x - off)).ln() + log_error(x, x.ln()) }
}

fn table(expression: &'static str, columns: &'static [Kind], values: &[Vec<f32>], check: impl Fn(&[f64], f32)) {
    let columns_of_bits: Vec<Vec<u32>> = values.iter().map(|column| bits(column)).collect();
    let got = Table { expression, columns, result: Kind::F32 }.evaluate(&columns_of_bits);
    for (row, got) in got.into_iter().enumerate() {
        let operands: Vec<f64> = values.iter().map(|column| f64::from(column[row])).collect();
        check(&operands, f32::from_bits(got));
    }
}

#[track_caller]
fn near(expression: &str, operands: &[f64], got: f32, want: f64, error: f64) {
    let rounded = want as f32;
    // What is rounded to infinity may also become the largest number; what is too small to be normal may become 0.
    let wide = if got.is_infinite() { 2f64.powi(128).copysign(got.into()) } else { f64::from(got) };
    let bounded = want.clamp(-2f64.powi(128), 2f64.powi(128));
    let flushed = want.abs() < f64::from(f32::MIN_POSITIVE) && got == 0.0;
    let same = rounded == got || rounded.is_nan() && got.is_nan();
    assert!(
        same || flushed || (wide - bounded).abs() <= error,
        "{expression} of {operands:?}: {got:e} is {:e} from {want:e}, where {error:e} is allowed",
        (wide - bounded).abs()
    );
}

#[track_caller]
fn unary(expression: &'static str, values: Vec<f32>, want: fn(f64) -> f64, error: impl Fn(f64, f64) -> f64) {
    table(expression, &[Kind::F32], &[values], |x, got| {
        let want = want(x[0]);
        near(expression, x, got, want, error(x[0], want));
    });
}

/// Values of all sizes for which `keep` holds, and many from one to another.
fn values(from: f32, to: f32, keep: impl Fn(f32) -> bool) -> Vec<f32> {
    floats().into_iter().chain(between(from, to, 2500)).filter(|&x| keep(x)).collect()
}

#[test]
fn exponentials() {
    unary("exp(x)", values(-104.0, 89.0, |_| true), f64::exp, exp_error);
    unary("exp2(x)", values(-150.0, 128.0, |_| true), f64::exp2, exp_error);
}

#[test]
fn logarithms() {
    unary("log(x)", values(0.4, 2.1, |x| x >= 0.0), f64::ln, log_error);
    unary("log2(x)", values(0.4, 2.1, |x| x >= 0.0), f64::log2, log_error);
    for expression in ["log(x)", "log2(x)", "sqrt(x)"] {
        unary(expression, values(-4.0, -0.1, |x| x < 0.0 || x.is_nan()), |_| f64::NAN, |_, _| 0.0);
    }
}

#[test]
fn powers() {
    let bases: Vec<f32> = values(0.0, 4.0, |x| x > 0.0 && x.is_finite()).into_iter().step_by(53).collect();
    let powers = [-40.0, -3.0, -1.0, -0.5, -0.001, 0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0, 10.25, 31.0];
    table("pow(x, y)", &[Kind::F32; 2], &pairs(&bases, &powers), |operands, got| {
        let [x, y] = operands else { panic!("two operands") };
        let (want, exponent) = (x.powf(*y), y * x.log2());
        // As `exp2(y * log2(x))`.
        let off = y.abs() * log_error(*x, x.log2()) + ulp(exponent);
        let error = want * (off.exp2() - 1.0) + exp_error(exponent, want) * off.exp2();
        near("pow(x, y)", operands, got, want, error);
    });
    unary("inverseSqrt(x)", values(0.0, 9.0, |x| x > 0.0), |x| 1.0 / x.sqrt(), |_, want| 2.0 * ulp(want));
}

#[test]
fn trigonometry() {
    let turn = |_: f64, _: f64| 2f64.powi(-11);
    let half = std::f32::consts::PI;
    // WGSL promises nothing beyond half a turn; we do, up to about a million.
    for to in [half, 100.0, 1e6] {
        unary("sin(x)", values(-to, to, |x| x.abs() <= to), f64::sin, turn);
        unary("cos(x)", values(-to, to, |x| x.abs() <= to), f64::cos, turn);
    }
    let tangent = |x: f64, want: f64| {
        let (sin, cos) = (x.sin().abs(), x.cos().abs());
        if cos <= turn(x, want) { f64::INFINITY } else { (sin + turn(x, want)) / (cos - turn(x, want)) - sin / cos }
    };
    unary("tan(x)", values(-half, half, |x| x.abs() <= half), f64::tan, tangent);
    unary("sin(x) * sin(x) + cos(x) * cos(x)", values(-1e6, 1e6, |x| x.abs() <= 1e6), |_| 1.0, |_, _| 2f64.powi(-9));
    for expression in ["sin(x)", "cos(x)", "tan(x)"] {
        unary(expression, vec![f32::INFINITY, f32::NEG_INFINITY, f32::NAN], |_| f64::NAN, |_, _| 0.0);
    }
}

#[test]
fn arcs() {
    let arc = |_: f64, want: f64| 4096.0 * ulp(want);
    unary("atan(x)", values(-5.0, 5.0, |_| true), f64::atan, arc);
    unary("asin(x)", values(-1.0, 1.0, |x| x.abs() <= 1.0), f64::asin, move |x, want| arc(x, want).max(6.81e-5));
    unary("acos(x)", values(-1.0, 1.0, |x| x.abs() <= 1.0), f64::acos, move |x, want| arc(x, want).max(6.77e-5));
    let normal = |x: &f32| x.is_normal() && (1e-37..1e37).contains(&x.abs());
    let some: Vec<f32> = values(-4.0, 4.0, |x| normal(&x)).into_iter().step_by(97).collect();
    table("atan2(x, y)", &[Kind::F32; 2], &pairs(&some, &some), |operands, got| {
        let want = operands[0].atan2(operands[1]);
        near("atan2(x, y)", operands, got, want, arc(0.0, want));
    });
}

#[test]
fn hyperbolics() {
    // Each as WGSL writes it with `exp` and `log`.
    let halves = |x: f64, want: f64| {
        let (up, down) = (x.exp(), (-x).exp());
        0.5 * (exp_error(x, up) + exp_error(x, down) + ulp(up + down)) + ulp(want)
    };
    unary("sinh(x)", values(-88.0, 88.0, |x| x.abs() < 88.7), f64::sinh, halves);
    unary("cosh(x)", values(-88.0, 88.0, |x| x.abs() < 88.7), f64::cosh, halves);
    unary("tanh(x)", values(-10.0, 10.0, |_| true), f64::tanh, |_, _| 1e-5);
    let root = |square: f64| 5.0 * ulp(square.sqrt()) + (square + 2.0 * ulp(square)).sqrt() - square.sqrt();
    unary("asinh(x)", values(-9.0, 9.0, |x| x.abs() < 1e18), f64::asinh, move |x, _| {
        let square = x * x + 1.0;
        log_of(x + square.sqrt(), root(square) + ulp(x))
    });
    unary("acosh(x)", values(1.0, 9.0, |x| (1.0..1e18).contains(&x)), f64::acosh, move |x, _| {
        let square = x * x - 1.0;
        log_of(x + square.sqrt(), root(square) + (square + 2.0 * ulp(x * x)).sqrt() - square.sqrt() + ulp(x))
    });
    unary("atanh(x)", values(-1.0, 1.0, |x| x.abs() < 1.0), f64::atanh, |x, _| {
        let quotient = (1.0 + x) / (1.0 - x);
        0.5 * log_of(quotient, 5.0 * ulp(quotient))
    });
}

#[test]
fn angles() {
    unary("radians(x)", values(-720.0, 720.0, |x| x.is_finite()), f64::to_radians, |_, want| 2.0 * ulp(want));
    unary("degrees(x)", values(-8.0, 8.0, |x| x.abs() < 1e36), f64::to_degrees, |_, want| 2.0 * ulp(want));
}

#[test]
fn lengths() {
    let some: Vec<f32> = values(-4.0, 4.0, |x| (1e-15..1e15).contains(&x.abs())).into_iter().step_by(71).collect();
    let columns = pairs(&some, &some);
    let scalar = |expression, want: fn(f64, f64) -> f64| {
        let table = Table { expression, columns: &[Kind::F32; 2], result: Kind::F32 };
        let got = table.evaluate_scalars(&[bits(&columns[0]), bits(&columns[1])]);
        for ((x, y), got) in columns[0].iter().zip(&columns[1]).zip(got) {
            let operands = [f64::from(*x), f64::from(*y)];
            let want = want(operands[0], operands[1]);
            near(expression, &operands, f32::from_bits(got), want, 8.0 * ulp(want));
        }
    };
    scalar("length(vec2<f32>(x, y))", f64::hypot);
    scalar("length(vec3<f32>(x, y, x))", |x, y| (2.0 * x * x + y * y).sqrt());
    scalar("distance(vec2<f32>(x, 0.0), vec2<f32>(0.0, y))", f64::hypot);
    scalar("normalize(vec2<f32>(x, y)).x", |x, y| x / x.hypot(y));
    scalar("normalize(vec4<f32>(x, y, y, x)).z", |x, y| y / (2.0 * (x * x + y * y)).sqrt());
}
