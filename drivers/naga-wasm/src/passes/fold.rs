//! Propagates constants and copies, drops what is not reached, and unrolls short loops.
//!
//! The function is written anew from front to back. What a variable holds is known from its last assignment until
//! control flow from elsewhere comes in. A condition that is known leaves one of its parts; a block that nothing jumps
//! out of is dissolved. A loop of few rounds, all of which are known to be taken, becomes its rounds.

use std::collections::{HashMap, HashSet};

use crate::ir::{Address, Base, Func, Inst, Label, Op, Operand, Reg, RegInfo, Stmt, Term, walk, walk_insts};
use crate::lower::builder;

/// Most rounds of a loop that is unrolled, and most statements that come of it. Code generators do all loads of such a list first, and keep
/// what they loaded in memory if that is too much.
const MAX_ROUNDS: usize = 16;
const MAX_UNROLLED: usize = 400;

/// The same for a loop that picks elements of objects by what changes from round to round: where all are picked by constants, they are kept
/// in registers. What they hold has to fit there.
const MAX_PICKING_ROUNDS: usize = 8;
const MAX_PICKING_UNROLLED: usize = 1024;

/// Statements that may be written in all, those of attempts included. When they are used up, nothing more is unrolled.
const MAX_WRITTEN: usize = 1 << 18;

/// Rewrites a function.
pub(crate) fn fold(func: &mut Func) {
    let mut folder = Folder {
        old: &func.regs,
        regs: Vec::new(),
        map: vec![None; func.regs.len()],
        bound: Vec::new(),
        labels: HashMap::new(),
        next_label: 1,
        known: HashMap::new(),
        changes: Vec::new(),
        jumped: Vec::new(),
        written: 0,
        attempts: 0,
    };
    let params = func.params.iter().map(|&param| folder.define(param)).collect();
    let mut body = Vec::new();
    folder.list(&func.body, &mut body);
    let regs = folder.regs;
    func.params = params;
    func.regs = regs;
    func.body = body;
}

/// What was known of a variable before a change.
struct Change {
    variable: Reg,
    before: Option<Operand>,
    /// The variable was assigned to. Otherwise it was only read, so that what it held is known by another name.
    assigned: bool,
}

struct Folder<'a> {
    old: &'a [RegInfo],
    regs: Vec<RegInfo>,
    /// What each old register is now.
    map: Vec<Option<Operand>>,
    /// What they were before, since an attempt to unroll a loop began.
    bound: Vec<(Reg, Option<Operand>)>,
    labels: HashMap<Label, Label>,
    next_label: u32,
    /// What variables hold: constants, built-in values or registers with one definition. By new names.
    known: HashMap<Reg, Operand>,
    /// What became known, or no longer so, since control flow was last joined.
    changes: Vec<Change>,
    /// Variables that were assigned to on ways that end in a jump.
    jumped: Vec<Reg>,
    /// Statements written so far, those of attempts included.
    written: usize,
    /// Attempts that are not decided.
    attempts: u32,
}

impl Folder<'_> {
    fn is_variable(&self, Reg(reg): Reg) -> bool {
        self.regs.get(reg as usize).is_some_and(|info| info.mutable)
    }

    /// The register that an old one is defined as: a new one each time, if it has one definition.
    fn define(&mut self, old: Reg) -> Reg {
        let info = self.old.get(old.0 as usize).copied().unwrap_or(RegInfo { ty: crate::ir::Ty::I32, mutable: true });
        if let (true, Some(&Some(Operand::Reg(known)))) = (info.mutable, self.map.get(old.0 as usize)) {
            return known;
        }
        let reg = Reg(u32::try_from(self.regs.len()).unwrap_or(u32::MAX));
        self.regs.push(info);
        self.bind(old, Operand::Reg(reg));
        reg
    }

    fn bind(&mut self, old: Reg, value: Operand) {
        if let Some(slot) = self.map.get_mut(old.0 as usize) {
            let before = slot.replace(value);
            if self.attempts > 0 {
                self.bound.push((old, before));
            }
        }
    }

    /// What an old operand is now.
    fn operand(&mut self, operand: Operand) -> Operand {
        let Operand::Reg(old) = operand else { return operand };
        let new = match self.map.get(old.0 as usize).copied().flatten() {
            Some(new) => new,
            // A variable that is read before it is set, or a register that is not reached.
            None => Operand::Reg(self.define(old)),
        };
        match new {
            Operand::Reg(reg) => self.known.get(&reg).copied().unwrap_or(new),
            _ => new,
        }
    }

    fn address(&mut self, address: &Address) -> Address {
        let mut new = Address { base: address.base, terms: Vec::new(), offset: address.offset };
        for term in &address.terms {
            let index = self.operand(term.index);
            let last = term.last.map(|last| self.operand(last));
            let constant = match (index, last) {
                (Operand::I32(0), _) => Some(0),
                (Operand::I32(index), None) => Some(index),
                (Operand::I32(index), Some(Operand::I32(last))) => Some(index.min(last)),
                _ => None,
            };
            let offset = constant.and_then(|index| index.checked_mul(term.stride)?.checked_add(new.offset));
            match offset {
                Some(offset) => new.offset = offset,
                None => new.terms.push(Term { index, last, stride: term.stride }),
            }
        }
        new
    }

    /// Takes note of what a variable holds from now on.
    fn learn(&mut self, variable: Reg, value: Option<Operand>, assigned: bool) {
        let before = match value {
            Some(value) => self.known.insert(variable, value),
            None => self.known.remove(&variable),
        };
        self.changes.push(Change { variable, before, assigned });
    }

    /// Goes back to what was known at a place in the changes; answers which variables were assigned to since.
    fn go_back(&mut self, place: usize) -> Vec<Reg> {
        let mut assigned = Vec::new();
        while self.changes.len() > place {
            let Some(change) = self.changes.pop() else { break };
            match change.before {
                Some(value) => self.known.insert(change.variable, value),
                None => self.known.remove(&change.variable),
            };
            if change.assigned {
                assigned.push(change.variable);
            }
        }
        assigned.sort_unstable();
        assigned.dedup();
        assigned
    }

    fn forget(&mut self, variables: Vec<Reg>) {
        for variable in variables {
            self.learn(variable, None, true);
        }
    }

    fn fresh_label(&mut self) -> Label {
        self.next_label += 1;
        Label(self.next_label - 1)
    }

    /// A new name for a label.
    fn label(&mut self, old: Label) -> Label {
        let new = self.fresh_label();
        self.labels.insert(old, new);
        new
    }

    fn target(&self, old: Label) -> Label {
        self.labels.get(&old).copied().unwrap_or(old)
    }

    /// Writes a list; answers whether its end is reached.
    fn list(&mut self, body: &[Stmt], out: &mut Vec<Stmt>) -> bool {
        body.iter().all(|stmt| {
            self.written += 1;
            self.stmt(stmt, out)
        })
    }

    fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) -> bool {
        match stmt {
            Stmt::Inst(inst) => self.inst(inst, out),
            // There are none before masks are lowered.
            Stmt::Masked { .. } => out.push(stmt.clone()),
            Stmt::If { label, condition, accept, reject, span } => {
                let condition = self.operand(*condition);
                if let Operand::Bool(holds) = condition {
                    return self.list(if holds { accept } else { reject }, out);
                }
                let label = self.label(*label);
                let (accept, accepted) = self.arm(accept);
                let (reject, rejected) = self.arm(reject);
                out.push(Stmt::If { label, condition, accept, reject, span: *span });
                let reached = accepted.is_some() || rejected.is_some();
                self.forget([accepted, rejected].into_iter().flatten().flatten().collect());
                return reached;
            }
            Stmt::Block { label, body } => return self.block(*label, body, out),
            Stmt::Loop { label, body, .. } => return self.repeat(*label, body, out),
            Stmt::Jump { label, span } => {
                out.push(Stmt::Jump { label: self.target(*label), span: *span });
                return false;
            }
            Stmt::Return { values } => {
                let values = values.iter().map(|&value| self.operand(value)).collect();
                out.push(Stmt::Return { values });
                return false;
            }
            Stmt::Barrier { span } => {
                // What is known by the name of a register would have to be kept twice while others are at work.
                let names = self.known.iter().filter(|(_, value)| matches!(value, Operand::Reg(_)));
                let names = names.map(|(&variable, _)| variable).collect();
                self.forget(names);
                out.push(Stmt::Barrier { span: *span });
            }
        }
        true
    }

    /// One part of an `if`; which variables it assigns to, if its end is reached.
    fn arm(&mut self, body: &[Stmt]) -> (Vec<Stmt>, Option<Vec<Reg>>) {
        let place = self.changes.len();
        let mut out = Vec::new();
        let reached = self.list(body, &mut out);
        let assigned = self.go_back(place);
        if !reached {
            self.jumped.extend(&assigned);
        }
        (out, reached.then_some(assigned))
    }

    fn block(&mut self, label: Label, body: &[Stmt], out: &mut Vec<Stmt>) -> bool {
        let label = self.label(label);
        let (place, jumped) = (self.changes.len(), self.jumped.len());
        let mut inside = Vec::new();
        let mut reached = self.list(body, &mut inside);
        if matches!(inside.last(), Some(Stmt::Jump { label: target, .. }) if *target == label) {
            inside.pop();
            reached = true;
        }
        if jumps_to(&inside, label) == 0 {
            out.append(&mut inside);
            return reached;
        }
        let mut assigned = self.go_back(place);
        // The jumps may lead further out, so that they are looked at there again.
        assigned.extend(self.jumped.get(jumped..).unwrap_or_default());
        self.forget(assigned);
        out.push(Stmt::Block { label, body: inside });
        true
    }

    fn repeat(&mut self, label: Label, body: &[Stmt], out: &mut Vec<Stmt>) -> bool {
        if let Some((mut rounds, reached)) = self.unroll(label, body) {
            out.append(&mut rounds);
            return reached;
        }
        let mut assigned = Vec::new();
        walk_insts(body, &mut |inst| inst.defs(|reg| assigned.push(reg)));
        assigned.sort_unstable();
        assigned.dedup();
        for old in assigned {
            if let Some(&Some(Operand::Reg(variable))) = self.map.get(old.0 as usize)
                && self.is_variable(variable)
            {
                self.learn(variable, None, true);
            }
        }
        let place = self.changes.len();
        let label = self.label(label);
        let mut inside = Vec::new();
        let reached = self.list(body, &mut inside);
        let assigned = self.go_back(place);
        self.forget(assigned);
        let again = jumps_to(&inside, label) > 0;
        if again {
            out.push(Stmt::Loop { label, body: inside, rare: false });
        } else {
            out.append(&mut inside);
        }
        reached
    }

    /// The rounds of a loop, if it is known how many there are and they are few; and whether their end is reached.
    fn unroll(&mut self, label: Label, body: &[Stmt]) -> Option<(Vec<Stmt>, bool)> {
        if !self.counts(body) {
            return None;
        }
        let (place, regs, bound) = (self.changes.len(), self.regs.len(), self.bound.len());
        self.attempts += 1;
        let rounds = self.rounds(label, body);
        self.attempts -= 1;
        if rounds.is_none() {
            self.go_back(place);
            self.regs.truncate(regs);
            for (Reg(old), before) in self.bound.drain(bound..).rev() {
                if let Some(slot) = self.map.get_mut(old as usize) {
                    *slot = before;
                }
            }
        }
        if self.attempts == 0 {
            self.bound.clear();
        }
        rounds
    }

    /// Whether the body of a loop picks elements of objects by what it changes itself, not only loops inside of it.
    fn picks(&self, body: &[Stmt]) -> bool {
        let mut changing = HashSet::new();
        own(body, &mut |inst| {
            if let Inst::Op { dst, args, .. } = inst
                && self.old.get(dst.0 as usize).is_some_and(|info| info.mutable)
                && args.iter().any(|arg| matches!(arg, Operand::Reg(_)))
            {
                changing.insert(*dst);
            }
        });
        let mut picks = false;
        walk_insts(body, &mut |inst| {
            let changes = |operand: &Operand| matches!(operand, Operand::Reg(reg) if changing.contains(reg));
            inst.addresses(&mut |address| {
                let object = matches!(address.base, Base::Object(_));
                picks |= object && address.terms.iter().any(|term| changes(&term.index));
            });
            if let Inst::Op { dst, args, .. } = inst
                && args.iter().any(changes)
            {
                changing.insert(*dst);
            }
        });
        picks
    }

    /// Writes the rounds of a loop one after the other, until one does not lead to another.
    fn rounds(&mut self, label: Label, body: &[Stmt]) -> Option<(Vec<Stmt>, bool)> {
        let mut all = Vec::new();
        let mut statements = 0;
        let picks = self.picks(body);
        for count in 0..=MAX_ROUNDS {
            let most = if picks && count <= MAX_PICKING_ROUNDS { MAX_PICKING_UNROLLED } else { MAX_UNROLLED };
            let top = self.label(label);
            let mut round = Vec::new();
            let reached = self.list(body, &mut round);
            walk(&round, &mut |_| statements += 1);
            let again = matches!(round.last(), Some(Stmt::Jump { label, .. }) if *label == top);
            if again {
                round.pop();
            }
            if jumps_to(&round, top) > 0 || statements > most || self.written > MAX_WRITTEN {
                return None;
            }
            all.append(&mut round);
            if !again {
                return Some((all, reached));
            }
        }
        None
    }

    /// Whether a loop changes a number that is known at its start, as a counter is, and is small enough.
    fn counts(&self, body: &[Stmt]) -> bool {
        let (mut count, mut statements) = (false, 0usize);
        walk(body, &mut |stmt| {
            statements += 1;
            if let Stmt::Inst(Inst::Op { dst, op: Op::Copy, .. }) = stmt
                && let Some(&Some(Operand::Reg(variable))) = self.map.get(dst.0 as usize)
                && let Some(Operand::I32(_)) = self.known.get(&variable)
            {
                count = true;
            }
        });
        count && statements <= MAX_PICKING_UNROLLED && self.written + statements <= MAX_WRITTEN
    }

    fn inst(&mut self, inst: &Inst, out: &mut Vec<Stmt>) {
        let new = match inst {
            Inst::Op { dst, op, args } => {
                let args: Vec<_> = args.iter().map(|&arg| self.operand(arg)).collect();
                return self.op(*dst, *op, args, out);
            }
            Inst::Load { dst, cell, address } => {
                let address = self.address(address);
                Inst::Load { dst: self.define(*dst), cell: *cell, address }
            }
            Inst::LoadRow { dsts, cell, address, by_index } => {
                let address = self.address(address);
                Inst::LoadRow { dsts: dsts.map(|dst| self.define(dst)), cell: *cell, address, by_index: *by_index }
            }
            Inst::UniformLoad { dst, cell, address } => {
                let address = self.address(address);
                Inst::UniformLoad { dst: self.define(*dst), cell: *cell, address }
            }
            Inst::Store { cell, address, value } => {
                Inst::Store { cell: *cell, address: self.address(address), value: self.operand(*value) }
            }
            Inst::Fill { address, length } => Inst::Fill { address: self.address(address), length: *length },
            Inst::Move { to, from, length, grain } => {
                Inst::Move { to: self.address(to), from: self.address(from), length: *length, grain: *grain }
            }
            Inst::Atomic { dst, op, address, value, compare } => {
                let (address, value) = (self.address(address), self.operand(*value));
                let compare = self.operand(*compare);
                Inst::Atomic { dst: dst.map(|dst| self.define(dst)), op: *op, address, value, compare }
            }
            Inst::Subgroup { dst, op, args } => {
                let args = args.iter().map(|&arg| self.operand(arg)).collect();
                Inst::Subgroup { dst: self.define(*dst), op: *op, args }
            }
            Inst::Call { function, args, results } => {
                let args = args.iter().map(|&arg| self.operand(arg)).collect();
                let results = results.iter().map(|&result| self.define(result)).collect();
                Inst::Call { function: *function, args, results }
            }
        };
        let mut defined = Vec::new();
        new.defs(|reg| defined.push(reg));
        for reg in defined.into_iter().filter(|&reg| self.is_variable(reg)).collect::<Vec<_>>() {
            self.learn(reg, None, true);
        }
        out.push(Stmt::Inst(new));
    }

    fn op(&mut self, dst: Reg, op: Op, args: Vec<Operand>, out: &mut Vec<Stmt>) {
        let (op, args) = cheaper(op, args);
        let mutable = self.old.get(dst.0 as usize).is_none_or(|info| info.mutable);
        let folded = match (op, args.as_slice()) {
            (Op::Copy, &[Operand::Reg(reg)]) => (!self.is_variable(reg)).then_some(Operand::Reg(reg)),
            _ => builder::fold(op, &args),
        };
        let folded = folded.filter(|&value| !matches!(value, Operand::Reg(reg) if self.is_variable(reg)));
        if let (Some(value), false) = (folded, mutable) {
            self.bind(dst, value);
            return;
        }
        let new = self.define(dst);
        if mutable {
            let args = folded.map_or(args, |value| vec![value]);
            let op = if folded.is_some() { Op::Copy } else { op };
            out.push(Stmt::Inst(Inst::Op { dst: new, op, args }));
            self.learn(new, folded, true);
            return;
        }
        if let (Op::Copy, &[Operand::Reg(variable)]) = (op, args.as_slice()) {
            // Until it is assigned to, this is what the variable holds.
            self.learn(variable, Some(Operand::Reg(new)), false);
        }
        out.push(Stmt::Inst(Inst::Op { dst: new, op, args }));
    }
}

/// Calls `f` for each instruction that is not in a loop.
fn own<'a>(body: &'a [Stmt], f: &mut impl FnMut(&'a Inst)) {
    for stmt in body {
        match stmt {
            Stmt::Inst(inst) | Stmt::Masked { inst, .. } => f(inst),
            Stmt::If { accept, reject, .. } => {
                own(accept, f);
                own(reject, f);
            }
            Stmt::Block { body, .. } => own(body, f),
            Stmt::Loop { .. } | Stmt::Jump { .. } | Stmt::Return { .. } | Stmt::Barrier { .. } => {}
        }
    }
}

/// The same with a cheaper operation, if there is one.
fn cheaper(op: Op, args: Vec<Operand>) -> (Op, Vec<Operand>) {
    match (op, args.as_slice()) {
        (Op::DivU, &[value, Operand::I32(divisor)]) if divisor.is_power_of_two() => {
            (Op::ShrU, vec![value, Operand::I32(divisor.trailing_zeros())])
        }
        (Op::RemU, &[value, Operand::I32(divisor)]) if divisor.is_power_of_two() => {
            (Op::And, vec![value, Operand::I32(divisor - 1)])
        }
        // By a power of two of which the reciprocal is a number: the results are the same bits.
        (Op::FDiv, &[value, Operand::F32(divisor)])
            if f32::from_bits(divisor).is_normal()
                && f32::from_bits(divisor).recip().is_normal()
                && divisor.trailing_zeros() >= f32::MANTISSA_DIGITS - 1 =>
        {
            (Op::FMul, vec![value, Operand::float(f32::from_bits(divisor).recip())])
        }
        _ => (op, args),
    }
}

/// How many jumps to a label there are.
fn jumps_to(body: &[Stmt], label: Label) -> usize {
    let mut jumps = 0;
    walk(body, &mut |stmt| jumps += usize::from(matches!(stmt, Stmt::Jump { label: target, .. } if *target == label)));
    jumps
}

#[cfg(test)]
mod tests;
