//! Where an invocation is: a stack of calls, and in each a stack of blocks.

use crate::{memory::Variable, value::Value};
use naga::{Barrier, Block, Expression, Function, Handle, LocalVariable, Span, Statement};
use std::collections::HashMap;

/// Why an invocation stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pause {
    /// At a barrier of the workgroup: which one, and what it orders.
    Barrier(At, Barrier),
    /// At what a subgroup does together.
    Subgroup,
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

impl At {
    pub(crate) fn new(statement: &Statement, span: Span) -> Self {
        Self { statement: std::ptr::from_ref(statement).addr(), second: false, span }
    }

    /// The second barrier of the same statement.
    pub(crate) fn second(self) -> Self {
        Self { second: true, ..self }
    }
}

/// What is going on inside a function, from the outside in.
pub(crate) enum Control<'m> {
    /// Statements from `next` on are to be done. `arm` tells the blocks of one statement apart, in their order in the source.
    Block { block: &'m Block, arm: usize, next: usize },
    Loop {
        body: &'m Block,
        continuing: &'m Block,
        break_if: Option<Handle<Expression>>,
        /// How often the body was begun before.
        round: usize,
        /// Which of the two blocks is going on.
        in_continuing: bool,
    },
    /// What `break` leaves, as it does a loop.
    Switch,
}

impl<'m> Control<'m> {
    pub(crate) fn block(block: &'m Block, arm: usize) -> Self {
        Self::Block { block, arm, next: 0 }
    }
}

/// A call that is going on.
pub(crate) struct Frame<'m> {
    pub(crate) function: &'m Function,
    pub(crate) arguments: Vec<Value>,
    /// By the expression's index; none before it was evaluated.
    pub(crate) values: Vec<Option<Value>>,
    pub(crate) locals: HashMap<Handle<LocalVariable>, Variable>,
    /// Bytes that are counted for it.
    pub(crate) held: u64,
    pub(crate) control: Vec<Control<'m>>,
    /// Which of the caller's expressions the result is.
    pub(crate) result: Option<Handle<Expression>>,
}

/// A point in a run, such that of two invocations of one entry point the one that is behind has the lesser one, and both are
/// in the same round of the same loops in the same calls if they are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path(Vec<usize>);

impl Path {
    pub(crate) fn of(frames: &[Frame<'_>]) -> Self {
        let controls = frames.iter().flat_map(|frame| &frame.control);
        Self(
            controls
                .flat_map(|control| match *control {
                    Control::Block { arm, next, .. } => [arm, next],
                    Control::Loop { round, in_continuing, .. } => [round, usize::from(in_continuing)],
                    Control::Switch => [0, 0],
                })
                .collect(),
        )
    }
}
