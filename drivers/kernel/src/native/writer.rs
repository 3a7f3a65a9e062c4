//! Writes small pieces of naga IR.

use naga::{
    Arena, AtomicFunction, BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, Literal, MathFunction,
    Range, ScalarKind, Span, Statement, Type,
};

/// A block that is being written, and the expressions of the function around it.
pub(super) struct Writer<'a> {
    expressions: &'a mut Arena<Expression>,
    block: Block,
}

impl<'a> Writer<'a> {
    pub(super) fn new(expressions: &'a mut Arena<Expression>) -> Self {
        Self { expressions, block: Block::new() }
    }

    /// What was written.
    pub(super) fn finish(self) -> Block {
        self.block
    }

    /// An expression that exists without being evaluated at some point: a literal, a variable, an argument.
    pub(super) fn fixed(&mut self, expression: Expression) -> Handle<Expression> {
        self.expressions.append(expression, Span::UNDEFINED)
    }

    pub(super) fn number(&mut self, value: u32) -> Handle<Expression> {
        self.fixed(Expression::Literal(Literal::U32(value)))
    }

    pub(super) fn integer(&mut self, value: i32) -> Handle<Expression> {
        self.fixed(Expression::Literal(Literal::I32(value)))
    }

    pub(super) fn global(&mut self, variable: Handle<GlobalVariable>) -> Handle<Expression> {
        self.fixed(Expression::GlobalVariable(variable))
    }

    /// An expression that is evaluated here.
    pub(super) fn value(&mut self, expression: Expression) -> Handle<Expression> {
        let handle = self.fixed(expression);
        self.push(Statement::Emit(Range::new_from_bounds(handle, handle)));
        handle
    }

    pub(super) fn member(&mut self, base: Handle<Expression>, index: u32) -> Handle<Expression> {
        self.value(Expression::AccessIndex { base, index })
    }

    pub(super) fn load(&mut self, pointer: Handle<Expression>) -> Handle<Expression> {
        self.value(Expression::Load { pointer })
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Handle<Expression> {
        self.value(Expression::Binary { op, left, right })
    }

    /// A function of two arguments.
    pub(super) fn math(
        &mut self,
        fun: MathFunction,
        arg: Handle<Expression>,
        arg1: Handle<Expression>,
    ) -> Handle<Expression> {
        self.value(Expression::Math { fun, arg, arg1: Some(arg1), arg2: None, arg3: None })
    }

    /// `accept` where the condition holds, else `reject`.
    pub(super) fn choose(
        &mut self,
        condition: Handle<Expression>,
        accept: Handle<Expression>,
        reject: Handle<Expression>,
    ) -> Handle<Expression> {
        self.value(Expression::Select { condition, accept, reject })
    }

    /// The bits of a word.
    pub(super) fn as_u32(&mut self, expr: Handle<Expression>) -> Handle<Expression> {
        self.value(Expression::As { expr, kind: ScalarKind::Uint, convert: None })
    }

    pub(super) fn push(&mut self, statement: Statement) {
        self.block.push(statement, Span::UNDEFINED);
    }

    pub(super) fn store(&mut self, pointer: Handle<Expression>, value: Handle<Expression>) {
        self.push(Statement::Store { pointer, value });
    }

    /// An atomic operation whose result nobody wants.
    pub(super) fn atomic_or(&mut self, pointer: Handle<Expression>, value: Handle<Expression>) {
        self.push(Statement::Atomic { pointer, fun: AtomicFunction::InclusiveOr, value, result: None });
    }

    /// Adds to an atomic of type `ty`; what it was before.
    pub(super) fn atomic_add(
        &mut self,
        pointer: Handle<Expression>,
        value: u32,
        ty: Handle<Type>,
    ) -> Handle<Expression> {
        let value = self.number(value);
        let result = self.fixed(Expression::AtomicResult { ty, comparison: false });
        self.push(Statement::Atomic { pointer, fun: AtomicFunction::Add, value, result: Some(result) });
        result
    }

    /// Calls a function without arguments; what it returns.
    pub(super) fn call(&mut self, function: Handle<Function>) -> Handle<Expression> {
        let result = self.fixed(Expression::CallResult(function));
        self.push(Statement::Call { function, arguments: Vec::new(), result: Some(result) });
        result
    }

    /// `if condition { accept }`
    pub(super) fn when(&mut self, condition: Handle<Expression>, accept: impl FnOnce(&mut Writer<'_>)) {
        let accept = self.inner(accept);
        self.push(Statement::If { condition, accept, reject: Block::new() });
    }

    /// `if condition { accept } else { reject }`
    pub(super) fn either(
        &mut self,
        condition: Handle<Expression>,
        accept: impl FnOnce(&mut Writer<'_>),
        reject: impl FnOnce(&mut Writer<'_>),
    ) {
        let accept = self.inner(accept);
        let reject = self.inner(reject);
        self.push(Statement::If { condition, accept, reject });
    }

    /// A block by itself.
    pub(super) fn inner(&mut self, write: impl FnOnce(&mut Writer<'_>)) -> Block {
        let mut inner = Writer::new(self.expressions);
        write(&mut inner);
        inner.finish()
    }
}
