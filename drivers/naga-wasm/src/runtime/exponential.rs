//! Exponentials and logarithms.

use std::f32::consts::{FRAC_1_SQRT_2, LOG2_E};
use std::f64::consts::LN_2;

use super::code::{Code, ROUND, V};
use super::wide;

/// `(e^x - 1 - x) / x^2` for |x| up to `ln(2) / 2`: 2^-30 of `e^x`; and up to `ln(2)`, which only the largest results need: 2^-28.
const EXP: [f32; 6] = [0.5, 0.166_666_94, 0.041_666_824, 0.008_327_823, 0.001_389_996_7, 0.000_225_142_18];

/// `(2^x - 1 - x ln(2)) / x^2` for |x| up to a half: 2^-30 of `2^x`; and up to 1: 2^-28.
const EXP2: [f32; 6] = [0.240_226_5, 0.055_504_203, 0.009_618_159, 0.001_332_463_2, 0.000_154_179_7, 0.000_017_299_837];

/// `(ln((1 + s) / (1 - s)) - 2s) / s^3` in `s^2`, for |s| up to `(sqrt(2) - 1) / (sqrt(2) + 1)`: 2^-30.2 of the logarithm.
const LOG: [f32; 3] = [0.666_667_76, 0.399_775_8, 0.298_709_27];

/// `ln(2)` in two parts: the first has 15 bits, so that its products with exponents are exact.
const LN_2_HIGH: f32 = head(LN_2, 15);
const LN_2_LOW: f32 = (LN_2 - LN_2_HIGH as f64) as f32;

/// The same with 11 bits in the first, for products with 12.
const LN_2_HEAD: f32 = head(LN_2, 11);
const LN_2_TAIL: f32 = (LN_2 - LN_2_HEAD as f64) as f32;

/// `1 / ln(2)`; the first part has 12 bits.
const LOG2_E_HIGH: f32 = head(std::f64::consts::LOG2_E, 12);
const LOG2_E_LOW: f32 = (std::f64::consts::LOG2_E - LOG2_E_HIGH as f64) as f32;

/// The first bits of a number.
const fn head(number: f64, bits: u32) -> f32 {
    f64::from_bits(number.to_bits() >> (53 - bits) << (53 - bits)) as f32
}

/// Added to an `f32`, it leaves `n + 127` in the low bits of the sum, where `n` is the nearest whole number: an exponent's bits.
const ROUND_TO_EXPONENT: f32 = ROUND + 127.0;

/// The largest sum of that kind that is a number's exponent.
const LARGEST: f32 = ROUND_TO_EXPONENT + 127.0;

/// `e^x`. The steps add up to less than 1.1 ulp.
pub(super) fn exp(code: &mut Code, x: V) -> V {
    // From here down, the result is zero anyway. NaN stays.
    let x = code.f32x4_pmax(x, -88.0);
    let turns = code.f32x4_mul(x, LOG2_E);
    let (whole, scale) = whole(code, turns);
    // The first difference is exact.
    let high = code.f32x4_mul(whole, LN_2_HIGH);
    let rest = code.f32x4_sub(x, high);
    let low = code.f32x4_mul(whole, LN_2_LOW);
    let rest = code.f32x4_sub(rest, low);
    let series = code.polynomial(rest, &EXP);
    let square = code.f32x4_mul(rest, rest);
    let curve = code.f32x4_mul(square, series);
    let over = code.f32x4_add(rest, curve);
    let power = code.f32x4_add(over, 1.0);
    code.f32x4_mul(power, scale)
}

/// `2^x`. The steps add up to less than 1.1 ulp.
pub(super) fn exp2(code: &mut Code, x: V) -> V {
    // Beyond these, the result is infinite or zero anyway. NaN stays.
    let x = code.f32x4_pmin(x, 129.0);
    let x = code.f32x4_pmax(x, -127.0);
    let (whole, scale) = whole(code, x);
    let rest = code.f32x4_sub(x, whole);
    // The linear term in two parts: the first is a product of 12 and 11 bits, and exact.
    let head = code.v128_and(rest, 0xffff_f000_u32);
    let line = code.f32x4_mul(head, LN_2_HEAD);
    let tail = code.f32x4_sub(rest, head);
    let tail = code.f32x4_mul(tail, LN_2_HEAD);
    let series = code.polynomial(rest, &EXP2);
    let curve = code.f32x4_mul(rest, series);
    let curve = code.f32x4_add(curve, LN_2_TAIL);
    let curve = code.f32x4_mul(curve, rest);
    let curve = code.f32x4_add(curve, tail);
    let over = code.f32x4_add(line, curve);
    let power = code.f32x4_add(over, 1.0);
    code.f32x4_mul(power, scale)
}

/// The whole number `n` nearest to a number from -127 on, but at most 127, and `2^n`, or zero for -127: such results are subnormal
/// and may be zero, and another factor for them would cost all others. What is left over above 127 is up to 1 where the result is a number.
fn whole(code: &mut Code, number: V) -> (V, V) {
    let shifted = code.f32x4_add(number, ROUND_TO_EXPONENT);
    let shifted = code.f32x4_pmin(shifted, LARGEST);
    let whole = code.f32x4_sub(shifted, ROUND_TO_EXPONENT);
    (whole, code.i32x4_shl(shifted, 23))
}

/// `ln(x)`. The steps add up to less than 0.9 ulp.
pub(super) fn log(code: &mut Code, x: V) -> V {
    logarithm(code, x, |code, parts| {
        let product = code.f32x4_mul(parts.exponent, LN_2_LOW);
        let tail = code.f32x4_add(parts.tail, product);
        let tail = code.f32x4_sub(parts.half_square, tail);
        let tail = code.f32x4_sub(tail, parts.over);
        let product = code.f32x4_mul(parts.exponent, LN_2_HIGH);
        code.f32x4_sub(product, tail)
    })
}

/// `log2(x)`: the natural one in two parts, times `1 / ln(2)` in two parts, to the exponent.
pub(super) fn log2(code: &mut Code, x: V) -> V {
    logarithm(code, x, |code, parts| {
        let high = code.f32x4_sub(parts.over, parts.half_square);
        // 12 bits, for the product with 12 more.
        let high = code.v128_and(high, 0xffff_f000_u32);
        let low = code.f32x4_sub(parts.over, high);
        let low = code.f32x4_sub(low, parts.half_square);
        let low = code.f32x4_add(low, parts.tail);
        let both = code.f32x4_add(low, high);
        let both = code.f32x4_mul(both, LOG2_E_LOW);
        let low = code.f32x4_mul(low, LOG2_E_HIGH);
        let low = code.f32x4_add(low, both);
        let high = code.f32x4_mul(high, LOG2_E_HIGH);
        let sum = code.f32x4_add(parts.exponent, high);
        let lost = code.f32x4_sub(parts.exponent, sum);
        let lost = code.f32x4_add(lost, high);
        let low = code.f32x4_add(low, lost);
        code.f32x4_add(sum, low)
    })
}

/// `x = 2^exponent * (1 + over)`, and `ln(1 + over) = over - half_square + tail`, where `half_square` is half the square.
struct Parts {
    exponent: V,
    over: V,
    half_square: V,
    tail: V,
}

/// A logarithm, given how it is made of its parts.
fn logarithm(code: &mut Code, x: V, join: impl Fn(&mut Code, Parts) -> V) -> V {
    let least = f32::MIN_POSITIVE.to_bits();
    let infinity = f32::INFINITY.to_bits();
    let parts = split(code, x, 0.0);
    let result = join(code, parts);
    // Denormal, zero, negative, infinite or NaN.
    let index = code.i32x4_sub(x, least);
    let special = code.i32x4_ge_u(index, infinity - least);
    code.if_any(special, |code| {
        let scaled = code.f32x4_mul(x, 2f32.powi(23));
        let parts = split(code, scaled, -23.0);
        let denormal = join(code, parts);
        let small = code.f32x4_lt(x, f32::MIN_POSITIVE);
        let number = code.select(small, denormal, result);
        let infinite = code.f32x4_eq(x, f32::INFINITY);
        let other = code.select(infinite, x, f32::NAN);
        let zero = code.f32x4_eq(x, 0.0);
        let other = code.select(zero, f32::NEG_INFINITY, other);
        let index = code.i32x4_sub(x, 1);
        let bad = code.i32x4_ge_u(index, infinity - 1);
        let fixed = code.select(bad, other, number);
        code.assign(result, fixed);
    });
    result
}

/// Takes a normal number apart; `bias` is added to its exponent.
fn split(code: &mut Code, x: V, bias: f32) -> Parts {
    let start = FRAC_1_SQRT_2.to_bits();
    let shifted = code.i32x4_sub(x, start);
    let exponent = code.i32x4_shr_s(shifted, 23);
    let exponent = code.f32x4_convert_i32x4_s(exponent);
    let exponent = if bias == 0.0 { exponent } else { code.f32x4_add(exponent, bias) };
    let fraction = code.v128_and(shifted, 0x007f_ffff_u32);
    let mantissa = code.i32x4_add(fraction, start);
    let over = code.f32x4_sub(mantissa, 1.0);
    let sum = code.f32x4_add(over, 2.0);
    let s = code.f32x4_div(over, sum);
    let square = code.f32x4_mul(s, s);
    let series = code.polynomial(square, &LOG);
    let series = code.f32x4_mul(series, square);
    let half = code.f32x4_mul(over, 0.5);
    let half_square = code.f32x4_mul(half, over);
    let tail = code.f32x4_add(half_square, series);
    let tail = code.f32x4_mul(s, tail);
    Parts { exponent, over, half_square, tail }
}

/// `x^y`, as `2^(y log2(x))`.
pub(super) fn pow(code: &mut Code, x: V, y: V) -> V {
    let infinity = f32::INFINITY.to_bits();
    let result = wide::lanes(code, [x, y], |code, [x, y]| {
        let log = wide::log2(code, x);
        let product = code.f64x2_mul(y, log);
        let product = code.f64x2_pmin(product, 1000.0);
        let product = code.f64x2_pmax(product, -1000.0);
        wide::exp2(code, product)
    });
    // Zero, negative, infinite or NaN.
    let index = code.i32x4_sub(x, 1);
    let special = code.i32x4_ge_u(index, infinity - 1);
    code.if_any(special, |code| {
        let infinite = code.f32x4_eq(x, f32::INFINITY);
        let log = code.select(infinite, x, f32::NAN);
        let zero = code.f32x4_eq(x, 0.0);
        let log = code.select(zero, f32::NEG_INFINITY, log);
        let product = code.f32x4_mul(y, log);
        // Minus infinity to zero, and the others to themselves.
        let power = code.f32x4_pmax(product, 0.0);
        let zeroth = code.f32x4_eq(y, 0.0);
        let power = code.select(zeroth, 1f32, power);
        let fixed = code.select(special, power, result);
        code.assign(result, fixed);
    });
    result
}
