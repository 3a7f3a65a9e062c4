//! One invocation: it runs until it comes to a barrier or to what its subgroup does together, and goes on when told to.

use crate::{
    budget::kept,
    control::{At, Control, Frame, Path, Pause},
    error::{Result, defect, unsupported},
    evaluate::pure,
    group::Shared,
    layout::{Pointer, Root, Target},
    memory::Variable,
    monitor::Access,
    subgroup::Meeting,
    value::{Scalar, Value},
};
use naga::{
    Barrier, Block, Expression, Function, GlobalVariable, Handle, Module, Span, Statement, SwitchCase, SwitchValue,
};
use std::collections::HashMap;

/// One invocation, between runs.
pub(crate) struct Invocation<'m> {
    /// Its place in the workgroup, counted along x, then y, then z.
    pub(crate) index: u32,
    pub(crate) frames: Vec<Frame<'m>>,
    pub(crate) private: HashMap<Handle<GlobalVariable>, Variable>,
    /// A `workgroupUniformLoad` that is between its barriers: from where, which result, and where it is.
    loading: Option<(Pointer, Handle<Expression>, At)>,
    /// Where its subgroup does something together.
    pub(crate) meeting: Option<Meeting<'m>>,
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
        let mut invocation = Self { index, frames: Vec::new(), private, loading: None, meeting: None };
        Machine { shared, invocation: &mut invocation }.enter(function, arguments, None)?;
        Ok(invocation)
    }

    /// Runs it to the next barrier or meeting, or to its end.
    pub(crate) fn run(&mut self, shared: &mut Shared<'m>) -> Result<Pause> {
        let program = shared.program;
        let mut machine = Machine { shared, invocation: self };
        let result = machine.run();
        result.map_err(|error| error.or_at(program.place(machine.span())))
    }

    /// Gives it the value of an expression that was made elsewhere.
    pub(crate) fn answer(&mut self, shared: &mut Shared<'m>, result: Handle<Expression>, value: Value) -> Result<()> {
        Machine { shared, invocation: self }.set(result, value)
    }
}

/// An invocation with what it shares, while it runs.
pub(crate) struct Machine<'a, 'm> {
    pub(crate) shared: &'a mut Shared<'m>,
    pub(crate) invocation: &'a mut Invocation<'m>,
}

impl<'m> Machine<'_, 'm> {
    fn run(&mut self) -> Result<Pause> {
        if let Some((pointer, result, at)) = self.invocation.loading.take() {
            let value = self.load(pointer, Access::Read)?;
            self.set(result, value)?;
            return Ok(Pause::Barrier(at.second(), Barrier::WORK_GROUP));
        }
        loop {
            self.shared.budget.step()?;
            let Some(frame) = self.invocation.frames.last_mut() else { return Ok(Pause::End) };
            match frame.control.last_mut() {
                None => self.leave(None)?,
                Some(Control::Block { block, next, .. }) => {
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
                    frame.control.push(Control::block(block, 1));
                }
                Some(&mut Control::Loop { body, break_if, .. }) => {
                    if break_if.map_or(Ok(false), |condition| self.value(condition)?.scalar()?.bool())? {
                        self.frame_mut()?.control.pop();
                    } else {
                        let control = &mut self.frame_mut()?.control;
                        if let Some(Control::Loop { in_continuing, round, .. }) = control.last_mut() {
                            *in_continuing = false;
                            *round += 1;
                        }
                        control.push(Control::block(body, 0));
                    }
                }
            }
        }
    }

    /// Where it is, for messages.
    fn span(&self) -> Span {
        self.shared.span
    }

    pub(crate) fn module(&self) -> &'m Module {
        self.shared.module
    }

    fn frame(&self) -> Result<&Frame<'m>> {
        self.invocation.frames.last().ok_or_else(|| defect("a value outside of all functions"))
    }

    fn frame_mut(&mut self) -> Result<&mut Frame<'m>> {
        self.invocation.frames.last_mut().ok_or_else(|| defect("a statement outside of all functions"))
    }

    fn push(&mut self, block: &'m Block, arm: usize) -> Result<()> {
        self.frame_mut()?.control.push(Control::block(block, arm));
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
            Statement::Block(block) => self.push(block, 0)?,
            Statement::If { condition, accept, reject } => {
                let condition = self.value(*condition)?.scalar()?.bool()?;
                if condition { self.push(accept, 0)? } else { self.push(reject, 1)? }
            }
            Statement::Switch { selector, cases } => self.switch(*selector, cases)?,
            Statement::Loop { body, continuing, break_if } => {
                let rounds = Control::Loop { body, continuing, break_if: *break_if, round: 0, in_continuing: false };
                self.frame_mut()?.control.extend([rounds, Control::block(body, 0)]);
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
            Statement::ControlBarrier(flags) if !flags.contains(Barrier::SUB_GROUP) => {
                return Ok(Some(Pause::Barrier(At::new(statement, span), *flags)));
            }
            Statement::ControlBarrier(_)
            | Statement::SubgroupBallot { .. }
            | Statement::SubgroupGather { .. }
            | Statement::SubgroupCollectiveOperation { .. } => {
                let path = Path::of(&self.invocation.frames);
                self.invocation.meeting = Some(self.meeting(statement, span, path)?);
                return Ok(Some(Pause::Subgroup));
            }
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
                let at = At::new(statement, span);
                self.invocation.loading = Some((pointer, *result, at));
                return Ok(Some(Pause::Barrier(at, Barrier::WORK_GROUP)));
            }
            Statement::Call { function, arguments, result } => {
                let arguments = arguments.iter().map(|argument| self.value(*argument)).collect::<Result<_>>()?;
                self.enter(&self.module().functions[*function], arguments, *result)?;
            }
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
        let arms = rest.iter().enumerate().take(falling + 1).rev();
        control.extend(arms.map(|(at, case)| Control::block(&case.body, first.unwrap_or_default() + at)));
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
            control: vec![Control::block(&function.body, 0)],
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

    pub(crate) fn set(&mut self, handle: Handle<Expression>, value: Value) -> Result<()> {
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
    pub(crate) fn value(&mut self, handle: Handle<Expression>) -> Result<Value> {
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
}
