//! Statements.

use naga::{AtomicFunction, Barrier, Block, Expression, Handle, ScalarKind, Statement, SwitchCase, SwitchValue};

use super::place::{Place, Root};
use super::{Exit, Lowerer, Meaning, Value};
use crate::diagnostic::Diagnostic;
use crate::ir::{Address, AtomicOp, Inst, Label, Op, Operand, Reg, Stmt};
use crate::layout::{Shape, cell_of, ty_of};
use crate::passes::inline::{MAX_NESTING, too_deep};

impl Lowerer<'_, '_> {
    pub(crate) fn block(&mut self, block: &Block) -> Result<(), Diagnostic> {
        // Counted through functions that are copied in, which the check of each function alone does not see.
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(too_deep(self.span));
        }
        for (statement, &span) in block.span_iter() {
            self.at(span);
            self.b.check_size(span)?;
            self.statement(statement).map_err(|error| error.or_at(span))?;
        }
        self.nesting -= 1;
        Ok(())
    }

    fn nested(&mut self, block: &Block) -> Result<Vec<Stmt>, Diagnostic> {
        self.b.open(self.span)?;
        self.block(block)?;
        Ok(self.b.close())
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Diagnostic> {
        match *statement {
            Statement::Emit(ref range) => self.emit(range.clone()),
            Statement::Block(ref block) => self.block(block),
            Statement::If { condition, ref accept, ref reject } => {
                let condition = self.scalar(condition)?;
                let span = self.span;
                let label = self.b.label();
                let accept = self.nested(accept)?;
                let reject = self.nested(reject)?;
                self.b.push(Stmt::If { label, condition, accept, reject, span });
                Ok(())
            }
            Statement::Switch { selector, ref cases } => self.switch(selector, cases),
            Statement::Loop { ref body, ref continuing, break_if } => self.repeat(body, continuing, break_if),
            Statement::Break => {
                let label = self.frame.breaks.last().copied();
                self.jump(label)
            }
            Statement::Continue => {
                let label = self.frame.continues.last().copied();
                self.jump(label)
            }
            Statement::Return { value } => self.leave(value),
            Statement::ControlBarrier(flags) => self.barrier(flags),
            // One thread runs all invocations of a workgroup, and only atomics speak to other workgroups: those are
            // sequentially consistent here.
            Statement::MemoryBarrier(_) => Ok(()),
            Statement::Store { pointer, value } => {
                let place = self.place(pointer)?;
                let value = self.value(value)?;
                self.store(&place, &value)
            }
            Statement::Atomic { pointer, ref fun, value, result } => self.atomic_statement(pointer, fun, value, result),
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let span = self.span;
                self.b.push(Stmt::Barrier { span });
                let place = self.place(pointer)?;
                let value = self.uniform_load(&place)?;
                self.frame.meanings.insert(result, Meaning::Value(value));
                self.b.push(Stmt::Barrier { span });
                Ok(())
            }
            Statement::Call { function, ref arguments, result } => self.call(function, arguments, result),
            Statement::Kill => self.unsupported("`discard`"),
            Statement::ImageStore { .. } | Statement::ImageAtomic { .. } => self.unsupported("textures"),
            Statement::SubgroupBallot { result, predicate } => self.ballot(predicate, result),
            Statement::SubgroupGather { mode, argument, result } => self.gather(mode, argument, result),
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                self.collective(op, collective_op, argument, result)
            }
            Statement::RayQuery { .. } | Statement::RayPipelineFunction(_) => self.unsupported("ray tracing"),
            Statement::CooperativeStore { .. } => self.unsupported("cooperative matrices"),
        }
    }

    fn jump(&mut self, label: Option<Label>) -> Result<(), Diagnostic> {
        let label = label.ok_or_else(|| self.defect("a jump out of nothing"))?;
        self.b.push(Stmt::Jump { label, span: self.span });
        Ok(())
    }

    fn barrier(&mut self, flags: Barrier) -> Result<(), Diagnostic> {
        if flags.contains(Barrier::SUB_GROUP) {
            // The lanes of a gang go from statement to statement together.
            return Ok(());
        }
        self.b.push(Stmt::Barrier { span: self.span });
        Ok(())
    }

    /// `loop { body continuing { ... break if } }` as a loop in a block (for `break`), its body in a block (for
    /// `continue`).
    fn repeat(
        &mut self,
        body: &Block,
        continuing: &Block,
        break_if: Option<Handle<Expression>>,
    ) -> Result<(), Diagnostic> {
        let (out, top, next) = (self.b.label(), self.b.label(), self.b.label());
        let span = self.span;
        self.frame.breaks.push(out);
        self.frame.continues.push(next);
        self.b.open(span)?;
        let inner = self.nested(body)?;
        self.b.push(Stmt::Block { label: next, body: inner });
        self.block(continuing)?;
        if let Some(condition) = break_if {
            let condition = self.scalar(condition)?;
            let accept = vec![Stmt::Jump { label: out, span }];
            let label = self.b.label();
            self.b.push(Stmt::If { label, condition, accept, reject: Vec::new(), span });
        }
        self.b.push(Stmt::Jump { label: top, span });
        let inner = self.b.close();
        self.frame.breaks.pop();
        self.frame.continues.pop();
        let body = vec![Stmt::Loop { label: top, body: inner, rare: false }];
        self.b.push(Stmt::Block { label: out, body });
        Ok(())
    }

    /// A switch, as a row of ifs on the number of the case that matches. Flat, however many cases there are.
    fn switch(&mut self, selector: Handle<Expression>, cases: &[SwitchCase]) -> Result<(), Diagnostic> {
        let selector = self.scalar(selector)?;
        let span = self.span;
        let number = self.matching_case(selector, cases);
        let falls = cases.iter().any(|case| case.fall_through && !case.body.is_empty());
        let fell = falls.then(|| {
            let fell = self.b.variable(crate::ir::Ty::Bool);
            self.b.copy(fell, Operand::Bool(false));
            fell
        });
        let out = self.b.label();
        self.frame.breaks.push(out);
        self.b.open(span)?;
        for (at, case) in (0u32..).zip(cases) {
            if case.fall_through && case.body.is_empty() {
                continue;
            }
            let mut condition = self.b.op(Op::Eq, &[number, Operand::I32(at)]);
            if let Some(fell) = fell {
                let before = self.b.read(fell);
                condition = self.b.op(Op::Or, &[condition, before]);
            }
            let label = self.b.label();
            let accept = self.case(case, fell, out)?;
            self.b.push(Stmt::If { label, condition, accept, reject: Vec::new(), span });
        }
        let body = self.b.close();
        self.frame.breaks.pop();
        self.b.push(Stmt::Block { label: out, body });
        Ok(())
    }

    /// The place in `cases` of the body that `selector` leads to.
    fn matching_case(&mut self, selector: Operand, cases: &[SwitchCase]) -> Operand {
        let last = cases.len().saturating_sub(1);
        // Where an empty case that falls through ends up.
        let target = |at: usize| {
            let end = cases.iter().enumerate().skip(at).find(|(_, case)| !(case.fall_through && case.body.is_empty()));
            Operand::I32(u32::try_from(end.map_or(last, |(at, _)| at)).unwrap_or(u32::MAX))
        };
        let default = cases.iter().position(|case| case.value == SwitchValue::Default);
        let mut number = default.map_or(Operand::I32(u32::MAX), target);
        for (at, case) in cases.iter().enumerate() {
            let value = match case.value {
                SwitchValue::I32(value) => value.cast_unsigned(),
                SwitchValue::U32(value) => value,
                SwitchValue::Default => continue,
            };
            let here = self.b.op(Op::Eq, &[selector, Operand::I32(value)]);
            number = self.b.select(here, target(at), number);
        }
        number
    }

    fn case(&mut self, case: &SwitchCase, fell: Option<Reg>, out: Label) -> Result<Vec<Stmt>, Diagnostic> {
        let span = self.span;
        self.b.open(span)?;
        self.block(&case.body)?;
        match fell {
            Some(fell) if case.fall_through => self.b.copy(fell, Operand::Bool(true)),
            _ => self.b.push(Stmt::Jump { label: out, span }),
        }
        Ok(self.b.close())
    }

    fn leave(&mut self, value: Option<Handle<Expression>>) -> Result<(), Diagnostic> {
        let value = value.map(|value| self.value(value)).transpose()?;
        let span = self.span;
        match &mut self.frame.exit {
            Exit::Last(result) => {
                *result = value;
                Ok(())
            }
            Exit::Function => {
                let values = match value {
                    Some(value) => self.returned(value)?,
                    None => Vec::new(),
                };
                self.b.push(Stmt::Return { values });
                Ok(())
            }
            Exit::Block { label, result } => {
                let (label, place) = (*label, result.clone());
                if let (Some(place), Some(value)) = (place, value) {
                    self.store(&place, &value)?;
                }
                self.b.push(Stmt::Jump { label, span });
                Ok(())
            }
        }
    }

    fn returned(&mut self, value: Value) -> Result<Vec<Operand>, Diagnostic> {
        let result = self.frame.function.result.as_ref().map(|result| result.ty);
        let ty = result.ok_or_else(|| self.defect("a value returned from a function without result"))?;
        let shape = self.cx.layouts.shape(ty)?;
        Ok(self.scalars_of(&value, shape)?.to_vec())
    }

    fn call(
        &mut self,
        callee: Handle<naga::Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<(), Diagnostic> {
        let meaning = if self.cx.plan.is_inlined(callee) {
            self.copy_in(callee, arguments)?
        } else {
            Some(self.call_kept(callee, arguments)?)
        };
        if let (Some(result), Some(meaning)) = (result, meaning) {
            self.frame.meanings.insert(result, meaning);
        }
        Ok(())
    }

    fn call_kept(
        &mut self,
        callee: Handle<naga::Function>,
        arguments: &[Handle<Expression>],
    ) -> Result<Meaning, Diagnostic> {
        let mut args = Vec::new();
        for &argument in arguments {
            args.extend(self.scalars(argument)?.iter().copied());
        }
        let position = self.cx.plan.kept.iter().position(|&kept| kept == callee);
        let Some(function) = position.and_then(|at| u32::try_from(at).ok()) else {
            return Err(self.defect("a call of an unknown function"));
        };
        let mut results = Vec::new();
        if let Some(result) = &self.cx.module.functions[callee].result {
            let leaves = self.cx.layouts.leaves(self.cx.layouts.shape(result.ty)?)?;
            results.extend(leaves.iter().map(|leaf| self.b.temp(ty_of(leaf.scalar))));
        }
        let values: Vec<_> = results.iter().map(|&reg| Operand::Reg(reg)).collect();
        self.b.inst(Inst::Call { function, args, results });
        Ok(Meaning::Value(Value::Flat(values.into())))
    }

    /// The value of a workgroup variable, which all invocations read between two barriers and so is the same for all.
    fn uniform_load(&mut self, place: &Place) -> Result<Value, Diagnostic> {
        let Root::Memory(address) = &place.root else {
            return Err(self.defect("a uniform load that is not from workgroup memory"));
        };
        let leaves = self.cx.layouts.leaves(place.shape)?;
        let mut values = Vec::with_capacity(leaves.len());
        for leaf in leaves.iter() {
            let cell = cell_of(leaf.scalar);
            let dst = self.b.temp(cell.ty());
            self.b.inst(Inst::UniformLoad { dst, cell, address: address.plus(leaf.offset) });
            values.push(self.of_cell(cell, Operand::Reg(dst)));
        }
        Ok(Value::Flat(values.into()))
    }

    fn atomic_statement(
        &mut self,
        pointer: Handle<Expression>,
        function: &AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<(), Diagnostic> {
        let place = self.place(pointer)?;
        let (Shape::Atomic(scalar), Root::Memory(address)) = (place.shape, place.root) else {
            return Err(self.defect("an atomic operation on something else"));
        };
        let value = self.scalar(value)?;
        let value = self.atomic_operand(value);
        let signed = scalar.kind == ScalarKind::Sint;
        let float = scalar.kind == ScalarKind::Float;
        let op = match *function {
            AtomicFunction::Add if float => AtomicOp::FAdd,
            AtomicFunction::Subtract if float => AtomicOp::FSub,
            AtomicFunction::Exchange { compare: None } => AtomicOp::Exchange,
            _ if float => return self.unsupported("this atomic operation on floats"),
            AtomicFunction::Add => AtomicOp::Add,
            AtomicFunction::Subtract => AtomicOp::Sub,
            AtomicFunction::And => AtomicOp::And,
            AtomicFunction::ExclusiveOr => AtomicOp::Xor,
            AtomicFunction::InclusiveOr => AtomicOp::Or,
            AtomicFunction::Min => {
                if signed {
                    AtomicOp::MinS
                } else {
                    AtomicOp::MinU
                }
            }
            AtomicFunction::Max => {
                if signed {
                    AtomicOp::MaxS
                } else {
                    AtomicOp::MaxU
                }
            }
            AtomicFunction::Exchange { compare: Some(compare) } => {
                let compare = self.scalar(compare)?;
                let old = self.atomic(AtomicOp::CompareExchange, address, value, compare);
                let exchanged = self.b.op(Op::Eq, &[old, compare]);
                self.atomic_result(result, vec![old, exchanged]);
                return Ok(());
            }
        };
        let old = self.atomic(op, address, value, Operand::I32(0));
        let old = if float { self.b.op(Op::ToFloat, &[old]) } else { old };
        self.atomic_result(result, vec![old]);
        Ok(())
    }

    fn atomic_result(&mut self, result: Option<Handle<Expression>>, values: Vec<Operand>) {
        if let Some(result) = result {
            self.frame.meanings.insert(result, Meaning::Value(Value::Flat(values.into())));
        }
    }

    /// What an atomic operation takes: of a float, its bits.
    pub(crate) fn atomic_operand(&mut self, value: Operand) -> Operand {
        if self.b.ty(value) == crate::ir::Ty::F32 { self.b.op(Op::ToInt, &[value]) } else { value }
    }

    /// An atomic operation; the old value.
    pub(crate) fn atomic(&mut self, op: AtomicOp, address: Address, value: Operand, compare: Operand) -> Operand {
        let dst = self.b.temp(crate::ir::Ty::I32);
        self.b.inst(Inst::Atomic { dst: Some(dst), op, address, value, compare });
        Operand::Reg(dst)
    }
}
