//! The runtime of compiled kernels: functions of four lanes that wasm has no instructions for.
//!
//! Each is a function of `v128`, with `f32` or `i32` lanes. They have no state and call nothing; what a lane gets does
//! not depend on its neighbours. Everything is made of IEEE operations (no relaxed ones, nothing fused), so that the
//! bits of a result are the same on every machine, except those of a NaN. No input traps, as lanes that are switched off
//! hold anything.
//!
//! Where `f32` steps cannot keep the error at about one unit in the last place (ulp), the lanes are computed as two pairs of
//! `f64`: see [`wide`]; but for `tanh`, of which that would be most of what networks take. Polynomials are minimax ones, by the
//! Remez exchange algorithm or linear programming, each coefficient then rounded to its type, from the lowest power on, with the rest
//! fitted again; those of the ratio that `tanh` is are rounded together. Next to each stands the largest error of the function that it is
//! a part of, relative to that, with exact arithmetic; an ulp is 2^-23 to 2^-24.

mod arc;
mod bits;
mod code;
mod double;
mod exponential;
mod hyperbolic;
mod integer;
#[cfg(test)]
mod tests;
mod trigonometry;
mod wide;

use wasm_encoder::{Function, ValType};

use crate::ir::{Helper, Op};
use code::{Code, V};

/// The parameters and results of an operation's function.
pub(crate) fn signature(op: Op) -> (Vec<ValType>, Vec<ValType>) {
    (vec![ValType::V128; op.arity()], vec![ValType::V128])
}

/// The body of an operation's function, if there is one.
pub(crate) fn body(op: Op) -> Option<Function> {
    let mut code = Code::new(params(op), 0);
    let result = compute(op, &mut code)?;
    Some(code.finish(result))
}

/// An operation's function as a piece of another one, if there is one. It takes its parameters from the locals from `first`
/// on and leaves its result on the stack. It uses so many locals, its parameters among them, all of them vectors.
pub(crate) fn piece(op: Op, first: u32) -> Option<(Vec<u8>, u32)> {
    let mut code = Code::new(params(op), first);
    let result = compute(op, &mut code)?;
    Some(code.into_piece(result))
}

/// A division of integers by a constant as a piece of another function, if that is cheaper than by any number; as [`piece`], with one
/// parameter.
pub(crate) fn division(op: Op, divisor: u32, first: u32) -> Option<(Vec<u8>, u32)> {
    let signed = matches!(op, Op::DivS | Op::RemS);
    if divisor < 2 || signed && divisor.cast_signed() < 0 {
        return None;
    }
    let mut code = Code::new(1, first);
    let x = code.param(0);
    let result = match op {
        Op::DivS | Op::DivU => integer::divide_by(&mut code, x, divisor, signed),
        Op::RemS | Op::RemU => integer::remainder_by(&mut code, x, divisor, signed),
        _ => return None,
    };
    Some(code.into_piece(result))
}

fn params(op: Op) -> u32 {
    u32::try_from(op.arity()).unwrap_or(u32::MAX)
}

fn compute(op: Op, code: &mut Code) -> Option<V> {
    // The second is there if the operation is a binary one.
    let (x, y) = (code.param(0), code.param(1));
    Some(match op {
        Op::Helper(Helper::Exp) => exponential::exp(code, x),
        Op::Helper(Helper::Exp2) => exponential::exp2(code, x),
        Op::Helper(Helper::Log) => exponential::log(code, x),
        Op::Helper(Helper::Log2) => exponential::log2(code, x),
        Op::Helper(Helper::Pow) => exponential::pow(code, x, y),
        Op::Helper(Helper::Sin) => trigonometry::sin(code, x),
        Op::Helper(Helper::Cos) => trigonometry::cos(code, x),
        Op::Helper(Helper::Tan) => trigonometry::tan(code, x),
        Op::Helper(Helper::Asin) => arc::asin(code, x),
        Op::Helper(Helper::Acos) => arc::acos(code, x),
        Op::Helper(Helper::Atan) => arc::atan(code, x),
        Op::Helper(Helper::Atan2) => arc::atan2(code, x, y),
        Op::Helper(Helper::Sinh) => hyperbolic::sinh(code, x),
        Op::Helper(Helper::Cosh) => hyperbolic::cosh(code, x),
        Op::Helper(Helper::Tanh) => hyperbolic::tanh(code, x),
        Op::Helper(Helper::Asinh) => hyperbolic::asinh(code, x),
        Op::Helper(Helper::Acosh) => hyperbolic::acosh(code, x),
        Op::Helper(Helper::Atanh) => hyperbolic::atanh(code, x),
        Op::Helper(Helper::Ldexp) => bits::ldexp(code, x, y),
        Op::Helper(Helper::FrexpFraction) => bits::frexp_fraction(code, x),
        Op::Helper(Helper::FrexpExponent) => bits::frexp_exponent(code, x),
        Op::Helper(Helper::ToHalf) => bits::to_half(code, x),
        Op::Helper(Helper::FromHalf) => bits::from_half(code, x),
        Op::Helper(Helper::RoundHalf) => bits::round_half(code, x),
        Op::Helper(Helper::ReverseBits) => integer::reverse_bits(code, x),
        Op::Helper(Helper::DotS) => integer::dot_s(code, x, y),
        Op::Helper(Helper::DotU) => integer::dot_u(code, x, y),
        Op::Clz => integer::clz(code, x),
        Op::Ctz => integer::ctz(code, x),
        Op::Popcnt => integer::popcnt(code, x),
        Op::DivS => integer::div_s(code, x, y),
        Op::DivU => integer::div_u(code, x, y),
        Op::RemS => integer::rem_s(code, x, y),
        Op::RemU => integer::rem_u(code, x, y),
        Op::Shl => integer::shl(code, x, y),
        Op::ShrS => integer::shr_s(code, x, y),
        Op::ShrU => integer::shr_u(code, x, y),
        Op::Helper(Helper::MulHigh) => double::mul_high(code, x, y),
        Op::Helper(Helper::Quotient { signed, high }) => {
            let words = [0, 1, 2, 3].map(|at| code.param(at));
            double::quotient(code, words, signed, high)
        }
        Op::Helper(Helper::WideToFloat { signed }) => double::to_float(code, x, y, signed),
        Op::Helper(Helper::FloatToWide { signed, high }) => double::from_float(code, x, signed, high),
        _ => return None,
    })
}
