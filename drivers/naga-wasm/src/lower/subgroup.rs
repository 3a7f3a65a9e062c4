//! Subgroup operations. A gang is a subgroup: the lanes that are on take part.
//!
//! All are made of four that the lanes of a gang do together ([`SubgroupOp`]). In a reduction the lanes that are off
//! have the value that changes nothing; two exchanges then give every lane the result.

use naga::{
    BinaryOperator, CollectiveOperation, Direction, Expression, GatherMode, Handle, MathFunction, Scalar, ScalarKind,
    SubgroupOperation,
};

use super::{Lowerer, Meaning, Value};
use crate::diagnostic::Diagnostic;
use crate::ir::{Builtin, Inst, LANES, Op, Operand, SubgroupOp, Ty};
use crate::layout::{Shape, words};

/// Whose value a lane gets when neighbours exchange theirs, and when the pairs do.
const NEIGHBOURS: [u8; 4] = [1, 0, 3, 2];
const PAIRS: [u8; 4] = [2, 3, 0, 1];
/// Whose value a lane gets when each hands its own on to the next one, and to the one after that.
const NEXT: [u8; 4] = [0, 0, 1, 2];
const SECOND_NEXT: [u8; 4] = [0, 1, 0, 1];
const FIRST: [u8; 4] = [0; 4];

/// How values of lanes become one.
enum Fold {
    Operator(BinaryOperator),
    Function(MathFunction),
}

impl Lowerer<'_, '_> {
    /// `subgroup_invocation_id`
    pub(crate) fn lane(&mut self) -> Operand {
        self.b.op(Op::And, &[Operand::Builtin(Builtin::LocalIndex), Operand::I32(LANES - 1)])
    }

    fn together(&mut self, op: SubgroupOp, args: &[Operand]) -> Operand {
        let dst = self.b.temp(match (op, args) {
            (SubgroupOp::Active, _) => Ty::Bool,
            (SubgroupOp::Shuffle(_) | SubgroupOp::Pick, &[value, ..]) => self.b.ty(value),
            _ => Ty::I32,
        });
        self.b.inst(Inst::Subgroup { dst, op, args: args.to_vec() });
        Operand::Reg(dst)
    }

    fn finish(&mut self, result: Handle<Expression>, values: Vec<Operand>) {
        self.frame.meanings.insert(result, Meaning::Value(Value::Flat(values.into())));
    }

    pub(crate) fn ballot(
        &mut self,
        predicate: Option<Handle<Expression>>,
        result: Handle<Expression>,
    ) -> Result<(), Diagnostic> {
        let predicate = match predicate {
            Some(predicate) => self.scalar(predicate)?,
            None => Operand::Bool(true),
        };
        let bits = self.together(SubgroupOp::Ballot, &[predicate]);
        let none = Operand::I32(0);
        self.finish(result, vec![bits, none, none, none]);
        Ok(())
    }

    pub(crate) fn gather(
        &mut self,
        mode: GatherMode,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<(), Diagnostic> {
        let values = self.scalars(argument)?;
        let exchange = match mode {
            GatherMode::QuadSwap(Direction::X) => Some(NEIGHBOURS),
            GatherMode::QuadSwap(Direction::Y) => Some(PAIRS),
            GatherMode::QuadSwap(Direction::Diagonal) => Some([3, 2, 1, 0]),
            _ => None,
        };
        let values = match exchange {
            Some(lanes) => self.shuffled(lanes, &values),
            None => match self.source(mode)? {
                Operand::I32(lane) => self.shuffled([lane.to_le_bytes()[0] % 4; 4], &values),
                lane => values.iter().map(|&value| self.together(SubgroupOp::Pick, &[value, lane])).collect(),
            },
        };
        self.finish(result, values);
        Ok(())
    }

    /// The lane whose value each lane gets, modulo their number.
    fn source(&mut self, mode: GatherMode) -> Result<Operand, Diagnostic> {
        let (op, number) = match mode {
            GatherMode::BroadcastFirst => {
                let on = self.together(SubgroupOp::Ballot, &[Operand::Bool(true)]);
                return Ok(self.b.op(Op::Ctz, &[on]));
            }
            // A quad is all of a subgroup.
            GatherMode::Broadcast(lane) | GatherMode::Shuffle(lane) | GatherMode::QuadBroadcast(lane) => {
                return self.scalar(lane);
            }
            GatherMode::ShuffleDown(delta) => (Op::Add, delta),
            GatherMode::ShuffleUp(delta) => (Op::Sub, delta),
            GatherMode::ShuffleXor(mask) => (Op::Xor, mask),
            GatherMode::QuadSwap(_) => return Err(self.defect("a swap that names a lane")),
        };
        let (lane, number) = (self.lane(), self.scalar(number)?);
        Ok(self.b.op(op, &[lane, number]))
    }

    pub(crate) fn collective(
        &mut self,
        op: SubgroupOperation,
        collective: CollectiveOperation,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<(), Diagnostic> {
        let shape = self.shape_of(argument)?;
        let values = self.scalars(argument)?;
        let fold = match op {
            SubgroupOperation::All | SubgroupOperation::Any => {
                let value = self.vote(op, &values)?;
                self.finish(result, vec![value]);
                return Ok(());
            }
            SubgroupOperation::Add => Fold::Operator(BinaryOperator::Add),
            SubgroupOperation::Mul => Fold::Operator(BinaryOperator::Multiply),
            SubgroupOperation::And => Fold::Operator(BinaryOperator::And),
            SubgroupOperation::Or => Fold::Operator(BinaryOperator::InclusiveOr),
            SubgroupOperation::Xor => Fold::Operator(BinaryOperator::ExclusiveOr),
            SubgroupOperation::Min => Fold::Function(MathFunction::Min),
            SubgroupOperation::Max => Fold::Function(MathFunction::Max),
        };
        let scalar = self.scalar_of(shape)?;
        let one = neutral(op, scalar);
        let count = values.len() / one.len().max(1);
        let neutral: Vec<_> = one.iter().copied().cycle().take(count * one.len()).collect();
        let values = self.folded(&fold, collective, shape, &values, &neutral)?;
        self.finish(result, values);
        Ok(())
    }

    fn vote(&mut self, op: SubgroupOperation, values: &[Operand]) -> Result<Operand, Diagnostic> {
        let &[value] = values else { return Err(self.defect("a vote on a vector")) };
        if op == SubgroupOperation::Any {
            let votes = self.together(SubgroupOp::Ballot, &[value]);
            return Ok(self.b.op(Op::Ne, &[votes, Operand::I32(0)]));
        }
        let against = self.b.op(Op::Not, &[value]);
        let votes = self.together(SubgroupOp::Ballot, &[against]);
        Ok(self.b.op(Op::Eq, &[votes, Operand::I32(0)]))
    }

    /// The values of all lanes that are on, as one, or of those up to each lane.
    fn folded(
        &mut self,
        fold: &Fold,
        collective: CollectiveOperation,
        shape: Shape,
        values: &[Operand],
        neutral: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostic> {
        if self.cx.workgroup_size == [1, 1, 1] {
            let alone = if collective == CollectiveOperation::ExclusiveScan { neutral } else { values };
            return Ok(alone.to_vec());
        }
        let on = self.together(SubgroupOp::Active, &[]);
        let mut all: Vec<_> =
            values.iter().zip(neutral).map(|(&value, &neutral)| self.b.select(on, value, neutral)).collect();
        if collective == CollectiveOperation::Reduce {
            for exchange in [NEIGHBOURS, PAIRS] {
                let others = self.shuffled(exchange, &all);
                all = self.combined(fold, shape, &all, &others)?;
            }
            return Ok(self.shuffled(FIRST, &all));
        }
        let lane = self.lane();
        for (start, handed_on) in [(1, NEXT), (2, SECOND_NEXT)] {
            let before = self.shuffled(handed_on, &all);
            let sums = self.combined(fold, shape, &before, &all)?;
            let has = self.b.op(Op::GeU, &[lane, Operand::I32(start)]);
            all = sums.iter().zip(&all).map(|(&sum, &own)| self.b.select(has, sum, own)).collect();
        }
        if collective == CollectiveOperation::InclusiveScan {
            return Ok(all);
        }
        let first = self.b.op(Op::Eq, &[lane, Operand::I32(0)]);
        let before = self.shuffled(NEXT, &all);
        Ok(before.iter().zip(neutral).map(|(&before, &neutral)| self.b.select(first, neutral, before)).collect())
    }

    fn shuffled(&mut self, lanes: [u8; 4], values: &[Operand]) -> Vec<Operand> {
        values.iter().map(|&value| self.together(SubgroupOp::Shuffle(lanes), &[value])).collect()
    }

    fn combined(
        &mut self,
        fold: &Fold,
        shape: Shape,
        a: &[Operand],
        b: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostic> {
        match *fold {
            Fold::Operator(op) => {
                let values = self.binary(op, (shape, shape), a, b)?;
                Ok(self.rounded_to(shape, values))
            }
            Fold::Function(fun) => self.math(fun, shape, shape, &[a.into(), b.into()]),
        }
    }
}

/// What a reduction has from lanes that are off, or before the first one.
fn neutral(op: SubgroupOperation, scalar: Scalar) -> Vec<Operand> {
    use SubgroupOperation::{All, And, Max, Min, Mul};
    match scalar.kind {
        ScalarKind::Bool => vec![Operand::Bool(matches!(op, All | And))],
        ScalarKind::Float => vec![Operand::float(match op {
            Mul => 1.0,
            Min => f32::INFINITY,
            Max => f32::NEG_INFINITY,
            _ => 0.0,
        })],
        kind => {
            let signed = kind == ScalarKind::Sint;
            let (low, high) = match op {
                Mul => (1, 0),
                And => (u32::MAX, u32::MAX),
                Min if signed => (u32::MAX, u32::MAX >> 1),
                Min => (u32::MAX, u32::MAX),
                Max if signed => (0, 1 << 31),
                _ => (0, 0),
            };
            if words(scalar) == 2 {
                vec![Operand::I32(low), Operand::I32(high)]
            } else {
                let only = if matches!(op, Min | Max) { high } else { low };
                vec![Operand::I32(only)]
            }
        }
    }
}
