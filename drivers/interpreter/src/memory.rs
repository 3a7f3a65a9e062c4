//! Memory as an invocation sees it: its own variables and what it shares, loads, stores, atomic operations.

use crate::{
    budget::fits,
    error::{Result, defect},
    group::Shared,
    layout::{Pointer, Root, Target},
    machine::Machine,
    monitor::Access,
    value::{Scalar, Value},
};
use naga::{AtomicFunction, Expression, Handle};

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
    pub(crate) fn held(&self) -> u64 {
        (self.bytes.len() + self.unwritten.len()) as u64
    }
}

impl<'m> Machine<'_, 'm> {
    /// `base[index]`, of a pointer or a value. Out of range it is the last part.
    pub(crate) fn part(&mut self, base: &Value, index: u32) -> Result<Value> {
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
    pub(crate) fn count(&mut self, pointer: Pointer) -> Result<u32> {
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

    pub(crate) fn load(&mut self, pointer: Pointer, access: Access) -> Result<Value> {
        let size = pointer.target.size(self.module())?;
        fits(size)?;
        self.shared.budget.work(size as u64)?;
        self.touched(pointer, access)?;
        let module = self.module();
        let bytes = self.memory(pointer.root)?.get(pointer.offset..);
        pointer.target.read(module, bytes.ok_or_else(|| defect("a read past the end of a variable"))?)
    }

    pub(crate) fn store(&mut self, pointer: Pointer, value: &Value, access: Access) -> Result<()> {
        self.shared.budget.work(pointer.target.size(self.module())? as u64)?;
        self.touched(pointer, access)?;
        let module = self.module();
        let bytes = self.memory(pointer.root)?.get_mut(pointer.offset..);
        pointer.target.write(module, bytes.ok_or_else(|| defect("a write past the end of a variable"))?, value)
    }

    pub(crate) fn is_atomic(&self, target: Target) -> bool {
        matches!(*target.inner(self.module()), naga::TypeInner::Atomic(_))
    }

    pub(crate) fn atomic(
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
