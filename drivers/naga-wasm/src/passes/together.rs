//! A loop that all lanes go round together, before the one that they leave one by one.
//!
//! The body of a loop whose lanes part at its start is there twice, without masks and with them. Lanes that have left do not come back: once
//! they have parted, every further round is one with masks. So there are two loops, the first without a trace of the second, whose values
//! would take registers from it. Where lanes leave at any time there is one: many rounds would be those of the second, which is written to be
//! out of the way.

use std::collections::HashMap;

use super::coherence::{Crowd, MAX_PARTS};
use super::masks::{Masks, defect};
use super::shape::ends;
use crate::diagnostic::Diagnostic;
use crate::ir::{Inst, LANES, Label, Op, Operand, Reg, Stmt, walk};

/// What registers that do not change are made of.
type Definitions<'a> = HashMap<Reg, (Op, &'a [Operand])>;

/// A part of a condition.
#[derive(Clone, Copy)]
struct Part<'a> {
    value: Operand,
    made: Option<(Op, &'a [Operand])>,
}

/// The same value, or one that is made alike.
impl PartialEq for Part<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value || self.made.is_some() && self.made == other.made
    }
}

/// The parts of a condition, all of which have to hold.
fn parts<'a>(definitions: &Definitions<'a>, condition: Operand) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut open = vec![condition];
    while let Some(value) = open.pop() {
        let made = if let Operand::Reg(reg) = value { definitions.get(&reg).copied() } else { None };
        match made {
            Some((Op::And, args)) if parts.len() + open.len() < MAX_PARTS => open.extend(args),
            _ => parts.push(Part { value, made }),
        }
    }
    parts
}

impl Masks<'_> {
    /// Puts out a loop that lanes leave one by one, or both loops.
    pub(super) fn put_loop(
        &mut self,
        label: Label,
        crowd: Crowd,
        mut body: Vec<Stmt>,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let Some(together) = self.splits(label, crowd, &body) else {
            out.push(Stmt::Loop { label, body, rare: false });
            return Ok(());
        };
        let Some(Stmt::If { mut accept, reject, .. }) = body.pop() else { return Err(defect("a loop of one way")) };
        let parted = self.label();
        let leave = |condition, masks: &mut Self| {
            let jump = Stmt::Jump { label: parted, span: naga::Span::UNDEFINED };
            masks.choice_of(condition, Vec::new(), vec![jump])
        };
        let mut first = body.clone();
        let guards = self.guards(&mut accept, &mut first);
        for condition in together.into_iter().chain(guards) {
            first.push(leave(condition, self));
        }
        first.extend(accept);
        let enter = leave(Operand::Reg(crowd.whole), self);
        out.push(Stmt::Block { label: parted, body: vec![enter, Stmt::Loop { label, body: first, rare: false }] });
        body.extend(reject);
        let slow = self.label();
        redirect(&mut body, label, slow);
        out.push(Stmt::Loop { label: slow, body, rare: true });
        Ok(())
    }

    /// The conditions for another round of the first loop, if a loop can be two, and the second has a few rounds only.
    fn splits(&self, label: Label, crowd: Crowd, body: &[Stmt]) -> Option<Vec<Operand>> {
        let (Stmt::If { condition, accept, reject, .. }, before) = body.split_last()? else { return None };
        // What comes before the choice is done again by the second loop.
        if !before.iter().all(|stmt| self.is_repeatable(stmt)) || !jumps_to(accept, label) || !ends(reject) {
            return None;
        }
        let definitions = self.definitions(body);
        let whole = Operand::Reg(crowd.whole);
        let all = parts(&definitions, *condition);
        // Else lanes that parted might be together again in the next round, and the second loop would go on with masks.
        let parted_for_good = |value| {
            let parts = parts(&definitions, value);
            value == Operand::Bool(false) || all.iter().all(|part| parts.contains(part))
        };
        let splits = all.iter().any(|part| part.value == whole)
            && every_value(accept, crowd.whole, |value| value == Operand::Bool(true))
            && every_value(reject, crowd.whole, parted_for_good);
        let rounds: Vec<_> = all.iter().map(|part| part.value).filter(|&value| value != whole).collect();
        (splits && rounds.iter().all(|&value| self.count_alike(&definitions, crowd, value))).then_some(rounds)
    }

    /// Whether lanes that a condition sends out of a loop leave within a few rounds of each other, as they count alike.
    fn count_alike(&self, definitions: &Definitions, crowd: Crowd, condition: Operand) -> bool {
        let close = |arg: &Operand| self.variance_of(*arg).stride.is_some_and(|stride| stride <= LANES);
        let mut open = vec![condition];
        // They may be made of each other many times over.
        for _ in 0..2 * MAX_PARTS {
            let Some(value) = open.pop() else { return true };
            let Operand::Reg(reg) = value else { continue };
            let alike = match definitions.get(&reg).copied() {
                Some((Op::AllLtU | Op::AllLtS, _)) => true,
                Some((Op::And | Op::All | Op::Not, args)) => {
                    open.extend(args);
                    true
                }
                Some((Op::LtU | Op::GtU | Op::LeU | Op::GeU | Op::Eq | Op::Ne, args)) => args.iter().all(close),
                Some((Op::LtS | Op::GtS | Op::LeS | Op::GeS, args)) => args.iter().all(close),
                _ => reg == crowd.lanes,
            };
            if !alike {
                return false;
            }
        }
        false
    }

    /// Whether a statement may be done once more, with nothing changed.
    fn is_repeatable(&self, stmt: &Stmt) -> bool {
        let Stmt::Inst(inst @ (Inst::Op { .. } | Inst::Load { .. } | Inst::UniformLoad { .. })) = stmt else {
            return false;
        };
        let mut fixed = true;
        inst.defs(|reg| fixed &= self.is_fixed(reg));
        fixed
    }

    pub(super) fn is_fixed(&self, Reg(reg): Reg) -> bool {
        self.regs.get(reg as usize).is_some_and(|info| !info.mutable)
    }

    fn definitions<'a>(&self, body: &'a [Stmt]) -> Definitions<'a> {
        let mut definitions = HashMap::new();
        walk(body, &mut |stmt| {
            if let Stmt::Inst(Inst::Op { dst, op, args }) = stmt
                && self.is_fixed(*dst)
            {
                definitions.insert(*dst, (*op, args.as_slice()));
            }
        });
        definitions
    }
}

fn jumps_to(list: &[Stmt], label: Label) -> bool {
    matches!(list.last(), Some(Stmt::Jump { label: target, .. }) if *target == label)
}

/// Whether all that a variable is given in `list` is as asked for.
fn every_value(list: &[Stmt], variable: Reg, holds: impl Fn(Operand) -> bool) -> bool {
    let mut every = true;
    walk(list, &mut |stmt| {
        if let Stmt::Inst(inst) | Stmt::Masked { inst, .. } = stmt {
            let mut defines = false;
            inst.defs(|reg| defines |= reg == variable);
            let value = if let (Stmt::Inst(_), Inst::Op { op: Op::Copy, args, .. }) = (stmt, inst) {
                args.first()
            } else {
                None
            };
            every &= !defines || value.is_some_and(|&value| holds(value));
        }
    });
    every
}

/// Makes of all jumps to a label ones to another.
fn redirect(list: &mut [Stmt], from: Label, to: Label) {
    for stmt in list {
        match stmt {
            Stmt::Jump { label, .. } if *label == from => *label = to,
            Stmt::If { accept, reject, .. } => {
                redirect(accept, from, to);
                redirect(reject, from, to);
            }
            Stmt::Block { body, .. } | Stmt::Loop { body, .. } => redirect(body, from, to),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
