//! Functions of `f64` pairs, for results of `f32`: half as many lanes, but next to no error beside the last rounding.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

use super::code::{Code, HIGH_HALVES, LOW_HALVES, ROUND_WIDE, V};

/// `2^x` for |x| up to a half: 2^-28.8.
const EXP2: [f64; 7] = [
    1.000_000_000_554_840_2,
    0.693_147_205_772_217_3,
    0.240_226_468_892_328_96,
    0.055_503_286_882_987_06,
    0.009_618_487_586_899_939,
    0.001_340_005_061_544_536,
    0.000_153_483_982_002_065_8,
];

/// `log2((1 + s) / (1 - s)) / s` in `s^2`, for |s| up to `(sqrt(2) - 1) / (sqrt(2) + 1)`: 2^-37.7.
const LOG2: [f64; 5] = [
    2.885_390_081_790_154,
    0.961_796_673_266_967,
    0.577_083_597_965_670_5,
    0.411_671_996_890_060_3,
    0.340_742_632_053_063_7,
];

/// Evaluates a function of `f64` for all four lanes of `f32`.
pub(super) fn lanes<const N: usize>(
    code: &mut Code,
    arguments: [V; N],
    function: impl Fn(&mut Code, [V; N]) -> V,
) -> V {
    let wide = arguments.map(|argument| halves(code, argument));
    let [low, high] = [wide.map(|[low, _]| low), wide.map(|[_, high]| high)].map(|half| {
        let result = function(code, half);
        code.f32x4_demote_f64x2_zero(result)
    });
    code.shuffle(low, high, LOW_HALVES)
}

/// Four lanes of `f32` as `f64`: lanes 0 and 1, 2 and 3.
pub(super) fn halves(code: &mut Code, x: V) -> [V; 2] {
    let high = code.shuffle(x, x, HIGH_HALVES);
    [x, high].map(|half| code.f64x2_promote_low_f32x4(half))
}

/// `2^x` for |x| up to 1,000.
pub(super) fn exp2(code: &mut Code, x: V) -> V {
    let shifted = code.f64x2_add(x, ROUND_WIDE);
    let whole = code.f64x2_sub(shifted, ROUND_WIDE);
    let rest = code.f64x2_sub(x, whole);
    let power = code.polynomial_wide(rest, &EXP2);
    let exponent = code.i64x2_shl(shifted, 52);
    code.i64x2_add(power, exponent)
}

/// `log2(x)` for positive, finite `x`; something finite for others.
pub(super) fn log2(code: &mut Code, x: V) -> V {
    const FRACTION: u64 = (1 << 52) - 1;
    let one = 1f64.to_bits();
    let start = FRAC_1_SQRT_2.to_bits();
    // The number's bits, as if its mantissas began at sqrt(1/2).
    let shifted = code.i64x2_add(x, one.wrapping_sub(start));
    let exponent = code.i64x2_shr_u(shifted, 52);
    let exponent = code.v128_or(exponent, 2f64.powi(52).to_bits());
    let exponent = code.f64x2_sub(exponent, 2f64.powi(52) + 1023.0);
    let fraction = code.v128_and(shifted, FRACTION);
    let mantissa = code.i64x2_add(fraction, start);
    let over = code.f64x2_sub(mantissa, 1.0);
    let sum = code.f64x2_add(mantissa, 1.0);
    let s = code.f64x2_div(over, sum);
    let square = code.f64x2_mul(s, s);
    let series = code.polynomial_wide(square, &LOG2);
    let log = code.f64x2_mul(s, series);
    code.f64x2_add(log, exponent)
}

/// `ln(x)`, as [`log2`].
pub(super) fn ln(code: &mut Code, x: V) -> V {
    let log = log2(code, x);
    code.f64x2_mul(log, LN_2)
}
