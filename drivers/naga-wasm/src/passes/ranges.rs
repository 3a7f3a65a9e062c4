//! Removes the clamps of indices that are known to be in range, and takes constants out of such indices.
//!
//! Each register has a greatest value, as an unsigned number, over all invocations. It follows from the operation that
//! makes it and, inside of what a condition decides about, from the condition, if that is the same for a gang: lanes
//! that are switched off compute too. For the same reason only indices keep no clamp that differ between lanes by a
//! stride or not at all; what a vector holds in such a lane may be anything.

use std::collections::HashMap;

use super::shape::ends;
use super::variance::{self, Variance};
use crate::ir::{Address, Builtin, Inst, LANES, Op, Operand, Reg, Stmt, Term, Unit};

/// Walks after which variables that still grow are taken to be any non-negative number, and any number at all.
const WALKS_TO_SIGN: u32 = 2;
const WALKS_TO_TOP: u32 = 4;

/// Walks after which variables are taken to be any number, all at once: each walk may find one more of a chain.
const MAX_WALKS: u32 = 24;

/// Parts of one condition that are looked at. They may be shared, so that there are far more ways to them than parts.
const MAX_PARTS: usize = 16;

/// Greatest number that is the same signed and unsigned.
const SIGN: u32 = i32::MAX.cast_unsigned();

/// Removes clamps in the entry point of a unit.
pub(crate) fn remove_clamps(unit: &mut Unit, variances: &[Variance]) {
    let mut body = std::mem::take(&mut unit.entry.body);
    let mut ranges = Ranges {
        max: vec![0; unit.entry.regs.len()],
        variables: unit.entry.regs.iter().map(|info| info.mutable).collect(),
        made: HashMap::new(),
        limits: HashMap::new(),
        refined: Vec::new(),
        variances,
        size: unit.workgroup_size,
        walks: 0,
        changed: true,
        rewrites: false,
    };
    while ranges.changed {
        ranges.changed = false;
        ranges.list(&mut body);
        ranges.walks += 1;
        if ranges.walks == MAX_WALKS {
            // What is made of them follows, as it comes after them.
            ranges.give_up();
        }
    }
    ranges.rewrites = true;
    ranges.list(&mut body);
    unit.entry.body = body;
}

struct Ranges<'a> {
    /// The greatest value of each register.
    max: Vec<u32>,
    variables: Vec<bool>,
    /// What registers with one definition are made of.
    made: HashMap<Reg, (Op, Vec<Operand>)>,
    /// What conditions say here.
    limits: HashMap<Reg, u32>,
    /// What they said of a register before, innermost last.
    refined: Vec<(Reg, Option<u32>)>,
    variances: &'a [Variance],
    size: [u32; 3],
    walks: u32,
    changed: bool,
    rewrites: bool,
}

impl Ranges<'_> {
    fn variance(&self, operand: Operand) -> Variance {
        variance::of_operand(self.variances, self.size, operand)
    }

    fn is_variable(&self, Reg(reg): Reg) -> bool {
        self.variables.get(reg as usize).copied().unwrap_or(true)
    }

    fn max(&self, operand: Operand) -> u32 {
        match operand {
            Operand::I32(value) => value,
            Operand::Bool(_) => 1,
            Operand::F32(_) => u32::MAX,
            Operand::Builtin(builtin) => self.max_builtin(builtin),
            Operand::Reg(reg) => {
                let known = self.max.get(reg.0 as usize).copied().unwrap_or(u32::MAX);
                known.min(self.limits.get(&reg).copied().unwrap_or(u32::MAX))
            }
        }
    }

    /// The last gang may have lanes beyond the workgroup.
    fn max_builtin(&self, builtin: Builtin) -> u32 {
        let beyond = |count: u32| count.saturating_add(LANES - 1).saturating_sub(1);
        match builtin {
            Builtin::Local(axis) => match self.size.get(usize::from(axis)) {
                Some(1) => 0,
                Some(&size) if size.is_multiple_of(LANES) => size - 1,
                Some(&size) => beyond(size),
                None => u32::MAX,
            },
            Builtin::LocalIndex => {
                let count = self.size.iter().fold(1, |product: u32, &size| product.saturating_mul(size));
                if count.is_multiple_of(LANES) { count.saturating_sub(1) } else { beyond(count) }
            }
            _ => u32::MAX,
        }
    }

    fn list(&mut self, body: &mut [Stmt]) {
        let depth = self.refined.len();
        for stmt in body.iter_mut() {
            self.stmt(stmt);
        }
        self.forget(depth);
    }

    /// Goes back to what conditions said when so many registers were refined.
    fn forget(&mut self, depth: usize) {
        for (reg, before) in self.refined.drain(depth.min(self.refined.len())..).rev() {
            match before {
                Some(limit) => self.limits.insert(reg, limit),
                None => self.limits.remove(&reg),
            };
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Inst(inst) | Stmt::Masked { inst, .. } => self.inst(inst),
            Stmt::If { condition, accept, reject, .. } => {
                let gang = self.variance(*condition).is_gang();
                for (arm, holds) in [(&mut *accept, true), (&mut *reject, false)] {
                    let depth = self.refined.len();
                    if gang {
                        self.refine(*condition, holds);
                    }
                    self.list(arm);
                    self.forget(depth);
                }
                // What follows is reached by the other part only; it holds until the list around it ends.
                match (ends(accept), ends(reject)) {
                    (false, true) if gang => self.refine(*condition, true),
                    (true, false) if gang => self.refine(*condition, false),
                    _ => {}
                }
            }
            Stmt::Block { body, .. } | Stmt::Loop { body, .. } => self.list(body),
            Stmt::Jump { .. } | Stmt::Return { .. } | Stmt::Barrier { .. } => {}
        }
    }

    /// Takes note of what follows if a condition holds, or does not.
    fn refine(&mut self, condition: Operand, holds: bool) {
        let mut parts = vec![(condition, holds)];
        for _ in 0..MAX_PARTS {
            let Some((part, holds)) = parts.pop() else { return };
            let Operand::Reg(reg) = part else { continue };
            let Some((op, args)) = self.made.get(&reg).cloned() else { continue };
            match (op, holds, args.as_slice()) {
                (Op::Not, _, &[other]) => parts.push((other, !holds)),
                (Op::And, true, &[a, b]) => parts.extend([(b, true), (a, true)]),
                (_, _, &[a, b]) => self.compare(op, holds, a, b),
                _ => {}
            }
        }
    }

    /// Takes note of what follows from a comparison.
    fn compare(&mut self, op: Op, holds: bool, a: Operand, b: Operand) {
        let (less, more, strict, signed) = match (op, holds) {
            (Op::LtU, true) | (Op::GeU, false) => (a, b, true, false),
            (Op::LtS, true) | (Op::GeS, false) => (a, b, true, true),
            (Op::LeU, true) | (Op::GtU, false) => (a, b, false, false),
            (Op::LeS, true) | (Op::GtS, false) => (a, b, false, true),
            (Op::GtU, true) | (Op::LeU, false) => (b, a, true, false),
            (Op::GtS, true) | (Op::LeS, false) => (b, a, true, true),
            (Op::GeU, true) | (Op::LtU, false) => (b, a, false, false),
            (Op::GeS, true) | (Op::LtS, false) => (b, a, false, true),
            _ => return,
        };
        let limit = self.max(more);
        if let Operand::Reg(reg) = less
            && !self.is_variable(reg)
            && !(signed && (limit > SIGN || self.max(less) > SIGN))
        {
            let limit = limit.saturating_sub(u32::from(strict)).min(self.max(less));
            let before = self.limits.insert(reg, limit);
            self.refined.push((reg, before));
        }
    }

    fn inst(&mut self, inst: &mut Inst) {
        if self.rewrites {
            self.rewrite(inst);
            return;
        }
        if let Inst::Op { dst, op, args } = inst {
            let max = self.result(*op, args);
            self.define(*dst, max);
            if !self.is_variable(*dst) {
                self.made.entry(*dst).or_insert_with(|| (*op, args.clone()));
            }
            return;
        }
        inst.defs(|reg| self.define(reg, u32::MAX));
    }

    fn give_up(&mut self) {
        for (max, _) in self.max.iter_mut().zip(&self.variables).filter(|(_, variable)| **variable) {
            *max = u32::MAX;
        }
        self.changed = true;
    }

    fn define(&mut self, reg: Reg, max: u32) {
        // The others are made of variables and follow them, within what conditions say.
        let variable = self.is_variable(reg);
        let Some(slot) = self.max.get_mut(reg.0 as usize) else { return };
        if max <= *slot {
            return;
        }
        *slot = match self.walks {
            WALKS_TO_TOP.. if variable => u32::MAX,
            WALKS_TO_SIGN.. if variable && max <= SIGN => SIGN,
            _ => max,
        };
        self.changed = true;
    }

    fn result(&self, op: Op, args: &[Operand]) -> u32 {
        let any = u32::MAX;
        let max = |at: usize| args.get(at).map_or(any, |&arg| self.max(arg));
        let ones = |value: u32| u32::MAX.checked_shr(value.leading_zeros()).unwrap_or(0);
        match (op, args) {
            (Op::Copy | Op::ToNumber, _) => max(0),
            (Op::Select, _) => max(0).max(max(1)),
            (Op::Add, _) => max(0).checked_add(max(1)).unwrap_or(any),
            (Op::Mul, _) => max(0).checked_mul(max(1)).unwrap_or(any),
            (Op::MinU | Op::And, _) => max(0).min(max(1)),
            (Op::Or | Op::Xor, _) => ones(max(0) | max(1)),
            (Op::RemU, &[_, Operand::I32(divisor)]) if divisor > 0 => max(0).min(divisor - 1),
            (Op::RemS, &[_, Operand::I32(divisor)]) if max(0) <= SIGN && divisor > 0 && divisor <= SIGN => {
                max(0).min(divisor - 1)
            }
            (Op::DivU, &[_, Operand::I32(divisor)]) if divisor > 0 => max(0) / divisor,
            (Op::DivS, &[_, Operand::I32(divisor)]) if max(0) <= SIGN && divisor > 0 && divisor <= SIGN => {
                max(0) / divisor
            }
            (Op::DivU | Op::RemU, _) => max(0),
            (Op::ShrU, &[_, Operand::I32(count)]) => max(0) >> (count % 32),
            (Op::ShrU, _) => max(0),
            (Op::Shl, &[_, Operand::I32(count)]) => max(0).checked_mul(1 << (count % 32)).unwrap_or(any),
            (Op::Clz | Op::Ctz | Op::Popcnt, _) => 32,
            _ => any,
        }
    }

    fn rewrite(&self, inst: &mut Inst) {
        match inst {
            Inst::Load { address, .. }
            | Inst::LoadRow { address, .. }
            | Inst::UniformLoad { address, .. }
            | Inst::Store { address, .. }
            | Inst::Fill { address, .. }
            | Inst::Atomic { address, .. } => self.unclamp(address),
            Inst::Move { to, from, .. } => {
                self.unclamp(to);
                self.unclamp(from);
            }
            Inst::Op { .. } | Inst::Subgroup { .. } | Inst::Call { .. } => {}
        }
    }

    fn unclamp(&self, address: &mut Address) {
        for term in &mut address.terms {
            if let Some(Operand::I32(last)) = term.last
                && self.variance(term.index).stride.is_some()
                && self.max(term.index) <= last
            {
                term.last = None;
            }
            if term.last.is_none() {
                while let Some((inner, bytes)) = self.inner(term) {
                    let Some(offset) = address.offset.checked_add(bytes) else { break };
                    (*term, address.offset) = (inner, offset);
                }
            }
        }
    }

    /// A term without a constant that its index is a sum or a product with, and what that adds to the offset.
    fn inner(&self, term: &Term) -> Option<(Term, u32)> {
        let Operand::Reg(reg) = term.index else { return None };
        let (op, args) = self.made.get(&reg)?;
        let (index, constant) = match *args.as_slice() {
            [index, Operand::I32(constant)] => (index, constant),
            [Operand::I32(constant), index] if *op != Op::Shl => (index, constant),
            _ => return None,
        };
        if matches!(index, Operand::Reg(reg) if self.is_variable(reg)) || self.variance(index).stride.is_none() {
            return None;
        }
        let scaled = |factor: u32| {
            self.max(index).checked_mul(factor)?;
            Some((Term { index, last: None, stride: term.stride.checked_mul(factor)? }, 0))
        };
        match op {
            Op::Add => {
                self.max(index).checked_add(constant)?;
                Some((Term { index, ..*term }, constant.checked_mul(term.stride)?))
            }
            Op::Mul => scaled(constant),
            Op::Shl if constant < 32 => scaled(1 << constant),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
