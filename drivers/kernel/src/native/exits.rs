//! Finds out loops that a device has left of its own accord.
//!
//! Mesa's software device, for one, counts the iterations of all loops of the invocations that it runs in step and ends every loop at 65,535,
//! with whatever was computed by then. No count of an invocation's own can tell: the others in step iterate while it waits.
//!
//! So each loop has a mark, which is set before it and cleared at every `break`; a loop that was left in another way leaves it set. To a
//! compiler that is impossible, and it would fold the mark away, were it not an element of an array whose index it does not know.

use naga::{
    Arena, ArraySize, BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, LocalVariable, Module, Span,
    Statement, Type, TypeInner,
};

use super::launch::CHUNK;
use super::writer::Writer;

/// Elements of a mark's array.
const CHOICES: u32 = 2;

/// What marks are made of.
#[derive(Clone, Copy)]
pub(super) struct Marks {
    array: Handle<Type>,
    launch: Handle<GlobalVariable>,
}

/// The mark of one loop.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    marks: Marks,
    variable: Handle<LocalVariable>,
}

impl Marks {
    pub(super) fn new(module: &mut Module, word: Handle<Type>, launch: Handle<GlobalVariable>) -> Self {
        let size = std::num::NonZeroU32::MIN.saturating_add(CHOICES - 1);
        let inner = TypeInner::Array { base: word, size: ArraySize::Constant(size), stride: 4 };
        Self { array: module.types.insert(Type { name: None, inner }, Span::UNDEFINED), launch }
    }

    pub(super) fn add(self, function: &mut Function) -> Mark {
        let variable = LocalVariable { name: Some("hal_inside".to_owned()), ty: self.array, init: None };
        Mark { marks: self, variable: function.local_variables.append(variable, Span::UNDEFINED) }
    }
}

impl Mark {
    /// Sets it (1) or clears it (0).
    pub(super) fn set(self, value: u32, expressions: &mut Arena<Expression>) -> Block {
        let mut writer = Writer::new(expressions);
        let pointer = self.pointer(&mut writer);
        let value = writer.number(value);
        writer.store(pointer, value);
        writer.finish()
    }

    /// Whether it is set.
    pub(super) fn is_set(self, writer: &mut Writer<'_>) -> Handle<Expression> {
        let pointer = self.pointer(writer);
        let value = writer.load(pointer);
        let zero = writer.number(0);
        writer.binary(BinaryOperator::NotEqual, value, zero)
    }

    /// Clears it wherever the program leaves the loop.
    pub(super) fn clear_at_exits(
        self,
        body: &mut Block,
        continuing: &mut Block,
        break_if: Option<Handle<Expression>>,
        expressions: &mut Arena<Expression>,
    ) {
        self.clear_at_breaks(body, expressions);
        if let Some(condition) = break_if {
            let accept = self.set(0, expressions);
            continuing.push(Statement::If { condition, accept, reject: Block::new() }, Span::UNDEFINED);
        }
    }

    /// Those of the loop itself: a `switch` and a loop inside have their own.
    fn clear_at_breaks(self, block: &mut Block, expressions: &mut Arena<Expression>) {
        let mut breaks = Vec::new();
        for (at, statement) in block.iter_mut().enumerate() {
            match statement {
                Statement::Break => breaks.push(at),
                Statement::Block(block) => self.clear_at_breaks(block, expressions),
                Statement::If { accept, reject, .. } => {
                    self.clear_at_breaks(accept, expressions);
                    self.clear_at_breaks(reject, expressions);
                }
                _ => {}
            }
        }
        for at in breaks.into_iter().rev() {
            block.splice(at..at, self.set(0, expressions));
        }
    }

    fn pointer(self, writer: &mut Writer<'_>) -> Handle<Expression> {
        let launch = writer.global(self.marks.launch);
        let chunk = writer.member(launch, CHUNK);
        let chunk = writer.load(chunk);
        let last = writer.number(CHOICES - 1);
        let index = writer.binary(BinaryOperator::And, chunk, last);
        let base = writer.fixed(Expression::LocalVariable(self.variable));
        writer.value(Expression::Access { base, index })
    }
}
