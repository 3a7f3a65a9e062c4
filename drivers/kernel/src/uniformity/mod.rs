//! Refuses barriers that not all invocations of a workgroup may reach.
//!
//! At such a barrier some would wait for others that never come: WGSL forbids it, naga does not look, and on a GPU anything
//! may happen, a hang included. So it is decided here, once, and no driver gets to see such a kernel.
//!
//! The analysis begins by believing that every value is the same for all invocations, and takes back what cannot be shown
//! until nothing changes:
//!
//! - Built-in values that number invocations differ. So do atomics, and loads from memory that the kernel writes and that
//!   others can write too: workgroup memory, and storage unless the kernel only reads it. `workgroupUniformLoad` is the same for all.
//! - A variable of a function, or a private one, differs if anything that is assigned to it does, or if it is assigned where control flow
//!   has parted. Scalars are told apart as far as [`leaves`] says.
//! - Control flow parts at a condition that differs. Where a jump leaves such a condition, it stays parted up to the
//!   jump's target; a loop that is left that way is parted as a whole.
//! - A function is looked at anew for each combination of what its arguments are and of whether control flow has parted at
//!   the call: see [`Key`].
//!
//! Subgroup barriers are judged alike in a second run, in which "all" are the invocations of a subgroup.

mod leaves;
mod values;
mod walk;

use std::collections::HashMap;

use naga::valid::{FunctionInfo, GlobalUse, ModuleInfo};
use naga::{
    AddressSpace, Barrier, Block, BuiltIn, EntryPoint, Expression, Function, Handle, Module, Span, Statement, TypeInner,
};

use crate::error::{ErrorCode, KernelError};
use crate::place;
use leaves::{Leaves, Range, all};
use values::{Pointer, Root, Value};
use walk::Walk;

/// Expressions and statements that are looked at before a program is refused as too hard to judge, which takes less than a second. A kernel
/// takes a few rounds through what it has; only long chains of variables that hand a value on in a loop, or
/// functions that are called in thousands of ways, take more than some ten thousand.
const MAX_STEPS: u64 = 1 << 22;

/// What each expression and variable of an instance counts: they stay until the end, so that all together are at most 32 MiB.
const INSTANCE_STEPS: usize = 4;

/// Blocks inside each other, those of called functions included: each takes a few frames of the compile thread's stack.
const MAX_NESTING: u32 = 4_096;

/// Who has to reach a barrier together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scope {
    Workgroup,
    Subgroup,
}

/// Refuses a program in which a barrier may be reached by some invocations only. Its overrides are resolved; it runs on a compile thread.
///
/// # Errors
///
/// `InvalidArgument` with the barrier's place, `ResourceExhausted` where it cannot be seen within bounds.
pub(crate) fn check(module: &Module, info: &ModuleInfo, source: &str) -> Result<(), KernelError> {
    let leaves = Leaves::new(module);
    let mut steps = 0;
    for scope in [Scope::Workgroup, Scope::Subgroup] {
        let barriers = Barriers::find(module, scope);
        for (index, point) in module.entry_points.iter().enumerate() {
            if point.stage == naga::ShaderStage::Compute && barriers.are_in(&point.function.body) {
                let uses = info.get_entry_point(index);
                let mut analysis = Analysis::new(module, info, uses, &leaves, scope, steps);
                analysis.run(point, uses).map_err(|refusal| refusal.error(scope, source))?;
                steps = analysis.steps;
            }
        }
    }
    Ok(())
}

impl Scope {
    fn has(self, flags: Barrier) -> bool {
        flags.contains(Barrier::SUB_GROUP) == (self == Self::Subgroup)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Workgroup => "workgroup",
            Self::Subgroup => "subgroup",
        }
    }
}

/// Which functions have a barrier inside, or call one that has. Most programs have none, and need no analysis.
struct Barriers {
    scope: Scope,
    /// By function; a function comes after those that it calls.
    functions: Vec<bool>,
}

impl Barriers {
    fn find(module: &Module, scope: Scope) -> Self {
        let mut barriers = Self { scope, functions: Vec::with_capacity(module.functions.len()) };
        for (_, function) in module.functions.iter() {
            let found = barriers.are_in(&function.body);
            barriers.functions.push(found);
        }
        barriers
    }

    fn are_in(&self, block: &Block) -> bool {
        block.iter().any(|statement| match statement {
            Statement::ControlBarrier(flags) => self.scope.has(*flags),
            Statement::WorkGroupUniformLoad { .. } => self.scope == Scope::Workgroup,
            Statement::Call { function, .. } => self.functions.get(function.index()).copied().unwrap_or(true),
            Statement::Block(block) => self.are_in(block),
            Statement::If { accept, reject, .. } => self.are_in(accept) || self.are_in(reject),
            Statement::Switch { cases, .. } => cases.iter().any(|case| self.are_in(&case.body)),
            Statement::Loop { body, continuing, .. } => self.are_in(body) || self.are_in(continuing),
            _ => false,
        })
    }
}

/// Where control flow has parted, if it has: at the condition with this place.
type Parted = Option<Span>;

/// Why a program is refused.
enum Refusal {
    /// The barrier, the condition by which control flow has parted before it, and the call by which it was reached, if it is in a function.
    Barrier { at: Span, condition: Span, call: Option<Call> },
    /// More than [`MAX_STEPS`].
    Steps,
    /// More than [`MAX_NESTING`].
    Nesting,
}

/// A call that leads to a barrier.
#[derive(Clone, Copy)]
struct Call {
    at: Span,
    /// Whether control flow had parted there, so that moving the call is the remedy.
    parted: bool,
}

impl Refusal {
    /// The same, met inside of a call. The outermost call that not all make is the one to tell of; or else, where a condition in the function depends
    /// on what it was called with, the outermost of all.
    fn through(self, at: Span, parted: bool) -> Self {
        match self {
            Self::Barrier { at: barrier, condition, call } => {
                let inner = call.filter(|call| call.parted && !parted);
                Self::Barrier { at: barrier, condition, call: inner.or(Some(Call { at, parted })) }
            }
            Self::Steps | Self::Nesting => self,
        }
    }

    fn error(&self, scope: Scope, source: &str) -> KernelError {
        let unseen = |what: String| {
            let message = format!("it cannot be seen whether all invocations reach the barriers together: {what}");
            KernelError::new(ErrorCode::ResourceExhausted, message)
        };
        match *self {
            Self::Barrier { at, condition, call } => {
                let at_place =
                    |span| place::of_span(source, span).map(|place| format!(" at {place}")).unwrap_or_default();
                let reached =
                    call.map(|call| format!(", reached by the call{}", at_place(call.at))).unwrap_or_default();
                let message = format!(
                    "a barrier in control flow that is not uniform{reached}: the condition{} may differ between the invocations of a \
                     {}, so that some would not reach it; move the barrier out, or decide by a value that is the same \
                     for all: not one from memory that the kernel writes, unless by `workgroupUniformLoad`",
                    at_place(condition),
                    scope.name()
                );
                KernelError::new(ErrorCode::InvalidArgument, message).at(place::of_span(source, at))
            }
            Self::Steps => unseen(format!("that takes more than {MAX_STEPS} steps; simplify the loops and calls")),
            Self::Nesting => unseen(format!("more than {MAX_NESTING} blocks and calls inside each other; split them")),
        }
    }
}

/// What tells one look at a function from another.
#[derive(Eq, Hash, PartialEq)]
struct Key {
    function: Handle<Function>,
    arguments: Vec<Value>,
    parted: bool,
}

/// One look at a function.
#[derive(Default)]
struct Instance {
    /// Of each expression, by handle.
    values: Vec<Value>,
    /// Of each loop, in the order of the text: whether not all invocations leave it together.
    loops: Vec<Parted>,
    result: u64,
    /// The last round in which it was looked at.
    round: u32,
}

/// The analysis of one entry point.
struct Analysis<'a> {
    module: &'a Module,
    info: &'a ModuleInfo,
    leaves: &'a Leaves<'a>,
    scope: Scope,
    /// What the module's variables are, by handle.
    globals: Vec<Root>,
    /// What may differ in each variable: the module's, by handle, and then those of the instances.
    slots: Vec<u64>,
    instances: Vec<Instance>,
    known: HashMap<Key, usize>,
    round: u32,
    /// Whether something was taken back in this round.
    changed: bool,
    steps: u64,
}

impl<'a> Analysis<'a> {
    fn new(
        module: &'a Module,
        info: &'a ModuleInfo,
        uses: &FunctionInfo,
        leaves: &'a Leaves<'a>,
        scope: Scope,
        steps: u64,
    ) -> Self {
        let globals = module.global_variables.iter().map(|(handle, variable)| match variable.space {
            AddressSpace::Private => Root::Slot(handle.index()),
            AddressSpace::Uniform | AddressSpace::Immediate => Root::Same,
            // By use: what is declared writable is the same for all as long as nobody writes it.
            AddressSpace::Storage { .. } if !uses[handle].intersects(GlobalUse::WRITE | GlobalUse::ATOMIC) => {
                Root::Same
            }
            _ => Root::Differs,
        });
        Self {
            module,
            info,
            leaves,
            scope,
            globals: globals.collect(),
            slots: vec![0; module.global_variables.len()],
            instances: Vec::new(),
            known: HashMap::new(),
            round: 0,
            changed: true,
            steps,
        }
    }

    /// Looks at everything until nothing changes. Each round but the last takes something back, so it ends.
    fn run(&mut self, point: &'a EntryPoint, uses: &'a FunctionInfo) -> Result<(), Refusal> {
        let arguments: Vec<_> = point.function.arguments.iter().map(|it| self.argument(it, point)).collect();
        let entry = self.instance(&point.function, &arguments)?;
        while self.changed {
            self.changed = false;
            self.round = self.round.saturating_add(1);
            self.visit(entry, &point.function, uses, None, 0)?;
        }
        Ok(())
    }

    /// What a call answers.
    fn call(
        &mut self,
        function: Handle<Function>,
        arguments: Vec<Value>,
        parted: Parted,
        nesting: u32,
    ) -> Result<u64, Refusal> {
        let (module, info) = (self.module, self.info);
        let key = Key { function, arguments, parted: parted.is_some() };
        let at = match self.known.get(&key) {
            Some(&at) => at,
            None => {
                let at = self.instance(&module.functions[function], &key.arguments)?;
                self.known.insert(key, at);
                self.changed = true;
                at
            }
        };
        if self.instances.get(at).is_some_and(|it| it.round != self.round) {
            self.visit(at, &module.functions[function], &info[function], parted, nesting)?;
        }
        Ok(self.instances.get(at).map_or(u64::MAX, |it| it.result))
    }

    /// Makes an instance, in which what needs no statement has its value.
    fn instance(&mut self, function: &Function, arguments: &[Value]) -> Result<usize, Refusal> {
        let variables = self.slots.len();
        self.step(INSTANCE_STEPS * (function.expressions.len() + function.local_variables.len()))?;
        self.slots.resize(variables.saturating_add(function.local_variables.len()), 0);
        let values = function.expressions.iter().map(|(_, it)| self.given(it, function, arguments, variables));
        let instance = Instance { values: values.collect(), ..Instance::default() };
        self.instances.push(instance);
        Ok(self.instances.len() - 1)
    }

    fn visit(
        &mut self,
        at: usize,
        function: &'a Function,
        info: &'a FunctionInfo,
        parted: Parted,
        nesting: u32,
    ) -> Result<(), Refusal> {
        // Taken out while it is looked at: functions do not call themselves.
        let Some(slot) = self.instances.get_mut(at) else { return Ok(()) };
        let mut instance = std::mem::take(slot);
        instance.round = self.round;
        let instance = Walk::new(self, function, info, instance, nesting).run(parted)?;
        if let Some(slot) = self.instances.get_mut(at) {
            *slot = instance;
        }
        Ok(())
    }

    fn step(&mut self, count: usize) -> Result<(), Refusal> {
        self.steps = self.steps.saturating_add(count as u64);
        if self.steps > MAX_STEPS { Err(Refusal::Steps) } else { Ok(()) }
    }

    /// Takes back that these bits of a variable are the same for all.
    fn part(&mut self, slot: usize, bits: u64) {
        if let Some(slot) = self.slots.get_mut(slot)
            && *slot & bits != bits
        {
            *slot |= bits;
            self.changed = true;
        }
    }

    /// An argument of an entry point: a built-in value, or a structure of some.
    fn argument(&self, argument: &naga::FunctionArgument, point: &EntryPoint) -> Value {
        let differs = |binding: &Option<naga::Binding>| match binding {
            Some(naga::Binding::BuiltIn(builtin)) => self.builtin(*builtin, point.workgroup_size),
            _ => u64::MAX,
        };
        let TypeInner::Struct { ref members, .. } = self.module.types[argument.ty].inner else {
            return Value::Bits(differs(&argument.binding) & all(self.leaves.width_of(argument.ty)));
        };
        let mut first = 0u32;
        let mut bits = 0;
        for member in members {
            let width = self.leaves.width_of(member.ty);
            bits |= Range { first, width }.place(differs(&member.binding) & all(width), width);
            first = first.saturating_add(width);
        }
        Value::Bits(bits)
    }

    /// Which components of a built-in value differ.
    fn builtin(&self, builtin: BuiltIn, size: [u32; 3]) -> u64 {
        match builtin {
            BuiltIn::WorkGroupId
            | BuiltIn::WorkGroupSize
            | BuiltIn::NumWorkGroups
            | BuiltIn::NumSubgroups
            | BuiltIn::SubgroupSize => 0,
            BuiltIn::SubgroupId if self.scope == Scope::Subgroup => 0,
            // Along an axis of one invocation there is no other.
            BuiltIn::LocalInvocationId | BuiltIn::GlobalInvocationId => {
                size.iter().enumerate().filter(|&(_, &size)| size != 1).fold(0, |bits, (axis, _)| bits | 1 << axis)
            }
            BuiltIn::LocalInvocationIndex if size == [1; 3] => 0,
            _ => u64::MAX,
        }
    }

    /// The value of an expression that needs no statement; of all others it is not known yet. The function's variables begin at the slot `variables`.
    fn given(&self, expression: &Expression, function: &Function, arguments: &[Value], variables: usize) -> Value {
        let pointer = |root: Root, ty: Handle<naga::Type>| {
            let range = Range { first: 0, width: self.leaves.width_of(ty) };
            Value::Pointer(Pointer { root, range, differs: false })
        };
        match *expression {
            Expression::Literal(_) | Expression::Constant(_) | Expression::Override(_) | Expression::ZeroValue(_) => {
                Value::Bits(0)
            }
            Expression::FunctionArgument(index) => {
                arguments.get(index as usize).copied().unwrap_or(Value::Bits(u64::MAX))
            }
            Expression::GlobalVariable(handle) => {
                let root = self.globals.get(handle.index()).copied().unwrap_or(Root::Differs);
                pointer(root, self.module.global_variables[handle].ty)
            }
            Expression::LocalVariable(handle) => {
                let root = Root::Slot(variables.saturating_add(handle.index()));
                pointer(root, function.local_variables[handle].ty)
            }
            _ => Value::Bits(u64::MAX),
        }
    }
}
