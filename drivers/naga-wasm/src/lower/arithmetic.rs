//! Operators and conversions on scalars and vectors, with the results that WGSL defines where wasm traps.

use naga::{BinaryOperator, Scalar, ScalarKind, UnaryOperator};

use super::Lowerer;
use crate::diagnostic::Diagnostic;
use crate::ir::{Op, Operand};
use crate::layout::{Shape, is_half, words};

impl Lowerer<'_, '_> {
    pub(crate) fn unary(
        &mut self,
        op: UnaryOperator,
        shape: Shape,
        values: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostic> {
        let scalar = self.scalar_of(shape)?;
        if words(scalar) == 2 {
            return Ok(self.wide_unary(op, values));
        }
        Ok(values
            .iter()
            .map(|&value| match (op, scalar.kind) {
                (UnaryOperator::Negate, ScalarKind::Float) => self.b.op(Op::FNeg, &[value]),
                (UnaryOperator::Negate, _) => self.b.op(Op::Sub, &[Operand::I32(0), value]),
                (UnaryOperator::LogicalNot, _) | (UnaryOperator::BitwiseNot, ScalarKind::Bool) => {
                    self.b.op(Op::Not, &[value])
                }
                (UnaryOperator::BitwiseNot, _) => self.b.op(Op::Xor, &[value, Operand::I32(u32::MAX)]),
            })
            .collect())
    }

    pub(crate) fn binary(
        &mut self,
        op: BinaryOperator,
        shapes: (Shape, Shape),
        left: &[Operand],
        right: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostic> {
        if let (Shape::Array { .. } | Shape::Struct(_), _) = shapes {
            return self.unsupported("an operator on arrays or structures");
        }
        if op == BinaryOperator::Multiply
            && let Some(product) = self.matrix_product(shapes, left, right)
        {
            return Ok(product);
        }
        let scalar = self.scalar_of(shapes.0)?;
        let kind = scalar.kind;
        let narrowed;
        let mut right = right;
        if matches!(op, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight) {
            // A count's low word is enough.
            let each = words(self.scalar_of(shapes.1)?) as usize;
            narrowed = right.iter().copied().step_by(each).collect::<Vec<_>>();
            right = &narrowed;
        }
        if words(scalar) == 2 {
            return self.wide_binary(op, kind == ScalarKind::Sint, left, right);
        }
        let count = left.len().max(right.len());
        let pick = |values: &[Operand], at: usize| values.get(at).or(values.first()).copied();
        let mut results = Vec::with_capacity(count);
        for at in 0..count {
            let (Some(a), Some(b)) = (pick(left, at), pick(right, at)) else {
                return Err(self.defect("an operator without operands"));
            };
            results.push(self.scalar_binary(op, kind, a, b)?);
        }
        Ok(results)
    }

    fn scalar_binary(
        &mut self,
        op: BinaryOperator,
        kind: ScalarKind,
        a: Operand,
        b: Operand,
    ) -> Result<Operand, Diagnostic> {
        if kind == ScalarKind::Float {
            return self.float_binary(op, a, b);
        }
        if kind == ScalarKind::Bool {
            return self.bool_binary(op, a, b);
        }
        let signed = kind == ScalarKind::Sint;
        let pick = |s: Op, u: Op| if signed { s } else { u };
        let op = match op {
            BinaryOperator::Divide => return Ok(self.divide(pick(Op::DivS, Op::DivU), signed, a, b)),
            BinaryOperator::Modulo => return Ok(self.divide(pick(Op::RemS, Op::RemU), signed, a, b)),
            BinaryOperator::Add => Op::Add,
            BinaryOperator::Subtract => Op::Sub,
            BinaryOperator::Multiply => Op::Mul,
            BinaryOperator::Equal => Op::Eq,
            BinaryOperator::NotEqual => Op::Ne,
            BinaryOperator::Less => pick(Op::LtS, Op::LtU),
            BinaryOperator::LessEqual => pick(Op::LeS, Op::LeU),
            BinaryOperator::Greater => pick(Op::GtS, Op::GtU),
            BinaryOperator::GreaterEqual => pick(Op::GeS, Op::GeU),
            BinaryOperator::And => Op::And,
            BinaryOperator::InclusiveOr => Op::Or,
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => {
                return Err(self.defect("a logical operator on integers"));
            }
            BinaryOperator::ExclusiveOr => Op::Xor,
            // wasm takes the count modulo 32, as WGSL does.
            BinaryOperator::ShiftLeft => Op::Shl,
            BinaryOperator::ShiftRight => pick(Op::ShrS, Op::ShrU),
        };
        Ok(self.b.op(op, &[a, b]))
    }

    fn bool_binary(&mut self, op: BinaryOperator, a: Operand, b: Operand) -> Result<Operand, Diagnostic> {
        Ok(match op {
            BinaryOperator::And | BinaryOperator::LogicalAnd => self.b.op(Op::And, &[a, b]),
            BinaryOperator::InclusiveOr | BinaryOperator::LogicalOr => self.b.op(Op::Or, &[a, b]),
            BinaryOperator::ExclusiveOr | BinaryOperator::NotEqual => self.b.op(Op::Xor, &[a, b]),
            BinaryOperator::Equal => {
                let differ = self.b.op(Op::Xor, &[a, b]);
                self.b.op(Op::Not, &[differ])
            }
            _ => return Err(self.defect("arithmetic on `bool`")),
        })
    }

    fn float_binary(&mut self, op: BinaryOperator, a: Operand, b: Operand) -> Result<Operand, Diagnostic> {
        let op = match op {
            BinaryOperator::Add => Op::FAdd,
            BinaryOperator::Subtract => Op::FSub,
            BinaryOperator::Multiply => Op::FMul,
            BinaryOperator::Divide => Op::FDiv,
            BinaryOperator::Modulo => return Ok(self.float_remainder(a, b)),
            BinaryOperator::Equal => Op::FEq,
            BinaryOperator::NotEqual => Op::FNe,
            BinaryOperator::Less => Op::FLt,
            BinaryOperator::LessEqual => Op::FLe,
            BinaryOperator::Greater => Op::FGt,
            BinaryOperator::GreaterEqual => Op::FGe,
            _ => return Err(self.defect("a bit operator on floats")),
        };
        Ok(self.b.op(op, &[a, b]))
    }

    /// `a - b * trunc(a / b)`, which is how WGSL defines it.
    fn float_remainder(&mut self, a: Operand, b: Operand) -> Operand {
        let quotient = self.b.op(Op::FDiv, &[a, b]);
        let whole = self.b.op(Op::FTrunc, &[quotient]);
        let product = self.b.op(Op::FMul, &[b, whole]);
        self.b.op(Op::FSub, &[a, product])
    }

    /// A quotient or remainder. Where wasm traps, dividing by 1 gives what WGSL wants: `x / 0 = x`, `x % 0 = 0`,
    /// `MIN / -1 = MIN`, `MIN % -1 = 0`.
    fn divide(&mut self, op: Op, signed: bool, a: Operand, b: Operand) -> Operand {
        let one = Operand::I32(1);
        if let Operand::I32(divisor) = b
            && divisor != 0
            && divisor != u32::MAX
        {
            return self.b.op(op, &[a, b]);
        }
        let mut bad = self.b.op(Op::Eq, &[b, Operand::I32(0)]);
        if signed {
            let lowest = self.b.op(Op::Eq, &[a, Operand::I32(1 << 31)]);
            let minus_one = self.b.op(Op::Eq, &[b, Operand::I32(u32::MAX)]);
            let overflow = self.b.op(Op::And, &[lowest, minus_one]);
            bad = self.b.op(Op::Or, &[bad, overflow]);
        }
        let divisor = self.b.select(bad, one, b);
        self.b.op(op, &[a, divisor])
    }

    pub(crate) fn cast(
        &mut self,
        from: Shape,
        to: Scalar,
        convert: Option<u8>,
        values: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostic> {
        let scalar = self.scalar_of(from)?;
        let whole = scalar.kind == ScalarKind::Float && matches!(to.kind, ScalarKind::Sint | ScalarKind::Uint);
        let values: Vec<_> = if convert.is_some() && whole {
            values.iter().map(|&value| self.representable(scalar, to, value)).collect()
        } else {
            values.to_vec()
        };
        if words(scalar) == 2 || words(to) == 2 {
            return self.wide_cast(scalar, to, &values);
        }
        let mut results = Vec::with_capacity(values.len());
        for value in values {
            results.push(if convert.is_some() {
                self.convert(scalar.kind, to.kind, value)?
            } else {
                self.bitcast(scalar.kind, to.kind, value)?
            });
        }
        Ok(results)
    }

    /// A float that is to become an integer, brought between the numbers that are both: WGSL's conversion gives the nearest
    /// of these. The lowest ones are powers of two or zero, which the conversion itself keeps to, but for infinite halves.
    fn representable(&mut self, float: Scalar, integer: Scalar, value: Operand) -> Operand {
        if is_half(float) {
            let below = self.b.op(Op::FMin, &[value, Operand::float(65504.0)]);
            return self.b.op(Op::FMax, &[below, Operand::float(-65504.0)]);
        }
        let bits = 8 * u32::from(integer.width) - u32::from(integer.kind == ScalarKind::Sint);
        // The float below that power of two.
        self.b.op(Op::FMin, &[value, Operand::F32(((127 + bits) << 23) - 1)])
    }

    fn bitcast(&mut self, from: ScalarKind, to: ScalarKind, value: Operand) -> Result<Operand, Diagnostic> {
        use ScalarKind::{Bool, Float};
        match (from == Float, to == Float) {
            _ if from == Bool || to == Bool => Err(self.defect("a bitcast of `bool`")),
            (true, false) => Ok(self.b.op(Op::ToInt, &[value])),
            (false, true) => Ok(self.b.op(Op::ToFloat, &[value])),
            _ => Ok(value),
        }
    }

    fn convert(&mut self, from: ScalarKind, to: ScalarKind, value: Operand) -> Result<Operand, Diagnostic> {
        use ScalarKind::{Bool, Float, Sint, Uint};
        Ok(match (from, to) {
            (Sint | Uint, Sint | Uint) | (Float, Float) | (Bool, Bool) => value,
            (Bool, Sint | Uint) => self.b.op(Op::ToNumber, &[value]),
            (Float, Sint) => self.b.op(Op::TruncS, &[value]),
            (Float, Uint) => self.b.op(Op::TruncU, &[value]),
            (Sint, Float) => self.b.op(Op::ConvertS, &[value]),
            (Uint, Float) => self.b.op(Op::ConvertU, &[value]),
            (Float, Bool) => self.b.op(Op::FNe, &[value, Operand::F32(0)]),
            (Sint | Uint, Bool) => self.b.op(Op::Ne, &[value, Operand::I32(0)]),
            (Bool, Float) => self.b.select(value, Operand::float(1.0), Operand::F32(0)),
            _ => return self.unsupported("a conversion of abstract numbers"),
        })
    }
}
