//! Functions on the bits of numbers.

use wasm_encoder::{BlockType, Function, ValType};

use super::body::{Body, Target};
use crate::ir::Helper;

/// The body of a helper of this file.
pub(crate) fn body(helper: Helper, params: &[ValType]) -> Function {
    let mut body = Body::new(params, &[ValType::I32; 3], Target::Other);
    match helper {
        Helper::Ldexp => ldexp(&mut body),
        Helper::FrexpFraction => frexp(&mut body, true),
        Helper::FrexpExponent => frexp(&mut body, false),
        Helper::ToHalf => to_half(&mut body),
        Helper::FromHalf => from_half(&mut body),
        _ => reverse_bits(&mut body),
    }
    body.code().end();
    body.into_function()
}

/// `x * 2^e`, exact in `f64` and rounded once. Beyond 300 either way every `f32` is infinite or zero.
fn ldexp(body: &mut Body) {
    let (x, e) = (0, 1);
    let mut code = body.code();
    for (limit, below) in [(300, false), (-300, true)] {
        code.local_get(e).i32_const(limit).local_get(e).i32_const(limit);
        if below {
            code.i32_gt_s()
        } else {
            code.i32_lt_s()
        };
        code.select().local_set(e);
    }
    code.local_get(x).f64_promote_f32();
    code.local_get(e).i32_const(1023).i32_add().i64_extend_i32_u().i64_const(52).i64_shl().f64_reinterpret_i64();
    code.f64_mul().f32_demote_f64();
}

/// The fraction (half to one) or the exponent of a number. In `f64`, where no `f32` is denormal.
fn frexp(body: &mut Body, fraction: bool) {
    let x = 0;
    let mut code = body.code();
    // Zero, infinity and NaN have no exponent.
    code.local_get(x).local_get(x).f32_sub().f32_const(0.0.into()).f32_ne();
    code.local_get(x).f32_const(0.0.into()).f32_eq().i32_or().if_(BlockType::Empty);
    if fraction {
        code.local_get(x)
    } else {
        code.i32_const(0)
    };
    code.return_().end();
    code.local_get(x).f64_promote_f32().i64_reinterpret_f64();
    if fraction {
        code.i64_const((1i64 << 63) | ((1 << 52) - 1)).i64_and().i64_const(1022 << 52).i64_or();
        code.f64_reinterpret_i64().f32_demote_f64();
    } else {
        code.i64_const(52).i64_shr_u().i32_wrap_i64().i32_const(0x7ff).i32_and().i32_const(1022).i32_sub();
    }
}

/// `f32` to `f16`, to the nearest, ties to even.
fn to_half(body: &mut Body) {
    let (x, bits, size, result) = (0, 1, 2, 3);
    let mut code = body.code();
    code.local_get(x).i32_reinterpret_f32().local_tee(bits).i32_const(0x7fff_ffff).i32_and().local_set(size);
    // 65,536 and more, infinity and NaN.
    code.local_get(size).i32_const(0x4780_0000).i32_ge_u().if_(BlockType::Result(ValType::I32));
    code.i32_const(0x7e00).i32_const(0x7c00).local_get(size).i32_const(0x7f80_0000).i32_gt_u().select();
    code.else_();
    code.local_get(size).i32_const(0x3880_0000).i32_lt_u().if_(BlockType::Result(ValType::I32));
    // Below 2^-14: adding 1/2 puts the bits where a denormal has them, and rounds.
    code.local_get(size).f32_reinterpret_i32().f32_const(0.5.into()).f32_add().i32_reinterpret_f32();
    code.i32_const(0x3f00_0000).i32_sub();
    code.else_();
    // The exponent's bias changes by 112; a bit less than half is added, and the last bit that stays.
    code.local_get(size).i32_const(13).i32_shr_u().i32_const(1).i32_and();
    code.local_get(size).i32_add().i32_const(0xfff - (112 << 23)).i32_add().i32_const(13).i32_shr_u();
    code.end().end().local_set(result);
    code.local_get(bits).i32_const(16).i32_shr_u().i32_const(0x8000).i32_and().local_get(result).i32_or();
}

/// `f16` to `f32`, exactly.
fn from_half(body: &mut Body) {
    let (half, shifted, exponent, result) = (0, 1, 2, 3);
    let mut code = body.code();
    code.local_get(half).i32_const(0x7fff).i32_and().i32_const(13).i32_shl().local_tee(shifted);
    code.i32_const(0x0f80_0000).i32_and().local_set(exponent);
    code.local_get(exponent).i32_eqz().if_(BlockType::Result(ValType::I32));
    // A denormal counts in units of 2^-24.
    code.local_get(half).i32_const(0x3ff).i32_and().f32_convert_i32_u();
    code.f32_const(2f32.powi(-24).into()).f32_mul().i32_reinterpret_f32();
    code.else_();
    code.local_get(shifted).i32_const(112 << 23).i32_add();
    // Infinity and NaN: the largest exponent of the one is that of the other.
    code.i32_const(112 << 23).i32_const(0).local_get(exponent).i32_const(0x0f80_0000).i32_eq().select().i32_add();
    code.end().local_set(result);
    code.local_get(half).i32_const(0x8000).i32_and().i32_const(16).i32_shl().local_get(result).i32_or();
    code.f32_reinterpret_i32();
}

/// Exchanges neighbours, then pairs, nibbles, bytes and halves.
fn reverse_bits(body: &mut Body) {
    let x = 0;
    let mut code = body.code();
    for (step, mask) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff), (16, 0xffff)] {
        code.local_get(x).i32_const(step).i32_shr_u().i32_const(mask).i32_and();
        code.local_get(x).i32_const(mask).i32_and().i32_const(step).i32_shl().i32_or().local_set(x);
    }
    code.local_get(x);
}
