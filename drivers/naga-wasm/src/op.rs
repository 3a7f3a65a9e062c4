//! The operations of the IR.

use crate::ir::Ty;

/// Atomic operations on 32-bit integers, and on the bits of `f32`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum AtomicOp {
    Load,
    Store,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
    MinS,
    MinU,
    MaxS,
    MaxU,
    FAdd,
    FSub,
}

/// Pure operations on scalars.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Op {
    /// `args[0]`, into a register.
    Copy,
    /// `args[2] ? args[0] : args[1]`
    Select,
    Add,
    Sub,
    Mul,
    /// Traps on 0: the front guards it, as it does the other three.
    DivS,
    DivU,
    RemS,
    RemU,
    /// Of `I32` or of `Bool`, as the other two.
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
    MinU,
    Eq,
    Ne,
    LtS,
    LtU,
    LeS,
    LeU,
    GtS,
    GtU,
    GeS,
    GeU,
    /// Of a `Bool`.
    Not,
    /// `Bool` to 0 or 1.
    ToNumber,
    /// Whether a `Bool` is set in any lane, or in all. The result is the same in all.
    Any,
    All,
    /// Whether `args[0]`, which has a stride, is less than `args[1]`, which is the same in all lanes, in each of them, as
    /// unsigned or as signed numbers. It may also say no where a lane is close to the end of its type.
    AllLtU,
    AllLtS,
    Clz,
    Ctz,
    Popcnt,
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// `args[0] * args[1] + args[2]`, and `args[2] - args[0] * args[1]`, with one rounding or two. Of vectors.
    FMulAdd,
    FMulSubFrom,
    FNeg,
    FAbs,
    FSqrt,
    FCeil,
    FFloor,
    FTrunc,
    FNearest,
    /// `args[1] < args[0] ? args[1] : args[0]`
    FMin,
    /// `args[0] < args[1] ? args[1] : args[0]`
    FMax,
    FEq,
    FNe,
    FLt,
    FLe,
    FGt,
    FGe,
    /// Saturating; NaN gives 0.
    TruncS,
    TruncU,
    ConvertS,
    ConvertU,
    /// Bits of an `I32` as `F32`, and back.
    ToFloat,
    ToInt,
    /// Word of the constants at a dynamic index, which is in range.
    ConstantWord,
    /// A function of [`crate::runtime`].
    Helper(Helper),
}

/// Functions of the runtime, for which wasm has no instruction.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Helper {
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
    /// `f32` to the bits of the nearest `f16`, and back.
    ToHalf,
    FromHalf,
    /// `f32` to the nearest `f16`, as an `f32`.
    RoundHalf,
    ReverseBits,
    /// Sum of the products of the bytes of two words, as signed or as unsigned numbers.
    DotS,
    DotU,
    /// The upper word of an unsigned product.
    MulHigh,
    /// A word of a quotient of two numbers of two words each. Never traps: it is what WGSL defines.
    Quotient {
        signed: bool,
        high: bool,
    },
    /// A number of two words as `f32`.
    WideToFloat {
        signed: bool,
    },
    /// A word of an `f32` as a number of two.
    FloatToWide {
        signed: bool,
        high: bool,
    },
}

/// What the lanes of a gang do together. A gang is a subgroup.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum SubgroupOp {
    /// Whether a lane is on.
    Active,
    /// One bit for each lane that is on and has its `Bool` set. The same in all lanes.
    Ballot,
    /// `args[0]` of another lane: of the one that is listed.
    Shuffle([u8; 4]),
    /// `args[0]` of another lane: of `args[1]`, modulo their number.
    Pick,
}

impl Op {
    /// How many operands it takes.
    pub(crate) fn arity(self) -> usize {
        match self {
            Self::Select | Self::FMulAdd | Self::FMulSubFrom => 3,
            Self::Copy
            | Self::Not
            | Self::ToNumber
            | Self::Any
            | Self::All
            | Self::Clz
            | Self::Ctz
            | Self::Popcnt
            | Self::FNeg
            | Self::FAbs
            | Self::FSqrt
            | Self::FCeil
            | Self::FFloor
            | Self::FTrunc
            | Self::FNearest
            | Self::TruncS
            | Self::TruncU
            | Self::ConvertS
            | Self::ConvertU
            | Self::ToFloat
            | Self::ToInt
            | Self::ConstantWord => 1,
            Self::Helper(
                Helper::Pow
                | Helper::Atan2
                | Helper::Ldexp
                | Helper::DotS
                | Helper::DotU
                | Helper::MulHigh
                | Helper::WideToFloat { .. },
            ) => 2,
            Self::Helper(Helper::Quotient { .. }) => 4,
            Self::Helper(_) => 1,
            _ => 2,
        }
    }
}

impl Helper {
    /// The type of its result.
    pub(crate) fn result(self) -> Ty {
        match self {
            Self::FrexpExponent
            | Self::ToHalf
            | Self::ReverseBits
            | Self::DotS
            | Self::DotU
            | Self::MulHigh
            | Self::Quotient { .. }
            | Self::FloatToWide { .. } => Ty::I32,
            _ => Ty::F32,
        }
    }
}
