//! One invocation: a stack of calls, and in each a stack of blocks. It runs until it comes to a barrier, and goes on when told to.

use crate::{
    budget::{fits, kept},
    error::{Result, defect, unsupported},
    evaluate::pure,
    group::Shared,
    layout::{Pointer, Root, Target},
    monitor::Access,
    value::{Scalar, Value},
};
use naga::{
    AtomicFunction, Barrier, Block, Expression, Function, GlobalVariable, Handle, LocalVariable, Module, Span,
    Statement, SwitchCase, SwitchValue,
};
use std::collections::HashMap;

/// Why an invocation stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pause {
    /// At a barrier: which one, and what it orders.
    Barrier(At, Barrier),
    /// At its end.
    End,
}

/// Which barrier it is. Those of `workgroupUniformLoad` have two, with a load between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct At {
    /// The statement, by its address.
    statement: usize,
    second: bool,
    pub(crate) span: Span,
}

/// What is going on inside a function, from the outside in.
enum Control<'m> {
    /// Statements from `next` on are to be done.
    Block { block: &'m Block, next: usize },
    Loop {
        body: &'m Block,
        continuing: &'m Block,
        break_if: Option<Handle<Expression>>,
        /// Which of the two blocks is going on.
        in_continuing: bool,
    },
    /// What `break` leaves, as it does a loop.
    Switch,
}

/// A call that is going on.
struct Frame<'m> {
    function: &'m Function,
    arguments: Vec<Value>,
    /// By the expression's index; none before it was evaluated.
    values: Vec<Option<Value>>,
    locals: HashMap<Handle<LocalVariable>, Variable>,
    /// Bytes that are counted for it.
    held: u64,
    control: Vec<Control<'m>>,
    /// Which of the caller's expressions the result is.
    result: Option<Handle<Expression>>,
}

/// A variable of an invocation's own.
pub(crate) struct Variable {
    pub(crate) bytes: Vec<u8>,
    /// For each byte whether it was never written; empty if nobody asks, or if it has an initial value.
    pub(crate) unwritten: Vec<bool>,
}

impl Variable {
    /// A variable as it begins.
    pub(crate) fn new(ty: Target, init: Option<&Value>, shared: &mut Shared<'_>) -> Result<Self> {
        let size = ty.size(shared.module)?;
        let asked = if shared.monitor.is_some() && init.is_none() { size } else { 0 };
        shared.budget.take((size + asked) as u64)?;
        let mut bytes = vec![0; size];
        if let Some(init) = init {
            ty.write(shared.module, &mut bytes, init)?;
        }
        Ok(Self { bytes, unwritten: vec![true; asked] })
    }

    /// Bytes that are counted for it.
    fn held(&self) -> u64 {
        (self.bytes.len() + self.unwritten.len()) as u64
    }
}

/// One invocation, between runs.
pub(crate) struct Invocation<'m> {
    /// Its place in the workgroup, counted along x, then y, then z.
    pub(crate) index: u32,
    frames: Vec<Frame<'m>>,
    private: HashMap<Handle<GlobalVariable>, Variable>,
    /// A `workgroupUniformLoad` that is between its barriers: from where, which result, and where it is.
    loading: Option<(Pointer, Handle<Expression>, At)>,
}

impl<'m> Invocation<'m> {
    /// An invocation about to run `function`.
    pub(crate) fn new(
        index: u32,
        function: &'m Function,
        arguments: Vec<Value>,
        private: HashMap<Handle<GlobalVariable>, Variable>,
        shared: &mut Shared<'m>,
    ) -> Result<Self> {
        let mut invocation = Self { index, frames: Vec::new(), private, loading: None };
        Machine { shared, invocation: &mut invocation }.enter(function, arguments, None)?;
        Ok(invocation)
    }

    /// Runs it to the next barrier, or to its end.
    pub(crate) fn run(&mut self, shared: &mut Shared<'m>) -> Result<Pause> {
        let program = shared.program;
        let mut machine = Machine { shared, invocation: self };
        let result = machine.run();
        result.map_err(|error| error.or_at(program.place(machine.span())))
    }
}

/// An invocation with what it shares, while it runs.
struct Machine<'a, 'm> {
    shared: &'a mut Shared<'m>,
    invocation: &'a mut Invocation<'m>,
}

impl<'m> Machine<'_, 'm> {
    fn run(&mut self) -> Result<Pause> {
        if let Some((pointer, result, at)) = self.invocation.loading.take() {
            let value = self.load(pointer, Access::Read)?;
            self.set(result, value)?;
            return Ok(Pause::Barrier(At { second: true, ..at }, Barrier::WORK_GROUP));
        }
        loop {
            self.shared.budget.step()?;
            let Some(frame) = self.invocation.frames.last_mut() else { return Ok(Pause::End) };
            match frame.control.last_mut() {
                None => self.leave(None)?,
                Some(Control::Block { block, next }) => {
                    let (block, at) = (*block, *next);
                    *next += 1;
                    match block.get(at) {
                        None => drop(frame.control.pop()),
                        Some(statement) => {
                            let span = block.span_iter().nth(at).map_or(Span::UNDEFINED, |(_, span)| *span);
                            self.shared.span = span;
                            if let Some(pause) = self.statement(statement, span)? {
                                return Ok(pause);
                            }
                        }
                    }
                }
                Some(Control::Switch) => drop(frame.control.pop()),
                Some(Control::Loop { continuing, in_continuing, .. }) if !*in_continuing => {
                    *in_continuing = true;
                    let block = *continuing;
                    frame.control.push(Control::Block { block, next: 0 });
                }
                Some(&mut Control::Loop { body, break_if, .. }) => {
                    if break_if.map_or(Ok(false), |condition| self.value(condition)?.scalar()?.bool())? {
                        self.frame_mut()?.control.pop();
                    } else {
                        let control = &mut self.frame_mut()?.control;
                        if let Some(Control::Loop { in_continuing, .. }) = control.last_mut() {
                            *in_continuing = false;
                        }
                        control.push(Control::Block { block: body, next: 0 });
                    }
                }
            }
        }
    }

    /// Where it is, for messages.
    fn span(&self) -> Span {
        self.shared.span
    }

    fn module(&self) -> &'m Module {
        self.shared.module
    }

    fn frame(&self) -> Result<&Frame<'m>> {
        self.invocation.frames.last().ok_or_else(|| defect("a value outside of all functions"))
    }

    fn frame_mut(&mut self) -> Result<&mut Frame<'m>> {
        self.invocation.frames.last_mut().ok_or_else(|| defect("a statement outside of all functions"))
    }

    fn push(&mut self, block: &'m Block) -> Result<()> {
        self.frame_mut()?.control.push(Control::Block { block, next: 0 });
        Ok(())
    }

    fn statement(&mut self, statement: &'m Statement, span: Span) -> Result<Option<Pause>> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    self.shared.budget.step()?;
                    let value = self.evaluate(handle)?;
                    self.set(handle, value)?;
                }
            }
            Statement::Block(block) => self.push(block)?,
            Statement::If { condition, accept, reject } => {
                let condition = self.value(*condition)?.scalar()?.bool()?;
                self.push(if condition { accept } else { reject })?;
            }
            Statement::Switch { selector, cases } => self.switch(*selector, cases)?,
            Statement::Loop { body, continuing, break_if } => {
                let begin =
                    [Control::Loop { body, continuing, break_if: *break_if, in_continuing: false }, block(body)];
                self.frame_mut()?.control.extend(begin);
            }
            Statement::Break => {
                let control = &mut self.frame_mut()?.control;
                while matches!(control.pop(), Some(Control::Block { .. })) {}
            }
            Statement::Continue => {
                let control = &mut self.frame_mut()?.control;
                while !matches!(control.last(), Some(Control::Loop { .. }) | None) {
                    control.pop();
                }
            }
            Statement::Return { value } => {
                let value = value.map(|value| self.value(value)).transpose()?;
                self.leave(value)?;
            }
            Statement::ControlBarrier(flags) if flags.contains(Barrier::SUB_GROUP) => {
                return unsupported("a subgroup barrier");
            }
            Statement::ControlBarrier(flags) => return Ok(Some(Pause::Barrier(at(statement, span), *flags))),
            // Invocations run one after the other: memory is always in order.
            Statement::MemoryBarrier(_) => {}
            Statement::Store { pointer, value } => {
                let pointer = self.value(*pointer)?.pointer()?;
                let value = self.value(*value)?;
                let atomic = self.is_atomic(pointer.target);
                self.store(pointer, &value, if atomic { Access::Atomic } else { Access::Write })?;
            }
            Statement::Atomic { pointer, fun, value, result } => self.atomic(*pointer, *fun, *value, *result)?,
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let pointer = self.value(*pointer)?.pointer()?;
                let at = at(statement, span);
                self.invocation.loading = Some((pointer, *result, at));
                return Ok(Some(Pause::Barrier(at, Barrier::WORK_GROUP)));
            }
            Statement::Call { function, arguments, result } => {
                let arguments = arguments.iter().map(|argument| self.value(*argument)).collect::<Result<_>>()?;
                self.enter(&self.module().functions[*function], arguments, *result)?;
            }
            Statement::SubgroupBallot { .. }
            | Statement::SubgroupGather { .. }
            | Statement::SubgroupCollectiveOperation { .. } => return unsupported("a subgroup operation"),
            _ => return unsupported("a statement that is not for compute kernels"),
        }
        Ok(None)
    }

    /// The case of this value or else the default, and the ones that it falls through to.
    fn switch(&mut self, selector: Handle<Expression>, cases: &'m [SwitchCase]) -> Result<()> {
        let selector = match self.value(selector)?.scalar()? {
            Scalar::I32(value) => SwitchValue::I32(value),
            Scalar::U32(value) => SwitchValue::U32(value),
            _ => return Err(defect("a switch over something else than an integer")),
        };
        let find = |value| cases.iter().position(|case| case.value == value);
        let first = find(selector).or_else(|| find(SwitchValue::Default));
        let rest = first.and_then(|first| cases.get(first..)).unwrap_or_default();
        let falling = rest.iter().take_while(|case| case.fall_through).count();
        let control = &mut self.frame_mut()?.control;
        control.push(Control::Switch);
        // The last one pushed is the first to run.
        control.extend(rest.iter().take(falling + 1).rev().map(|case| block(&case.body)));
        Ok(())
    }

    fn enter(
        &mut self,
        function: &'m Function,
        arguments: Vec<Value>,
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let slots = (function.expressions.len() * size_of::<Option<Value>>()) as u64;
        let held = arguments.iter().map(kept).fold(slots, u64::saturating_add);
        self.shared.budget.take(held)?;
        self.invocation.frames.push(Frame {
            function,
            arguments,
            values: vec![None; function.expressions.len()],
            locals: HashMap::new(),
            held,
            control: vec![block(&function.body)],
            result,
        });
        for (handle, variable) in function.local_variables.iter() {
            let init = variable.init.map(|init| self.value(init)).transpose()?;
            let local = Variable::new(Target::Type(variable.ty), init.as_ref(), self.shared)?;
            let frame = self.frame_mut()?;
            frame.held = frame.held.saturating_add(local.held());
            frame.locals.insert(handle, local);
        }
        Ok(())
    }

    fn leave(&mut self, value: Option<Value>) -> Result<()> {
        let left = self.invocation.frames.pop();
        self.shared.budget.give(left.as_ref().map_or(0, |frame| frame.held));
        match (left.and_then(|frame| frame.result), value) {
            (Some(result), Some(value)) => self.set(result, value),
            (Some(_), None) => Err(defect("a function ended without its result")),
            (None, _) => Ok(()),
        }
    }

    fn set(&mut self, handle: Handle<Expression>, value: Value) -> Result<()> {
        let more = kept(&value);
        self.shared.budget.take(more)?;
        let frame = self.frame_mut()?;
        let slot = frame.values.get_mut(handle.index()).ok_or_else(|| defect("an expression of another function"))?;
        let less = slot.replace(value).as_ref().map_or(0, kept);
        frame.held = frame.held.saturating_add(more).saturating_sub(less);
        self.shared.budget.give(less);
        Ok(())
    }

    /// The value of an expression that was evaluated, or that is constant.
    fn value(&mut self, handle: Handle<Expression>) -> Result<Value> {
        match self.frame()?.values.get(handle.index()) {
            Some(Some(value)) => Ok(value.clone()),
            _ => self.evaluate(handle),
        }
    }

    fn evaluate(&mut self, handle: Handle<Expression>) -> Result<Value> {
        let frame = self.frame()?;
        let expression = &frame.function.expressions[handle];
        match *expression {
            Expression::FunctionArgument(index) => {
                frame.arguments.get(index as usize).cloned().ok_or_else(|| defect("an argument that was not passed"))
            }
            Expression::GlobalVariable(variable) => {
                let target = Target::Type(self.module().global_variables[variable].ty);
                Ok(Value::Pointer(Pointer { root: Root::Global(variable), offset: 0, target, clamped: false }))
            }
            Expression::LocalVariable(variable) => {
                let target = Target::Type(frame.function.local_variables[variable].ty);
                let root = Root::Local { frame: self.invocation.frames.len() - 1, variable };
                Ok(Value::Pointer(Pointer { root, offset: 0, target, clamped: false }))
            }
            Expression::Load { pointer } => {
                let pointer = self.value(pointer)?.pointer()?;
                let atomic = self.is_atomic(pointer.target);
                self.load(pointer, if atomic { Access::Atomic } else { Access::Read })
            }
            Expression::Access { base, index } => {
                let (base, index) = (self.value(base)?, self.value(index)?.index()?);
                self.part(&base, index)
            }
            Expression::AccessIndex { base, index } => {
                let base = self.value(base)?;
                self.part(&base, index)
            }
            Expression::ArrayLength(pointer) => {
                let pointer = self.value(pointer)?.pointer()?;
                self.count(pointer).map(Value::u32)
            }
            ref expression => pure(self.module(), expression, &mut |operand| self.value(operand)),
        }
    }

    /// `base[index]`, of a pointer or a value. Out of range it is the last part.
    fn part(&mut self, base: &Value, index: u32) -> Result<Value> {
        let Value::Pointer(pointer) = base else {
            let (count, part) = base.part(index)?;
            self.shared.indexed(self.invocation.index, index, count, None);
            return Ok(part);
        };
        if let Some((offset, target)) = pointer.target.member(self.module(), index) {
            return Ok(Value::Pointer(Pointer { offset: pointer.offset + offset, target, ..*pointer }));
        }
        let parts = pointer.target.parts(self.module())?;
        let count = match parts.count {
            Some(count) => count,
            None => self.count(*pointer)?,
        };
        let name = self.name(pointer.root);
        self.shared.indexed(self.invocation.index, index, count, name);
        let offset = pointer.offset + index.min(count.saturating_sub(1)) as usize * parts.stride;
        let clamped = pointer.clamped || index >= count;
        Ok(Value::Pointer(Pointer { offset, target: parts.target, clamped, ..*pointer }))
    }

    /// How many elements the runtime-sized array at a pointer has.
    fn count(&mut self, pointer: Pointer) -> Result<u32> {
        let stride = pointer.target.parts(self.module())?.stride;
        let bytes = self.memory(pointer.root)?.len().saturating_sub(pointer.offset);
        let count = bytes.checked_div(stride).and_then(|count| u32::try_from(count).ok());
        count.ok_or_else(|| defect("an array of elements without size"))
    }

    /// The invocation's own variable that a pointer points into; none if that is shared.
    fn own(&mut self, root: Root) -> Option<&mut Variable> {
        match root {
            Root::Global(variable) => self.invocation.private.get_mut(&variable),
            Root::Local { frame, variable } => self.invocation.frames.get_mut(frame)?.locals.get_mut(&variable),
        }
    }

    fn memory(&mut self, root: Root) -> Result<&mut Vec<u8>> {
        // Twice, because the borrow of what is found would last.
        if self.own(root).is_some() {
            return self.own(root).map(|own| &mut own.bytes).ok_or_else(|| defect("a variable without memory"));
        }
        let shared = match root {
            Root::Global(variable) => self.shared.globals.get_mut(&variable),
            Root::Local { .. } => None,
        };
        shared.ok_or_else(|| defect("a variable without memory"))
    }

    /// What the variable that a pointer points into is called.
    fn name(&self, root: Root) -> Option<&'m str> {
        match root {
            Root::Global(variable) => self.module().global_variables[variable].name.as_deref(),
            Root::Local { frame, variable } => {
                self.invocation.frames.get(frame)?.function.local_variables[variable].name.as_deref()
            }
        }
    }

    /// Tells the monitor of an access.
    fn touched(&mut self, pointer: Pointer, access: Access) -> Result<()> {
        if self.shared.monitor.is_none() {
            return Ok(());
        }
        let module = self.module();
        let Some(own) = self.own(pointer.root) else {
            return self.shared.touched(self.invocation.index, pointer, access);
        };
        let mut unwritten = false;
        pointer.target.leaves(module, pointer.offset, &mut |start, length| {
            for byte in own.unwritten.iter_mut().skip(start).take(length) {
                unwritten |= *byte && access == Access::Read;
                *byte &= access == Access::Read;
            }
        })?;
        if unwritten && !pointer.clamped {
            let name = self.name(pointer.root);
            self.shared.unwritten(self.invocation.index, name);
        }
        Ok(())
    }

    fn load(&mut self, pointer: Pointer, access: Access) -> Result<Value> {
        let size = pointer.target.size(self.module())?;
        fits(size)?;
        self.shared.budget.work(size as u64)?;
        self.touched(pointer, access)?;
        let module = self.module();
        let bytes = self.memory(pointer.root)?.get(pointer.offset..);
        pointer.target.read(module, bytes.ok_or_else(|| defect("a read past the end of a variable"))?)
    }

    fn store(&mut self, pointer: Pointer, value: &Value, access: Access) -> Result<()> {
        self.shared.budget.work(pointer.target.size(self.module())? as u64)?;
        self.touched(pointer, access)?;
        let module = self.module();
        let bytes = self.memory(pointer.root)?.get_mut(pointer.offset..);
        pointer.target.write(module, bytes.ok_or_else(|| defect("a write past the end of a variable"))?, value)
    }

    fn is_atomic(&self, target: Target) -> bool {
        matches!(*target.inner(self.module()), naga::TypeInner::Atomic(_))
    }

    fn atomic(
        &mut self,
        pointer: Handle<Expression>,
        fun: AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        use naga::{BinaryOperator as Op, MathFunction as Fun};
        let pointer = self.value(pointer)?.pointer()?;
        let value = self.value(value)?;
        let old = self.load(pointer, Access::Atomic)?;
        let binary = |op| crate::operators::binary(op, &old, &value);
        let mut answer = old.clone();
        let new = match fun {
            AtomicFunction::Add => binary(Op::Add)?,
            AtomicFunction::Subtract => binary(Op::Subtract)?,
            AtomicFunction::And => binary(Op::And)?,
            AtomicFunction::ExclusiveOr => binary(Op::ExclusiveOr)?,
            AtomicFunction::InclusiveOr => binary(Op::InclusiveOr)?,
            AtomicFunction::Min => crate::math::math(Fun::Min, &[old.clone(), value])?,
            AtomicFunction::Max => crate::math::math(Fun::Max, &[old.clone(), value])?,
            AtomicFunction::Exchange { compare: None } => value,
            AtomicFunction::Exchange { compare: Some(compare) } => {
                let same = self.value(compare)?.scalar()?.bits()? == old.scalar()?.bits()?;
                answer = Value::Composite(vec![old.clone(), Value::Scalar(Scalar::Bool(same))]);
                if same { value } else { old }
            }
        };
        self.store(pointer, &new, Access::Atomic)?;
        result.map_or(Ok(()), |result| self.set(result, answer))
    }
}

fn block(block: &Block) -> Control<'_> {
    Control::Block { block, next: 0 }
}

fn at(statement: &Statement, span: Span) -> At {
    At { statement: std::ptr::from_ref(statement).addr(), second: false, span }
}
