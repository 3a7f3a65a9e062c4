//! Trigonometric functions and their inverses, in `f64` and rounded once at the end.

use wasm_encoder::{BlockType, Function, ValType};

use super::body::{Body, Target};
use super::exponential::polynomial;
use super::module::Emitter;
use super::routine::Routine;
use crate::ir::Helper;

/// Pi/2 in two parts: the first has 33 bits, so that its products with whole numbers up to 2^20 are exact.
const HALF_PI: f64 = 1.570_796_326_734_125_6;
const HALF_PI_REST: f64 = 6.077_100_506_506_192e-11;

/// `sin(x)`, or `cos(x)`: the quadrant, and the series for what is left, at most pi/4.
pub(crate) fn sine_wide(cosine: bool) -> Function {
    let mut body = Body::new(&[ValType::F64], &[ValType::F64, ValType::F64, ValType::I64], Target::Other);
    let (x, turns, square, quadrant) = (0, 1, 2, 3);
    let mut code = body.code();
    code.local_get(x).f64_const(std::f64::consts::FRAC_2_PI.into()).f64_mul().f64_nearest().local_tee(turns);
    code.i64_trunc_sat_f64_s().i64_const(i64::from(cosine)).i64_add().local_set(quadrant);
    code.local_get(x).local_get(turns).f64_const(HALF_PI.into()).f64_mul().f64_sub();
    code.local_get(turns).f64_const(HALF_PI_REST.into()).f64_mul().f64_sub().local_tee(x);
    code.local_get(x).f64_mul().local_set(square);
    code.local_get(quadrant).i64_const(1).i64_and().i32_wrap_i64();
    code.if_(BlockType::Result(ValType::F64));
    polynomial(&mut code, square, &series(0));
    code.else_();
    polynomial(&mut code, square, &series(1));
    code.local_get(x).f64_mul();
    code.end().local_set(square);
    code.local_get(square).f64_neg().local_get(square);
    code.local_get(quadrant).i64_const(2).i64_and().i32_wrap_i64().select();
    // An argument beyond 2^53 has no angle; the result stays a sine.
    code.f64_const(1.0.into()).f64_min().f64_const((-1.0).into()).f64_max().end();
    body.into_function()
}

/// The series of sine (odd powers) or cosine (even powers) in the square of the argument, highest power first.
fn series(odd: u32) -> Vec<f64> {
    let mut factorial = 1.0;
    let mut coefficients = vec![1.0];
    for n in 1..=8u32 {
        let power = 2 * n + odd;
        factorial *= -f64::from(power) * f64::from(power - 1);
        coefficients.push(1.0 / factorial);
    }
    coefficients.reverse();
    coefficients
}

/// `atan(x)`: brought below 1 by the reciprocal, below `tan(pi/8)` by the difference to pi/4, then the series.
pub(crate) fn atan_wide() -> Function {
    let mut body = Body::new(&[ValType::F64], &[ValType::F64; 3], Target::Other);
    let (x, small, base, square) = (0, 1, 2, 3);
    let one: wasm_encoder::Ieee64 = 1.0.into();
    let mut code = body.code();
    code.local_get(x).f64_abs().local_set(small);
    code.local_get(small).f64_const(one).f64_gt().if_(BlockType::Empty);
    code.f64_const(one).local_get(small).f64_div().local_set(small);
    code.end();
    code.local_get(small).f64_const((std::f64::consts::SQRT_2 - 1.0).into()).f64_gt().if_(BlockType::Empty);
    code.f64_const(std::f64::consts::FRAC_PI_4.into()).local_set(base);
    code.local_get(small).f64_const(one).f64_sub().local_get(small).f64_const(one).f64_add().f64_div();
    code.local_set(small);
    code.end();
    code.local_get(small).local_get(small).f64_mul().local_set(square);
    let coefficients: Vec<f64> =
        (0..15).rev().map(|n| if n % 2 == 0 { 1.0 } else { -1.0 } / f64::from(2 * n + 1)).collect();
    polynomial(&mut code, square, &coefficients);
    code.local_get(small).f64_mul().local_get(base).f64_add().local_set(base);
    code.local_get(x).f64_abs().f64_const(one).f64_gt().if_(BlockType::Empty);
    code.f64_const(std::f64::consts::FRAC_PI_2.into()).local_get(base).f64_sub().local_set(base);
    code.end();
    code.local_get(base).local_get(x).f64_copysign().end();
    body.into_function()
}

/// The body of a helper of this file.
pub(crate) fn body(emitter: &mut Emitter, helper: Helper, params: &[ValType]) -> Function {
    let mut body = Body::new(params, &[ValType::F64], Target::Other);
    let wide = u32::try_from(params.len()).unwrap_or(0);
    let one: wasm_encoder::Ieee64 = 1.0.into();
    match helper {
        Helper::Sin | Helper::Cos | Helper::Tan => {
            let (sin, cos) = (emitter.routine(Routine::SinWide), emitter.routine(Routine::CosWide));
            let mut code = body.code();
            match helper {
                Helper::Sin => code.local_get(0).f64_promote_f32().call(sin),
                Helper::Cos => code.local_get(0).f64_promote_f32().call(cos),
                _ => {
                    code.local_get(0).f64_promote_f32().call(sin);
                    code.local_get(0).f64_promote_f32().call(cos).f64_div()
                }
            };
        }
        _ => {
            let atan = emitter.routine(Routine::AtanWide);
            let mut code = body.code();
            match helper {
                Helper::Atan => {
                    code.local_get(0).f64_promote_f32().call(atan);
                }
                Helper::Asin => {
                    // x / (1 + sqrt((1 - x)(1 + x))) is the tangent of half the angle.
                    code.local_get(0).f64_promote_f32().local_tee(wide);
                    code.f64_const(one).local_get(wide).f64_sub().f64_const(one).local_get(wide).f64_add().f64_mul();
                    code.f64_sqrt().f64_const(one).f64_add().f64_div().call(atan).f64_const(2.0.into()).f64_mul();
                }
                Helper::Acos => {
                    code.local_get(0).f64_promote_f32().local_set(wide);
                    code.f64_const(one).local_get(wide).f64_sub().f64_const(one).local_get(wide).f64_add().f64_div();
                    code.f64_sqrt().call(atan).f64_const(2.0.into()).f64_mul();
                }
                _ => atan2(&mut code, atan, wide),
            }
        }
    }
    body.code().f32_demote_f64().end();
    body.into_function()
}

/// The angle of (`x`, `y`), from the angle in the first quadrant.
fn atan2(code: &mut wasm_encoder::InstructionSink, atan: u32, wide: u32) {
    let (y, x) = (0, 1);
    code.local_get(y).f32_abs().f64_promote_f32().local_get(x).f32_abs().f64_promote_f32().f64_div().call(atan);
    code.local_set(wide);
    // 0/0 has no angle; 0 it is.
    code.local_get(y).f32_const(0.0.into()).f32_eq().if_(BlockType::Empty);
    code.f64_const(0.0.into()).local_set(wide);
    code.end();
    code.local_get(x).f32_const(0.0.into()).f32_lt().if_(BlockType::Empty);
    code.f64_const(std::f64::consts::PI.into()).local_get(wide).f64_sub().local_set(wide);
    code.end();
    code.local_get(wide).local_get(y).f64_promote_f32().f64_copysign();
}
