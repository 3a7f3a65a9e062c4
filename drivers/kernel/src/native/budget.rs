//! Makes loops pay for their rounds.
//!
//! A loop becomes the inner one of two, where `w` is what [`cost`](super::cost) found, and its own condition, where it begins with one, is
//! joined to the new one:
//!
//! ```wgsl
//! loop {
//!     loop {
//!         hal_left -= w;
//!         if hal_left < 0 { break; }
//!         // the loop's body
//!     }
//!     if hal_left >= 0 { break; }
//!     hal_left += w;
//!     if hal_refill() { break; }
//! }
//! ```
//!
//! So what a round costs is a subtraction and a comparison. A refill inside of the loop would cost more even where it is never needed: a
//! device that runs invocations in step goes through it in every round, with all of them switched off.
//!
//! A loop with a workgroup barrier inside does the same with `hal_group_left` and `hal_group_refill`. All invocations of
//! a workgroup have the same in these, because all run such loops equally often, so that all come to the refill, and to
//! the barriers in it, together.
//!
//! An entry point begins with a chunk in each purse, and calls `hal_end` before each return.

use naga::{
    Arena, BinaryOperator, Binding, Block, BuiltIn, EntryPoint, Expression, Function, FunctionArgument, Handle,
    LocalVariable, Span, Statement, Type, TypeInner, UnaryOperator, UniqueArena,
};

use super::cost::{Costs, Loop, Loops};
use super::launch::{CHUNK, Owned};
use super::purse::Purse;
use super::writer::Writer;
use super::{ERROR_INVOCATION, NativeOptions, defect, returns, trips};
use crate::error::KernelError;

/// Invocations that a device which cuts loops off may run in step, at most.
const MOST_IN_STEP: u32 = 16;

/// What the loops of a module that count need.
pub(super) struct Budget {
    own: Option<Purse>,
    group: Option<Purse>,
    finds_cut_off: bool,
    word: Handle<Type>,
    bool: Handle<Type>,
}

/// The functions that are called by others.
pub(super) struct Helpers {
    refill: Option<Handle<Function>>,
    group_refill: Option<Handle<Function>>,
    end: Handle<Function>,
}

impl Budget {
    /// Adds the variables that the module's loops need; `None` if it has none that count.
    pub(super) fn new(owned: &mut Owned<'_>, costs: &Costs, options: &NativeOptions<'_>) -> Option<Self> {
        if !costs.has_loops() {
            return None;
        }
        Some(Self {
            own: costs.has_own_loops().then(|| Purse::own(owned)),
            group: costs.has_group_loops().then(|| Purse::group(owned)),
            finds_cut_off: options.finds_cut_off,
            word: owned.u32(),
            bool: owned.bool(),
        })
    }

    fn purses(&self) -> impl Iterator<Item = Purse> {
        self.own.into_iter().chain(self.group)
    }

    /// Adds the functions; they must come before what calls them.
    pub(super) fn add_helpers(&self, functions: &mut Arena<Function>) -> Helpers {
        let mut add = |function| functions.append(function, Span::UNDEFINED);
        Helpers {
            refill: self.own.map(|purse| add(purse.refill())),
            group_refill: self.group.map(|purse| add(purse.refill())),
            end: add(self.end()),
        }
    }

    /// Charges the loops of a function, which are `loops`.
    pub(super) fn charge(&self, function: &mut Function, loops: &Loops, helpers: &Helpers) -> Result<(), KernelError> {
        let mut loops = loops.iter();
        let mut body = std::mem::take(&mut function.body);
        self.block(&mut body, &mut function.expressions, &mut loops, helpers)?;
        function.body = body;
        if loops.next().is_some() { Err(defect("a loop went missing")) } else { Ok(()) }
    }

    /// Charges the loops of the entry point; it also opens the purses where it begins, and closes them where it returns.
    pub(super) fn charge_entry(
        &self,
        entry: &mut EntryPoint,
        types: &UniqueArena<Type>,
        loops: &Loops,
        helpers: &Helpers,
    ) -> Result<(), KernelError> {
        let function = &mut entry.function;
        returns::out_of_loops(function, self.bool);
        self.charge(function, loops, helpers)?;
        let end = Statement::Call { function: helpers.end, arguments: Vec::new(), result: None };
        returns::before_each(&mut function.body, &end);
        let invocations = entry.workgroup_size.into_iter().fold(1, u32::saturating_mul);
        let has_fillers = self.finds_cut_off && !invocations.is_multiple_of(MOST_IN_STEP);
        let index = has_fillers.then(|| self.local_index(&mut function.arguments, types));
        let mut writer = Writer::new(&mut function.expressions);
        let filler = index.map(|index| is_filler(&mut writer, index, invocations));
        self.purses().for_each(|purse| purse.open(&mut writer, filler));
        let opening = writer.finish();
        function.body.splice(0..0, opening);
        Ok(())
    }

    /// Where an entry point finds `local_invocation_index`: the argument, and the member if that is a structure.
    fn local_index(&self, arguments: &mut Vec<FunctionArgument>, types: &UniqueArena<Type>) -> (u32, Option<u32>) {
        let index = Some(Binding::BuiltIn(BuiltIn::LocalInvocationIndex));
        for (number, argument) in (0..).zip(arguments.iter()) {
            if argument.binding == index {
                return (number, None);
            }
            let TypeInner::Struct { members, .. } = &types[argument.ty].inner else { continue };
            if let Some((member, _)) = (0..).zip(members).find(|(_, member)| member.binding == index) {
                return (number, Some(member));
            }
        }
        let number = u32::try_from(arguments.len()).unwrap_or(u32::MAX);
        arguments.push(FunctionArgument { name: Some("hal_index".to_owned()), ty: self.word, binding: index });
        (number, None)
    }

    /// Walks in the order of [`children`](super::cost::children).
    fn block(
        &self,
        block: &mut Block,
        expressions: &mut Arena<Expression>,
        loops: &mut std::slice::Iter<'_, Loop>,
        helpers: &Helpers,
    ) -> Result<(), KernelError> {
        for statement in block.iter_mut() {
            match statement {
                Statement::Block(block) => self.block(block, expressions, loops, helpers)?,
                Statement::If { accept, reject, .. } => {
                    self.block(accept, expressions, loops, helpers)?;
                    self.block(reject, expressions, loops, helpers)?;
                }
                Statement::Switch { cases, .. } => {
                    for case in cases {
                        self.block(&mut case.body, expressions, loops, helpers)?;
                    }
                }
                Statement::Loop { body, continuing, .. } => {
                    let it = loops.next().ok_or_else(|| defect("a loop was not measured"))?;
                    self.block(body, expressions, loops, helpers)?;
                    self.block(continuing, expressions, loops, helpers)?;
                    if let Some(charge) = it.charge {
                        let (purse, refill) = self.purse(it, helpers)?;
                        pay(body, expressions, purse, charge);
                        let inner = std::mem::replace(statement, Statement::Break);
                        *statement = refilled(inner, expressions, purse, refill, charge);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn purse(&self, it: &Loop, helpers: &Helpers) -> Result<(Purse, Handle<Function>), KernelError> {
        let found = if it.barrier { self.group.zip(helpers.group_refill) } else { self.own.zip(helpers.refill) };
        found.ok_or_else(|| defect("a loop has no budget"))
    }

    /// What an entry point does last.
    fn end(&self) -> Function {
        let mut function = Function { name: Some("hal_end".to_owned()), ..Function::default() };
        let variable = LocalVariable { name: Some("seen".to_owned()), ty: self.word, init: None };
        let seen = self.finds_cut_off.then(|| function.local_variables.append(variable, Span::UNDEFINED));
        let mut writer = Writer::new(&mut function.expressions);
        self.purses().for_each(|purse| purse.close(&mut writer));
        if let (Some(seen), Some(purse)) = (seen, self.purses().next()) {
            find_cut_off(&mut writer, seen, purse);
        }
        writer.push(Statement::Return { value: None });
        function.body = writer.finish();
        function
    }
}

/// Whether this is one of those with which a device that runs invocations in step fills up the last of them. Nothing that they do in memory
/// is done, but they go round loops: one that is never to end there would use up the rounds of the others.
fn is_filler(writer: &mut Writer<'_>, (argument, member): (u32, Option<u32>), invocations: u32) -> Handle<Expression> {
    let mut index = writer.fixed(Expression::FunctionArgument(argument));
    if let Some(member) = member {
        index = writer.member(index, member);
    }
    let invocations = writer.number(invocations);
    writer.binary(BinaryOperator::GreaterEqual, index, invocations)
}

/// Finds out a device that ends loops of its own accord, without a word and with whatever was computed by then.
///
/// Mesa's software device, for one, counts the rounds of all loops of the invocations that it runs in step, and from the 65,535th on leaves every
/// loop after one round. No count of an invocation's own can tell: the others in step go on while it waits. So a last loop sees
/// whether it is let round twice. How often is hidden from a compiler, which would else write the rounds out.
fn find_cut_off(writer: &mut Writer<'_>, seen: Handle<LocalVariable>, purse: Purse) {
    let pointer = writer.fixed(Expression::LocalVariable(seen));
    let (zero, one) = (writer.number(0), writer.number(1));
    let chunk = purse.launch(writer, CHUNK);
    let chunk = writer.as_u32(chunk);
    let odd = writer.binary(BinaryOperator::And, chunk, one);
    let two = writer.number(2);
    let rounds = writer.binary(BinaryOperator::Add, odd, two);
    writer.store(pointer, zero);
    let body = writer.inner(|writer| {
        let so_far = writer.load(pointer);
        let done = writer.binary(BinaryOperator::GreaterEqual, so_far, rounds);
        writer.when(done, |writer| writer.push(Statement::Break));
        let next = writer.binary(BinaryOperator::Add, so_far, one);
        writer.store(pointer, next);
    });
    writer.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
    let so_far = writer.load(pointer);
    let cut_off = writer.binary(BinaryOperator::Less, so_far, rounds);
    writer.when(cut_off, |writer| {
        let bits = writer.number(ERROR_INVOCATION);
        purse.report(writer, bits);
    });
}

/// Has a round begin with paying.
fn pay(body: &mut Block, expressions: &mut Arena<Expression>, purse: Purse, charge: u32) {
    let exit = trips::exit(body).map(|exit| (exit.before.len(), exit.condition, exit.stays));
    let mut writer = Writer::new(expressions);
    let pointer = writer.global(purse.left);
    let left = writer.load(pointer);
    let charge = writer.integer(charge.cast_signed());
    let left = writer.binary(BinaryOperator::Subtract, left, charge);
    writer.store(pointer, left);
    let none = writer.integer(0);
    let Some((at, condition, stays)) = exit else {
        let short = writer.binary(BinaryOperator::Less, left, none);
        writer.when(short, |writer| writer.push(Statement::Break));
        let head = writer.finish();
        body.splice(0..0, head);
        return;
    };
    // One way out instead of two. Whoever leaves by both comes back, pays, and finds again that the loop is over.
    let paid = writer.binary(BinaryOperator::GreaterEqual, left, none);
    let stays = if stays {
        condition
    } else {
        writer.value(Expression::Unary { op: UnaryOperator::LogicalNot, expr: condition })
    };
    let goes_on = writer.binary(BinaryOperator::And, stays, paid);
    let out = writer.inner(|writer| writer.push(Statement::Break));
    writer.push(Statement::If { condition: goes_on, accept: Block::new(), reject: out });
    let head = writer.finish();
    body.splice(at..=at, head);
}

/// The loop inside of another, in which it is begun again after each refill.
fn refilled(
    inner: Statement,
    expressions: &mut Arena<Expression>,
    purse: Purse,
    refill: Handle<Function>,
    charge: u32,
) -> Statement {
    let mut writer = Writer::new(expressions);
    writer.push(inner);
    let pointer = writer.global(purse.left);
    let left = writer.load(pointer);
    let none = writer.integer(0);
    let done = writer.binary(BinaryOperator::GreaterEqual, left, none);
    writer.when(done, |writer| writer.push(Statement::Break));
    let charge = writer.integer(charge.cast_signed());
    let back = writer.binary(BinaryOperator::Add, left, charge);
    writer.store(pointer, back);
    let over = writer.call(refill);
    writer.when(over, |writer| writer.push(Statement::Break));
    Statement::Loop { body: writer.finish(), continuing: Block::new(), break_if: None }
}
