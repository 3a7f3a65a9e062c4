//! Finds how values differ between the invocations of a workgroup, and where these part.
//!
//! It starts by believing that nothing differs, and takes back what cannot be shown until nothing changes. A variable
//! has the [`Variance`] that all that is ever assigned to it has, if those that part from an assignment do not read it
//! later. Invocations part at a condition that is not the same for all, and where a jump leaves such a condition they
//! stay parted up to its target.
//!
//! There are two ways to part. Gangs may go different ways at a condition that is the same within each; that matters
//! for barriers only. Lanes of one gang that go different ways need masks.

use std::collections::{HashMap, HashSet};

use super::liveness::Liveness;
use super::partings::{Parting, Partings};
use super::variance::{Variance, builtin_variance, result, subgroup};
use crate::ir::{Address, Base, Func, Inst, Label, ObjectId, Op, Operand, Reg, Stmt, Unit, walk};

/// Rounds after which no variable is believed in any more. Real kernels take a handful; a chain of variables that hand
/// a value on from round to round of a loop would take one for each.
const MAX_ROUNDS: u32 = 64;

/// The same, in statements looked at, each counted once more for every parting around it: large functions get fewer rounds.
const MAX_WORK: usize = 1 << 24;

/// How values differ in one function, and where its invocations part.
#[derive(Debug)]
pub(crate) struct Uniformity {
    regs: Vec<Option<Variance>>,
    /// Whether all lanes of a gang have the same in an object, so that one copy is enough.
    objects: Vec<bool>,
    /// Objects whose contents differ between invocations of the workgroup.
    parted_objects: Vec<bool>,
    /// Loops whose rounds the invocations do not go through together.
    parted: HashSet<Label>,
    /// Labels that lanes leave a loop for while others go on, per loop.
    escapes: HashMap<Label, Vec<Label>>,
    results: bool,
    changed: bool,
    workgroup_size: [u32; 3],
    /// Per kept function: whether its results are uniform if its arguments are.
    callees: Vec<bool>,
    read_only: Vec<bool>,
}

/// Analyses the entry point of a unit.
pub(crate) fn analyse(unit: &Unit, liveness: &Liveness) -> Uniformity {
    let mut callees = Vec::new();
    for function in &unit.functions {
        let result = analyse_func(unit, function, &Liveness::default(), &callees).results;
        callees.push(result);
    }
    if unit.is_single() {
        return Uniformity::of_one(unit);
    }
    analyse_func(unit, &unit.entry, liveness, &callees)
}

fn analyse_func(unit: &Unit, func: &Func, liveness: &Liveness, callees: &[bool]) -> Uniformity {
    let differs = |object: &crate::ir::Object| object.shared;
    let mut uniformity = Uniformity {
        regs: vec![None; func.regs.len()],
        objects: unit.objects.iter().map(|object| !differs(object)).collect(),
        parted_objects: unit.objects.iter().map(differs).collect(),
        parted: HashSet::new(),
        escapes: HashMap::new(),
        results: true,
        changed: true,
        workgroup_size: unit.workgroup_size,
        callees: callees.to_vec(),
        read_only: unit.bindings.iter().map(|binding| !binding.writes).collect(),
    };
    for &param in &func.params {
        uniformity.define(param, Variance::WORKGROUP);
    }
    // Each round that changes something takes at least one belief back, so it ends.
    let (mut rounds, mut work, mut given_up) = (0, 0, false);
    while uniformity.changed {
        uniformity.changed = false;
        let mut walker = Walker { of: &mut uniformity, liveness, split: Split::default(), work };
        walker.list(&func.body);
        work = walker.work;
        rounds += 1;
        if !given_up && (rounds == MAX_ROUNDS || work > MAX_WORK) {
            uniformity.give_up(func);
            given_up = true;
        }
    }
    uniformity
}

impl Uniformity {
    /// Of a workgroup of one invocation.
    fn of_one(unit: &Unit) -> Self {
        Self {
            regs: vec![Some(Variance::WORKGROUP); unit.entry.regs.len()],
            objects: vec![true; unit.objects.len()],
            parted_objects: vec![false; unit.objects.len()],
            parted: HashSet::new(),
            escapes: HashMap::new(),
            results: true,
            changed: false,
            workgroup_size: unit.workgroup_size,
            callees: Vec::new(),
            read_only: Vec::new(),
        }
    }

    /// Whether an operand is the same in all invocations of a workgroup.
    pub(crate) fn is_uniform(&self, operand: Operand) -> bool {
        self.variance(operand).workgroup
    }

    /// How an operand differs.
    pub(crate) fn variance(&self, operand: Operand) -> Variance {
        self.known(operand).unwrap_or(Variance::WORKGROUP)
    }

    /// The variance of every register.
    pub(crate) fn registers(&self) -> Vec<Variance> {
        self.regs.iter().map(|known| known.unwrap_or(Variance::WORKGROUP)).collect()
    }

    /// Whether one copy of an object serves all lanes.
    pub(crate) fn is_one_copy(&self, ObjectId(object): ObjectId) -> bool {
        self.objects.get(object as usize).copied().unwrap_or(false)
    }

    /// Labels that lanes leave a loop for while others go on.
    pub(crate) fn escapes(&self, label: Label) -> &[Label] {
        self.escapes.get(&label).map_or(&[], Vec::as_slice)
    }

    /// The same, none if nothing was ever assigned to the register.
    fn known(&self, operand: Operand) -> Option<Variance> {
        match operand {
            Operand::Reg(reg) => self.regs.get(reg.0 as usize).copied().flatten(),
            Operand::I32(value) => Some(Variance::constant(value)),
            Operand::Bool(_) | Operand::F32(_) => Some(Variance::WORKGROUP),
            Operand::Builtin(builtin) => Some(builtin_variance(builtin, self.workgroup_size)),
        }
    }

    fn define(&mut self, reg: Reg, variance: Variance) {
        let Some(slot) = self.regs.get_mut(reg.0 as usize) else { return };
        let joined = slot.map_or(variance, |before| before.join(variance));
        if *slot != Some(joined) {
            *slot = Some(joined);
            self.changed = true;
        }
    }

    /// Believes no more in variables, objects and loops. What is left follows in a few rounds.
    fn give_up(&mut self, func: &Func) {
        for (slot, info) in self.regs.iter_mut().zip(&func.regs) {
            if info.mutable {
                *slot = Some(Variance::VARYING);
            }
        }
        self.objects.fill(false);
        self.parted_objects.fill(true);
        walk(&func.body, &mut |stmt| {
            if let Stmt::Loop { label, .. } = stmt {
                self.parted.insert(*label);
            }
        });
        self.changed = true;
    }

    fn load(&self, address: &Address) -> Option<Variance> {
        let mut lanes = Variance::WORKGROUP;
        let mut known = true;
        address.operands(&mut |operand| match self.known(operand) {
            Some(variance) => lanes = lanes.join(variance),
            None => known = false,
        });
        if !known {
            return None;
        }
        let (workgroup, gang) = match address.base {
            // All lanes read at the same time, so what they read from one place is the same.
            Base::Binding(binding) => (self.read_only.get(binding as usize).copied().unwrap_or(false), true),
            Base::Workgroup => (false, true),
            Base::Object(id @ ObjectId(object)) => {
                (!self.parted_objects.get(object as usize).copied().unwrap_or(true), self.is_one_copy(id))
            }
        };
        Some(if lanes.is_gang() && gang {
            Variance { workgroup: lanes.workgroup && workgroup, ..Variance::GANG }
        } else {
            Variance::VARYING
        })
    }
}

/// How far invocations have parted at some place.
#[derive(Clone, Debug, Default)]
struct Split {
    /// Inside of a condition that is not the same for the workgroup.
    parted: bool,
    /// Labels at which invocations wait.
    pending: Vec<Label>,
    lanes: Partings,
    /// Blocks and loops around the present place.
    open: Vec<Open>,
}

/// A block or loop that is not at its end.
#[derive(Clone, Copy, Debug)]
struct Open {
    label: Label,
    is_loop: bool,
    /// How deep the lanes had parted at its start.
    depth: usize,
}

impl Split {
    fn is_parted(&self) -> bool {
        self.parted || !self.pending.is_empty()
    }
}

struct Walker<'a> {
    of: &'a mut Uniformity,
    liveness: &'a Liveness,
    split: Split,
    work: usize,
}

impl Walker<'_> {
    fn list(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.work += 1 + self.split.lanes.depth();
            match stmt {
                Stmt::Inst(inst) | Stmt::Masked { inst, .. } => self.inst(inst),
                Stmt::If { label, condition, accept, reject, .. } => self.choice(*label, *condition, accept, reject),
                Stmt::Block { label, body } => {
                    let depth = self.split.lanes.depth();
                    self.split.open.push(Open { label: *label, is_loop: false, depth });
                    self.list(body);
                    self.split.open.pop();
                    self.split.pending.retain(|waiting| waiting != label);
                    self.split.lanes.end_block(*label);
                }
                Stmt::Loop { label, body, .. } => self.repeat(*label, body),
                Stmt::Jump { label, .. } => self.jump(*label),
                Stmt::Return { values } => {
                    let uniform = !self.split.is_parted() && values.iter().all(|&value| self.of.is_uniform(value));
                    self.of.results &= uniform;
                    // Label 0 is never made: the end of the function.
                    self.jump(Label(0));
                }
                Stmt::Barrier { .. } => {}
            }
        }
    }

    fn choice(&mut self, label: Label, condition: Operand, accept: &[Stmt], reject: &[Stmt]) {
        let condition = self.of.variance(condition);
        let before = self.split.clone();
        self.split.parted |= !condition.workgroup;
        let inside = self.split.clone();
        if !condition.is_gang() {
            self.split.lanes.push(Parting::Accept(label));
        }
        self.list(accept);
        // Gangs that jumped out of the first part do not part those that do the second.
        let mut accepted = std::mem::replace(&mut self.split, inside);
        if !condition.is_gang() {
            // But lanes wait for the other lanes.
            accepted.lanes.end_arm(label);
            self.split.lanes = accepted.lanes.clone();
            self.split.lanes.push(Parting::Reject(label));
        }
        self.list(reject);
        self.split.parted = before.parted;
        for waiting in accepted.pending {
            if !self.split.pending.contains(&waiting) {
                self.split.pending.push(waiting);
            }
        }
        self.split.lanes.merge(accepted.lanes);
        self.split.lanes.end_arm(label);
    }

    fn jump(&mut self, label: Label) {
        if self.split.is_parted() && !self.split.pending.contains(&label) {
            self.split.pending.push(label);
        }
        let target = self.split.open.iter().rev().find(|open| open.label == label);
        if self.split.lanes.depth() <= target.map_or(0, |open| open.depth) {
            return;
        }
        self.split.lanes.push(Parting::Jump(label));
        // Lanes leave these loops while others may stay.
        for open in self.split.open.iter().rev().take_while(|open| open.label != label) {
            let escapes = self.of.escapes.entry(open.label).or_default();
            if open.is_loop && !escapes.contains(&label) {
                escapes.push(label);
                self.of.changed = true;
            }
        }
    }

    fn repeat(&mut self, label: Label, body: &[Stmt]) {
        let known = self.of.parted.contains(&label);
        let outer = self.split.parted;
        let before = self.split.pending.len();
        for escape in self.of.escapes(label).to_vec() {
            self.split.lanes.push(Parting::Jump(escape));
        }
        self.split.parted |= known;
        self.split.open.push(Open { label, is_loop: true, depth: self.split.lanes.depth() });
        self.list(body);
        self.split.open.pop();
        self.split.parted = outer;
        // A parted jump to the start, or out of the loop: the rounds are no longer taken together.
        if self.split.pending.len() > before && !known {
            self.of.parted.insert(label);
            self.of.changed = true;
        }
        self.split.pending.retain(|&waiting| waiting != label);
        self.split.lanes.end_block(label);
    }

    fn inst(&mut self, inst: &Inst) {
        let parted = self.split.is_parted();
        let variance = match inst {
            Inst::Op { op, args, .. } => {
                let known: Option<Vec<_>> = args.iter().map(|&arg| self.of.known(arg)).collect();
                known.map(|known| result(*op, args, &known))
            }
            // All invocations read it, and nobody writes in between.
            Inst::UniformLoad { .. } => Some(Variance::WORKGROUP),
            Inst::Load { address, .. } | Inst::LoadRow { address, .. } => self.of.load(address),
            Inst::Atomic { op: crate::ir::AtomicOp::Load, address, .. } => {
                self.of.load(address).map(|variance| Variance { workgroup: false, ..variance })
            }
            Inst::Atomic { .. } => Some(Variance::VARYING),
            Inst::Subgroup { op, args, .. } => {
                let known: Option<Vec<_>> = args.iter().map(|&arg| self.of.known(arg)).collect();
                known.map(|known| subgroup(*op, &known))
            }
            Inst::Call { function, args, .. } => {
                let known: Option<Vec<_>> = args.iter().map(|&arg| self.of.known(arg)).collect();
                let same = self.of.callees.get(*function as usize).copied().unwrap_or(false);
                known.map(|known| {
                    let all = known.into_iter().reduce(Variance::join).unwrap_or(Variance::WORKGROUP);
                    let all = Variance { zeros: 0, stride: all.stride.filter(|&stride| stride == 0), ..all };
                    if same { all } else { Variance::VARYING }
                })
            }
            Inst::Store { .. } | Inst::Fill { .. } | Inst::Move { .. } => None,
        };
        self.written(inst, parted);
        let Some(variance) = variance else { return };
        let is_copy = matches!(inst, Inst::Op { op: Op::Copy, .. });
        let mut defined = Vec::new();
        inst.defs(|reg| defined.push(reg));
        for reg in defined {
            let mut variance = variance;
            if is_copy {
                // A register with one definition that is made in parted control flow is the same in all that make it.
                variance.workgroup &= !parted;
                if self.split.lanes.need(self.liveness, reg) {
                    variance = Variance::VARYING;
                }
            }
            self.of.define(reg, variance);
        }
    }

    /// Takes note of what is written to objects.
    fn written(&mut self, inst: &Inst, parted: bool) {
        let (address, content) = match inst {
            Inst::Store { address, value, .. } => (address, self.of.variance(*value)),
            Inst::Fill { address, .. } => (address, Variance::WORKGROUP),
            Inst::Move { to, from, .. } => (to, self.of.load(from).unwrap_or(Variance::WORKGROUP)),
            _ => return,
        };
        let Base::Object(ObjectId(object)) = address.base else { return };
        let mut all = content;
        address.operands(&mut |operand| all = all.join(self.of.variance(operand)));
        if (!all.workgroup || parted)
            && let Some(slot) = self.of.parted_objects.get_mut(object as usize)
            && !*slot
        {
            *slot = true;
            self.of.changed = true;
        }
        let lanes_parted = self.split.lanes.depth() > 0;
        if (!all.is_gang() || lanes_parted)
            && let Some(slot) = self.of.objects.get_mut(object as usize)
            && *slot
        {
            *slot = false;
            self.of.changed = true;
        }
    }
}

#[cfg(test)]
mod tests;
