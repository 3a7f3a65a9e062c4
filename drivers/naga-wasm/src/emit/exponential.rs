//! Exponentials, logarithms, and what is made of them. All in `f64`, rounded once at the end: the error is well below
//! what WGSL allows, whatever the argument.

use wasm_encoder::{BlockType, Function, InstructionSink, ValType};

use super::body::{Body, Target};
use super::module::Emitter;
use super::routine::Routine;
use crate::ir::Helper;

/// Below this the hyperbolic functions and their inverses are their argument, to `f32` precision: the next term is a
/// sixth or third of its cube.
const NEARLY_LINEAR: f64 = 1e-4;

/// Evaluates a polynomial in the local `x`; the coefficient of the highest power comes first.
pub(crate) fn polynomial(code: &mut InstructionSink, x: u32, coefficients: &[f64]) {
    let mut first = true;
    for &coefficient in coefficients {
        if !first {
            code.local_get(x).f64_mul();
        }
        code.f64_const(coefficient.into());
        if !first {
            code.f64_add();
        }
        first = false;
    }
}

/// `2^x`: the whole part goes to the exponent, the rest (at most a half) through the series of `e^x`.
pub(crate) fn exp2_wide() -> Function {
    let mut body = Body::new(&[ValType::F64], &[ValType::F64; 2], Target::Other);
    let (x, whole, rest) = (0, 1, 2);
    let mut code = body.code();
    // Far outside of what an `f32` can hold; `min` and `max` let NaN through.
    code.local_get(x).f64_const(1000.0.into()).f64_min().f64_const((-1000.0).into()).f64_max().local_tee(x);
    code.f64_nearest().local_set(whole);
    code.local_get(x).local_get(whole).f64_sub().f64_const(std::f64::consts::LN_2.into()).f64_mul().local_set(rest);
    let mut factorial = 1.0;
    let mut coefficients = vec![1.0];
    for n in 1..=11 {
        factorial *= f64::from(n);
        coefficients.push(1.0 / factorial);
    }
    coefficients.reverse();
    polynomial(&mut code, rest, &coefficients);
    code.local_get(whole).i64_trunc_sat_f64_s().i64_const(1023).i64_add().i64_const(52).i64_shl();
    code.f64_reinterpret_i64().f64_mul().end();
    body.into_function()
}

/// `log2(x)`: the exponent, and the series of `atanh` for a mantissa between 0.7 and 1.4.
pub(crate) fn log2_wide() -> Function {
    let mut body = Body::new(&[ValType::F64], &[ValType::I64, ValType::F64, ValType::F64], Target::Other);
    let (x, bits, s, square) = (0, 1, 2, 3);
    let mut code = body.code();
    special_logarithms(&mut code, x);
    // With sqrt(1/2) taken off the bits, the exponent changes where the mantissa is sqrt(2).
    let half_root = std::f64::consts::FRAC_1_SQRT_2.to_bits().cast_signed();
    code.local_get(x).i64_reinterpret_f64().i64_const(half_root).i64_sub().i64_const(52).i64_shr_s().local_set(bits);
    code.local_get(x).i64_reinterpret_f64().local_get(bits).i64_const(52).i64_shl().i64_sub();
    code.f64_reinterpret_i64().local_set(x);
    code.local_get(x).f64_const(1.0.into()).f64_sub();
    code.local_get(x).f64_const(1.0.into()).f64_add().f64_div().local_tee(s);
    code.local_get(s).f64_mul().local_set(square);
    let coefficients: Vec<f64> = (0..9).rev().map(|n| 2.0 / f64::from(2 * n + 1)).collect();
    polynomial(&mut code, square, &coefficients);
    code.local_get(s).f64_mul().f64_const(std::f64::consts::LOG2_E.into()).f64_mul();
    code.local_get(bits).f64_convert_i64_s().f64_add().end();
    body.into_function()
}

/// Returns early for arguments that have no exponent: `x`, a zero, a negative number, infinity or NaN.
fn special_logarithms(code: &mut InstructionSink, x: u32) {
    code.local_get(x).f64_const(0.0.into()).f64_gt().i32_eqz().if_(BlockType::Empty);
    code.f64_const(f64::NEG_INFINITY.into()).f64_const(f64::NAN.into());
    code.local_get(x).f64_const(0.0.into()).f64_eq().select().return_();
    code.end();
    code.local_get(x).f64_const(f64::INFINITY.into()).f64_eq().if_(BlockType::Empty);
    code.local_get(x).return_();
    code.end();
}

/// The body of a helper of this file.
pub(crate) fn body(emitter: &mut Emitter, helper: Helper, params: &[ValType]) -> Function {
    let exp2 = |emitter: &mut Emitter| emitter.routine(Routine::Exp2Wide);
    let log2 = |emitter: &mut Emitter| emitter.routine(Routine::Log2Wide);
    let mut body = Body::new(params, &[ValType::F64; 2], Target::Other);
    let first = u32::try_from(params.len()).unwrap_or(0);
    let (e, ln2) = (std::f64::consts::LOG2_E, std::f64::consts::LN_2);
    match helper {
        Helper::Exp => {
            let exp2 = exp2(emitter);
            body.code().local_get(0).f64_promote_f32().f64_const(e.into()).f64_mul().call(exp2);
        }
        Helper::Exp2 => {
            let exp2 = exp2(emitter);
            body.code().local_get(0).f64_promote_f32().call(exp2);
        }
        Helper::Log => {
            let log2 = log2(emitter);
            body.code().local_get(0).f64_promote_f32().call(log2).f64_const(ln2.into()).f64_mul();
        }
        Helper::Log2 => {
            let log2 = log2(emitter);
            body.code().local_get(0).f64_promote_f32().call(log2);
        }
        Helper::Pow => {
            let (exp2, log2) = (exp2(emitter), log2(emitter));
            // `x^0` is 1, also where the logarithm is not finite.
            body.code().local_get(1).f32_const(0.0.into()).f32_eq().if_(BlockType::Empty);
            body.code().f32_const(1.0.into()).return_().end();
            body.code().local_get(1).f64_promote_f32().local_get(0).f64_promote_f32().call(log2).f64_mul().call(exp2);
        }
        Helper::Sinh | Helper::Cosh | Helper::Tanh => {
            let exp2 = exp2(emitter);
            hyperbolic(&mut body, helper, exp2, first);
        }
        _ => {
            let log2 = log2(emitter);
            inverse_hyperbolic(&mut body, helper, log2, first);
        }
    }
    body.code().f32_demote_f64().end();
    body.into_function()
}

/// Returns the argument where it is small.
fn return_small(body: &mut Body) {
    body.code().local_get(0).f32_abs().f64_promote_f32().f64_const(NEARLY_LINEAR.into()).f64_lt();
    body.code().if_(BlockType::Empty).local_get(0).return_().end();
}

fn hyperbolic(body: &mut Body, helper: Helper, exp2: u32, power: u32) {
    let scale = if helper == Helper::Tanh { 2.0 } else { 1.0 } * std::f64::consts::LOG2_E;
    if helper != Helper::Cosh {
        return_small(body);
    }
    let mut code = body.code();
    code.local_get(0).f64_promote_f32().f64_const(scale.into()).f64_mul().call(exp2).local_set(power);
    match helper {
        Helper::Tanh => {
            code.f64_const(1.0.into()).f64_const(2.0.into());
            code.local_get(power).f64_const(1.0.into()).f64_add().f64_div().f64_sub();
        }
        _ => {
            code.local_get(power).f64_const(1.0.into()).local_get(power).f64_div();
            if helper == Helper::Sinh {
                code.f64_sub()
            } else {
                code.f64_add()
            };
            code.f64_const(0.5.into()).f64_mul();
        }
    }
}

fn inverse_hyperbolic(body: &mut Body, helper: Helper, log2: u32, x: u32) {
    if helper != Helper::Acosh {
        return_small(body);
    }
    let ln2 = std::f64::consts::LN_2;
    let one: wasm_encoder::Ieee64 = 1.0.into();
    let mut code = body.code();
    match helper {
        Helper::Asinh => {
            code.local_get(0).f32_abs().f64_promote_f32().local_tee(x);
            code.local_get(x).local_get(x).f64_mul().f64_const(one).f64_add().f64_sqrt().f64_add();
            code.call(log2).f64_const(ln2.into()).f64_mul();
            code.local_get(0).f64_promote_f32().f64_copysign();
        }
        Helper::Acosh => {
            code.local_get(0).f64_promote_f32().local_tee(x);
            code.local_get(x).local_get(x).f64_mul().f64_const(one).f64_sub().f64_sqrt().f64_add();
            code.call(log2).f64_const(ln2.into()).f64_mul();
        }
        _ => {
            code.local_get(0).f64_promote_f32().local_set(x);
            code.f64_const(one).local_get(x).f64_add().f64_const(one).local_get(x).f64_sub().f64_div();
            code.call(log2).f64_const((ln2 / 2.0).into()).f64_mul();
        }
    }
}
