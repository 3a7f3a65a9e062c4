//! Inverse trigonometric functions, in `f64`.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};

use super::code::{Code, V, WIDE_SIGN};
use super::wide;

/// `(atan(t) / t - 1) / t^2` in `t^2`, for |t| up to tan(pi/8): 2^-30.5 of the angle.
const ATAN: [f64; 5] = [
    -0.333_333_154_889_552_4,
    0.199_984_883_517_389_72,
    -0.142_438_267_721_208_93,
    0.105_958_290_088_431_13,
    -0.060_829_921_097_945_39,
];

/// `(asin(s) / s - 1) / s^2` in `s^2`, for |s| up to a half: 2^-31.7 of the angle.
const ASIN: [f64; 6] = [
    0.166_666_598_719_486_55,
    0.075_005_109_156_235_43,
    0.044_515_720_519_279_29,
    0.031_817_610_271_666_64,
    0.014_402_609_316_792_96,
    0.037_565_197_103_180_33,
];

/// Gives a number that is not negative the sign of `x`.
fn with_sign(code: &mut Code, size: V, x: V) -> V {
    let sign = code.v128_and(x, WIDE_SIGN);
    code.v128_or(size, sign)
}

/// `x + x^3 p(x^2)`, where `square` is the square of `x`.
fn odd_series(code: &mut Code, x: V, square: V, coefficients: &[f64]) -> V {
    let series = code.polynomial_wide(square, coefficients);
    let series = code.f64x2_mul(series, square);
    let series = code.f64x2_mul(series, x);
    code.f64x2_add(x, series)
}

/// An arc sine of |x|, or of the half of what is left to a right angle: where |x| is more than a half, as the mask says.
fn arc_sine(code: &mut Code, x: V) -> (V, V) {
    let size = code.v128_andnot(x, WIDE_SIGN);
    let large = code.f64x2_gt(size, 0.5);
    let square = code.f64x2_mul(size, size);
    let below = code.f64x2_sub(1.0, size);
    let below = code.f64x2_mul(below, 0.5);
    // It is negative beyond 1, which has no root.
    let root = code.f64x2_sqrt(below);
    let square = code.select(large, below, square);
    let sine = code.select(large, root, size);
    (odd_series(code, sine, square, &ASIN), large)
}

pub(super) fn asin(code: &mut Code, x: V) -> V {
    wide::lanes(code, [x], |code, [x]| {
        let (angle, large) = arc_sine(code, x);
        let twice = code.f64x2_add(angle, angle);
        let other = code.f64x2_sub(FRAC_PI_2, twice);
        let size = code.select(large, other, angle);
        with_sign(code, size, x)
    })
}

pub(super) fn acos(code: &mut Code, x: V) -> V {
    wide::lanes(code, [x], |code, [x]| {
        let (angle, large) = arc_sine(code, x);
        let signed = with_sign(code, angle, x);
        // Near 1 it is small, and near -1 pi less something small.
        let twice = code.f64x2_add(signed, signed);
        let negative = code.f64x2_lt(x, 0.0);
        let base = code.v128_and(negative, PI);
        let far = code.f64x2_add(base, twice);
        let near = code.f64x2_sub(FRAC_PI_2, signed);
        code.select(large, far, near)
    })
}

pub(super) fn atan(code: &mut Code, x: V) -> V {
    wide::lanes(code, [x], |code, [x]| {
        let one = code.constant(1f64);
        let size = code.v128_andnot(x, WIDE_SIGN);
        let angle = first_quadrant(code, size, one);
        with_sign(code, angle, x)
    })
}

/// The angle of (`x`, `y`), as IEEE 754 has it, also for zeros and infinities.
pub(super) fn atan2(code: &mut Code, y: V, x: V) -> V {
    wide::lanes(code, [y, x], |code, [y, x]| {
        let [up, right] = [y, x].map(|side| {
            let size = code.v128_andnot(side, WIDE_SIGN);
            // Infinity becomes so large a number that any `f32` over it is 0; zero so small a one that 0 over it is.
            code.f64x2_pmin(size, 2f64.powi(300))
        });
        let right = code.f64x2_pmax(right, 2f64.powi(-600));
        let angle = first_quadrant(code, up, right);
        let opposite = code.f64x2_sub(PI, angle);
        // Minus zero is left, too.
        let left = code.v128_and(x, WIDE_SIGN);
        let left = code.v128_or(left, 1f64);
        let left = code.f64x2_lt(left, 0.0);
        let angle = code.select(left, opposite, angle);
        with_sign(code, angle, y)
    })
}

/// The angle of (`x`, `y`), both positive: brought below pi/4 by changing them, below pi/8 by turning them.
fn first_quadrant(code: &mut Code, y: V, x: V) -> V {
    let steep = code.f64x2_gt(y, x);
    let long = code.select(steep, y, x);
    let short = code.select(steep, x, y);
    let limit = code.f64x2_mul(long, SQRT_2 - 1.0);
    let wide = code.f64x2_gt(short, limit);
    let difference = code.f64x2_sub(short, long);
    let sum = code.f64x2_add(short, long);
    let over = code.select(wide, difference, short);
    let under = code.select(wide, sum, long);
    let tangent = code.f64x2_div(over, under);
    let square = code.f64x2_mul(tangent, tangent);
    let angle = odd_series(code, tangent, square, &ATAN);
    let base = code.v128_and(wide, FRAC_PI_4);
    let angle = code.f64x2_add(angle, base);
    let other = code.f64x2_sub(FRAC_PI_2, angle);
    code.select(steep, other, angle)
}
