//! The runtime of compiled kernels: functions of four lanes that wasm has no instructions for.
//!
//! Each is a function of `v128`, with `f32` or `i32` lanes. They have no state and call nothing; what a lane gets does
//! not depend on its neighbours. Everything is made of IEEE operations (no relaxed ones, nothing fused), so that the
//! bits of a result are the same on every machine, except those of a NaN. No input traps, as lanes that are switched off
//! hold anything.
//!
//! Where `f32` steps cannot keep the error below one unit in the last place (ulp), the lanes are computed as two pairs of
//! `f64`: see [`wide`]. Polynomials are minimax ones: the coefficients come from the Remez exchange algorithm, each then
//! rounded to its type, from the lowest power on, with the rest fitted again. Next to each stands the largest error of
//! the function that it is a part of, relative to that, with exact arithmetic; an ulp is 2^-23 to 2^-24.

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

use crate::ir::Helper;
use code::{Code, V};

/// A function of the runtime.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Routine {
    Exp,
    Exp2,
    Log,
    Log2,
    /// NaN for a negative base; 1 for a zeroth power of anything.
    Pow,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    /// `(y, x)`
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    /// `(x, e)`: `x * 2^e`, rounded once.
    Ldexp,
    /// A half to one, with the sign of the argument; zero, infinity and NaN are their own.
    FrexpFraction,
    /// 0 for zero, infinity and NaN.
    FrexpExponent,
    /// `f32` to the bits of the nearest `f16`, ties to even, in the low half of each lane; and back.
    ToHalf,
    FromHalf,
    /// `f32` to the nearest `f16`, ties to even, as an `f32`.
    RoundHalf,
    ReverseBits,
    /// Sum of the products of four bytes.
    DotS,
    DotU,
    /// Leading and trailing zeros: 32 for 0.
    Clz,
    Ctz,
    Popcnt,
    /// Division by zero, and of the smallest number by -1, answers something.
    DivS,
    DivU,
    RemS,
    RemU,
    /// `(x, count)`, each lane by its own count, modulo 32.
    Shl,
    ShrS,
    ShrU,
    /// The upper word of a product of words.
    MulHigh,
    /// `(a, b)`, each as low words and high words. A word of what WGSL has for the quotient.
    Quotient {
        signed: bool,
        high: bool,
    },
    /// `(low, high)` to the nearest `f32`.
    WideToFloat {
        signed: bool,
    },
    /// A word of an `f32` without its fraction.
    FloatToWide {
        signed: bool,
        high: bool,
    },
}

impl Routine {
    /// The routine that computes a helper. Words of the constants are not computed.
    pub(crate) fn of(helper: Helper) -> Option<Self> {
        Some(match helper {
            Helper::Exp => Self::Exp,
            Helper::Exp2 => Self::Exp2,
            Helper::Log => Self::Log,
            Helper::Log2 => Self::Log2,
            Helper::Pow => Self::Pow,
            Helper::Sin => Self::Sin,
            Helper::Cos => Self::Cos,
            Helper::Tan => Self::Tan,
            Helper::Asin => Self::Asin,
            Helper::Acos => Self::Acos,
            Helper::Atan => Self::Atan,
            Helper::Atan2 => Self::Atan2,
            Helper::Sinh => Self::Sinh,
            Helper::Cosh => Self::Cosh,
            Helper::Tanh => Self::Tanh,
            Helper::Asinh => Self::Asinh,
            Helper::Acosh => Self::Acosh,
            Helper::Atanh => Self::Atanh,
            Helper::Ldexp => Self::Ldexp,
            Helper::FrexpFraction => Self::FrexpFraction,
            Helper::FrexpExponent => Self::FrexpExponent,
            Helper::ToHalf => Self::ToHalf,
            Helper::FromHalf => Self::FromHalf,
            Helper::RoundHalf => Self::RoundHalf,
            Helper::ReverseBits => Self::ReverseBits,
            Helper::DotS => Self::DotS,
            Helper::DotU => Self::DotU,
            Helper::MulHigh => Self::MulHigh,
            Helper::Quotient { signed, high } => Self::Quotient { signed, high },
            Helper::WideToFloat { signed } => Self::WideToFloat { signed },
            Helper::FloatToWide { signed, high } => Self::FloatToWide { signed, high },
            Helper::ConstantWord => return None,
        })
    }

    fn is_binary(self) -> bool {
        matches!(
            self,
            Self::Pow
                | Self::Atan2
                | Self::Ldexp
                | Self::DivS
                | Self::DivU
                | Self::RemS
                | Self::RemU
                | Self::Shl
                | Self::ShrS
                | Self::ShrU
                | Self::DotS
                | Self::DotU
                | Self::MulHigh
                | Self::WideToFloat { .. }
        )
    }

    pub(crate) fn params(self) -> u32 {
        match self {
            Self::Quotient { .. } => 4,
            _ if self.is_binary() => 2,
            _ => 1,
        }
    }
}

/// The parameters and results of a routine.
pub(crate) fn signature(routine: Routine) -> (Vec<ValType>, Vec<ValType>) {
    ((0..routine.params()).map(|_| ValType::V128).collect(), vec![ValType::V128])
}

/// The body of a routine.
pub(crate) fn body(routine: Routine) -> Function {
    let mut code = Code::new(routine.params(), 0);
    let result = compute(routine, &mut code);
    code.finish(result)
}

/// A routine as a piece of another function. It takes its parameters from the locals from `first` on and leaves its
/// result on the stack. It uses so many locals, its parameters among them, all of them vectors.
pub(crate) fn piece(routine: Routine, first: u32) -> (Vec<u8>, u32) {
    let mut code = Code::new(routine.params(), first);
    let result = compute(routine, &mut code);
    code.into_piece(result)
}

fn compute(routine: Routine, code: &mut Code) -> V {
    // The second is there if the routine is a binary one.
    let (x, y) = (code.param(0), code.param(1));
    match routine {
        Routine::Exp => exponential::exp(code, x),
        Routine::Exp2 => exponential::exp2(code, x),
        Routine::Log => exponential::log(code, x),
        Routine::Log2 => exponential::log2(code, x),
        Routine::Pow => exponential::pow(code, x, y),
        Routine::Sin => trigonometry::sin(code, x),
        Routine::Cos => trigonometry::cos(code, x),
        Routine::Tan => trigonometry::tan(code, x),
        Routine::Asin => arc::asin(code, x),
        Routine::Acos => arc::acos(code, x),
        Routine::Atan => arc::atan(code, x),
        Routine::Atan2 => arc::atan2(code, x, y),
        Routine::Sinh => hyperbolic::sinh(code, x),
        Routine::Cosh => hyperbolic::cosh(code, x),
        Routine::Tanh => hyperbolic::tanh(code, x),
        Routine::Asinh => hyperbolic::asinh(code, x),
        Routine::Acosh => hyperbolic::acosh(code, x),
        Routine::Atanh => hyperbolic::atanh(code, x),
        Routine::Ldexp => bits::ldexp(code, x, y),
        Routine::FrexpFraction => bits::frexp_fraction(code, x),
        Routine::FrexpExponent => bits::frexp_exponent(code, x),
        Routine::ToHalf => bits::to_half(code, x),
        Routine::FromHalf => bits::from_half(code, x),
        Routine::RoundHalf => bits::round_half(code, x),
        Routine::ReverseBits => integer::reverse_bits(code, x),
        Routine::DotS => integer::dot_s(code, x, y),
        Routine::DotU => integer::dot_u(code, x, y),
        Routine::Clz => integer::clz(code, x),
        Routine::Ctz => integer::ctz(code, x),
        Routine::Popcnt => integer::popcnt(code, x),
        Routine::DivS => integer::div_s(code, x, y),
        Routine::DivU => integer::div_u(code, x, y),
        Routine::RemS => integer::rem_s(code, x, y),
        Routine::RemU => integer::rem_u(code, x, y),
        Routine::Shl => integer::shl(code, x, y),
        Routine::ShrS => integer::shr_s(code, x, y),
        Routine::ShrU => integer::shr_u(code, x, y),
        Routine::MulHigh => double::mul_high(code, x, y),
        Routine::Quotient { signed, high } => {
            let words = [0, 1, 2, 3].map(|at| code.param(at));
            double::quotient(code, words, signed, high)
        }
        Routine::WideToFloat { signed } => double::to_float(code, x, y, signed),
        Routine::FloatToWide { signed, high } => double::from_float(code, x, signed, high),
    }
}
