//! Decides what is kept in memory between regions, and lays out the scratch memory.
//!
//! A register that is used in one region only needs no memory. Of the others, those with one definition and a uniform
//! value stay in their wasm local, which every gang sets to the same value. The rest get a slot in the context of each
//! gang: regions load what they use and store what they change.
//!
//! Scratch memory: workgroup memory, then objects that need to live only as long as one region of one gang (all gangs
//! share them, one after the other), then the contexts. An object whose contents differ between the lanes of a gang
//! has all of their copies interleaved, cell by cell: what is at `offset` in one copy is at `4 * offset` and what
//! follows, lane by lane.

use std::collections::{BTreeMap, BTreeSet};

use super::locals::is_vector;
use super::regions::{Node, Region, each_region};
use super::variance::Variance;
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{Func, LANES, ObjectId, Operand, Reg, Stmt, Unit, walk, walk_insts};
use crate::options::Options;

/// Contexts and areas start at multiples of this.
const AREA_ALIGNMENT: u32 = 16;

/// Where an object lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Home {
    /// Offset in the scratch memory.
    Scratch(u32),
    /// Offset in each gang's context.
    Context(u32),
}

/// Where everything lies.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) slots: BTreeMap<Reg, u32>,
    homes: Vec<Option<Home>>,
    /// Objects of which one copy serves all lanes of a gang.
    single: Vec<bool>,
    /// Offset of the first context.
    pub(crate) contexts: u32,
    /// Size of a context.
    pub(crate) context_bytes: u32,
    pub(crate) total: u32,
}

impl Layout {
    pub(crate) fn home(&self, ObjectId(object): ObjectId) -> Option<Home> {
        self.homes.get(object as usize).copied().flatten()
    }

    /// Whether one copy of an object serves all lanes.
    pub(crate) fn is_single(&self, ObjectId(object): ObjectId) -> bool {
        self.single.get(object as usize).copied().unwrap_or(false)
    }
}

/// Lays out the scratch memory of a unit whose entry point was split into `nodes`.
pub(crate) fn assign(
    unit: &Unit,
    nodes: &[Node],
    variances: &[Variance],
    single: Vec<bool>,
    options: &Options,
) -> Result<Layout, Diagnostic> {
    let mut seen = Seen::default();
    each_region(nodes, &mut |region| seen.region(region));
    let mut layout = Layout { homes: vec![None; unit.objects.len()], single, ..Layout::default() };
    let mut context = 0u64;
    for (&reg, regions) in &seen.regs {
        let mutable = unit.entry.regs.get(reg.0 as usize).is_none_or(|info| info.mutable);
        let uniform = variances.get(reg.0 as usize).is_some_and(|variance| variance.workgroup);
        if regions.several && (mutable || !uniform) {
            let bytes = if is_vector(variances, reg) { 4 * LANES } else { 4 };
            context = context.next_multiple_of(u64::from(bytes));
            layout.slots.insert(reg, small(context, options)?);
            context += u64::from(bytes);
        }
    }
    let mut scratch = u64::from(unit.workgroup_bytes).next_multiple_of(u64::from(AREA_ALIGNMENT));
    let touched = seen.objects.keys().copied().chain(objects_of_functions(unit)).collect::<BTreeSet<_>>();
    for id in touched {
        let Some(object) = unit.objects.get(id.0 as usize) else { continue };
        let across = seen.objects.get(&id).is_some_and(|regions| regions.several);
        let lives_on = (across || (object.shared && seen.count > 1)) && object.table.is_none();
        let area = if lives_on { &mut context } else { &mut scratch };
        let copies = if layout.is_single(id) { 1 } else { LANES };
        let align = u64::from(object.align.saturating_mul(copies)).max(u64::from(AREA_ALIGNMENT));
        let offset = area.next_multiple_of(align);
        *area = offset + u64::from(object.size) * u64::from(copies);
        let offset = small(offset, options)?;
        let home = if lives_on { Home::Context(offset) } else { Home::Scratch(offset) };
        if let Some(slot) = layout.homes.get_mut(id.0 as usize) {
            *slot = Some(home);
        }
    }
    let align = u64::from(AREA_ALIGNMENT);
    let (contexts, context) = (scratch.next_multiple_of(align), context.next_multiple_of(align));
    layout.contexts = small(contexts, options)?;
    layout.context_bytes = small(context, options)?;
    layout.total = small(contexts.saturating_add(context.saturating_mul(u64::from(unit.gangs()))), options)?;
    Ok(layout)
}

fn small(bytes: u64, options: &Options) -> Result<u32, Diagnostic> {
    match u32::try_from(bytes) {
        Ok(bytes) if bytes <= options.max_scratch_bytes => Ok(bytes),
        _ => {
            let limit = options.max_scratch_bytes;
            let message = format!(
                "the kernel's variables need {bytes} bytes of scratch memory, more than {limit}; use smaller arrays or \
                 a smaller workgroup"
            );
            Err(Diagnostic::new(Kind::Limit, message, None))
        }
    }
}

/// Objects of functions that are not inlined.
fn objects_of_functions(unit: &Unit) -> Vec<ObjectId> {
    let mut objects = Vec::new();
    for function in &unit.functions {
        walk_insts(&function.body, &mut |inst| inst.objects(|object| objects.push(object)));
    }
    objects
}

/// Which regions mention what.
#[derive(Default)]
struct Seen {
    count: u32,
    regs: BTreeMap<Reg, Regions>,
    objects: BTreeMap<ObjectId, Regions>,
}

/// The regions that mention something.
#[derive(Clone, Copy)]
struct Regions {
    first: u32,
    several: bool,
}

impl Regions {
    fn new(first: u32) -> Self {
        Self { first, several: false }
    }

    fn and(&mut self, region: u32) {
        self.several |= region != self.first;
    }
}

impl Seen {
    fn region(&mut self, region: &Region) {
        let number = self.count;
        self.count += 1;
        walk(&region.body, &mut |stmt| {
            let mut regs = Vec::new();
            if let Stmt::Masked { mask: Operand::Reg(mask), .. } = stmt {
                regs.push(*mask);
            }
            match stmt {
                Stmt::Inst(inst) | Stmt::Masked { inst, .. } => {
                    inst.uses(|reg| regs.push(reg));
                    inst.defs(|reg| regs.push(reg));
                    inst.objects(|object| {
                        self.objects.entry(object).or_insert(Regions::new(number)).and(number);
                    });
                }
                Stmt::If { condition: Operand::Reg(reg), .. } => regs.push(*reg),
                _ => {}
            }
            for reg in regs {
                self.regs.entry(reg).or_insert(Regions::new(number)).and(number);
            }
        });
    }
}

/// Registers that a region loads from its slots at its start, and stores at its end.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) loads: Vec<Reg>,
    pub(crate) stores: Vec<Reg>,
}

/// What a region has to load and store.
pub(crate) fn traffic(func: &Func, region: &Region, layout: &Layout) -> Traffic {
    let mut used = BTreeSet::new();
    let mut defined = BTreeSet::new();
    walk(&region.body, &mut |stmt| match stmt {
        Stmt::Inst(inst) | Stmt::Masked { inst, .. } => {
            if let Stmt::Masked { mask: Operand::Reg(mask), .. } = stmt {
                used.insert(*mask);
            }
            inst.uses(|reg| {
                used.insert(reg);
            });
            inst.defs(|reg| {
                defined.insert(reg);
            });
        }
        Stmt::If { condition: Operand::Reg(reg), .. } => {
            used.insert(*reg);
        }
        _ => {}
    });
    let set_first = set_before_used(region);
    let mut traffic = Traffic::default();
    for &reg in used.union(&defined).filter(|reg| layout.slots.contains_key(reg)) {
        let mutable = func.regs.get(reg.0 as usize).is_some_and(|info| info.mutable);
        let stored = defined.contains(&reg);
        // One definition comes before all uses; a variable may be left alone on some path and must keep its value.
        let loaded = if mutable {
            (used.contains(&reg) || stored) && !set_first.contains(&reg)
        } else {
            used.contains(&reg) && !stored
        };
        if loaded {
            traffic.loads.push(reg);
        }
        if stored {
            traffic.stores.push(reg);
        }
    }
    traffic
}

/// Variables that the straight start of a region sets before it uses them.
fn set_before_used(region: &Region) -> BTreeSet<Reg> {
    let mut set = BTreeSet::new();
    let mut used = BTreeSet::new();
    for stmt in &region.body {
        let Stmt::Inst(inst) = stmt else { break };
        inst.uses(|reg| {
            used.insert(reg);
        });
        inst.defs(|reg| {
            if !used.contains(&reg) {
                set.insert(reg);
            }
        });
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Address, Base, Builtin, Cell, Inst, Object, Op, RegInfo, Ty};
    use crate::passes::{liveness, regions, uniformity};
    use naga::Span;

    fn copy(dst: u32, value: Operand) -> Stmt {
        Stmt::Inst(Inst::Op { dst: Reg(dst), op: Op::Copy, args: vec![value] })
    }

    fn store(object: u32, value: Operand) -> Stmt {
        let address = Address::start(Base::Object(ObjectId(object)));
        Stmt::Inst(Inst::Store { cell: Cell::I32, address, value })
    }

    #[test]
    fn only_what_crosses_a_barrier_and_differs_gets_a_slot() {
        let lane = Operand::Builtin(Builtin::LocalIndex);
        let reg = |reg: u32| Operand::Reg(Reg(reg));
        let group = Operand::Builtin(Builtin::Group(0));
        let body = vec![
            copy(0, lane),
            copy(1, group),
            copy(2, lane),
            copy(3, lane),
            store(0, reg(2)),
            store(1, lane),
            Stmt::Barrier { span: Span::UNDEFINED },
            store(1, reg(0)),
            store(1, reg(1)),
            store(1, reg(3)),
        ];
        let mutable = [false, false, false, true];
        let regs = mutable.map(|mutable| RegInfo { ty: Ty::I32, mutable }).to_vec();
        let object = Object { size: 40, align: 4, table: None, shared: false };
        let func = Func { params: Vec::new(), results: Vec::new(), regs, body, span: Span::UNDEFINED };
        let mut unit = Unit {
            entry: func,
            functions: Vec::new(),
            objects: vec![object.clone(), object],
            bindings: Vec::new(),
            workgroup_bytes: 20,
            workgroup_size: [8, 1, 1],
            constant_bytes: 0,
        };
        let uniformity = uniformity::analyse(&unit, &liveness::analyse(&unit.entry));
        let nodes = regions::split(std::mem::take(&mut unit.entry.body), &uniformity).unwrap();
        let single = vec![true, false];
        let layout = assign(&unit, &nodes, &uniformity.registers(), single, &Options::default()).unwrap();
        // Both are the index, and so the index of the first lane says all.
        assert_eq!(layout.slots.iter().collect::<Vec<_>>(), [(&Reg(0), &0), (&Reg(3), &4)]);
        // Behind the workgroup's memory, and in the context behind two slots, once for each lane.
        assert_eq!(layout.home(ObjectId(0)), Some(Home::Scratch(32)));
        assert_eq!(layout.home(ObjectId(1)), Some(Home::Context(16)));
        assert_eq!((layout.contexts, layout.context_bytes, layout.total), (80, 176, 80 + 2 * 176));
        let mut seen = Vec::new();
        each_region(&nodes, &mut |region| seen.push(traffic(&unit.entry, region, &layout)));
        // Set before it is used: not loaded.
        assert!(seen[0].loads.is_empty());
        assert_eq!(seen[0].stores, [Reg(0), Reg(3)]);
        assert_eq!(seen[1].loads, [Reg(0), Reg(3)]);
        assert!(seen[1].stores.is_empty());
    }
}
