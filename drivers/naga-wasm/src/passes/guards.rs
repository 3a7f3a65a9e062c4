//! Indices that keep to their limits in all lanes, found so before a loop's round.
//!
//! A load or store whose lanes lie a stride apart is one instruction where its index keeps to the limit, and else another way around, which
//! takes registers from all that stands beside it. Where [`super::together`] makes two loops of one, the second is that other way: a
//! round is one of the first only if the indices keep to their limits, too.

use std::collections::{HashMap, HashSet};

use super::masks::Masks;
use super::sums::{Sum, Sums};
use super::variance::{self, MAX_STRIDE, Variance};
use crate::ir::{Address, Base, Inst, Op, Operand, Reg, Stmt, Term, Ty, walk_insts};

/// Most checks before a list, and most operations that an index is made of: a check is to be cheaper than what it saves.
const MAX_CHECKS: usize = 4;
const MAX_OPERATIONS: usize = 8;

/// How far apart indices are that one check is for.
const MAX_SPAN: u32 = 1 << 10;

/// Indices with one limit that differ by a constant.
struct Check {
    something: u32,
    last: Operand,
    /// The least of the constants, and an index that has it.
    least: u32,
    index: Operand,
    /// How much greater the greatest is.
    span: u32,
}

/// What a list of statements has for its checks.
#[derive(Default)]
struct Guards {
    /// Operations on registers that do not change.
    made: HashMap<Reg, (Op, Vec<Operand>)>,
    /// All that the list defines.
    inside: HashSet<Reg>,
    sums: Sums,
    checks: Vec<Check>,
}

impl Masks<'_> {
    /// Takes the limits off the accesses of a list, as far as they can be checked before it; puts out what that takes, and answers the
    /// conditions.
    pub(super) fn guards(&mut self, list: &mut [Stmt], out: &mut Vec<Stmt>) -> Vec<Operand> {
        let mut guards = Guards::default();
        walk_insts(list, &mut |inst| {
            inst.defs(|reg| {
                guards.inside.insert(reg);
            });
        });
        for stmt in list.iter_mut() {
            match stmt {
                Stmt::Inst(Inst::Op { dst, op, args }) if self.can_move(*dst, *op, args) => {
                    guards.made.insert(*dst, (*op, args.clone()));
                    guards.sums.note(*dst, *op, args);
                }
                Stmt::Inst(Inst::Load { address, .. } | Inst::Store { address, .. }) => {
                    self.note_access(address, &mut guards);
                }
                _ => {}
            }
        }
        let mut operations = Vec::new();
        guards.checks = std::mem::take(&mut guards.checks)
            .into_iter()
            .filter(|check| self.collect(check.index, &guards, &mut operations))
            .take(MAX_CHECKS)
            .collect();
        for stmt in list {
            if let Stmt::Inst(Inst::Load { address, .. } | Inst::Store { address, .. }) = stmt
                && let Some((term, sum, last)) = self.limited(address, &mut guards.sums)
                && guards.checks.iter().any(|check| check.covers(sum, last))
            {
                term.last = None;
            }
        }
        for reg in operations {
            if let Some((op, args)) = guards.made.remove(&reg) {
                out.push(Stmt::Inst(Inst::Op { dst: reg, op, args }));
            }
        }
        let checks = guards.checks.into_iter().map(|Check { last, index, span, .. }| {
            let limit = self.limit(last, span, out);
            self.op_of(Op::AllLtU, &[index, limit], Variance::GANG, out)
        });
        checks.collect()
    }

    fn can_move(&self, dst: Reg, op: Op, args: &[Operand]) -> bool {
        let moves = matches!(op, Op::Copy | Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::ShrU | Op::And);
        let fixed = |arg: &Operand| if let Operand::Reg(reg) = arg { self.is_fixed(*reg) } else { true };
        moves && self.is_fixed(dst) && args.iter().all(fixed)
    }

    /// The term of an access that has a check if its limit can be checked, its index and the limit.
    fn limited<'a>(&self, address: &'a mut Address, sums: &mut Sums) -> Option<(&'a mut Term, Sum, Operand)> {
        if matches!(address.base, Base::Object(_)) {
            return None;
        }
        let same = |term: &Term| variance::is_same(self.variances, self.workgroup_size, term);
        let mut apart = address.terms.iter_mut().filter(|term| !same(term));
        let (Some(term), None) = (apart.next(), apart.next()) else { return None };
        let Some(last @ (Operand::I32(_) | Operand::Builtin(_))) = term.last else { return None };
        let strided = self.variance_of(term.index).stride.is_some_and(|stride| stride <= MAX_STRIDE);
        let sum = sums.of(term.index).filter(|_| strided)?;
        Some((term, sum, last))
    }

    fn note_access(&self, address: &mut Address, guards: &mut Guards) {
        let Some((term, Sum { something, constant }, last)) = self.limited(address, &mut guards.sums) else { return };
        let index = term.index;
        let known = guards.checks.iter_mut().find(|check| (check.something, check.last) == (something, last));
        let Some(check) = known else {
            guards.checks.push(Check { something, last, least: constant, index, span: 0 });
            return;
        };
        let above = constant.wrapping_sub(check.least);
        let below = check.least.wrapping_sub(constant);
        if above <= MAX_SPAN {
            check.span = check.span.max(above);
        } else if below <= MAX_SPAN - check.span {
            *check = Check { least: constant, index, span: check.span + below, ..*check };
        }
    }

    /// Collects the operations of the list that a value is made of, in their order; false if it cannot be had before.
    fn collect(&self, value: Operand, guards: &Guards, operations: &mut Vec<Reg>) -> bool {
        let Operand::Reg(reg) = value else { return true };
        if operations.contains(&reg) || !guards.inside.contains(&reg) {
            return self.is_fixed(reg);
        }
        let Some((_, args)) = guards.made.get(&reg) else { return false };
        if operations.len() >= MAX_OPERATIONS || !args.iter().all(|&arg| self.collect(arg, guards, operations)) {
            return false;
        }
        operations.push(reg);
        true
    }

    /// What an index has to be less than for the one `span` above it to be at most `last`.
    fn limit(&mut self, last: Operand, span: u32, out: &mut Vec<Stmt>) -> Operand {
        if let Operand::I32(last) = last {
            return Operand::I32(last.saturating_add(1).saturating_sub(span));
        }
        let mut op = |op, a, b| {
            let dst = self.new_reg(Ty::I32, false, Variance::WORKGROUP);
            out.push(Stmt::Inst(Inst::Op { dst, op, args: vec![a, b] }));
            Operand::Reg(dst)
        };
        let count = op(Op::Add, last, Operand::I32(1));
        if span == 0 {
            return count;
        }
        let reachable = op(Op::MinU, count, Operand::I32(span));
        op(Op::Sub, count, reachable)
    }
}

impl Check {
    /// Whether it is for an index.
    fn covers(&self, sum: Sum, last: Operand) -> bool {
        (self.something, self.last) == (sum.something, last) && sum.constant.wrapping_sub(self.least) <= self.span
    }
}

#[cfg(test)]
mod tests;
