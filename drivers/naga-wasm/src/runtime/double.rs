//! Integers of 64 bits, in two vectors: the low words and the high words. wasm computes them one by one.

use super::code::{Code, EVEN_WORDS, ODD_WORDS, V};

/// Words of a low and of a high vector next to each other: of the first two lanes, and of the last two.
const FIRST_PAIRS: [u8; 16] = [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23];
const LAST_PAIRS: [u8; 16] = [8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31];

/// Four numbers, two in a vector.
fn pairs(code: &mut Code, low: V, high: V) -> [V; 2] {
    [FIRST_PAIRS, LAST_PAIRS].map(|lanes| code.shuffle(low, high, lanes))
}

/// The low words or the high words of four numbers.
fn half(code: &mut Code, [first, last]: [V; 2], high: bool) -> V {
    code.shuffle(first, last, if high { ODD_WORDS } else { EVEN_WORDS })
}

/// The upper word of the product of two words.
pub(super) fn mul_high(code: &mut Code, x: V, y: V) -> V {
    let low = code.i64x2_extmul_low_i32x4_u(x, y);
    let high = code.i64x2_extmul_high_i32x4_u(x, y);
    half(code, [low, high], true)
}

/// A word of `a / b`; dividing by zero gives `a`, and the smallest number by -1 itself.
pub(super) fn quotient(code: &mut Code, [a_low, a_high, b_low, b_high]: [V; 4], signed: bool, high: bool) -> V {
    let [a_first, a_last] = pairs(code, a_low, a_high);
    let [b_first, b_last] = pairs(code, b_low, b_high);
    let quotients = [(a_first, b_first), (a_last, b_last)].map(|(a, b)| {
        code.i64_lanes(|code, lane| {
            if signed {
                // A division by -1 is one of the negated number by 1.
                code.sink().i64_const(0);
                code.push_i64(a, lane);
                code.sink().i64_sub();
                code.push_i64(a, lane);
                code.push_i64(b, lane);
                code.sink().i64_const(-1).i64_eq().select();
            } else {
                code.push_i64(a, lane);
            }
            code.sink().i64_const(1);
            code.push_i64(b, lane);
            code.push_i64(b, lane);
            if signed {
                code.sink().i64_const(1).i64_add().i64_const(1).i64_le_u().select().i64_div_s();
            } else {
                code.sink().i64_eqz().select().i64_div_u();
            }
        })
    });
    half(code, quotients, high)
}

/// The nearest `f32`.
pub(super) fn to_float(code: &mut Code, low: V, high: V, signed: bool) -> V {
    let pairs = pairs(code, low, high);
    code.f32_lanes(|code, lane| {
        let [first, last] = pairs;
        code.push_i64(if lane < 2 { first } else { last }, lane % 2);
        let mut sink = code.sink();
        if signed {
            sink.f32_convert_i64_s()
        } else {
            sink.f32_convert_i64_u()
        };
    })
}

/// A word of an `f32` without its fraction. Saturating; NaN gives 0.
pub(super) fn from_float(code: &mut Code, x: V, signed: bool, high: bool) -> V {
    let [first, last] = [0, 2].map(|start| {
        code.i64_lanes(|code, lane| {
            code.push_f32(x, start + lane);
            let mut sink = code.sink();
            if signed {
                sink.i64_trunc_sat_f32_s()
            } else {
                sink.i64_trunc_sat_f32_u()
            };
        })
    });
    half(code, [first, last], high)
}
