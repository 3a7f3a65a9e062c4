//! How many steps functions have, and which of their loops count their rounds.
//!
//! A function is measured once, after those that it calls, so that the time is linear even where writing the calls out
//! would take exponentially many steps; the sums saturate.

use std::collections::BTreeSet;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, Barrier, Block, Expression, Function, Handle, MathFunction, Module, Range, Statement, TypeInner,
};

use super::trips::{Place, Stores};
use super::{MAX_UNCOUNTED_ROUNDS, MAX_UNCOUNTED_STEPS};

/// Bytes of a value that one step moves.
const BYTES_PER_STEP: u64 = 16;

/// Largest variable that is no array and that compilers keep in registers, wherever and however often there is one.
const REGISTER_BYTES: u64 = 64;

/// Barriers in a refill of a loop that a workgroup leaves together.
const BARRIERS_OF_REFILL: u64 = 2;

/// Rounds, and steps, of a loop that compilers are known to write out.
const MAX_WRITTEN_ROUNDS: u64 = 32;
const MAX_WRITTEN_STEPS: u64 = 1024;

/// The measures of a module with one entry point.
pub(super) struct Costs {
    /// Of the entry point with everything written out.
    pub(super) whole: Measure,
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
    /// What a round is charged: one, and the rounds of loops inside, or in what is called inside, that do not count. None for one that
    /// does not count itself.
    pub(super) charge: Option<u32>,
    /// Whether a workgroup barrier is inside, or in what is called inside.
    pub(super) barrier: bool,
}

impl Costs {
    /// Whether there is any loop that counts.
    pub(super) fn has_loops(&self) -> bool {
        self.counted().next().is_some()
    }

    /// Whether there is a loop that a workgroup must leave together.
    pub(super) fn has_group_loops(&self) -> bool {
        self.counted().any(|it| it.barrier)
    }

    /// Whether there is a loop that an invocation may leave by itself.
    pub(super) fn has_own_loops(&self) -> bool {
        self.counted().any(|it| !it.barrier)
    }

    fn counted(&self) -> impl Iterator<Item = &Loop> {
        self.functions.iter().chain([&self.entry]).flatten().filter(|it| it.charge.is_some())
    }
}

/// Measures a module whose only entry point is `entry`.
pub(super) fn measure(module: &Module, info: &ModuleInfo, entry: &Function) -> Costs {
    let costs = measure_with(module, info, entry, true);
    if costs.whole.rounds <= MAX_UNCOUNTED_ROUNDS && costs.whole.work <= MAX_UNCOUNTED_STEPS {
        return costs;
    }
    // Each loop by itself is short, all of them together are not.
    measure_with(module, info, entry, false)
}

fn measure_with(module: &Module, info: &ModuleInfo, entry: &Function, knows_rounds: bool) -> Costs {
    let mut known = Vec::with_capacity(module.functions.len());
    let mut functions = Vec::with_capacity(module.functions.len());
    for (handle, function) in module.functions.iter() {
        let (measure, loops) = of_function(module, &info[handle], function, &known, knows_rounds);
        known.push(measure);
        functions.push(loops);
    }
    let (mut whole, entry) = of_function(module, info.get_entry_point(0), entry, &known, knows_rounds);
    let globals = module.global_variables.iter().map(|(_, variable)| variable);
    for variable in globals.filter(|variable| variable.space == AddressSpace::Private) {
        whole.bytes = whole.bytes.saturating_add(memory(module, &module.types[variable.ty].inner));
    }
    Costs { whole, functions, entry }
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

/// The measure of some code, run once.
#[derive(Clone, Copy, Default)]
pub(super) struct Measure {
    /// Steps, each loop run once: how much a compiler has to read.
    pub(super) steps: u64,
    /// Steps, each loop run once but for those that a compiler may write out: how much it may come to have to compile.
    pub(super) written: u64,
    /// Steps that are done, each loop that counts run once.
    pub(super) work: u64,
    /// Rounds of the loops that do not count, and are not inside of one that does.
    pub(super) rounds: u64,
    /// Workgroup barriers that a compiler has to read, those of refills and of loops that it may write out included.
    pub(super) barriers: u64,
    /// Functions like `sin` that a compiler has to read, once for each component, those of loops that it may write out included.
    pub(super) functions: u64,
    /// Bytes of an invocation's variables, and of its values that are indexed, once for each call of the function that has them.
    pub(super) bytes: u64,
    /// Loops.
    pub(super) loops: u64,
    /// For each loop, how many loops it is in, itself included; summed up.
    pub(super) nesting: u64,
}

impl Measure {
    fn steps(steps: u64) -> Self {
        Self { steps, written: steps, work: steps, ..Self::default() }
    }

    fn add(&mut self, other: Self) {
        self.steps = self.steps.saturating_add(other.steps);
        self.written = self.written.saturating_add(other.written);
        self.work = self.work.saturating_add(other.work);
        self.rounds = self.rounds.saturating_add(other.rounds);
        self.barriers = self.barriers.saturating_add(other.barriers);
        self.functions = self.functions.saturating_add(other.functions);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.loops = self.loops.saturating_add(other.loops);
        self.nesting = self.nesting.saturating_add(other.nesting);
    }
}

struct Meter<'a> {
    module: &'a Module,
    info: &'a FunctionInfo,
    function: &'a Function,
    stores: Stores,
    /// Of the functions before this one.
    known: &'a [Measure],
    /// Whether loops that are known to end soon go without counting.
    knows_rounds: bool,
    /// Inside of how many loops the statement is.
    depth: u32,
    loops: Loops,
}

fn of_function(
    module: &Module,
    info: &FunctionInfo,
    function: &Function,
    known: &[Measure],
    knows_rounds: bool,
) -> (Measure, Loops) {
    let mut meter = Meter {
        module,
        info,
        function,
        stores: Stores::of(function),
        known,
        knows_rounds,
        depth: 0,
        loops: Vec::new(),
    };
    let mut measure = meter.block(&function.body);
    for (_, variable) in function.local_variables.iter() {
        // Variables are cleared.
        let inner = &module.types[variable.ty].inner;
        measure.add(Measure { bytes: memory(module, inner), ..Measure::steps(meter.size(inner)) });
    }
    measure.bytes = measure.bytes.saturating_add(meter.indexed_values());
    (measure, meter.loops)
}

/// Bytes of memory that a variable takes.
fn memory(module: &Module, inner: &TypeInner) -> u64 {
    let bytes = bytes(module, inner);
    if matches!(inner, TypeInner::Array { .. }) || bytes > REGISTER_BYTES { bytes } else { 0 }
}

fn bytes(module: &Module, inner: &TypeInner) -> u64 {
    inner.try_size(module.to_ctx()).map_or(u64::MAX, u64::from)
}

impl Meter<'_> {
    fn block(&mut self, block: &Block) -> Measure {
        let mut sum = Measure::default();
        for (at, statement) in block.iter().enumerate() {
            sum.add(self.statement(statement, block.get(..at).unwrap_or_default()));
        }
        sum
    }

    fn statement(&mut self, statement: &Statement, before: &[Statement]) -> Measure {
        let mut sum = Measure::steps(1);
        match statement {
            // Only what is emitted counts.
            Statement::Emit(range) => return self.emitted(range),
            Statement::Store { value, .. } => sum.add(Measure::steps(self.moved(*value))),
            Statement::WorkGroupUniformLoad { result, .. } => {
                sum.add(Measure { barriers: 2, ..Measure::steps(self.moved(*result)) });
            }
            Statement::ControlBarrier(flags) => sum.barriers = u64::from(is_group_barrier(*flags)),
            Statement::Call { function, .. } => {
                // A function that is not known comes later, which the validator refuses.
                sum.add(self.known.get(function.index()).copied().unwrap_or_default());
            }
            Statement::Loop { body, continuing, .. } => return self.round(body, continuing, before),
            _ => {}
        }
        for block in children(statement) {
            sum.add(self.block(block));
        }
        sum
    }

    fn round(&mut self, body: &Block, continuing: &Block, before: &[Statement]) -> Measure {
        let at = self.loops.len();
        self.loops.push(Loop { charge: None, barrier: false });
        let mut inside = Measure::steps(1);
        self.depth += 1;
        for block in [body, continuing] {
            inside.add(self.block(block));
        }
        self.depth -= 1;
        inside.loops = inside.loops.saturating_add(1);
        inside.nesting = inside.nesting.saturating_add(inside.loops);
        let barrier = inside.barriers > 0;
        let (charge, all) = match self.uncounted(body, continuing, before, &inside) {
            Some(all) => (None, all),
            // No more rounds than steps, of which there are few enough.
            None => {
                let charge = u32::try_from(1 + inside.rounds).unwrap_or(u32::MAX);
                let refill = if barrier { BARRIERS_OF_REFILL } else { 0 };
                let barriers = inside.barriers.saturating_add(refill);
                (Some(charge), Measure { rounds: 0, barriers, ..inside })
            }
        };
        if let Some(it) = self.loops.get_mut(at) {
            *it = Loop { charge, barrier };
        }
        all
    }

    /// All rounds of a loop, if they are known and so few that they need not be counted.
    fn uncounted(&self, body: &Block, continuing: &Block, before: &[Statement], inside: &Measure) -> Option<Measure> {
        if !self.knows_rounds {
            return None;
        }
        let (module, function, stores) = (self.module, self.function, &self.stores);
        let place = Place { module, function, stores, before, in_loop: self.depth > 0 };
        let most = MAX_UNCOUNTED_STEPS / inside.work.max(1);
        let rounds = place.rounds(body, continuing, u32::try_from(most.min(MAX_UNCOUNTED_ROUNDS)).ok()?)?;
        // The last look, which finds that it is over, is one.
        let rounds = u64::from(rounds) + 1;
        let written = inside.written.saturating_mul(rounds);
        let is_written_out = rounds <= MAX_WRITTEN_ROUNDS + 1 && written <= MAX_WRITTEN_STEPS;
        let times = if is_written_out { rounds } else { 1 };
        let all = Measure {
            work: inside.work.saturating_mul(rounds),
            rounds: inside.rounds.saturating_add(1).saturating_mul(rounds),
            written: inside.written.saturating_mul(times),
            barriers: inside.barriers.saturating_mul(times),
            functions: inside.functions.saturating_mul(times),
            ..*inside
        };
        (all.rounds <= MAX_UNCOUNTED_ROUNDS).then_some(all)
    }

    fn emitted(&self, range: &Range<Expression>) -> Measure {
        let mut sum = Measure::default();
        for handle in range.clone() {
            let steps = Measure::steps(self.moved(handle).saturating_add(1));
            sum.add(Measure { functions: self.functions(handle), ..steps });
        }
        sum
    }

    /// Functions that a compiler writes out as some tens of instructions for each component.
    fn functions(&self, value: Handle<Expression>) -> u64 {
        use MathFunction as Fun;
        match self.function.expressions[value] {
            Expression::Math {
                fun:
                    Fun::Sin
                    | Fun::Cos
                    | Fun::Tan
                    | Fun::Asin
                    | Fun::Acos
                    | Fun::Atan
                    | Fun::Atan2
                    | Fun::Sinh
                    | Fun::Cosh
                    | Fun::Tanh
                    | Fun::Asinh
                    | Fun::Acosh
                    | Fun::Atanh
                    | Fun::Exp
                    | Fun::Exp2
                    | Fun::Log
                    | Fun::Log2
                    | Fun::Pow,
                ..
            } => self.type_of(value).components().map_or(1, u64::from),
            _ => 0,
        }
    }

    /// Steps for the size of a value.
    fn moved(&self, value: Handle<Expression>) -> u64 {
        self.size(self.type_of(value))
    }

    fn size(&self, inner: &TypeInner) -> u64 {
        match bytes(self.module, inner) {
            u64::MAX => u64::MAX,
            bytes => bytes / BYTES_PER_STEP,
        }
    }

    fn type_of(&self, value: Handle<Expression>) -> &TypeInner {
        self.info[value].ty.inner_with(&self.module.types)
    }

    /// Bytes of the arrays that are values, not variables, and whose elements are chosen by a computed index. naga makes a variable of each,
    /// and of a table of constants one for each use.
    fn indexed_values(&self) -> u64 {
        let bases = self.function.expressions.iter().filter_map(|(_, it)| match *it {
            Expression::Access { base, .. } => Some(base),
            _ => None,
        });
        let bases: BTreeSet<_> = bases.filter(|&base| matches!(self.type_of(base), TypeInner::Array { .. })).collect();
        bases.into_iter().map(|base| bytes(self.module, self.type_of(base))).fold(0, u64::saturating_add)
    }
}
