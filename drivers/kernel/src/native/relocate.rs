//! Moves a function's expressions behind others, and its calls to where the functions now are.
//!
//! naga demands that an expression comes after those that it uses, and a function after those that it calls. So what is
//! to be used by a whole kernel must be at the start of both arenas, and everything that refers to them must follow.

use naga::{AtomicFunction, Block, Expression, Function, GatherMode, Handle, Range, Statement};

use super::defect;
use super::launch::Prelude;
use crate::error::{ErrorCode, KernelError};

/// `function` behind `prelude`, calling functions by their handles in `functions`, which is indexed by the old ones.
pub(super) fn function(
    mut function: Function,
    prelude: Prelude,
    functions: &[Handle<Function>],
) -> Result<Function, KernelError> {
    let mut relocation = Relocation { functions, ..Relocation::default() };
    let mut expressions = prelude.expressions;
    let old = std::mem::take(&mut function.expressions);
    for (handle, expression) in old.iter() {
        let mut expression = expression.clone();
        relocation.expression(&mut expression)?;
        let replaced = match expression {
            Expression::FunctionArgument(index) => prelude.arguments.get(index as usize).copied().flatten(),
            _ => None,
        };
        let moved = expressions.append(expression, old.get_span(handle));
        relocation.places.push(moved);
        // A replaced argument is moved, too: then every old range is still one.
        relocation.values.push(replaced.unwrap_or(moved));
    }
    function.expressions = expressions;
    for (_, variable) in function.local_variables.iter_mut() {
        relocation.option(&mut variable.init)?;
    }
    for (mut handle, name) in std::mem::take(&mut function.named_expressions) {
        relocation.value(&mut handle)?;
        function.named_expressions.insert(handle, name);
    }
    relocation.block(&mut function.body)?;
    let mut body = prelude.body;
    body.append(&mut function.body);
    function.body = body;
    Ok(function)
}

/// Where things have gone, by the index that they had.
#[derive(Default)]
struct Relocation<'a> {
    functions: &'a [Handle<Function>],
    /// Each expression itself.
    places: Vec<Handle<Expression>>,
    /// What those who use it get: itself, or what replaces it.
    values: Vec<Handle<Expression>>,
}

impl Relocation<'_> {
    fn value(&self, handle: &mut Handle<Expression>) -> Result<(), KernelError> {
        let moved = self.values.get(handle.index());
        *handle = *moved.ok_or_else(|| defect("an expression uses a later one"))?;
        Ok(())
    }

    fn option(&self, handle: &mut Option<Handle<Expression>>) -> Result<(), KernelError> {
        handle.as_mut().map_or(Ok(()), |handle| self.value(handle))
    }

    fn values<'h>(&self, handles: impl IntoIterator<Item = &'h mut Handle<Expression>>) -> Result<(), KernelError> {
        handles.into_iter().try_for_each(|handle| self.value(handle))
    }

    fn callee(&self, handle: &mut Handle<Function>) -> Result<(), KernelError> {
        let moved = self.functions.get(handle.index());
        *handle = *moved.ok_or_else(|| defect("a function calls a later one"))?;
        Ok(())
    }

    fn place(&self, handle: Handle<Expression>) -> Result<Handle<Expression>, KernelError> {
        self.places.get(handle.index()).copied().ok_or_else(|| defect("an expression is not there"))
    }

    fn expression(&self, expression: &mut Expression) -> Result<(), KernelError> {
        match expression {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ZeroValue(_)
            | Expression::FunctionArgument(_)
            | Expression::GlobalVariable(_)
            | Expression::LocalVariable(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. }
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. } => Ok(()),
            Expression::CallResult(function) => self.callee(function),
            Expression::Compose { components, .. } => self.values(components),
            Expression::Access { base, index } => self.values([base, index]),
            Expression::AccessIndex { base: value, .. }
            | Expression::Splat { value, .. }
            | Expression::Swizzle { vector: value, .. }
            | Expression::Load { pointer: value }
            | Expression::Unary { expr: value, .. }
            | Expression::Relational { argument: value, .. }
            | Expression::As { expr: value, .. }
            | Expression::ArrayLength(value) => self.value(value),
            Expression::Binary { left, right, .. } => self.values([left, right]),
            Expression::Select { condition, accept, reject } => self.values([condition, accept, reject]),
            Expression::Math { arg, arg1, arg2, arg3, .. } => {
                self.value(arg)?;
                [arg1, arg2, arg3].into_iter().try_for_each(|arg| self.option(arg))
            }
            Expression::Override(_) => Err(defect("an override is unresolved")),
            Expression::ImageSample { .. }
            | Expression::ImageLoad { .. }
            | Expression::ImageQuery { .. }
            | Expression::Derivative { .. }
            | Expression::RayQueryVertexPositions { .. }
            | Expression::RayQueryProceedResult
            | Expression::RayQueryGetIntersection { .. }
            | Expression::CooperativeLoad { .. }
            | Expression::CooperativeMultiplyAdd { .. } => Err(not_for_kernels()),
        }
    }

    fn block(&self, block: &mut Block) -> Result<(), KernelError> {
        block.iter_mut().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&self, statement: &mut Statement) -> Result<(), KernelError> {
        match statement {
            Statement::Emit(range) => {
                *statement = self.emit(range)?;
                Ok(())
            }
            Statement::Break
            | Statement::Continue
            | Statement::Kill
            | Statement::ControlBarrier(_)
            | Statement::MemoryBarrier(_) => Ok(()),
            Statement::Block(block) => self.block(block),
            Statement::If { condition, accept, reject } => {
                self.value(condition)?;
                self.block(accept)?;
                self.block(reject)
            }
            Statement::Switch { selector, cases } => {
                self.value(selector)?;
                cases.iter_mut().try_for_each(|case| self.block(&mut case.body))
            }
            Statement::Loop { body, continuing, break_if } => {
                self.block(body)?;
                self.block(continuing)?;
                self.option(break_if)
            }
            _ => self.action(statement),
        }
    }

    /// Statements without others inside.
    fn action(&self, statement: &mut Statement) -> Result<(), KernelError> {
        match statement {
            Statement::Return { value } => self.option(value),
            Statement::Store { pointer, value } => self.values([pointer, value]),
            Statement::Atomic { pointer, fun, value, result } => {
                self.values([pointer, value])?;
                if let AtomicFunction::Exchange { compare } = fun {
                    self.option(compare)?;
                }
                self.option(result)
            }
            Statement::WorkGroupUniformLoad { pointer, result } => self.values([pointer, result]),
            Statement::Call { function, arguments, result } => {
                self.callee(function)?;
                self.values(arguments)?;
                self.option(result)
            }
            Statement::SubgroupBallot { result, predicate } => {
                self.value(result)?;
                self.option(predicate)
            }
            Statement::SubgroupGather { mode, argument, result } => {
                self.gather(mode)?;
                self.values([argument, result])
            }
            Statement::SubgroupCollectiveOperation { argument, result, .. } => self.values([argument, result]),
            Statement::ImageStore { .. }
            | Statement::ImageAtomic { .. }
            | Statement::RayQuery { .. }
            | Statement::RayPipelineFunction(_)
            | Statement::CooperativeStore { .. } => Err(not_for_kernels()),
            // These have come another way. They are listed so that what naga adds does not go unnoticed.
            Statement::Emit(_)
            | Statement::Block(_)
            | Statement::If { .. }
            | Statement::Switch { .. }
            | Statement::Loop { .. }
            | Statement::Break
            | Statement::Continue
            | Statement::Kill
            | Statement::ControlBarrier(_)
            | Statement::MemoryBarrier(_) => Ok(()),
        }
    }

    fn gather(&self, mode: &mut GatherMode) -> Result<(), KernelError> {
        match mode {
            GatherMode::BroadcastFirst | GatherMode::QuadSwap(_) => Ok(()),
            GatherMode::Broadcast(index)
            | GatherMode::Shuffle(index)
            | GatherMode::ShuffleDown(index)
            | GatherMode::ShuffleUp(index)
            | GatherMode::ShuffleXor(index)
            | GatherMode::QuadBroadcast(index) => self.value(index),
        }
    }

    fn emit(&self, range: &Range<Expression>) -> Result<Statement, KernelError> {
        Ok(match range.first_and_last() {
            Some((first, last)) => Statement::Emit(Range::new_from_bounds(self.place(first)?, self.place(last)?)),
            None => Statement::Block(Block::new()),
        })
    }
}

/// What the front end refuses or cannot produce for a compute kernel.
fn not_for_kernels() -> KernelError {
    let message = "a native kernel cannot use textures, ray queries or cooperative matrices";
    KernelError::new(ErrorCode::Unimplemented, message)
}
