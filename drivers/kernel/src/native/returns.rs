//! Has an entry point return only where no loop is around, so that what it does last stands in few places and is come to by all.

use naga::{Arena, Block, Expression, Function, Handle, Literal, LocalVariable, Span, Statement, Type};

use super::cost::children;
use super::trips::returns;
use super::writer::Writer;

/// Turns each `return` inside of a loop into one behind it. `bool` is the type of what remembers it.
pub(super) fn out_of_loops(function: &mut Function, bool: Handle<Type>) {
    naga::proc::ensure_block_returns(&mut function.body);
    if !in_loops(&function.body) {
        return;
    }
    let variable = LocalVariable { name: Some("hal_returned".to_owned()), ty: bool, init: None };
    let returned = function.local_variables.append(variable, Span::UNDEFINED);
    let mut lowering = Lowering { returned, expressions: &mut function.expressions };
    lowering.block(&mut function.body, false);
}

/// Puts something before each `return`, of which none is in a loop, but those that come before any loop or call.
pub(super) fn before_each(block: &mut Block, statement: &Statement) {
    insert(block, statement, false);
}

/// Whether a loop or a call may have come before the end of the block.
fn insert(block: &mut Block, statement: &Statement, mut passed: bool) -> bool {
    let mut places = Vec::new();
    for (at, it) in block.iter_mut().enumerate() {
        match it {
            Statement::Return { .. } if passed => places.push(at),
            Statement::Loop { .. } | Statement::Call { .. } => passed = true,
            Statement::Block(block) => passed = insert(block, statement, passed),
            Statement::If { accept, reject, .. } => {
                let arms = [insert(accept, statement, passed), insert(reject, statement, passed)];
                passed = arms.contains(&true);
            }
            Statement::Switch { cases, .. } => {
                // A case may fall through to the next.
                cases.iter_mut().for_each(|case| passed |= insert(&mut case.body, statement, passed));
            }
            _ => {}
        }
    }
    for at in places.into_iter().rev() {
        block.splice(at..at, Block::from_vec(vec![statement.clone()]));
    }
    passed
}

fn in_loops(block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Loop { .. } => children(statement).into_iter().any(returns),
        other => children(other).into_iter().any(in_loops),
    })
}

struct Lowering<'a> {
    returned: Handle<LocalVariable>,
    expressions: &'a mut Arena<Expression>,
}

impl Lowering<'_> {
    /// Whether something in the block has returned by leaving a loop or a `switch` inside of a loop.
    fn block(&mut self, block: &mut Block, in_loop: bool) -> bool {
        let mut may_return = false;
        let mut edits = Vec::new();
        for (at, statement) in block.iter_mut().enumerate() {
            match statement {
                Statement::Return { .. } if in_loop => {
                    edits.push((at..at + 1, self.leave()));
                    may_return = true;
                }
                Statement::Block(block) => may_return |= self.block(block, in_loop),
                Statement::If { accept, reject, .. } => {
                    may_return |= self.block(accept, in_loop);
                    may_return |= self.block(reject, in_loop);
                }
                Statement::Switch { cases, .. } => {
                    let mut returned = false;
                    cases.iter_mut().for_each(|case| returned |= self.block(&mut case.body, in_loop));
                    if returned && in_loop {
                        edits.push((at + 1..at + 1, self.go_on_leaving(Statement::Break)));
                        may_return = true;
                    }
                }
                Statement::Loop { body, .. } => {
                    let returned = self.block(body, true);
                    if returned {
                        let out = if in_loop { Statement::Break } else { Statement::Return { value: None } };
                        edits.push((at + 1..at + 1, self.go_on_leaving(out)));
                        may_return |= in_loop;
                    }
                }
                _ => {}
            }
        }
        for (at, instead) in edits.into_iter().rev() {
            block.splice(at, instead);
        }
        may_return
    }

    fn leave(&mut self) -> Block {
        let mut writer = Writer::new(self.expressions);
        let pointer = writer.fixed(Expression::LocalVariable(self.returned));
        let yes = writer.fixed(Expression::Literal(Literal::Bool(true)));
        writer.store(pointer, yes);
        writer.push(Statement::Break);
        writer.finish()
    }

    fn go_on_leaving(&mut self, out: Statement) -> Block {
        let mut writer = Writer::new(self.expressions);
        let pointer = writer.fixed(Expression::LocalVariable(self.returned));
        let returned = writer.load(pointer);
        writer.when(returned, |writer| writer.push(out));
        writer.finish()
    }
}
