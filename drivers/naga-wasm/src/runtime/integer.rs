//! Operations on `i32` lanes that wasm has for scalars only.

use super::code::{Code, EVEN_WORDS, HIGH_HALVES, LOW_HALVES, ODD_WORDS, ROUND_WIDE, V};

/// Bits of each byte in reverse, of half a byte at a time.
const REVERSED: [u8; 16] = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15];
const REVERSED_HIGH: [u8; 16] = [0, 128, 64, 192, 32, 160, 96, 224, 16, 144, 80, 208, 48, 176, 112, 240];

/// Each lane's bytes in reverse.
const SWAPPED: [u8; 16] = [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12];

/// Each lane's lowest byte in all its bytes.
const LOWEST: [u8; 16] = [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12];

/// The place of each byte's first bit in its lane.
const PLACES: [u8; 16] = [0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24];

/// Powers of two, of those below 8.
const POWERS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];

pub(super) fn reverse_bits(code: &mut Code, x: V) -> V {
    let bytes = code.shuffle(x, x, SWAPPED);
    let low = code.v128_and(bytes, 0x0f0f_0f0fu32);
    let low = code.i8x16_swizzle(REVERSED_HIGH, low);
    let high = code.i32x4_shr_u(bytes, 4);
    let high = code.v128_and(high, 0x0f0f_0f0fu32);
    let high = code.i8x16_swizzle(REVERSED, high);
    code.v128_or(low, high)
}

/// Even and odd bytes, as numbers of 16 bits, give two sums of two products.
pub(super) fn dot_s(code: &mut Code, x: V, y: V) -> V {
    let mut halves = |word: V| {
        let up = code.i16x8_shl(word, 8);
        [code.i16x8_shr_s(up, 8), code.i16x8_shr_s(word, 8)]
    };
    let (x, y) = (halves(x), halves(y));
    dot(code, x, y)
}

pub(super) fn dot_u(code: &mut Code, x: V, y: V) -> V {
    let mut halves = |word: V| [code.v128_and(word, 0x00ff_00ffu32), code.i16x8_shr_u(word, 8)];
    let (x, y) = (halves(x), halves(y));
    dot(code, x, y)
}

fn dot(code: &mut Code, [even_x, odd_x]: [V; 2], [even_y, odd_y]: [V; 2]) -> V {
    let even = code.i32x4_dot_i16x8_s(even_x, even_y);
    let odd = code.i32x4_dot_i16x8_s(odd_x, odd_y);
    code.i32x4_add(even, odd)
}

pub(super) fn popcnt(code: &mut Code, x: V) -> V {
    let bytes = code.i8x16_popcnt(x);
    let pairs = code.i16x8_extadd_pairwise_i8x16_u(bytes);
    code.i32x4_extadd_pairwise_i16x8_u(pairs)
}

/// From the exponent of the number as an `f32`.
pub(super) fn clz(code: &mut Code, x: V) -> V {
    // With its top bits alone in theirs, it is not rounded up to a power of two.
    let above = code.i32x4_shr_u(x, 8);
    let top = code.v128_andnot(x, above);
    let number = code.f32x4_convert_i32x4_s(top);
    let exponent = code.i32x4_shr_u(number, 23);
    let zeros = code.i32x4_sub(158, exponent);
    // A negative number has its sign above the exponent; zero has no exponent.
    let zeros = code.i32x4_max_s(zeros, 0);
    code.i32x4_min_s(zeros, 32)
}

/// The ones of what is below the lowest one.
pub(super) fn ctz(code: &mut Code, x: V) -> V {
    let less = code.i32x4_sub(x, 1);
    let below = code.v128_andnot(less, x);
    popcnt(code, below)
}

/// Quotients in `f64`, which are never rounded to the next whole number: that is further away than 2^-32 of them.
pub(super) fn div_s(code: &mut Code, x: V, y: V) -> V {
    divide(
        code,
        x,
        y,
        |code, half| code.f64x2_convert_low_i32x4_s(half),
        |code, quotient| code.i32x4_trunc_sat_f64x2_s_zero(quotient),
    )
}

pub(super) fn div_u(code: &mut Code, x: V, y: V) -> V {
    divide(
        code,
        x,
        y,
        |code, half| code.f64x2_convert_low_i32x4_u(half),
        |code, quotient| code.i32x4_trunc_sat_f64x2_u_zero(quotient),
    )
}

fn divide(code: &mut Code, x: V, y: V, convert: impl Fn(&mut Code, V) -> V, truncate: impl Fn(&mut Code, V) -> V) -> V {
    let high = [x, y].map(|side| code.shuffle(side, side, HIGH_HALVES));
    let [low, high] = [[x, y], high].map(|half| {
        let [x, y] = half.map(|side| convert(code, side));
        let quotient = code.f64x2_div(x, y);
        truncate(code, quotient)
    });
    code.shuffle(low, high, LOW_HALVES)
}

/// The quotient by a constant, of unsigned numbers or of signed ones by a positive one, by way of its reciprocal.
///
/// That is too great by 2^-34 of it, so that quotients are at least what they should be, and at most a quarter of `1 / divisor` more:
/// the next whole number is four times as far.
pub(super) fn divide_by(code: &mut Code, x: V, divisor: u32, signed: bool) -> V {
    if signed && divisor.is_power_of_two() {
        // Of negative numbers, those that are left over round up.
        let sign = code.i32x4_shr_s(x, 31);
        let bits = divisor.trailing_zeros().cast_signed();
        let less_one = code.i32x4_shr_u(sign, 32 - bits);
        let above = code.i32x4_add(x, less_one);
        return code.i32x4_shr_s(above, bits);
    }
    let reciprocal = (1.0 + 2f64.powi(-34)) / f64::from(divisor);
    let high = code.shuffle(x, x, HIGH_HALVES);
    let [low, high] = [x, high].map(|half| {
        let half = if signed { code.f64x2_convert_low_i32x4_s(half) } else { code.f64x2_convert_low_i32x4_u(half) };
        let quotient = code.f64x2_mul(half, reciprocal);
        let whole = code.f64x2_trunc(quotient);
        // Its low bits are those of the whole number.
        code.f64x2_add(whole, ROUND_WIDE)
    });
    code.shuffle(low, high, EVEN_WORDS)
}

/// What a division by a constant leaves.
pub(super) fn remainder_by(code: &mut Code, x: V, divisor: u32, signed: bool) -> V {
    let quotient = divide_by(code, x, divisor, signed);
    let product = code.i32x4_mul(quotient, divisor);
    code.i32x4_sub(x, product)
}

pub(super) fn rem_s(code: &mut Code, x: V, y: V) -> V {
    let quotient = div_s(code, x, y);
    remainder(code, x, y, quotient)
}

pub(super) fn rem_u(code: &mut Code, x: V, y: V) -> V {
    let quotient = div_u(code, x, y);
    remainder(code, x, y, quotient)
}

fn remainder(code: &mut Code, x: V, y: V, quotient: V) -> V {
    let product = code.i32x4_mul(quotient, y);
    code.i32x4_sub(x, product)
}

/// `2^count` for counts from 0 to 31: in each byte the power, if the bit is one of its.
fn power(code: &mut Code, count: V) -> V {
    let counts = code.shuffle(count, count, LOWEST);
    let inside = code.i8x16_sub(counts, PLACES);
    code.i8x16_swizzle(POWERS, inside)
}

pub(super) fn shl(code: &mut Code, x: V, count: V) -> V {
    let count = code.v128_and(count, 31u32);
    let power = power(code, count);
    code.i32x4_mul(x, power)
}

/// `x * 2^(32 - count)`, the upper half of it.
pub(super) fn shr_u(code: &mut Code, x: V, count: V) -> V {
    let complement = code.v128_andnot(31u32, count);
    let power = power(code, complement);
    let low = code.i64x2_extmul_low_i32x4_u(x, power);
    let high = code.i64x2_extmul_high_i32x4_u(x, power);
    let [low, high] = [low, high].map(|half| code.i64x2_add(half, half));
    code.shuffle(low, high, ODD_WORDS)
}

/// Of a negative number, the complement is shifted.
pub(super) fn shr_s(code: &mut Code, x: V, count: V) -> V {
    let sign = code.i32x4_shr_s(x, 31);
    let size = code.v128_xor(x, sign);
    let shifted = shr_u(code, size, count);
    code.v128_xor(shifted, sign)
}
