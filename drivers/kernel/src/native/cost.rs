//! How many steps functions and the iterations of their loops have.
//!
//! A function is measured once, after those that it calls, so that the time is linear even where writing the calls out
//! would take exponentially many steps; the sums saturate.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{Barrier, Block, Expression, Function, Handle, Module, Range, Statement};

use super::{Count, LARGEST_CHARGE};

/// Bytes of a value that one step moves.
const BYTES_PER_STEP: u64 = 16;

/// The measures of a module with one entry point.
pub(super) struct Costs {
    /// Steps of the entry point with everything written out, each loop run once.
    pub(super) whole: u64,
    /// The loops of each function, in the order of the module's functions.
    pub(super) functions: Vec<Loops>,
    /// The loops of the entry point.
    pub(super) entry: Loops,
}

/// The loops of one function, outer before inner and in the order of the source: see [`walk order`](children).
pub(super) type Loops = Vec<Loop>;

/// One loop.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Loop {
    /// What an iteration is charged.
    pub(super) charge: u32,
    /// Whether a workgroup barrier is inside, or in what is called inside.
    pub(super) barrier: bool,
}

impl Costs {
    /// Whether there is any loop.
    pub(super) fn has_loops(&self) -> bool {
        self.all().next().is_some()
    }

    /// Whether there is a loop that a workgroup must leave together.
    pub(super) fn has_group_loops(&self) -> bool {
        self.all().any(|it| it.barrier)
    }

    /// Whether there is a loop that an invocation may leave by itself.
    pub(super) fn has_own_loops(&self) -> bool {
        self.all().any(|it| !it.barrier)
    }

    fn all(&self) -> impl Iterator<Item = &Loop> {
        self.functions.iter().chain([&self.entry]).flatten()
    }
}

/// Measures a module whose only entry point is `entry`.
pub(super) fn measure(module: &Module, info: &ModuleInfo, entry: &Function, count: Count) -> Costs {
    let mut known = Vec::with_capacity(module.functions.len());
    let mut functions = Vec::with_capacity(module.functions.len());
    for (handle, function) in module.functions.iter() {
        let (measure, loops) = of_function(module, &info[handle], function, &known, count);
        known.push(measure);
        functions.push(loops);
    }
    let (measure, entry) = of_function(module, info.get_entry_point(0), entry, &known, count);
    Costs { whole: measure.whole, functions, entry }
}

/// The blocks inside of a statement, in the order in which every walk over loops visits them.
pub(super) fn children(statement: &Statement) -> Vec<&Block> {
    match statement {
        Statement::Block(block) => vec![block],
        Statement::If { accept, reject, .. } => vec![accept, reject],
        Statement::Switch { cases, .. } => cases.iter().map(|case| &case.body).collect(),
        Statement::Loop { body, continuing, .. } => vec![body, continuing],
        _ => Vec::new(),
    }
}

/// Whether every invocation of a workgroup waits here for the others. Where the flags name the subgroup, back ends make
/// it a barrier of the subgroup only.
fn is_group_barrier(flags: Barrier) -> bool {
    !flags.contains(Barrier::SUB_GROUP)
}

/// The measure of some code.
#[derive(Clone, Copy, Default)]
struct Measure {
    /// Steps with loops, each run once.
    whole: u64,
    /// Steps without what is inside of loops.
    flat: u64,
    /// Whether there is a workgroup barrier.
    barrier: bool,
}

impl Measure {
    fn steps(steps: u64) -> Self {
        Self { whole: steps, flat: steps, barrier: false }
    }

    fn add(&mut self, other: Self) {
        self.whole = self.whole.saturating_add(other.whole);
        self.flat = self.flat.saturating_add(other.flat);
        self.barrier |= other.barrier;
    }
}

struct Meter<'a> {
    module: &'a Module,
    info: &'a FunctionInfo,
    /// Of the functions before this one.
    known: &'a [Measure],
    count: Count,
    loops: Loops,
}

fn of_function(
    module: &Module,
    info: &FunctionInfo,
    function: &Function,
    known: &[Measure],
    count: Count,
) -> (Measure, Loops) {
    let mut meter = Meter { module, info, known, count, loops: Vec::new() };
    let mut measure = meter.block(&function.body);
    for (_, variable) in function.local_variables.iter() {
        // Variables are cleared.
        measure.add(Measure::steps(meter.size(&module.types[variable.ty].inner)));
    }
    (measure, meter.loops)
}

impl Meter<'_> {
    fn block(&mut self, block: &Block) -> Measure {
        let mut sum = Measure::default();
        for statement in block.iter() {
            sum.add(self.statement(statement));
        }
        sum
    }

    fn statement(&mut self, statement: &Statement) -> Measure {
        let mut sum = Measure::steps(1);
        match statement {
            // Only what is emitted counts.
            Statement::Emit(range) => return Measure::steps(self.emitted(range)),
            Statement::Store { value, .. } => sum.add(Measure::steps(self.moved(*value))),
            Statement::WorkGroupUniformLoad { result, .. } => {
                sum.add(Measure { barrier: true, ..Measure::steps(self.moved(*result)) });
            }
            Statement::ControlBarrier(flags) => sum.barrier = is_group_barrier(*flags),
            Statement::Call { function, .. } => {
                // A function that is not known comes later, which the validator refuses.
                sum.add(self.known.get(function.index()).copied().unwrap_or_default());
            }
            Statement::Loop { .. } => return self.iteration(statement),
            _ => {}
        }
        for block in children(statement) {
            sum.add(self.block(block));
        }
        sum
    }

    fn iteration(&mut self, statement: &Statement) -> Measure {
        let at = self.loops.len();
        self.loops.push(Loop { charge: 1, barrier: false });
        let mut inside = Measure::steps(1);
        for block in children(statement) {
            inside.add(self.block(block));
        }
        let charge = match self.count {
            Count::Steps => u32::try_from(inside.flat).unwrap_or(u32::MAX).min(LARGEST_CHARGE),
            Count::Iterations => 1,
        };
        if let Some(it) = self.loops.get_mut(at) {
            *it = Loop { charge, barrier: inside.barrier };
        }
        Measure { flat: 1, ..inside }
    }

    fn emitted(&self, range: &Range<Expression>) -> u64 {
        range.clone().fold(0, |sum: u64, handle| sum.saturating_add(1).saturating_add(self.moved(handle)))
    }

    /// Steps for the size of a value.
    fn moved(&self, value: Handle<Expression>) -> u64 {
        self.size(self.info[value].ty.inner_with(&self.module.types))
    }

    fn size(&self, inner: &naga::TypeInner) -> u64 {
        inner.try_size(self.module.to_ctx()).map_or(u64::MAX, |bytes| u64::from(bytes) / BYTES_PER_STEP)
    }
}
