//! The exported function: prepares, then goes through workgroups, regions and invocations.

use std::collections::BTreeSet;

use wasm_encoder::{BlockType, Function, ValType};

use super::body::{Body, Target, calls, check_locals, cost};
use super::module::{Emitter, val};
use crate::abi::{STATUS_BINDING_TOO_SHORT, STATUS_DONE};
use crate::diagnostic::Diagnostic;
use crate::ir::{Builtin, Cell, Operand, Stmt, Ty, walk};
use crate::passes::locals;
use crate::passes::regions::{Node, Region};
use crate::passes::slots::traffic;

/// Parameters of `run`.
const PARAMS: [ValType; 5] = [ValType::I64, ValType::I64, ValType::I32, ValType::I32, ValType::I32];
const BEGIN: u32 = 0;
const END: u32 = 1;
const GROUPS: u32 = 2;

/// A region whose invocations cost more than this is charged for one by one, so that a budget is noticed in time; a
/// cheaper one for all of them at once.
const CHARGED_TOGETHER: u64 = 256;

/// Work units of a workgroup besides its regions, and of an invocation besides its code.
const GROUP_COST: u64 = 16;
const INVOCATION_COST: u64 = 4;

/// The locals of `run` that hold built-in values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Builtins {
    scratch: Option<u32>,
    context: Option<u32>,
    bases: Vec<u32>,
    lasts: Vec<u32>,
    group: [Option<u32>; 3],
    local: [Option<u32>; 3],
    global: [Option<u32>; 3],
    index: Option<u32>,
}

impl Builtins {
    /// The local that holds a built-in value, in `run`.
    pub(crate) fn local_of(&self, builtin: Builtin) -> Option<u32> {
        let axis = |of: &[Option<u32>; 3], axis: u8| of.get(usize::from(axis)).copied().flatten();
        match builtin {
            Builtin::Local(at) => axis(&self.local, at),
            Builtin::Global(at) => axis(&self.global, at),
            Builtin::Group(at) => axis(&self.group, at),
            Builtin::Groups(at) => Some(GROUPS + u32::from(at)),
            Builtin::LocalIndex => self.index,
            Builtin::Last(binding) => self.lasts.get(binding as usize).copied(),
            Builtin::Constant(_) => None,
        }
    }

    pub(crate) fn base_of(&self, binding: u32) -> Option<u32> {
        self.bases.get(binding as usize).copied()
    }

    pub(crate) fn scratch(&self) -> Option<u32> {
        self.scratch
    }

    pub(crate) fn context(&self) -> Option<u32> {
        self.context
    }
}

/// The body of `run`.
pub(crate) fn run_body(emitter: &mut Emitter, nodes: &[Node]) -> Result<Function, Diagnostic> {
    let params = u32::try_from(PARAMS.len()).unwrap_or(0);
    let locals = locals::of_nodes(&emitter.unit.entry, nodes, emitter.layout, params);
    let extra: Vec<_> = locals.types.iter().map(|&ty| val(ty)).collect();
    let mut body = Body::new(&PARAMS, &extra, Target::Run);
    body.locals = locals;
    body.declare(emitter);
    body.declare_spills(emitter, &emitter.unit.entry.regs)?;
    check_locals(emitter, &body)?;
    body.prepare(emitter);
    body.first_group();
    body.code().loop_(BlockType::Empty);
    body.open_plain();
    let clearing = u64::from(emitter.unit.workgroup_bytes / 16);
    body.charge(emitter, GROUP_COST + clearing);
    body.clear_workgroup_memory(emitter);
    body.nodes(emitter, nodes)?;
    body.next_group();
    body.close();
    body.save_budget(emitter);
    body.code().i32_const(STATUS_DONE).end();
    Ok(body.into_function())
}

impl Body {
    /// Makes the locals of `run`'s own.
    fn declare(&mut self, emitter: &Emitter) {
        let unit = emitter.unit;
        self.budget = Some(self.local(ValType::I64));
        let int = ValType::I32;
        let mut builtins = Builtins {
            scratch: Some(self.local(int)),
            index: Some(self.local(int)),
            context: (emitter.layout.context_bytes > 0).then(|| self.local(int)),
            bases: unit.bindings.iter().map(|_| self.local(int)).collect(),
            lasts: unit.bindings.iter().map(|_| self.local(int)).collect(),
            ..Builtins::default()
        };
        let linear = unit.workgroup_size.iter().skip(1).all(|&size| size == 1);
        for (axis, &size) in unit.workgroup_size.iter().enumerate() {
            let local = match axis {
                0 if linear => builtins.index,
                _ if size == 1 => None,
                _ => Some(self.local(int)),
            };
            let (group, global) = (self.local(int), self.local(int));
            if let (Some(l), Some(r), Some(g)) =
                (builtins.local.get_mut(axis), builtins.group.get_mut(axis), builtins.global.get_mut(axis))
            {
                (*l, *r, *g) = (local, Some(group), Some(global));
            }
        }
        self.builtins = builtins;
    }

    /// Checks the bindings, and fetches what is in globals into locals.
    fn prepare(&mut self, emitter: &Emitter) {
        let globals = emitter.globals;
        if let Some(budget) = self.budget {
            self.code().global_get(globals.budget).local_set(budget);
        }
        self.code().i32_const(0).global_set(globals.stopped);
        if let Some(scratch) = self.builtins.scratch {
            self.code().global_get(globals.scratch).local_set(scratch);
        }
        for (place, binding) in (0u32..).zip(&emitter.unit.bindings) {
            let min = binding.min_length.cast_signed();
            self.code().global_get(globals.length(place)).i32_const(min).i32_lt_u().if_(BlockType::Empty);
            self.code().i32_const(STATUS_BINDING_TOO_SHORT).return_().end();
            if let Some(base) = self.builtins.base_of(place) {
                self.code().global_get(globals.base(place)).local_set(base);
            }
            if let (Some((offset, stride)), Some(last)) =
                (binding.runtime_array, self.builtins.local_of(Builtin::Last(place)))
            {
                self.code().global_get(globals.length(place)).i32_const(offset.cast_signed()).i32_sub();
                self.code().i32_const(stride.max(1).cast_signed()).i32_div_u().i32_const(1).i32_sub();
                self.code().local_tee(last).global_set(globals.last(place));
            }
        }
        self.code().local_get(BEGIN).local_get(END).i64_ge_u().if_(BlockType::Empty);
        self.code().i32_const(STATUS_DONE).return_().end();
        self.fill_tables(emitter);
    }

    fn fill_tables(&mut self, emitter: &Emitter) {
        let mut data = 0;
        for (id, object) in (0u32..).zip(&emitter.unit.objects) {
            let Some(table) = &object.table else { continue };
            if let (Some(crate::passes::slots::Home::Scratch(at)), Some(scratch)) =
                (emitter.layout.home(crate::ir::ObjectId(id)), self.builtins.scratch)
            {
                let length = i32::try_from(table.len()).unwrap_or(0);
                self.code().local_get(scratch).i32_const(at.cast_signed()).i32_add();
                self.code().i32_const(0).i32_const(length).memory_init(0, data);
            }
            data += 1;
        }
    }

    /// Splits `begin` into the workgroup's coordinates.
    fn first_group(&mut self) {
        let [Some(x), Some(y), Some(z)] = self.builtins.group else { return };
        let (groups_x, groups_y) = (GROUPS, GROUPS + 1);
        let row = self.local(ValType::I64);
        self.code().local_get(BEGIN).local_get(groups_x).i64_extend_i32_u().i64_rem_u().i32_wrap_i64().local_set(x);
        self.code().local_get(BEGIN).local_get(groups_x).i64_extend_i32_u().i64_div_u().local_tee(row);
        self.code().local_get(groups_y).i64_extend_i32_u().i64_rem_u().i32_wrap_i64().local_set(y);
        self.code().local_get(row).local_get(groups_y).i64_extend_i32_u().i64_div_u().i32_wrap_i64().local_set(z);
    }

    /// Goes on to the next workgroup, if there is one.
    fn next_group(&mut self) {
        let [Some(x), Some(y), Some(z)] = self.builtins.group else { return };
        self.count_up(x, |code| {
            code.local_get(GROUPS);
        });
        self.count_up(y, |code| {
            code.local_get(GROUPS + 1);
        });
        self.code().local_get(z).i32_const(1).i32_add().local_set(z).end().end();
        self.code().local_get(BEGIN).i64_const(1).i64_add().local_tee(BEGIN).local_get(END).i64_lt_u().br_if(0);
    }

    /// `counter += 1; if counter == limit { counter = 0; ...`, without the closing brace.
    fn count_up(&mut self, counter: u32, limit: impl Fn(&mut wasm_encoder::InstructionSink)) {
        let mut code = self.code();
        code.local_get(counter).i32_const(1).i32_add().local_tee(counter);
        limit(&mut code);
        code.i32_eq().if_(BlockType::Empty).i32_const(0).local_set(counter);
    }

    fn clear_workgroup_memory(&mut self, emitter: &Emitter) {
        let bytes = emitter.unit.workgroup_bytes;
        if let (Some(scratch), true) = (self.builtins.scratch, bytes > 0) {
            self.code().local_get(scratch).i32_const(0).i32_const(bytes.cast_signed()).memory_fill(0);
        }
    }

    fn nodes(&mut self, emitter: &mut Emitter, nodes: &[Node]) -> Result<(), Diagnostic> {
        for node in nodes {
            match node {
                Node::Region(region) => self.region(emitter, region)?,
                Node::If { condition, accept, reject } => {
                    self.operand(emitter, *condition)?;
                    self.code().if_(BlockType::Empty);
                    self.open_plain();
                    self.nodes(emitter, accept)?;
                    self.code().else_();
                    self.nodes(emitter, reject)?;
                    self.close();
                }
                Node::Block { label, body } => {
                    self.code().block(BlockType::Empty);
                    self.open_labels(vec![*label]);
                    self.nodes(emitter, body)?;
                    self.close();
                }
                Node::Loop { label, body } => {
                    self.code().loop_(BlockType::Empty);
                    self.open_labels(vec![*label]);
                    self.charge(emitter, GROUP_COST);
                    self.nodes(emitter, body)?;
                    self.close();
                }
                Node::Jump(label) => self.branch(*label)?,
            }
        }
        Ok(())
    }

    /// All invocations, one after the other, through one region.
    fn region(&mut self, emitter: &mut Emitter, region: &Region) -> Result<(), Diagnostic> {
        let unit = emitter.unit;
        let traffic = traffic(&unit.entry, region, emitter.layout);
        let each = cost(&region.body, &emitter.costs)
            + INVOCATION_COST
            + u64::try_from(traffic.loads.len() + traffic.stores.len()).unwrap_or(0);
        if each <= CHARGED_TOGETHER {
            self.charge(emitter, each * u64::from(unit.invocations()));
        }
        self.first_invocation(emitter);
        self.code().loop_(BlockType::Empty);
        self.open_plain();
        if each > CHARGED_TOGETHER {
            self.charge(emitter, each);
        }
        self.start_invocation(emitter, region);
        for &reg in &traffic.loads {
            self.slot(emitter, reg, false);
        }
        self.code().block(BlockType::Empty);
        self.open_labels(region.ends.clone());
        self.list(emitter, &region.body)?;
        self.close();
        for &reg in &traffic.stores {
            self.slot(emitter, reg, true);
        }
        self.next_invocation(emitter);
        self.close();
        Ok(())
    }

    fn first_invocation(&mut self, emitter: &Emitter) {
        let counters: BTreeSet<u32> =
            self.builtins.local.iter().copied().flatten().chain(self.builtins.index).collect();
        for counter in counters {
            self.code().i32_const(0).local_set(counter);
        }
        if let (Some(scratch), Some(context)) = (self.builtins.scratch, self.builtins.context) {
            let at = emitter.layout.contexts.cast_signed();
            self.code().local_get(scratch).i32_const(at).i32_add().local_set(context);
        }
    }

    fn start_invocation(&mut self, emitter: &Emitter, region: &Region) {
        for axis in used_axes(region) {
            let (Some(group), Some(global)) =
                (self.builtins.local_of(Builtin::Group(axis)), self.builtins.local_of(Builtin::Global(axis)))
            else {
                continue;
            };
            let size = emitter.unit.workgroup_size.get(usize::from(axis)).copied().unwrap_or(1);
            self.code().local_get(group).i32_const(size.cast_signed()).i32_mul();
            if let Some(local) = self.builtins.local_of(Builtin::Local(axis)) {
                self.code().local_get(local).i32_add();
            }
            self.code().local_set(global);
        }
        if let Some(context) = self.builtins.context
            && calls(&region.body)
        {
            self.code().local_get(context).global_set(emitter.globals.context);
        }
    }

    /// Loads a register from its slot, or stores it there.
    fn slot(&mut self, emitter: &Emitter, reg: crate::ir::Reg, store: bool) {
        let (Some(context), Some(&offset)) = (self.builtins.context, emitter.layout.slots.get(&reg)) else { return };
        let ty = emitter.unit.entry.regs.get(reg.0 as usize).map_or(Ty::I32, |info| info.ty);
        let cell = if ty == Ty::F32 { Cell::F32 } else { Cell::I32 };
        self.code().local_get(context);
        if store {
            self.get(emitter, reg);
            self.store(cell, offset);
        } else {
            self.load(cell, offset);
            self.set(emitter, reg);
        }
    }

    fn next_invocation(&mut self, emitter: &Emitter) {
        let [size_x, size_y, _] = emitter.unit.workgroup_size;
        let index = self.builtins.index;
        let mut open = 0;
        // Counters of axes that have more than one invocation, unless the index is the counter.
        for (counter, size) in self.builtins.local.into_iter().zip([Some(size_x), Some(size_y), None]) {
            let Some(counter) = counter.filter(|_| counter != index) else { continue };
            match size {
                Some(size) => {
                    self.count_up(counter, |code| {
                        code.i32_const(size.cast_signed());
                    });
                    open += 1;
                }
                None => {
                    self.code().local_get(counter).i32_const(1).i32_add().local_set(counter);
                }
            }
        }
        for _ in 0..open {
            self.code().end();
        }
        if let Some(context) = self.builtins.context {
            let bytes = emitter.layout.context_bytes.cast_signed();
            self.code().local_get(context).i32_const(bytes).i32_add().local_set(context);
        }
        if let Some(index) = index {
            let count = emitter.unit.invocations().cast_signed();
            self.code().local_get(index).i32_const(1).i32_add().local_tee(index).i32_const(count).i32_lt_u().br_if(0);
        }
    }
}

/// The axes of `global_invocation_id` that a region uses.
fn used_axes(region: &Region) -> BTreeSet<u8> {
    let mut axes = BTreeSet::new();
    let mut see = |operand: Operand| {
        if let Operand::Builtin(Builtin::Global(axis)) = operand {
            axes.insert(axis);
        }
    };
    walk(&region.body, &mut |stmt| match stmt {
        Stmt::Inst(inst) => inst.operands(&mut see),
        Stmt::If { condition, .. } => see(*condition),
        _ => {}
    });
    axes
}
