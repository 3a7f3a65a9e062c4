//! Whether all lanes are on, where it can be had for less than a look at each of them.
//!
//! Most loops of a kernel are those of lanes that all go round, `for (i = index; i < count; i += size)`. There a scalar says
//! whether all lanes are still in the loop, and one comparison of scalars whether they all go on.

use std::collections::HashMap;

use super::masks::{Mask, Masks, copy};
use super::variance::{self, MAX_STRIDE, Variance};
use crate::ir::{Op, Operand, Reg, RegInfo, Stmt, Ty};

/// How many masks are looked into for one answer: a mask may be made of many, and of the same ones again and again.
pub(super) const MAX_PARTS: usize = 8;

/// The lanes in a loop: a variable for them, and one for whether all are known to be there.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Crowd {
    pub(super) lanes: Reg,
    pub(super) whole: Reg,
}

/// How a mask was made.
#[derive(Clone, Copy)]
enum Making {
    Both(Operand, Operand),
    Not(Operand),
    Compare(Op, Operand, Operand),
    Crowd(Crowd),
}

/// How masks were made, as far as it helps.
#[derive(Default)]
pub(super) struct Makings(HashMap<Reg, Making>);

impl Makings {
    /// Takes note of an operation, if its operands do not change.
    pub(super) fn note(&mut self, regs: &[RegInfo], dst: Reg, op: Op, args: &[Operand]) {
        let stays = |operand: &Operand| match operand {
            Operand::Reg(Reg(reg)) => regs.get(*reg as usize).is_some_and(|info| !info.mutable),
            _ => true,
        };
        let is_mask = regs.get(dst.0 as usize).is_some_and(|info| info.ty == Ty::Bool && !info.mutable);
        let making = match (op, args) {
            // The lanes of a loop change where it starts again, and these masks are made again after that.
            (Op::And, &[a, b]) if is_mask && args.iter().all(|arg| stays(arg) || self.is_crowd(*arg)) => {
                Making::Both(a, b)
            }
            (Op::Not, &[a]) if is_mask && stays(&a) => Making::Not(a),
            (Op::LtU | Op::GtU | Op::LeU | Op::GeU | Op::LtS | Op::GtS | Op::LeS | Op::GeS, &[a, b])
                if args.iter().all(stays) =>
            {
                Making::Compare(op, a, b)
            }
            _ => return,
        };
        self.0.insert(dst, making);
    }

    fn of(&self, mask: Operand) -> Option<Making> {
        let Operand::Reg(reg) = mask else { return None };
        self.0.get(&reg).copied()
    }

    fn is_crowd(&self, mask: Operand) -> bool {
        matches!(self.of(mask), Some(Making::Crowd(_)))
    }

    /// The comparison `a < b` that a mask is, if it is one.
    fn less(&self, mask: Operand) -> Option<(Op, Operand, Operand)> {
        match self.of(mask)? {
            Making::Compare(Op::LtU, a, b) => Some((Op::AllLtU, a, b)),
            Making::Compare(Op::GtU, a, b) => Some((Op::AllLtU, b, a)),
            Making::Compare(Op::LtS, a, b) => Some((Op::AllLtS, a, b)),
            Making::Compare(Op::GtS, a, b) => Some((Op::AllLtS, b, a)),
            Making::Not(negated) => match self.of(negated)? {
                Making::Compare(Op::GeU, a, b) => Some((Op::AllLtU, a, b)),
                Making::Compare(Op::LeU, a, b) => Some((Op::AllLtU, b, a)),
                Making::Compare(Op::GeS, a, b) => Some((Op::AllLtS, a, b)),
                Making::Compare(Op::LeS, a, b) => Some((Op::AllLtS, b, a)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Masks<'_> {
    /// Variables for the lanes in a loop.
    pub(super) fn crowd(&mut self) -> Crowd {
        let crowd = Crowd { lanes: self.lanes(), whole: self.new_reg(Ty::Bool, true, Variance::GANG) };
        self.makings.0.insert(crowd.lanes, Making::Crowd(crowd));
        crowd
    }

    /// Sets the lanes in a loop.
    pub(super) fn gather(&mut self, crowd: Crowd, mask: Mask, out: &mut Vec<Stmt>) {
        let whole = self.all(mask, out);
        out.push(copy(crowd.lanes, mask.operand()));
        out.push(copy(crowd.whole, whole));
    }

    /// Whether all lanes are on. It may also say no if they are.
    pub(super) fn all(&mut self, mask: Mask, out: &mut Vec<Stmt>) -> Operand {
        self.all_of(mask.operand(), &mut { MAX_PARTS }, out)
    }

    fn all_of(&mut self, mask: Operand, parts: &mut usize, out: &mut Vec<Stmt>) -> Operand {
        if let Operand::Bool(_) = mask {
            return mask;
        }
        match self.makings.of(mask) {
            Some(Making::Both(a, b)) if *parts > 0 => {
                *parts -= 1;
                let a = self.all_of(a, parts, out);
                let b = self.all_of(b, parts, out);
                return self.op_of(Op::And, &[a, b], Variance::GANG, out);
            }
            Some(Making::Crowd(crowd)) => return Operand::Reg(crowd.whole),
            _ => {}
        }
        if let Some((op, number, limit)) = self.makings.less(mask)
            && self.variance_of(number).stride.is_some_and(|stride| stride <= MAX_STRIDE)
            && self.variance_of(limit).is_gang()
        {
            return self.op_of(op, &[number, limit], Variance::GANG, out);
        }
        self.op_of(Op::All, &[mask], Variance::GANG, out)
    }

    pub(super) fn variance_of(&self, operand: Operand) -> Variance {
        variance::of_operand(self.variances, self.workgroup_size, operand)
    }
}

#[cfg(test)]
mod tests;
