//! `f16`: kept in registers as the `f32` of the same value, in memory as its bits.
//!
//! What operators and built-in functions give is computed in `f32` and rounded to `f16` once. For `+ - * /` and `sqrt`
//! that is the same as computing in `f16`; built-in functions of several steps get more accurate by it.

use naga::{BinaryOperator, MathFunction};

use super::Lowerer;
use crate::ir::{Address, Cell, Helper, Inst, Op, Operand};
use crate::layout::{Leaf, Shape, cell_of, is_half};

impl Lowerer<'_, '_> {
    /// The values, each rounded to the nearest `f16` if the shape is of such.
    pub(crate) fn rounded_to(&mut self, shape: Shape, values: Vec<Operand>) -> Vec<Operand> {
        match shape {
            Shape::Scalar(scalar) | Shape::Vector { scalar, .. } | Shape::Matrix { scalar, .. } if is_half(scalar) => {
                values.into_iter().map(|value| self.b.op(Op::Helper(Helper::RoundHalf), &[value])).collect()
            }
            _ => values,
        }
    }

    /// Reads a scalar at a place in memory.
    pub(crate) fn load_leaf(&mut self, leaf: Leaf, address: &Address) -> Operand {
        let cell = cell_of(leaf.scalar);
        let value = self.b.load(cell, address.plus(leaf.offset));
        self.of_cell(cell, value)
    }

    /// What a cell stands for.
    pub(crate) fn of_cell(&mut self, cell: Cell, value: Operand) -> Operand {
        if cell == Cell::Half { self.b.op(Op::Helper(Helper::FromHalf), &[value]) } else { value }
    }

    /// Writes a scalar to a place in memory.
    pub(crate) fn store_leaf(&mut self, leaf: Leaf, address: &Address, value: Operand) {
        let cell = cell_of(leaf.scalar);
        let value = match (cell, value) {
            (Cell::Half, Operand::F32(bits)) => Operand::I32(half_bits(bits)),
            (Cell::Half, _) => self.b.op(Op::Helper(Helper::ToHalf), &[value]),
            _ => value,
        };
        self.b.inst(Inst::Store { cell, address: address.plus(leaf.offset), value });
    }
}

/// The bits of an `f16`, from those of the `f32` of the same value.
pub(crate) fn half_bits(bits: u32) -> u32 {
    const INFINITY: u32 = f32::INFINITY.to_bits();
    let (sign, size) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    let half = if size > INFINITY {
        0x7e00
    } else if size == INFINITY {
        0x7c00
    } else if f32::from_bits(size) < 2f32.powi(-14) {
        // A whole number of the smallest unit, in the low bits of the sum.
        (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits())
    } else {
        (size - (112 << 23)) >> 13
    };
    sign | half & 0x7fff
}

/// Whether the result of an operator on numbers may need more digits than its operands.
pub(crate) fn operator_rounds(op: BinaryOperator) -> bool {
    use BinaryOperator::{Add, Divide, Modulo, Multiply, Subtract};
    matches!(op, Add | Subtract | Multiply | Divide | Modulo)
}

/// The same of a built-in function.
pub(crate) fn function_rounds(fun: MathFunction) -> bool {
    use MathFunction::{
        Abs, Ceil, Clamp, FaceForward, Floor, Frexp, Max, Min, Modf, Round, Saturate, Sign, Step, Transpose, Trunc,
    };
    !matches!(
        fun,
        Abs | Ceil
            | Clamp
            | FaceForward
            | Floor
            | Frexp
            | Max
            | Min
            | Modf
            | Round
            | Saturate
            | Sign
            | Step
            | Transpose
            | Trunc
    )
}
