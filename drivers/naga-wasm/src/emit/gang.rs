//! The built-in values of the invocations of a gang, and the way from gang to gang.
//!
//! Where the lanes of each gang lie along one axis, the coordinates are counters. Otherwise they are computed from the
//! linear index, lane by lane.

use std::collections::BTreeSet;

use wasm_encoder::{BlockType, Ieee32, ValType};

use super::body::Body;
use super::module::Emitter;
use super::value::{splat, steps};
use crate::ir::{Builtin, LANES, Operand, Stmt, Unit, walk};
use crate::passes::regions::Region;
use crate::passes::variance::lane_axis;

/// Parameter of `run` with the number of workgroups along the first axis; two more follow.
pub(super) const GROUPS: u32 = 2;

/// The locals of `run` that hold built-in values: scalars of the first lane, or vectors where nothing better is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Builtins {
    scratch: Option<u32>,
    context: Option<u32>,
    bases: Vec<u32>,
    lasts: Vec<u32>,
    /// The words of the constants. A global is memory that anything might write, and would be read wherever it is used.
    pub(super) constants: Vec<u32>,
    pub(super) group: [Option<u32>; 3],
    local: [Option<u32>; 3],
    global: [Option<u32>; 3],
    index: Option<u32>,
    active: Option<u32>,
}

impl Builtins {
    /// The local that holds a built-in value, in `run`.
    pub(super) fn local_of(&self, builtin: Builtin) -> Option<u32> {
        let axis = |of: &[Option<u32>; 3], axis: u8| of.get(usize::from(axis)).copied().flatten();
        match builtin {
            Builtin::Local(at) => axis(&self.local, at),
            Builtin::Global(at) => axis(&self.global, at),
            Builtin::Group(at) => axis(&self.group, at),
            Builtin::Groups(at) => Some(GROUPS + u32::from(at)),
            Builtin::LocalIndex => self.index,
            Builtin::Last(binding) => self.lasts.get(binding as usize).copied(),
            Builtin::Constant(word) => self.constants.get(word as usize).copied(),
            Builtin::Active => self.active,
        }
    }

    pub(super) fn base_of(&self, binding: u32) -> Option<u32> {
        self.bases.get(binding as usize).copied()
    }

    pub(super) fn scratch(&self) -> Option<u32> {
        self.scratch
    }

    pub(super) fn context(&self) -> Option<u32> {
        self.context
    }
}

/// How the invocations of a workgroup lie in its gangs.
#[derive(Clone, Copy, PartialEq)]
enum Lie {
    /// There is one invocation.
    Single,
    /// The lanes lie along this axis.
    Along(u8),
    /// Rows do not fill gangs.
    Across,
}

fn lie(unit: &Unit) -> Lie {
    match lane_axis(unit.workgroup_size) {
        _ if unit.is_single() => Lie::Single,
        Some(axis) => Lie::Along(axis),
        None => Lie::Across,
    }
}

impl Body {
    /// Makes the locals of the built-in values.
    pub(super) fn declare_builtins(&mut self, emitter: &Emitter) {
        let unit = emitter.unit;
        let int = ValType::I32;
        let mut builtins = Builtins {
            scratch: Some(self.local(int)),
            index: Some(self.local(int)),
            active: Some(self.local(ValType::V128)),
            context: (emitter.layout.context_bytes > 0).then(|| self.local(int)),
            bases: unit.bindings.iter().map(|_| self.local(int)).collect(),
            lasts: unit.bindings.iter().map(|_| self.local(int)).collect(),
            constants: (0..unit.constant_bytes / 4).map(|_| self.local(int)).collect(),
            ..Builtins::default()
        };
        let ty = if lie(unit) == Lie::Across { ValType::V128 } else { int };
        let invocations = unit.invocations();
        for (axis, &size) in unit.workgroup_size.iter().enumerate() {
            let local = match size {
                1 => None,
                // Along the only axis the index is the coordinate.
                _ if size == invocations => builtins.index,
                _ => Some(self.local(ty)),
            };
            let group = self.local(int);
            let global = if size == 1 { self.local(int) } else { self.local(ty) };
            if let (Some(l), Some(r), Some(g)) =
                (builtins.local.get_mut(axis), builtins.group.get_mut(axis), builtins.global.get_mut(axis))
            {
                (*l, *r, *g) = (local, Some(group), Some(global));
            }
        }
        self.builtins = builtins;
    }

    /// Starts at the first gang.
    pub(super) fn first_gang(&mut self, emitter: &Emitter) {
        let mut counters: BTreeSet<u32> = self.builtins.index.into_iter().collect();
        if lie(emitter.unit) != Lie::Across {
            counters.extend(self.builtins.local.iter().flatten());
        }
        for counter in counters {
            self.code().i32_const(0).local_set(counter);
        }
        if let (Some(scratch), Some(context)) = (self.builtins.scratch, self.builtins.context) {
            let at = emitter.layout.contexts.cast_signed();
            self.code().local_get(scratch).i32_const(at).i32_add().local_set(context);
        }
    }

    /// Computes what a region uses.
    pub(super) fn start_gang(&mut self, emitter: &Emitter, region: &Region) {
        let used = used(region);
        let lie = lie(emitter.unit);
        if lie == Lie::Across && used.iter().any(|builtin| matches!(builtin, Builtin::Local(_) | Builtin::Global(_))) {
            self.coordinates(emitter);
        }
        for axis in 0..3 {
            if used.contains(&Builtin::Global(axis)) {
                self.global(emitter, axis, lie == Lie::Across);
            }
        }
        if let (Some(active), Some(index), true) =
            (self.builtins.active, self.builtins.index, used.contains(&Builtin::Active))
        {
            self.code().local_get(index).i32x4_splat().v128_const(steps(1)).i32x4_add();
            self.code().v128_const(splat(emitter.unit.invocations())).i32x4_lt_u().local_set(active);
        }
        if let Some(context) = self.builtins.context
            && super::body::calls(&region.body)
        {
            self.code().local_get(context).global_set(emitter.globals.context);
        }
    }

    /// `global_invocation_id` along an axis.
    fn global(&mut self, emitter: &Emitter, axis: u8, across: bool) {
        let (Some(group), Some(global)) =
            (self.builtins.local_of(Builtin::Group(axis)), self.builtins.local_of(Builtin::Global(axis)))
        else {
            return;
        };
        let size = emitter.unit.workgroup_size.get(usize::from(axis)).copied().unwrap_or(1);
        self.code().local_get(group).i32_const(size.cast_signed()).i32_mul();
        if let Some(local) = self.builtins.local_of(Builtin::Local(axis)) {
            if across {
                self.code().i32x4_splat().local_get(local).i32x4_add();
            } else {
                self.code().local_get(local).i32_add();
            }
        }
        self.code().local_set(global);
    }

    /// The coordinates of each lane, from its index.
    fn coordinates(&mut self, emitter: &Emitter) {
        let Some(index) = self.builtins.index else { return };
        let rest = self.temporary(ValType::V128);
        self.code().local_get(index).i32x4_splat().v128_const(steps(1)).i32x4_add().local_set(rest);
        let [x, y, z] = self.builtins.local;
        let sizes = emitter.unit.workgroup_size;
        let last = if z.is_some() { z } else { y };
        for (axis, size) in [x, y].into_iter().zip(sizes) {
            let Some(axis) = axis.filter(|_| axis != last) else { continue };
            let row = self.temporary(ValType::V128);
            // Exact: the numbers are small, and a half keeps the product off the whole ones.
            let inverse = splat((1.0 / f32::from(u16::try_from(size).unwrap_or(u16::MAX))).to_bits());
            self.code().local_get(rest).f32x4_convert_i32x4_u();
            self.code().f32_const(Ieee32::from(0.5)).f32x4_splat().f32x4_add();
            self.code().v128_const(inverse).f32x4_mul().i32x4_trunc_sat_f32x4_u().local_set(row);
            self.code().local_get(rest).local_get(row).v128_const(splat(size)).i32x4_mul().i32x4_sub().local_set(axis);
            self.code().local_get(row).local_set(rest);
        }
        if let Some(last) = last {
            self.code().local_get(rest).local_set(last);
        }
    }

    /// Goes on to the next gang, if there is one, by a jump to the start of the innermost loop.
    pub(super) fn next_gang(&mut self, emitter: &Emitter) {
        let Some(index) = self.builtins.index else { return };
        if let Lie::Along(axis) = lie(emitter.unit) {
            self.count_coordinates(emitter, axis, index);
        }
        if let Some(context) = self.builtins.context {
            let bytes = emitter.layout.context_bytes.cast_signed();
            self.code().local_get(context).i32_const(bytes).i32_add().local_set(context);
        }
        let count = emitter.unit.invocations().cast_signed();
        self.code().local_get(index).i32_const(LANES.cast_signed()).i32_add().local_tee(index);
        self.code().i32_const(count).i32_lt_u().br_if(0);
    }

    /// Counts the coordinates on, the lanes along `axis`.
    fn count_coordinates(&mut self, emitter: &Emitter, axis: u8, index: u32) {
        let counters: Vec<_> = (self.builtins.local.into_iter().zip(emitter.unit.workgroup_size))
            .enumerate()
            .filter_map(|(at, (counter, size))| Some((at == usize::from(axis), counter?, size)))
            .filter(|&(_, counter, _)| counter != index)
            .collect();
        let count = counters.len();
        for (place, (lanes, counter, size)) in counters.into_iter().enumerate() {
            let by = if lanes { LANES.cast_signed() } else { 1 };
            self.code().local_get(counter).i32_const(by).i32_add().local_tee(counter);
            if place + 1 == count {
                self.code().drop();
                break;
            }
            self.code().i32_const(size.cast_signed()).i32_ge_u().if_(BlockType::Empty);
            self.code().i32_const(0).local_set(counter);
        }
        for _ in 1..count {
            self.code().end();
        }
    }
}

/// The built-in values that a region uses.
fn used(region: &Region) -> BTreeSet<Builtin> {
    let mut used = BTreeSet::new();
    let mut see = |operand: Operand| {
        if let Operand::Builtin(builtin) = operand {
            used.insert(builtin);
        }
    };
    walk(&region.body, &mut |stmt| match stmt {
        Stmt::Inst(inst) => inst.operands(&mut see),
        Stmt::Masked { mask, inst } => {
            see(*mask);
            inst.operands(&mut see);
        }
        Stmt::If { condition, .. } => see(*condition),
        _ => {}
    });
    used
}
