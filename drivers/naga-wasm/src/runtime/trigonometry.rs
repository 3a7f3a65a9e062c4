//! Sine, cosine and tangent: the angle in quarter turns and a rest, and polynomials of the rest.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::code::{Code, EVEN_WORDS, ROUND, ROUND_WIDE, SIGN, V};
use super::wide;

/// `(sin(x) / x - 1) / x^2` in `x^2`, for |x| up to pi/4: 2^-28.0 of the sine.
const SIN: [f32; 3] = [-0.166_666_55, 0.008_332_191, -0.000_195_185_99];

/// `(cos(x) - 1 + x^2 / 2) / x^4` in `x^2`, for |x| up to pi/4: 2^-33.1.
const COS: [f32; 3] = [0.041_666_646, -0.001_388_730_1, 0.000_024_430_67];

/// What pi/2 is more than the nearest `f64`.
const FRAC_PI_2_REST: f64 = 6.123_233_995_736_766e-17;

/// Pi/2 in parts of 11 bits, so that their products with 13 bits are exact, and what is left.
const PART_1: f32 = head(FRAC_PI_2, 11) as f32;
const PART_2: f32 = head(FRAC_PI_2 - PART_1 as f64, 11) as f32;
const PART_3: f32 = head(FRAC_PI_2 - PART_1 as f64 - PART_2 as f64, 11) as f32;
const PART_4: f32 = (FRAC_PI_2 - PART_1 as f64 - PART_2 as f64 - PART_3 as f64 + FRAC_PI_2_REST) as f32;

/// The same in parts of 24 bits, whose products with 29 are exact.
const WIDE_1: f64 = head(FRAC_PI_2, 24);
const WIDE_2: f64 = head(FRAC_PI_2 - WIDE_1, 24);
const WIDE_3: f64 = FRAC_PI_2 - WIDE_1 - WIDE_2 + FRAC_PI_2_REST;

/// Angles up to here have less than 2^13 quarters.
const NEAR: f32 = 12_800.0;

/// The first bits of a number.
const fn head(number: f64, bits: u32) -> f64 {
    f64::from_bits(number.to_bits() >> (53 - bits) << (53 - bits))
}

/// The size of an angle, taken apart.
struct Angle {
    /// How many quarters, in the low bits.
    quarters: V,
    /// What is left, from -pi/4 to pi/4: the nearest `f32`, and the rest of it.
    rest: V,
    low: V,
}

fn reduce(code: &mut Code, x: V) -> Angle {
    let size = code.f32x4_abs(x);
    let turns = code.f32x4_mul(size, FRAC_2_PI as f32);
    let quarters = code.f32x4_add(turns, ROUND);
    let count = code.f32x4_sub(quarters, ROUND);
    let product = code.f32x4_mul(count, PART_1);
    let rest = code.f32x4_sub(size, product);
    let product = code.f32x4_mul(count, PART_2);
    let exact = code.f32x4_sub(rest, product);
    let product = code.f32x4_mul(count, PART_3);
    let rest = code.f32x4_sub(exact, product);
    // What that subtraction lost, and the last part.
    let lost = code.f32x4_sub(exact, rest);
    let lost = code.f32x4_sub(lost, product);
    let product = code.f32x4_mul(count, PART_4);
    let tail = code.f32x4_sub(product, lost);
    let whole = code.f32x4_sub(rest, tail);
    let low = code.f32x4_sub(rest, whole);
    let low = code.f32x4_sub(low, tail);
    let angle = Angle { quarters, rest: whole, low };
    // Also infinity and NaN, by their bits.
    let far = code.i32x4_gt_s(size, NEAR.to_bits());
    code.if_any(far, |code| {
        let precise = reduce_far(code, size);
        for (near, precise) in
            [(angle.quarters, precise.quarters), (angle.rest, precise.rest), (angle.low, precise.low)]
        {
            let value = code.select(far, precise, near);
            code.assign(near, value);
        }
    });
    angle
}

/// Exact up to 2^29 quarters. From 2^51 on an `f32` has no meaningful angle: the result is one of some angle.
fn reduce_far(code: &mut Code, size: V) -> Angle {
    let quarters_of = |code: &mut Code, x: V| {
        let turns = code.f64x2_mul(x, FRAC_2_PI);
        code.f64x2_add(turns, ROUND_WIDE)
    };
    let rest_of = |code: &mut Code, x: V| {
        let quarters = quarters_of(code, x);
        let count = code.f64x2_sub(quarters, ROUND_WIDE);
        let mut rest = x;
        for part in [WIDE_1, WIDE_2, WIDE_3] {
            let product = code.f64x2_mul(count, part);
            rest = code.f64x2_sub(rest, product);
        }
        // A bit more than pi/4, as the quarters may be rounded the other way where they are many.
        let rest = code.f64x2_pmin(rest, 0.8);
        code.f64x2_pmax(rest, -0.8)
    };
    let [below, above] = wide::halves(code, size);
    let low_quarters = quarters_of(code, below);
    let high_quarters = quarters_of(code, above);
    let quarters = code.shuffle(low_quarters, high_quarters, EVEN_WORDS);
    let rest = wide::lanes(code, [size], |code, [x]| rest_of(code, x));
    let low = wide::lanes(code, [size, rest], |code, [x, rest]| {
        let precise = rest_of(code, x);
        code.f64x2_sub(precise, rest)
    });
    Angle { quarters, rest, low }
}

/// A number in two parts, whose sum has not been rounded yet.
type Sum = [V; 2];

/// Sine and cosine of the rest of an angle.
fn sine_and_cosine(code: &mut Code, angle: &Angle) -> (Sum, Sum) {
    let square = code.f32x4_mul(angle.rest, angle.rest);
    let series = code.polynomial(square, &SIN);
    let cube = code.f32x4_mul(square, angle.rest);
    let curve = code.f32x4_mul(cube, series);
    let curve = code.f32x4_add(curve, angle.low);
    let sine = [angle.rest, curve];

    let series = code.polynomial(square, &COS);
    let fourth = code.f32x4_mul(square, square);
    let curve = code.f32x4_mul(fourth, series);
    let slope = code.f32x4_mul(angle.rest, angle.low);
    let curve = code.f32x4_sub(curve, slope);
    let half = code.f32x4_mul(square, 0.5);
    let first = code.f32x4_sub(1.0, half);
    // What that subtraction lost.
    let lost = code.f32x4_sub(1.0, first);
    let lost = code.f32x4_sub(lost, half);
    let curve = code.f32x4_add(curve, lost);
    (sine, [first, curve])
}

/// Where the number of quarters is odd, sine and cosine change places.
fn is_odd(code: &mut Code, angle: &Angle) -> V {
    let top = code.i32x4_shl(angle.quarters, 31);
    code.i32x4_lt_s(top, 0)
}

pub(super) fn sin(code: &mut Code, x: V) -> V {
    let angle = reduce(code, x);
    let (sine, cosine) = sine_and_cosine(code, &angle);
    let [sine, cosine] = [sine, cosine].map(|[first, second]| code.f32x4_add(first, second));
    let odd = is_odd(code, &angle);
    let result = code.select(odd, cosine, sine);
    let flip = code.i32x4_shl(angle.quarters, 30);
    let flip = code.v128_xor(flip, x);
    let flip = code.v128_and(flip, SIGN);
    code.v128_xor(result, flip)
}

pub(super) fn cos(code: &mut Code, x: V) -> V {
    let angle = reduce(code, x);
    let (sine, cosine) = sine_and_cosine(code, &angle);
    let [sine, cosine] = [sine, cosine].map(|[first, second]| code.f32x4_add(first, second));
    let odd = is_odd(code, &angle);
    let result = code.select(odd, sine, cosine);
    let next = code.i32x4_add(angle.quarters, 1);
    let flip = code.i32x4_shl(next, 30);
    let flip = code.v128_and(flip, SIGN);
    code.v128_xor(result, flip)
}

fn select_sum(code: &mut Code, mask: V, yes: Sum, no: Sum) -> Sum {
    let ([yes, yes_tail], [no, no_tail]) = (yes, no);
    [code.select(mask, yes, no), code.select(mask, yes_tail, no_tail)]
}

/// The quotient of sums that are rounded to `f64` only: 1.2 ulp, as the errors of sine and cosine add up.
pub(super) fn tan(code: &mut Code, x: V) -> V {
    let angle = reduce(code, x);
    let (sine, cosine) = sine_and_cosine(code, &angle);
    let odd = is_odd(code, &angle);
    let [over, over_tail] = select_sum(code, odd, cosine, sine);
    let [under, under_tail] = select_sum(code, odd, sine, cosine);
    let result =
        wide::lanes(code, [over, over_tail, under, under_tail], |code, [over, over_tail, under, under_tail]| {
            let over = code.f64x2_add(over, over_tail);
            let under = code.f64x2_add(under, under_tail);
            code.f64x2_div(over, under)
        });
    let flip = code.i32x4_shl(angle.quarters, 31);
    let flip = code.v128_xor(flip, x);
    let flip = code.v128_and(flip, SIGN);
    code.v128_xor(result, flip)
}
