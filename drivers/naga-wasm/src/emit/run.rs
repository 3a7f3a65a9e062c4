//! The exported function: prepares, then goes through workgroups, regions and gangs.

use wasm_encoder::{BlockType, Function, ValType};

use super::body::{Body, Target, check_locals};
use super::cost::cost;
use super::gang::GROUPS;
use super::module::Emitter;
use crate::abi::{STATUS_BINDING_TOO_SHORT, STATUS_DONE};
use crate::diagnostic::Diagnostic;
use crate::ir::{Builtin, Reg};
use crate::passes::locals::{self, local_type};
use crate::passes::regions::{Node, Region};
use crate::passes::slots::{Traffic, traffic};

/// Parameters of `run`.
const PARAMS: [ValType; 5] = [ValType::I64, ValType::I64, ValType::I32, ValType::I32, ValType::I32];
const BEGIN: u32 = 0;
const END: u32 = 1;

/// A region whose gangs cost more than this is charged for one by one, so that a budget is noticed in time; a cheaper
/// one for all of them at once, with the workgroup or the round that it belongs to, even if a condition leaves it out.
const CHARGED_TOGETHER: u64 = 256;

/// Work units of a workgroup besides its regions, and of a gang besides its code.
const GROUP_COST: u64 = 16;
const GANG_COST: u64 = 4;

/// The body of `run`.
pub(crate) fn run_body(emitter: &mut Emitter, nodes: &[Node]) -> Result<Function, Diagnostic> {
    let params = u32::try_from(PARAMS.len()).unwrap_or(0);
    let locals = locals::of_nodes(&emitter.unit.entry, nodes, emitter.layout, emitter.variances, params);
    let mut body = Body::new(&PARAMS, &locals.types, Target::Run);
    body.locals = locals;
    body.regs = emitter.unit.entry.regs.clone();
    body.variances = emitter.variances.to_vec();
    body.workgroup_size = emitter.unit.workgroup_size;
    body.budget = emitter.options.counted.then(|| body.local(ValType::I64));
    body.declare_builtins(emitter);
    body.declare_spills(emitter)?;
    check_locals(emitter, &body)?;
    body.prepare(emitter);
    body.first_group();
    let clearing = u64::from(emitter.unit.workgroup_bytes / 16);
    let units = GROUP_COST + clearing + charged_together(emitter, nodes);
    body.rounds(emitter, units, Vec::new(), |body, emitter| {
        body.clear_workgroup_memory(emitter);
        body.nodes(emitter, nodes)?;
        body.next_group();
        Ok(())
    })?;
    body.save_budget(emitter);
    body.code().i32_const(STATUS_DONE).end();
    Ok(body.into_function())
}

impl Body {
    /// Checks the bindings, and fetches what is in globals into locals.
    fn prepare(&mut self, emitter: &Emitter) {
        let globals = emitter.globals;
        if let Some(budget) = self.budget {
            self.code().global_get(globals.budget).local_set(budget);
        }
        self.code().i32_const(0).global_set(globals.stopped);
        if let Some(scratch) = self.builtins.scratch() {
            self.code().global_get(globals.scratch).local_set(scratch);
        }
        for (word, local) in (0u32..).zip(self.builtins.constants.clone()) {
            self.code().global_get(globals.constant(word)).local_set(local);
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
                (emitter.layout.home(crate::ir::ObjectId(id)), self.builtins.scratch())
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
        if let (Some(scratch), true) = (self.builtins.scratch(), bytes > 0) {
            self.code().local_get(scratch).i32_const(0).i32_const(bytes.cast_signed()).memory_fill(0);
        }
    }

    fn nodes(&mut self, emitter: &mut Emitter, nodes: &[Node]) -> Result<(), Diagnostic> {
        for node in nodes {
            match node {
                Node::Region(region) => self.region(emitter, region)?,
                Node::If { condition, accept, reject } => {
                    self.scalar(emitter, *condition)?;
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
                    let units = GROUP_COST + charged_together(emitter, body);
                    self.rounds(emitter, units, vec![*label], |this, emitter| this.nodes(emitter, body))?;
                }
                Node::Jump(label) => self.branch(*label)?,
            }
        }
        Ok(())
    }

    /// All gangs, one after the other, through one region.
    fn region(&mut self, emitter: &mut Emitter, region: &Region) -> Result<(), Diagnostic> {
        let traffic = traffic(&emitter.unit.entry, region, emitter.layout);
        let each = gang_cost(emitter, region, &traffic);
        self.first_gang(emitter);
        if each > CHARGED_TOGETHER {
            return self.rounds(emitter, each, Vec::new(), |this, emitter| this.gang(emitter, region, &traffic));
        }
        self.code().loop_(BlockType::Empty);
        self.open_plain();
        self.gang(emitter, region, &traffic)?;
        self.close();
        Ok(())
    }

    /// One gang, in a loop over all.
    fn gang(&mut self, emitter: &mut Emitter, region: &Region, traffic: &Traffic) -> Result<(), Diagnostic> {
        self.start_gang(emitter, region);
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
        self.next_gang(emitter);
        Ok(())
    }

    /// Loads a register from its slot, or stores it there.
    fn slot(&mut self, emitter: &Emitter, reg: Reg, store: bool) {
        let (Some(context), Some(&offset)) = (self.builtins.context(), emitter.layout.slots.get(&reg)) else { return };
        let ty = local_type(&self.regs, &self.variances, reg);
        self.code().local_get(context);
        if store {
            self.get(emitter, reg);
            self.store_value(ty, offset);
        } else {
            self.load_value(ty, offset);
            self.set(emitter, reg);
        }
    }
}

/// Work units of one gang in a region.
fn gang_cost(emitter: &Emitter, region: &Region, traffic: &Traffic) -> u64 {
    cost(&region.body, &emitter.costs)
        + GANG_COST
        + u64::try_from(traffic.loads.len() + traffic.stores.len()).unwrap_or(0)
}

/// Work units of the regions that are charged for together, but those in loops.
fn charged_together(emitter: &Emitter, nodes: &[Node]) -> u64 {
    let units = nodes.iter().map(|node| match node {
        Node::Region(region) => Some(gang_cost(emitter, region, &traffic(&emitter.unit.entry, region, emitter.layout)))
            .filter(|&each| each <= CHARGED_TOGETHER)
            .map_or(0, |each| each * u64::from(emitter.unit.gangs())),
        Node::If { accept, reject, .. } => charged_together(emitter, accept) + charged_together(emitter, reject),
        Node::Block { body, .. } => charged_together(emitter, body),
        Node::Loop { .. } | Node::Jump(_) => 0,
    });
    units.sum()
}
