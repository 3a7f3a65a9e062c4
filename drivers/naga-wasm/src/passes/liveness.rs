//! Finds which variables hold a value that is still needed, at the places where invocations that parted meet again, and
//! removes assignments whose value nobody needs.
//!
//! Registers with one definition are not looked at: nothing overwrites them.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ir::{Func, Inst, Label, Operand, Reg, Stmt};

/// Times that a function is walked for its loops. Each level of nested loops may take one more.
const MAX_WALKS: u32 = 12;

/// Bits that all sets together may have, 8 MiB. A function with more variables and more control flow is not analysed.
const MAX_BITS: usize = 64 << 20;

/// A set of variables.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Set {
    words: Vec<u64>,
    /// Contains everything, whatever the words say.
    all: bool,
}

impl Set {
    fn insert(&mut self, at: usize) {
        if let Some(word) = self.words.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    fn remove(&mut self, at: usize) {
        if let Some(word) = self.words.get_mut(at / 64) {
            *word &= !(1 << (at % 64));
        }
    }

    fn contains(&self, at: usize) -> bool {
        self.all || self.words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    fn add(&mut self, other: &Self) {
        self.all |= other.all;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }
}

/// Sets by label. Labels are small numbers, and these are asked for at each assignment and each parting around it.
#[derive(Debug, Default)]
struct Sets(Vec<Option<Rc<Set>>>);

impl Sets {
    fn get(&self, Label(label): Label) -> Option<&Set> {
        self.0.get(label as usize)?.as_deref()
    }

    fn insert(&mut self, Label(label): Label, set: Rc<Set>) {
        let at = label as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        if let Some(slot) = self.0.get_mut(at) {
            *slot = Some(set);
        }
    }
}

/// What is needed where.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    /// Place in the sets of each register, if it is a variable.
    places: Vec<Option<usize>>,
    /// After the block or the `if` of a label.
    after: Sets,
    /// At the start of what an `if` does when its condition does not hold.
    reject: Sets,
}

impl Liveness {
    /// Whether invocations that jumped to the end of a block, or wait there, need the value that `reg` has before.
    pub(crate) fn is_live_after(&self, label: Label, reg: Reg) -> bool {
        self.is_live(&self.after, label, reg)
    }

    /// Whether invocations that will do the other part of an `if` need the value that `reg` has before.
    pub(crate) fn is_live_in_reject(&self, label: Label, reg: Reg) -> bool {
        self.is_live(&self.reject, label, reg)
    }

    fn is_live(&self, sets: &Sets, label: Label, reg: Reg) -> bool {
        let Some(place) = self.places.get(reg.0 as usize).copied().flatten() else { return false };
        // Where nothing is known, everything may be needed.
        sets.get(label).is_none_or(|set| set.contains(place))
    }
}

/// Analyses a function.
pub(crate) fn analyse(func: &Func) -> Liveness {
    walk_through(func).liveness
}

/// Removes assignments to variables that nobody needs.
pub(crate) fn remove_assignments(func: &mut Func) {
    let mut walker = walk_through(func);
    if walker.unknown {
        return;
    }
    walker.needed = Some(Vec::new());
    let end = walker.empty.clone();
    walker.list(&func.body, end);
    sweep(&mut func.body, &mut walker.needed.unwrap_or_default().into_iter());
}

/// Removes the instructions that are not needed; they come in the order in which the walker meets them.
fn sweep(body: &mut Vec<Stmt>, needed: &mut impl Iterator<Item = bool>) {
    let mut kept = Vec::with_capacity(body.len());
    for mut stmt in std::mem::take(body).into_iter().rev() {
        match &mut stmt {
            Stmt::Inst(_) if needed.next() == Some(false) => continue,
            Stmt::If { accept, reject, .. } => {
                sweep(reject, needed);
                sweep(accept, needed);
            }
            Stmt::Block { body, .. } | Stmt::Loop { body, .. } => sweep(body, needed),
            _ => {}
        }
        kept.push(stmt);
    }
    kept.reverse();
    *body = kept;
}

fn walk_through(func: &Func) -> Walker {
    let mut count = 0;
    let places = func.regs.iter().map(|info| {
        info.mutable.then(|| {
            count += 1;
            count - 1
        })
    });
    let places: Vec<_> = places.collect();
    let mut controls = 0usize;
    crate::ir::walk(&func.body, &mut |stmt| {
        controls += usize::from(matches!(stmt, Stmt::If { .. } | Stmt::Block { .. } | Stmt::Loop { .. }));
    });
    let mut walker = Walker {
        liveness: Liveness { places, ..Liveness::default() },
        empty: Set { words: vec![0; count.div_ceil(64)], all: false },
        tops: HashMap::new(),
        targets: HashMap::new(),
        changed: true,
        everything: false,
        unknown: controls.saturating_mul(2 * count) > MAX_BITS,
        needed: None,
    };
    if walker.unknown {
        return walker;
    }
    let mut walks = 0;
    while walker.changed && walks <= MAX_WALKS {
        walker.changed = false;
        if walks == MAX_WALKS {
            walker.everything = true;
        }
        let end = walker.empty.clone();
        walker.list(&func.body, end);
        walks += 1;
    }
    walker
}

struct Walker {
    liveness: Liveness,
    empty: Set,
    /// What is needed at the start of each loop, as far as it is known.
    tops: HashMap<Label, Set>,
    /// What is needed where a jump to a label leads.
    targets: HashMap<Label, Rc<Set>>,
    changed: bool,
    /// Everything is taken to be needed at the start of every loop.
    everything: bool,
    /// The function is too large to be analysed.
    unknown: bool,
    /// Whether each instruction is needed, if that is asked for; the last one comes first.
    needed: Option<Vec<bool>>,
}

impl Walker {
    /// What is needed before a list, given what is needed after it.
    fn list(&mut self, body: &[Stmt], mut live: Set) -> Set {
        for stmt in body.iter().rev() {
            live = self.stmt(stmt, live);
        }
        live
    }

    fn stmt(&mut self, stmt: &Stmt, mut live: Set) -> Set {
        match stmt {
            Stmt::Inst(inst) => self.inst(inst, &mut live),
            Stmt::Masked { mask, inst } => {
                // It may leave what it defines as it was.
                inst.uses(|reg| self.need(reg, &mut live));
                self.need_operand(*mask, &mut live);
            }
            Stmt::If { label, condition, accept, reject, .. } => {
                let after = Rc::new(live);
                self.liveness.after.insert(*label, after.clone());
                let other = self.list(reject, (*after).clone());
                live = self.list(accept, (*after).clone());
                live.add(&other);
                self.liveness.reject.insert(*label, Rc::new(other));
                self.need_operand(*condition, &mut live);
            }
            Stmt::Block { label, body } => {
                let after = Rc::new(live);
                self.liveness.after.insert(*label, after.clone());
                self.targets.insert(*label, after.clone());
                live = self.list(body, (*after).clone());
            }
            Stmt::Loop { label, body, .. } => {
                let mut top = self.tops.get(label).unwrap_or(&self.empty).clone();
                top.all |= self.everything;
                self.targets.insert(*label, Rc::new(top.clone()));
                live = self.list(body, live);
                live.all |= top.all;
                if live != top {
                    self.tops.insert(*label, live.clone());
                    self.changed = true;
                }
            }
            Stmt::Jump { label, .. } => {
                live = self.targets.get(label).map_or_else(|| self.empty.clone(), |set| (**set).clone());
            }
            Stmt::Return { values } => {
                live = self.empty.clone();
                values.iter().for_each(|&value| self.need_operand(value, &mut live));
            }
            Stmt::Barrier { .. } => {}
        }
        live
    }

    fn inst(&mut self, inst: &Inst, live: &mut Set) {
        if let Some(needed) = &mut self.needed {
            let place = match inst {
                Inst::Op { dst, .. } | Inst::Load { dst, .. } => self.liveness.places.get(dst.0 as usize).copied(),
                _ => None,
            };
            let is_needed = place.flatten().is_none_or(|place| live.contains(place));
            needed.push(is_needed);
            if !is_needed {
                return;
            }
        }
        inst.defs(|reg| {
            if let Some(place) = self.place(reg) {
                live.remove(place);
            }
        });
        inst.uses(|reg| self.need(reg, live));
    }

    fn need_operand(&self, operand: Operand, live: &mut Set) {
        if let Operand::Reg(reg) = operand {
            self.need(reg, live);
        }
    }

    fn need(&self, reg: Reg, live: &mut Set) {
        if let Some(place) = self.place(reg) {
            live.insert(place);
        }
    }

    fn place(&self, reg: Reg) -> Option<usize> {
        self.liveness.places.get(reg.0 as usize).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Op, RegInfo, Ty};
    use naga::Span;

    const SPAN: Span = Span::UNDEFINED;

    fn copy(dst: u32, value: Operand) -> Stmt {
        Stmt::Inst(Inst::Op { dst: Reg(dst), op: Op::Copy, args: vec![value] })
    }

    fn reg(reg: u32) -> Operand {
        Operand::Reg(Reg(reg))
    }

    fn of(body: Vec<Stmt>) -> Liveness {
        let regs = vec![RegInfo { ty: Ty::I32, mutable: true }; 4];
        analyse(&Func { params: Vec::new(), results: Vec::new(), regs, body, span: SPAN })
    }

    #[test]
    fn what_is_read_later_is_needed_and_what_is_set_first_is_not() {
        let arms = |accept, reject| Stmt::If { label: Label(1), condition: reg(3), accept, reject, span: SPAN };
        let body = vec![
            arms(vec![copy(0, Operand::I32(1))], vec![copy(2, reg(1))]),
            copy(1, Operand::I32(2)),
            copy(2, reg(0)),
            copy(2, reg(1)),
        ];
        let live = of(body);
        assert!(live.is_live_after(Label(1), Reg(0)));
        assert!(!live.is_live_after(Label(1), Reg(1)));
        assert!(live.is_live_in_reject(Label(1), Reg(1)));
        assert!(!live.is_live_in_reject(Label(1), Reg(2)));
    }

    #[test]
    fn a_counter_is_needed_in_its_loop_and_not_behind_it() {
        let (out, top) = (Label(1), Label(2));
        let leave = Stmt::If {
            label: Label(3),
            condition: reg(0),
            accept: vec![Stmt::Jump { label: out, span: SPAN }],
            reject: Vec::new(),
            span: SPAN,
        };
        let round = vec![leave, copy(1, reg(0)), copy(0, reg(2)), Stmt::Jump { label: top, span: SPAN }];
        let body = vec![Stmt::Loop { label: top, body: round, rare: false }];
        let live = of(vec![copy(0, Operand::I32(0)), Stmt::Block { label: out, body }, copy(3, reg(1))]);
        assert!(!live.is_live_after(out, Reg(0)));
        assert!(live.is_live_after(out, Reg(1)));
        // The next round reads it.
        assert!(live.is_live_after(Label(3), Reg(0)));
        assert!(live.is_live_after(Label(3), Reg(2)));
    }
}
