//! Makes every loop pay for its iterations.
//!
//! At the head of a loop's body, where `w` is what [`cost`](super::cost) found:
//!
//! ```wgsl
//! if hal_left < w {
//!     if hal_refill() { break; }
//! }
//! hal_left -= w;
//! ```
//!
//! A device that ends loops of its own accord, without a word, is found out: see [`exits`](super::exits).
//!
//! A loop with a workgroup barrier inside does the same with `hal_group_left` and `hal_group_refill`. All invocations of
//! a workgroup have the same in these, because all run such loops equally often, so that all come to the refill, and to
//! the barriers in it, together.

use naga::{
    Arena, Barrier, BinaryOperator, Block, Function, FunctionResult, GlobalVariable, Handle, LocalVariable,
    MathFunction, Span, Statement, Type,
};
use naga::{Expression, Literal};

use super::cost::{Costs, Loop, Loops};
use super::exits::{Mark, Marks};
use super::launch::{CHUNK, CHUNKS, CHUNKS_PER_INVOCATION, ERROR, Owned, SPENT};
use super::writer::Writer;
use super::{Count, ERROR_DISPATCH, ERROR_INVOCATION, LARGEST_CHARGE, NativeOptions, defect};
use crate::error::KernelError;

/// In place of the number of chunks drawn: it may not draw any more. Then a refill answers without touching memory, so
/// that the shared count cannot be driven round to 0.
const NO_MORE: u32 = u32::MAX;

/// The variables of a module with loops.
pub(super) struct Budget {
    launch: Handle<GlobalVariable>,
    status: Handle<GlobalVariable>,
    /// For loops that an invocation leaves by itself.
    own: Option<Purse>,
    /// For loops that a workgroup leaves together.
    group: Option<Purse>,
    /// What a chunk is at least.
    least: u32,
    /// With which loops find out how they were left, where that is wanted.
    marks: Option<Marks>,
    word: Handle<Type>,
    bool: Handle<Type>,
}

/// The counters of one kind of loop.
#[derive(Clone, Copy)]
struct Purse {
    /// What is left of the chunk.
    left: Handle<GlobalVariable>,
    /// Chunks drawn, or [`NO_MORE`].
    used: Handle<GlobalVariable>,
    /// Set when the workgroup must leave, where there is a workgroup to agree with.
    stop: Option<Handle<GlobalVariable>>,
}

/// The functions that draw a chunk.
pub(super) struct Refills {
    own: Option<Handle<Function>>,
    group: Option<Handle<Function>>,
}

impl Budget {
    /// Adds what the module's loops need; `None` if it has none.
    pub(super) fn new(owned: &mut Owned<'_>, costs: &Costs, options: &NativeOptions<'_>) -> Option<Self> {
        if !costs.has_loops() {
            return None;
        }
        let (word, bool, launch, status) = (owned.u32(), owned.bool(), owned.launch(), owned.status());
        let own = costs.has_own_loops().then(|| Purse {
            left: owned.counter("hal_left"),
            used: owned.counter("hal_used"),
            stop: None,
        });
        let group = costs.has_group_loops().then(|| Purse {
            left: owned.counter("hal_group_left"),
            used: owned.counter("hal_group_used"),
            stop: Some(owned.stop()),
        });
        let marks = options.finds_cut_off.then(|| Marks::new(owned.module, word, launch));
        let least = match options.count {
            Count::Steps => LARGEST_CHARGE,
            Count::Iterations => 1,
        };
        Some(Self { launch, status, own, group, least, marks, word, bool })
    }

    /// Adds the functions that the loops call; they must come before what calls them.
    pub(super) fn add_refills(&self, functions: &mut Arena<Function>) -> Refills {
        let mut add = |name: &str, purse: Option<Purse>| {
            purse.map(|purse| functions.append(self.refill(name, purse), Span::UNDEFINED))
        };
        Refills { own: add("hal_refill", self.own), group: add("hal_group_refill", self.group) }
    }

    /// Charges the loops of a function, which are `loops`.
    pub(super) fn instrument(
        &self,
        function: &mut Function,
        loops: &Loops,
        refills: &Refills,
    ) -> Result<(), KernelError> {
        let mut loops = loops.iter();
        let mut body = std::mem::take(&mut function.body);
        self.block(&mut body, function, &mut loops, refills)?;
        function.body = body;
        if loops.next().is_some() { Err(defect("a loop went missing")) } else { Ok(()) }
    }

    /// Walks in the order of [`children`](super::cost::children).
    fn block(
        &self,
        block: &mut Block,
        function: &mut Function,
        loops: &mut std::slice::Iter<'_, Loop>,
        refills: &Refills,
    ) -> Result<(), KernelError> {
        let mut around = Vec::new();
        for (at, statement) in block.iter_mut().enumerate() {
            match statement {
                Statement::Block(block) => self.block(block, function, loops, refills)?,
                Statement::If { accept, reject, .. } => {
                    self.block(accept, function, loops, refills)?;
                    self.block(reject, function, loops, refills)?;
                }
                Statement::Switch { cases, .. } => {
                    for case in cases {
                        self.block(&mut case.body, function, loops, refills)?;
                    }
                }
                Statement::Loop { body, continuing, break_if } => {
                    let it = loops.next().ok_or_else(|| defect("a loop was not measured"))?;
                    self.block(body, function, loops, refills)?;
                    self.block(continuing, function, loops, refills)?;
                    let mark = self.marks.map(|marks| marks.add(function));
                    let head = self.head(&mut function.expressions, it, refills)?;
                    body.splice(0..0, head);
                    if let Some(mark) = mark {
                        let expressions = &mut function.expressions;
                        mark.clear_at_exits(body, continuing, *break_if, expressions);
                        around.push((at, mark.set(1, expressions), self.after(mark, expressions)));
                    }
                }
                _ => {}
            }
        }
        for (at, before, after) in around.into_iter().rev() {
            block.splice(at + 1..at + 1, after);
            block.splice(at..at, before);
        }
        Ok(())
    }

    /// What follows a loop: whoever was not let out by it reports that.
    fn after(&self, mark: Mark, expressions: &mut Arena<Expression>) -> Block {
        let mut writer = Writer::new(expressions);
        let cut_off = mark.is_set(&mut writer);
        writer.when(cut_off, |writer| {
            let status = writer.global(self.status);
            let error = writer.member(status, ERROR);
            writer.atomic_or(error, ERROR_INVOCATION);
        });
        writer.finish()
    }

    /// What a loop does at the start of each iteration.
    fn head(&self, expressions: &mut Arena<Expression>, it: &Loop, refills: &Refills) -> Result<Block, KernelError> {
        let (purse, refill) = if it.barrier { (self.group, refills.group) } else { (self.own, refills.own) };
        let (Some(purse), Some(refill)) = (purse, refill) else { return Err(defect("a loop has no budget")) };
        let mut writer = Writer::new(expressions);
        let pointer = writer.global(purse.left);
        let charge = writer.number(it.charge);
        let left = writer.load(pointer);
        let short = writer.binary(BinaryOperator::Less, left, charge);
        writer.when(short, |writer| {
            let over = writer.call(refill);
            writer.when(over, |writer| writer.push(Statement::Break));
        });
        let left = writer.load(pointer);
        let rest = writer.binary(BinaryOperator::Subtract, left, charge);
        writer.store(pointer, rest);
        Ok(writer.finish())
    }

    /// A function that draws a chunk, or else returns true.
    ///
    /// The first chunk of an invocation costs it a look at the shared count, and no change of it: thousands of short
    /// loops that all wrote to one word would wait for each other.
    fn refill(&self, name: &str, purse: Purse) -> Function {
        let mut function = Function {
            name: Some(name.to_owned()),
            result: Some(FunctionResult { ty: self.bool, binding: None }),
            ..Function::default()
        };
        let spent = LocalVariable { name: Some("spent".to_owned()), ty: self.word, init: None };
        let spent = function.local_variables.append(spent, Span::UNDEFINED);
        let mut writer = Writer::new(&mut function.expressions);
        let mut parts = Parts::new(self, purse, &mut writer);
        parts.check_own(&mut writer);
        let over = parts.check_shared(&mut writer, Expression::LocalVariable(spent));
        parts.leave_if_over(&mut writer, over);
        parts.draw(&mut writer, self.least);
        function.body = writer.finish();
        function
    }
}

/// What the parts of a refill share.
struct Parts<'a> {
    budget: &'a Budget,
    purse: Purse,
    used: Handle<Expression>,
    used_before: Handle<Expression>,
}

impl<'a> Parts<'a> {
    fn new(budget: &'a Budget, purse: Purse, writer: &mut Writer<'_>) -> Self {
        let used = writer.global(purse.used);
        let used_before = writer.load(used);
        Self { budget, purse, used, used_before }
    }

    fn launch(&self, writer: &mut Writer<'_>, member: u32) -> Handle<Expression> {
        let launch = writer.global(self.budget.launch);
        let pointer = writer.member(launch, member);
        writer.load(pointer)
    }

    fn status(&self, writer: &mut Writer<'_>, member: u32) -> Handle<Expression> {
        let status = writer.global(self.budget.status);
        writer.member(status, member)
    }

    /// Ends a refill without a chunk, and every later one.
    fn leave(&self, writer: &mut Writer<'_>) {
        let left = writer.global(self.purse.left);
        let zero = writer.number(0);
        writer.store(left, zero);
        let no_more = writer.number(NO_MORE);
        writer.store(self.used, no_more);
        writer.give(true);
    }

    /// Against the bound of one invocation. No invocation of a workgroup can differ from the others here.
    fn check_own(&mut self, writer: &mut Writer<'_>) {
        let no_more = writer.number(NO_MORE);
        let gone = writer.binary(BinaryOperator::Equal, self.used_before, no_more);
        writer.when(gone, |writer| writer.give(true));
        let most = self.launch(writer, CHUNKS_PER_INVOCATION);
        let over = writer.binary(BinaryOperator::GreaterEqual, self.used_before, most);
        writer.when(over, |writer| {
            let error = self.status(writer, ERROR);
            writer.atomic_or(error, ERROR_INVOCATION);
            self.leave(writer);
        });
    }

    /// Against the bound of all invocations; whether it is passed. In a workgroup that leaves together each invocation
    /// counts its own chunk, as everywhere else, and sees its own answer here.
    fn check_shared(&mut self, writer: &mut Writer<'_>, spent: Expression) -> Handle<Expression> {
        let spent = writer.fixed(spent);
        let zero = writer.number(0);
        let first = writer.binary(BinaryOperator::Equal, self.used_before, zero);
        writer.either(
            first,
            |writer| {
                let shared = self.status(writer, SPENT);
                let seen = writer.load(shared);
                writer.store(spent, seen);
            },
            |writer| {
                let shared = self.status(writer, SPENT);
                let seen = writer.atomic_add(shared, 1, self.budget.word);
                writer.store(spent, seen);
            },
        );
        let most = self.launch(writer, CHUNKS);
        let spent = writer.load(spent);
        writer.binary(BinaryOperator::GreaterEqual, spent, most)
    }

    fn leave_if_over(&mut self, writer: &mut Writer<'_>, over: Handle<Expression>) {
        let Some(stop) = self.purse.stop else {
            writer.when(over, |writer| {
                let error = self.status(writer, ERROR);
                writer.atomic_or(error, ERROR_DISPATCH);
                self.leave(writer);
            });
            return;
        };
        let stop = writer.global(stop);
        writer.when(over, |writer| {
            let error = self.status(writer, ERROR);
            writer.atomic_or(error, ERROR_DISPATCH);
            writer.atomic_or(stop, 1);
        });
        // The first barrier: what any of the group set is seen by all. The second: nobody goes on to set it in the next
        // refill while another still has to look.
        writer.push(Statement::ControlBarrier(Barrier::WORK_GROUP));
        let seen = writer.load(stop);
        writer.push(Statement::ControlBarrier(Barrier::WORK_GROUP));
        let zero = writer.number(0);
        let all_over = writer.binary(BinaryOperator::NotEqual, seen, zero);
        writer.when(all_over, |writer| self.leave(writer));
    }

    fn draw(&mut self, writer: &mut Writer<'_>, least: u32) {
        let one = writer.number(1);
        let used = writer.binary(BinaryOperator::Add, self.used_before, one);
        writer.store(self.used, used);
        let chunk = self.launch(writer, CHUNK);
        // A chunk that is smaller than the charge would make the subtraction wrap round.
        let least = writer.fixed(Expression::Literal(Literal::U32(least)));
        let chunk = writer.value(Expression::Math {
            fun: MathFunction::Max,
            arg: chunk,
            arg1: Some(least),
            arg2: None,
            arg3: None,
        });
        let left = writer.global(self.purse.left);
        writer.store(left, chunk);
        writer.give(false);
    }
}
