//! Hyperbolic functions and their inverses: `tanh`, which networks are full of, in `f32`; the others in `f64`, of the size of the argument,
//! whose sign is put back at the end.

use std::f64::consts::{LN_2, LOG2_E};

use super::code::{Code, ROUND_WIDE, SIGN, V};
use super::wide;

/// `(e^x - 1 - x) / x^2` for |x| up to `ln(2) / 2`: 2^-26.1 of `e^x - 1`.
const EXPM1: [f64; 5] = [
    0.499_999_981_255_020_5,
    0.166_665_423_511_898_86,
    0.041_667_205_322_764_6,
    0.008_366_691_616_721_442,
    0.001_388_249_245_047_308_2,
];

/// `tanh(x) / x` is the ratio of these in `x^2`, for |x| up to 9.02: 2^-25.5 of it.
const TANH_ABOVE: [f32; 5] = [1.0, 0.133_800_4, 0.003_494_408_2, 0.000_020_589_257, 0.000_000_013_326_36];
const TANH_BELOW: [f32; 5] = [1.0, 0.467_133_55, 0.025_872_517, 0.000_328_368_8, 0.000_000_776_515_44];
const TANH_END: f32 = 9.5;

/// `e^x - 1` for |x| up to 700. Where `x` is small, so is the error.
fn exp_m1(code: &mut Code, x: V) -> V {
    let turns = code.f64x2_mul(x, LOG2_E);
    let shifted = code.f64x2_add(turns, ROUND_WIDE);
    let whole = code.f64x2_sub(shifted, ROUND_WIDE);
    let whole = code.f64x2_mul(whole, LN_2);
    let rest = code.f64x2_sub(x, whole);
    let series = code.polynomial_wide(rest, &EXPM1);
    let square = code.f64x2_mul(rest, rest);
    let curve = code.f64x2_mul(square, series);
    let over = code.f64x2_add(rest, curve);
    let exponent = code.i64x2_shl(shifted, 52);
    let scale = code.i64x2_add(exponent, 1f64.to_bits());
    let over = code.f64x2_mul(over, scale);
    let scale = code.f64x2_sub(scale, 1.0);
    code.f64x2_add(over, scale)
}

/// Gives a result that is not negative the sign of `x`.
fn with_sign(code: &mut Code, size: V, x: V) -> V {
    let sign = code.v128_and(x, SIGN);
    code.v128_or(size, sign)
}

/// `x P(x^2) / Q(x^2)`, in half the time of any way by exponentials. The steps add up to less than 6 ulp.
pub(super) fn tanh(code: &mut Code, x: V) -> V {
    // From here on, the ratio is 1 or more, and the result 1. NaN stays.
    let x = code.f32x4_pmin(x, TANH_END);
    let x = code.f32x4_pmax(x, -TANH_END);
    let square = code.f32x4_mul(x, x);
    let above = code.polynomial(square, &TANH_ABOVE);
    let above = code.f32x4_mul(above, x);
    let below = code.polynomial(square, &TANH_BELOW);
    let ratio = code.f32x4_div(above, below);
    let ratio = code.f32x4_pmin(ratio, 1.0);
    code.f32x4_pmax(ratio, -1.0)
}

/// Half of `p + p / (p + 1)`, where `p` is `e^x - 1`.
pub(super) fn sinh(code: &mut Code, x: V) -> V {
    let size = clamped_size(code, x);
    let size = wide::lanes(code, [size], |code, [size]| {
        let over = exp_m1(code, size);
        let power = code.f64x2_add(over, 1.0);
        let ratio = code.f64x2_div(over, power);
        let sum = code.f64x2_add(over, ratio);
        code.f64x2_mul(sum, 0.5)
    });
    with_sign(code, size, x)
}

pub(super) fn cosh(code: &mut Code, x: V) -> V {
    let size = clamped_size(code, x);
    wide::lanes(code, [size], |code, [size]| {
        let over = exp_m1(code, size);
        let power = code.f64x2_add(over, 1.0);
        let other = code.f64x2_div(1.0, power);
        let sum = code.f64x2_add(power, other);
        code.f64x2_mul(sum, 0.5)
    })
}

/// From 90 on, both are infinite.
fn clamped_size(code: &mut Code, x: V) -> V {
    let size = code.f32x4_abs(x);
    code.f32x4_pmin(size, 100.0)
}

/// `ln(|x| + sqrt(x^2 + 1))`
pub(super) fn asinh(code: &mut Code, x: V) -> V {
    let size = code.f32x4_abs(x);
    let result = wide::lanes(code, [size], |code, [size]| {
        let square = code.f64x2_mul(size, size);
        let square = code.f64x2_add(square, 1.0);
        let root = code.f64x2_sqrt(square);
        let sum = code.f64x2_add(size, root);
        ln_up(code, sum)
    });
    let result = unless_small(code, size, result);
    with_sign(code, result, x)
}

/// `ln(x + sqrt(x - 1) sqrt(x + 1))`: the roots make NaN of all below 1.
pub(super) fn acosh(code: &mut Code, x: V) -> V {
    wide::lanes(code, [x], |code, [x]| {
        let below = code.f64x2_sub(x, 1.0);
        let below = code.f64x2_sqrt(below);
        let above = code.f64x2_add(x, 1.0);
        let above = code.f64x2_sqrt(above);
        let root = code.f64x2_mul(below, above);
        let sum = code.f64x2_add(x, root);
        ln_up(code, sum)
    })
}

/// `ln(sqrt((1 + x) / (1 - x)))`: the root makes NaN of what is negative.
pub(super) fn atanh(code: &mut Code, x: V) -> V {
    let size = code.f32x4_abs(x);
    let result = wide::lanes(code, [size], |code, [size]| {
        let above = code.f64x2_add(size, 1.0);
        let below = code.f64x2_sub(1.0, size);
        let ratio = code.f64x2_div(above, below);
        let root = code.f64x2_sqrt(ratio);
        ln_up(code, root)
    });
    let result = unless_small(code, size, result);
    with_sign(code, result, x)
}

/// `ln(x)` for `x` from 1 to 2^129, infinity or NaN.
fn ln_up(code: &mut Code, x: V) -> V {
    let log = wide::ln(code, x);
    // Far below the logarithm unless infinite; a NaN comes first, and stays.
    let least = code.f64x2_mul(x, 2f64.powi(-200));
    code.f64x2_pmax(least, log)
}

/// `size` itself where it is so small that the function of it is the same, and `1 + size` has lost too much of it.
fn unless_small(code: &mut Code, size: V, result: V) -> V {
    // The next term is a sixth or a third of the cube: 2^-29.6 of the first.
    let small = code.f32x4_lt(size, 2f32.powi(-14));
    code.select(small, size, result)
}
