//! Finds values that are the same in all invocations of a workgroup.
//!
//! It starts by believing that everything is, and takes back what cannot be shown until nothing changes. A variable is
//! uniform if all that is ever assigned to it is, and if all invocations get to each assignment together. They part at
//! a condition that is not uniform, and where a jump leaves such a condition they stay parted up to its target.

use std::collections::HashMap;

use crate::ir::{Address, Base, Builtin, Func, Inst, Label, ObjectId, Operand, Stmt, Unit, walk};

/// Rounds after which no variable is believed in any more. Real kernels take a handful; a chain of variables that hand
/// a value on from round to round of a loop would take one for each.
const MAX_ROUNDS: u32 = 64;

/// What is uniform in one function.
#[derive(Debug)]
pub(crate) struct Uniformity {
    regs: Vec<bool>,
    objects: Vec<bool>,
    /// Loops whose rounds the invocations do not go through together.
    parted: HashMap<Label, bool>,
    results: bool,
    changed: bool,
    workgroup_size: [u32; 3],
    /// Per kept function: whether its results are uniform if its arguments are.
    callees: Vec<bool>,
    read_only: Vec<bool>,
}

/// Analyses the entry point of a unit.
pub(crate) fn analyse(unit: &Unit) -> Uniformity {
    let mut callees = Vec::new();
    for function in &unit.functions {
        let result = analyse_func(unit, function, &callees).results;
        callees.push(result);
    }
    analyse_func(unit, &unit.entry, &callees)
}

fn analyse_func(unit: &Unit, func: &Func, callees: &[bool]) -> Uniformity {
    let mut uniformity = Uniformity {
        regs: vec![true; func.regs.len()],
        objects: unit.objects.iter().map(|object| !object.shared).collect(),
        parted: HashMap::new(),
        results: true,
        changed: true,
        workgroup_size: unit.workgroup_size,
        callees: callees.to_vec(),
        read_only: unit.bindings.iter().map(|binding| !binding.writes).collect(),
    };
    // Each round that changes something takes at least one belief back, so it ends.
    let mut rounds = 0;
    while uniformity.changed {
        uniformity.changed = false;
        uniformity.list(&func.body, false, &mut Vec::new());
        rounds += 1;
        if rounds == MAX_ROUNDS {
            uniformity.give_up(func);
        }
    }
    uniformity
}

impl Uniformity {
    /// Whether an operand is the same in all invocations of a workgroup.
    pub(crate) fn is_uniform(&self, operand: Operand) -> bool {
        match operand {
            Operand::Reg(reg) => self.regs.get(reg.0 as usize).copied().unwrap_or(false),
            Operand::I32(_) | Operand::F32(_) => true,
            Operand::Builtin(builtin) => match builtin {
                Builtin::Local(axis) | Builtin::Global(axis) => self.workgroup_size.get(axis as usize) == Some(&1),
                Builtin::LocalIndex => self.workgroup_size == [1, 1, 1],
                Builtin::Group(_) | Builtin::Groups(_) | Builtin::Last(_) | Builtin::Constant(_) => true,
            },
        }
    }

    /// Believes no more in variables, objects and loops. What is left follows in a round or two.
    fn give_up(&mut self, func: &Func) {
        for (slot, info) in self.regs.iter_mut().zip(&func.regs) {
            *slot &= !info.mutable;
        }
        self.objects.fill(false);
        walk(&func.body, &mut |stmt| {
            if let Stmt::Loop { label, .. } = stmt {
                self.parted.insert(*label, true);
            }
        });
        self.changed = true;
    }

    fn list(&mut self, body: &[Stmt], parted: bool, pending: &mut Vec<Label>) {
        for stmt in body {
            let here = parted || !pending.is_empty();
            match stmt {
                Stmt::Inst(inst) => self.inst(inst, here),
                Stmt::If { condition, accept, reject, .. } => {
                    let inside = parted || !self.is_uniform(*condition);
                    // Neither arm is after the other: jumps out of one do not part the other.
                    let before = pending.clone();
                    self.list(accept, inside, pending);
                    let mut other = before;
                    self.list(reject, inside, &mut other);
                    for label in other {
                        if !pending.contains(&label) {
                            pending.push(label);
                        }
                    }
                }
                Stmt::Block { label, body } => {
                    self.list(body, parted, pending);
                    pending.retain(|waiting| waiting != label);
                }
                Stmt::Loop { label, body } => self.repeat(*label, body, parted, pending),
                Stmt::Jump { label, .. } => {
                    if here && !pending.contains(label) {
                        pending.push(*label);
                    }
                }
                Stmt::Return { values } => {
                    let uniform = !here && values.iter().all(|&value| self.is_uniform(value));
                    self.results &= uniform;
                    // Label 0 is never made: the end of the function.
                    if here && !pending.contains(&Label(0)) {
                        pending.push(Label(0));
                    }
                }
                Stmt::Barrier { .. } => {}
            }
        }
    }

    fn repeat(&mut self, label: Label, body: &[Stmt], parted: bool, pending: &mut Vec<Label>) {
        let known = self.parted.get(&label).copied().unwrap_or(false);
        let before = pending.len();
        self.list(body, parted || known, pending);
        // A parted jump to the start, or out of the loop: the rounds are no longer taken together.
        if pending.len() > before && !known {
            self.parted.insert(label, true);
            self.changed = true;
        }
        pending.retain(|&waiting| waiting != label);
    }

    fn inst(&mut self, inst: &Inst, parted: bool) {
        let mut uniform = true;
        inst.operands(|operand| uniform &= self.is_uniform(operand));
        uniform &= match inst {
            Inst::Op { .. } | Inst::Store { .. } | Inst::Fill { .. } => true,
            // All invocations read it, and nobody writes in between.
            Inst::UniformLoad { .. } => true,
            Inst::Load { address, .. } => self.memory_is_uniform(address),
            Inst::Move { from, .. } => self.memory_is_uniform(from),
            Inst::Atomic { .. } => false,
            Inst::Call { function, .. } => self.callees.get(*function as usize).copied().unwrap_or(false),
        };
        match inst {
            Inst::Store { address, .. } | Inst::Fill { address, .. } | Inst::Move { to: address, .. } => {
                if let Base::Object(object) = address.base
                    && (!uniform || parted)
                {
                    self.part_object(object);
                }
            }
            _ => {}
        }
        let mut lost = Vec::new();
        inst.defs(|reg| lost.push(reg));
        // A register with one definition that is made in parted control flow is the same in all that make it.
        let is_copy = matches!(inst, Inst::Op { op: crate::ir::Op::Copy, .. });
        if !uniform || (parted && is_copy) {
            for reg in lost {
                if let Some(slot) = self.regs.get_mut(reg.0 as usize)
                    && *slot
                {
                    *slot = false;
                    self.changed = true;
                }
            }
        }
    }

    fn memory_is_uniform(&self, address: &Address) -> bool {
        match address.base {
            Base::Binding(binding) => self.read_only.get(binding as usize).copied().unwrap_or(false),
            Base::Workgroup => false,
            Base::Object(ObjectId(object)) => self.objects.get(object as usize).copied().unwrap_or(false),
        }
    }

    fn part_object(&mut self, ObjectId(object): ObjectId) {
        if let Some(slot) = self.objects.get_mut(object as usize)
            && *slot
        {
            *slot = false;
            self.changed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Op, Reg, RegInfo, Ty};
    use naga::Span;

    const SPAN: Span = Span::UNDEFINED;

    fn unit(body: Vec<Stmt>, mutable: &[bool]) -> Unit {
        let regs = mutable.iter().map(|&mutable| RegInfo { ty: Ty::I32, mutable }).collect();
        Unit {
            entry: Func { params: Vec::new(), results: Vec::new(), regs, body, span: SPAN },
            functions: Vec::new(),
            objects: Vec::new(),
            bindings: Vec::new(),
            workgroup_bytes: 0,
            workgroup_size: [8, 1, 1],
            constant_bytes: 0,
        }
    }

    fn copy(dst: u32, value: Operand) -> Stmt {
        Stmt::Inst(Inst::Op { dst: Reg(dst), op: Op::Copy, args: vec![value] })
    }

    fn when(condition: Operand, accept: Vec<Stmt>) -> Stmt {
        Stmt::If { condition, accept, reject: Vec::new(), span: SPAN }
    }

    const LANE: Operand = Operand::Builtin(Builtin::LocalIndex);
    const GROUP: Operand = Operand::Builtin(Builtin::Group(0));

    fn of(unit: &Unit, reg: u32) -> bool {
        analyse(unit).is_uniform(Operand::Reg(Reg(reg)))
    }

    #[test]
    fn assignment_under_a_condition_that_differs_makes_a_variable_differ() {
        let one = Operand::I32(1);
        assert!(of(&unit(vec![copy(0, one), when(GROUP, vec![copy(0, GROUP)])], &[true]), 0));
        assert!(!of(&unit(vec![copy(0, one), when(LANE, vec![copy(0, one)])], &[true]), 0));
        assert!(!of(&unit(vec![copy(0, LANE)], &[true]), 0));
    }

    #[test]
    fn after_a_jump_that_not_all_take_control_differs_until_its_target() {
        let out = Label(1);
        let jump = when(LANE, vec![Stmt::Jump { label: out, span: SPAN }]);
        let inside = vec![jump, copy(0, Operand::I32(1))];
        let body = vec![copy(0, GROUP), copy(1, GROUP), Stmt::Block { label: out, body: inside }, copy(1, GROUP)];
        let unit = unit(body, &[true, true]);
        assert!(!of(&unit, 0));
        assert!(of(&unit, 1));
    }

    #[test]
    fn a_loop_that_not_all_leave_together_makes_its_counter_differ() {
        let (out, top) = (Label(1), Label(2));
        let round = |condition: Operand| {
            let body = vec![
                when(condition, vec![Stmt::Jump { label: out, span: SPAN }]),
                Stmt::Inst(Inst::Op { dst: Reg(1), op: Op::Add, args: vec![Operand::Reg(Reg(0)), Operand::I32(1)] }),
                copy(0, Operand::Reg(Reg(1))),
                Stmt::Jump { label: top, span: SPAN },
            ];
            let body = vec![Stmt::Loop { label: top, body }];
            unit(vec![copy(0, Operand::I32(0)), Stmt::Block { label: out, body }], &[true, false])
        };
        assert!(of(&round(GROUP), 0));
        assert!(!of(&round(LANE), 0));
        assert!(of(&round(Operand::Reg(Reg(1))), 0));
    }
}
