//! Control flow: where it parts, up to where, and what is assigned or waited for meanwhile.

use naga::valid::FunctionInfo;
use naga::{Block, CollectiveOperation, Expression, Function, GatherMode, Handle, Span, Statement};

use super::leaves::all;
use super::values::{Root, Value};
use super::{Analysis, Instance, MAX_NESTING, Parted, Refusal, Scope};

/// Where a jump leads.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Target {
    /// Behind the loop or switch of this number.
    Behind(u32),
    /// To the end of the body of the loop of this number.
    Continuing(u32),
    /// To the end of the function.
    End,
}

/// A walk through one function.
pub(super) struct Walk<'w, 'a> {
    pub(super) analysis: &'w mut Analysis<'a>,
    pub(super) function: &'a Function,
    pub(super) info: &'a FunctionInfo,
    pub(super) instance: Instance,
    nesting: u32,
    /// Jumps that not all have taken together, each with the condition: up to the target control flow is parted.
    pending: Vec<(Target, Span)>,
    /// Numbers of the loops and switches around, of which the last is the innermost: of `break`, and of `continue`.
    breaks: Vec<u32>,
    continues: Vec<u32>,
    /// Loops and switches so far, and loops so far.
    targets: u32,
    loops: usize,
}

impl<'w, 'a> Walk<'w, 'a> {
    pub(super) fn new(
        analysis: &'w mut Analysis<'a>,
        function: &'a Function,
        info: &'a FunctionInfo,
        instance: Instance,
        nesting: u32,
    ) -> Self {
        let (pending, breaks, continues) = (Vec::new(), Vec::new(), Vec::new());
        Self { analysis, function, info, instance, nesting, pending, breaks, continues, targets: 0, loops: 0 }
    }

    /// The instance, with what was taken back. Control flow may have parted before.
    pub(super) fn run(mut self, parted: Parted) -> Result<Instance, Refusal> {
        let function = self.function;
        self.block(&function.body, parted)?;
        Ok(self.instance)
    }

    fn block(&mut self, block: &'a Block, parted: Parted) -> Result<(), Refusal> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(Refusal::Nesting);
        }
        for (statement, &span) in block.span_iter() {
            self.analysis.step(1)?;
            self.statement(statement, span, parted)?;
        }
        self.nesting -= 1;
        Ok(())
    }

    /// Where control flow has parted at this point, of what is in a block where it had parted at `parted`.
    fn here(&self, parted: Parted) -> Parted {
        parted.or_else(|| self.pending.first().map(|&(_, condition)| condition))
    }

    fn statement(&mut self, statement: &'a Statement, span: Span, parted: Parted) -> Result<(), Refusal> {
        match *statement {
            Statement::Block(ref block) => self.block(block, parted)?,
            Statement::If { condition, ref accept, ref reject } => {
                let inside = self.decided(condition, parted);
                self.arms([(accept, false), (reject, false)].into_iter(), inside)?;
            }
            Statement::Switch { selector, ref cases } => {
                let inside = self.decided(selector, parted);
                let number = self.target();
                self.breaks.push(number);
                self.arms(cases.iter().map(|case| (&case.body, case.fall_through)), inside)?;
                self.breaks.pop();
                self.arrive(Target::Behind(number));
            }
            Statement::Loop { ref body, ref continuing, break_if } => {
                self.repeat(body, continuing, break_if, parted)?
            }
            Statement::Break => self.jump(self.breaks.last().map(|&number| Target::Behind(number)), parted),
            Statement::Continue => self.jump(self.continues.last().map(|&number| Target::Continuing(number)), parted),
            Statement::Return { value } => {
                self.answer(value, parted);
                self.jump(Some(Target::End), parted);
            }
            Statement::Kill => self.jump(Some(Target::End), parted),
            _ => self.action(statement, span, parted)?,
        }
        Ok(())
    }

    /// Statements without others inside, after which control flow goes on.
    fn action(&mut self, statement: &'a Statement, span: Span, parted: Parted) -> Result<(), Refusal> {
        match *statement {
            Statement::Emit(ref range) => {
                for handle in range.clone() {
                    let parts = match self.function.expressions[handle] {
                        Expression::Compose { ref components, .. } => components.len(),
                        _ => 1,
                    };
                    self.analysis.step(parts)?;
                    let value = self.evaluate(handle);
                    self.set(handle, value);
                }
            }
            Statement::ControlBarrier(flags) if self.analysis.scope.has(flags) => self.wait(span, parted)?,
            Statement::WorkGroupUniformLoad { pointer, result } => {
                if self.analysis.scope == Scope::Workgroup {
                    self.wait(span, parted)?;
                }
                // All read the same, if all read at the same place.
                let differs = self.bits(pointer) != 0;
                self.set_whole(result, differs);
            }
            Statement::Store { pointer, value } => self.store(pointer, value, parted),
            Statement::Call { function, ref arguments, result } => self
                .call(function, arguments, result, parted)
                .map_err(|refusal| refusal.through(span, self.here(parted).is_some()))?,
            Statement::SubgroupBallot { result, .. } => self.shared_in_subgroup(result, true, parted),
            Statement::SubgroupCollectiveOperation { collective_op, result, .. } => {
                self.shared_in_subgroup(result, collective_op == CollectiveOperation::Reduce, parted);
            }
            Statement::SubgroupGather { ref mode, result, .. } => {
                let shared = matches!(mode, GatherMode::BroadcastFirst | GatherMode::Broadcast(_));
                self.shared_in_subgroup(result, shared, parted);
            }
            // Barriers of the other scope, memory barriers, and what differs or is no value: an atomic's result has differed from the start.
            _ => {}
        }
        Ok(())
    }

    /// Control flow inside of a condition.
    fn decided(&self, condition: Handle<Expression>, parted: Parted) -> Parted {
        let differs = self.bits(condition) != 0;
        parted.or_else(|| differs.then(|| self.function.expressions.get_span(condition)))
    }

    /// Blocks of which one is entered, or, where the one before falls through, two. Jumps out of one do not part another.
    fn arms(&mut self, arms: impl Iterator<Item = (&'a Block, bool)>, inside: Parted) -> Result<(), Refusal> {
        let before = self.pending.clone();
        let mut after = before.clone();
        for (block, falls_through) in arms {
            self.block(block, inside)?;
            for &jump in &self.pending {
                if !after.iter().any(|known| known.0 == jump.0) {
                    after.push(jump);
                }
            }
            if !falls_through {
                self.pending.clone_from(&before);
            }
        }
        self.pending = after;
        Ok(())
    }

    fn repeat(
        &mut self,
        body: &'a Block,
        continuing: &'a Block,
        break_if: Option<Handle<Expression>>,
        parted: Parted,
    ) -> Result<(), Refusal> {
        let (number, at) = (self.target(), self.loops);
        self.loops += 1;
        if self.instance.loops.len() <= at {
            self.instance.loops.resize(at + 1, None);
        }
        let known = self.instance.loops.get(at).copied().flatten();
        let (inside, before) = (parted.or(known), self.pending.len());
        self.breaks.push(number);
        self.continues.push(number);
        self.block(body, inside)?;
        self.arrive(Target::Continuing(number));
        self.block(continuing, inside)?;
        self.breaks.pop();
        self.continues.pop();
        if let Some(condition) = break_if {
            let decided = self.decided(condition, inside);
            self.jump(Some(Target::Behind(number)), decided);
        }
        // Some have left it, and others go on: the rounds are no longer taken together.
        if let Some(&(_, condition)) = self.pending.get(before)
            && let Some(slot) = self.instance.loops.get_mut(at)
            && slot.is_none()
        {
            *slot = Some(condition);
            self.analysis.changed = true;
        }
        self.arrive(Target::Behind(number));
        Ok(())
    }

    fn target(&mut self) -> u32 {
        self.targets = self.targets.saturating_add(1);
        self.targets
    }

    /// A jump. What all take together does not part them.
    fn jump(&mut self, target: Option<Target>, parted: Parted) {
        if let (Some(target), Some(condition)) = (target, self.here(parted))
            && !self.pending.iter().any(|known| known.0 == target)
        {
            self.pending.push((target, condition));
        }
    }

    fn arrive(&mut self, target: Target) {
        self.pending.retain(|waiting| waiting.0 != target);
    }

    fn wait(&self, at: Span, parted: Parted) -> Result<(), Refusal> {
        match self.here(parted) {
            Some(condition) => Err(Refusal::Barrier { at, condition, call: None }),
            None => Ok(()),
        }
    }

    fn store(&mut self, pointer: Handle<Expression>, value: Handle<Expression>, parted: Parted) {
        let Value::Pointer(target) = self.value(pointer) else { return };
        let Root::Slot(slot) = target.root else { return };
        let bits = if target.differs || self.here(parted).is_some() { u64::MAX } else { self.bits(value) };
        let width = self.width(value);
        self.analysis.part(slot, target.range.place(bits & all(width), width));
    }

    fn answer(&mut self, value: Option<Handle<Expression>>, parted: Parted) {
        let Some(value) = value else { return };
        let bits = if self.here(parted).is_some() { u64::MAX } else { self.bits(value) };
        if self.instance.result & bits != bits {
            self.instance.result |= bits;
            self.analysis.changed = true;
        }
    }

    fn call(
        &mut self,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
        parted: Parted,
    ) -> Result<(), Refusal> {
        self.analysis.step(arguments.len())?;
        let here = self.here(parted);
        let arguments = arguments.iter().map(|&argument| match self.value(argument) {
            // Where control flow has parted, nothing is believed anyhow: one look at the function is enough.
            Value::Bits(_) if here.is_some() => Value::Bits(u64::MAX),
            value => value,
        });
        let arguments = arguments.collect();
        let bits = self.analysis.call(function, arguments, here, self.nesting)?;
        if let Some(result) = result {
            self.set(result, Value::Bits(bits & all(self.width(result))));
        }
        Ok(())
    }

    /// The result of an operation on a subgroup, which may be the same for all of it.
    fn shared_in_subgroup(&mut self, result: Handle<Expression>, shared: bool, parted: Parted) {
        let same = shared && self.analysis.scope == Scope::Subgroup && self.here(parted).is_none();
        self.set_whole(result, !same);
    }

    fn set_whole(&mut self, handle: Handle<Expression>, differs: bool) {
        let bits = if differs { all(self.width(handle)) } else { 0 };
        self.set(handle, Value::Bits(bits));
    }

    fn set(&mut self, handle: Handle<Expression>, value: Value) {
        if let Some(slot) = self.instance.values.get_mut(handle.index()) {
            *slot = value;
        }
    }
}
