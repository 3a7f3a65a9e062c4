//! Exponents and fractions of `f32`, and halves.

use super::code::{Code, LOW_HALVES, SIGN, V};
use super::wide;

const INFINITY: u32 = f32::INFINITY.to_bits();
const SIZE: u32 = !SIGN;

/// `x * 2^e`, exact in `f64` and rounded once. Beyond 300 either way every `f32` is infinite or zero.
pub(super) fn ldexp(code: &mut Code, x: V, e: V) -> V {
    let e = code.i32x4_min_s(e, 300);
    let e = code.i32x4_max_s(e, (-300i32).cast_unsigned());
    let biased = code.i32x4_add(e, 1023);
    let exponents = [code.i64x2_extend_low_i32x4_s(biased), code.i64x2_extend_high_i32x4_s(biased)];
    let [low, high] = wide::halves(code, x);
    let [low, high] = [(low, exponents[0]), (high, exponents[1])].map(|(x, exponent)| {
        let scale = code.i64x2_shl(exponent, 52);
        let product = code.f64x2_mul(x, scale);
        code.f32x4_demote_f64x2_zero(product)
    });
    code.shuffle(low, high, LOW_HALVES)
}

/// `x` if it is normal, or what it is 2^24 times; where it is not normal; and where it is zero, infinite or NaN.
fn normalised(code: &mut Code, x: V) -> (V, V, V) {
    let size = code.v128_and(x, SIZE);
    let small = code.i32x4_lt_s(size, f32::MIN_POSITIVE.to_bits());
    let scaled = code.f32x4_mul(x, 2f32.powi(24));
    let normal = code.select(small, scaled, x);
    let index = code.i32x4_sub(size, 1);
    let special = code.i32x4_ge_u(index, INFINITY - 1);
    (normal, small, special)
}

pub(super) fn frexp_fraction(code: &mut Code, x: V) -> V {
    let (normal, _, special) = normalised(code, x);
    let fraction = code.v128_and(normal, SIGN | 0x007f_ffff);
    let fraction = code.v128_or(fraction, 0.5f32.to_bits());
    code.select(special, x, fraction)
}

pub(super) fn frexp_exponent(code: &mut Code, x: V) -> V {
    let (normal, small, special) = normalised(code, x);
    let exponent = code.v128_and(normal, SIZE);
    let exponent = code.i32x4_shr_u(exponent, 23);
    let exponent = code.i32x4_sub(exponent, 126);
    let less = code.v128_and(small, 24u32);
    let exponent = code.i32x4_sub(exponent, less);
    code.v128_andnot(exponent, special)
}

pub(super) fn to_half(code: &mut Code, x: V) -> V {
    let size = code.v128_and(x, SIZE);
    // From 65,536 on all is infinite, or NaN.
    let finite = code.i32x4_min_s(size, 0x4780_0000);
    // Below 2^-14: adding 1/2 puts the bits where a denormal has them, and rounds.
    let shifted = code.f32x4_add(finite, 0.5);
    let denormal = code.i32x4_sub(shifted, 0.5f32.to_bits());
    // The exponent's bias changes by 112; a bit less than half is added, and the last bit that stays.
    let last = code.i32x4_shr_u(finite, 13);
    let last = code.v128_and(last, 1u32);
    let rounded = code.i32x4_add(finite, 0xfffu32.wrapping_sub(112 << 23));
    let rounded = code.i32x4_add(rounded, last);
    let normal = code.i32x4_shr_u(rounded, 13);
    let small = code.i32x4_lt_s(size, 0x3880_0000);
    let half = code.select(small, denormal, normal);
    let nan = code.i32x4_gt_s(size, INFINITY);
    let quiet = code.v128_and(nan, 0x200u32);
    let half = code.v128_or(half, quiet);
    let sign = code.i32x4_shr_u(x, 16);
    let sign = code.v128_and(sign, 0x8000u32);
    code.v128_or(half, sign)
}

/// Exact. Bits above the half are nothing.
pub(super) fn from_half(code: &mut Code, half: V) -> V {
    let bias = 112 << 23;
    let size = code.v128_and(half, 0x7fffu32);
    let shifted = code.i32x4_shl(size, 13);
    let normal = code.i32x4_add(shifted, bias);
    // The same exponent for denormals: taking away what they have implicitly leaves them exactly.
    let low = code.i32x4_add(normal, 1 << 23);
    let denormal = code.f32x4_sub(low, 2f32.powi(-14));
    let small = code.i32x4_lt_s(size, 0x400);
    let number = code.select(small, denormal, normal);
    // The largest exponent of the one is that of the other.
    let special = code.i32x4_gt_s(size, 0x7bff);
    let more = code.v128_and(special, bias);
    let number = code.i32x4_add(number, more);
    let sign = code.i32x4_shl(half, 16);
    let sign = code.v128_and(sign, SIGN);
    code.v128_or(number, sign)
}

/// A number is added and taken away again whose last bit is worth as much as the half's: what is below is rounded off.
pub(super) fn round_half(code: &mut Code, x: V) -> V {
    // From 2^-14, below which all halves are as far apart, to beyond where they end. The number is 3 * 2^12 times that,
    // in the middle between two powers of two, so that the sum has its exponent whatever the sign.
    let exponent = code.v128_and(x, INFINITY);
    let exponent = code.i32x4_max_s(exponent, 2f32.powi(-14).to_bits());
    let exponent = code.i32x4_min_s(exponent, 2f32.powi(17).to_bits());
    let large = code.i32x4_add(exponent, (13 << 23) + (1 << 22));
    let sum = code.f32x4_add(x, large);
    let rounded = code.f32x4_sub(sum, large);
    let size = code.v128_and(rounded, SIZE);
    let over = code.f32x4_lt(65_504f32, size);
    let rounded = code.select(over, INFINITY, rounded);
    // Zeros, and what is infinite now, have lost their sign.
    let sign = code.v128_and(x, SIGN);
    code.v128_or(rounded, sign)
}
