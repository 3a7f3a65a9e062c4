//! The counters that loops draw on, and the functions that fill them.

use naga::{
    Barrier, BinaryOperator, Expression, Function, FunctionResult, GlobalVariable, Handle, Literal, MathFunction,
    Statement, Type,
};

use super::launch::{CHUNK, CHUNKS, CHUNKS_PER_INVOCATION, Owned, SPENT, STATUS_ERROR};
use super::writer::Writer;
use super::{ERROR_DISPATCH, ERROR_INVOCATION};

/// The number of chunks drawn is this or more when no more may be drawn: this and the bits of the error.
const GONE: u32 = super::LARGEST_CHUNKS_PER_INVOCATION + 1;

/// The counters of one kind of loop.
#[derive(Clone, Copy)]
pub(super) struct Purse {
    /// Rounds that are left of the chunks drawn. Signed: a loop finds that they do not pay when it has paid.
    pub(super) left: Handle<GlobalVariable>,
    /// Chunks drawn, or [`GONE`] and the error.
    used: Handle<GlobalVariable>,
    /// Set when the workgroup must leave, where there is a workgroup to agree with.
    stop: Option<Handle<GlobalVariable>>,
    launch: Handle<GlobalVariable>,
    status: Handle<GlobalVariable>,
    word: Handle<Type>,
    bool: Handle<Type>,
}

impl Purse {
    /// One for loops that an invocation leaves by itself.
    pub(super) fn own(owned: &mut Owned<'_>) -> Self {
        Self::new(owned, ["hal_left", "hal_used"], false)
    }

    /// One for loops that a workgroup leaves together.
    pub(super) fn group(owned: &mut Owned<'_>) -> Self {
        Self::new(owned, ["hal_group_left", "hal_group_used"], true)
    }

    fn new(owned: &mut Owned<'_>, [left, used]: [&str; 2], stops: bool) -> Self {
        let (word, integer) = (owned.u32(), owned.i32());
        Self {
            left: owned.counter(left, integer),
            used: owned.counter(used, word),
            stop: stops.then(|| owned.stop()),
            launch: owned.launch(),
            status: owned.status(),
            word,
            bool: owned.bool(),
        }
    }

    /// What an entry point begins with: the first chunk, which is nobody else's business. A `filler` gets none, and never any.
    pub(super) fn open(self, writer: &mut Writer<'_>, filler: Option<Handle<Expression>>) {
        let (left, used) = (writer.global(self.left), writer.global(self.used));
        let (mut chunk, mut drawn) = (self.launch(writer, CHUNK), writer.number(1));
        if let Some(filler) = filler {
            let (none, gone) = (writer.integer(0), writer.number(GONE));
            chunk = writer.choose(filler, none, chunk);
            drawn = writer.choose(filler, gone, drawn);
        }
        writer.store(left, chunk);
        writer.store(used, drawn);
    }

    /// What it ends with: the error, if it was stopped.
    pub(super) fn close(self, writer: &mut Writer<'_>) {
        let used = writer.global(self.used);
        let used = writer.load(used);
        let gone = writer.number(GONE);
        let stopped = writer.binary(BinaryOperator::GreaterEqual, used, gone);
        writer.when(stopped, |writer| {
            let bits = writer.number(ERROR_INVOCATION | ERROR_DISPATCH);
            let bits = writer.binary(BinaryOperator::And, used, bits);
            self.report(writer, bits);
        });
    }

    /// Adds to the error word.
    pub(super) fn report(self, writer: &mut Writer<'_>, bits: Handle<Expression>) {
        let error = self.status(writer, STATUS_ERROR);
        writer.atomic_or(error, bits);
    }

    pub(super) fn launch(self, writer: &mut Writer<'_>, member: u32) -> Handle<Expression> {
        let launch = writer.global(self.launch);
        let pointer = writer.member(launch, member);
        writer.load(pointer)
    }

    fn status(self, writer: &mut Writer<'_>, member: u32) -> Handle<Expression> {
        let status = writer.global(self.status);
        writer.member(status, member)
    }

    /// A function that draws a chunk, or else returns true, and then draws no more.
    ///
    /// It has one way out: a device that runs invocations in step does all of it in any case.
    pub(super) fn refill(self) -> Function {
        let name = if self.stop.is_some() { "hal_group_refill" } else { "hal_refill" };
        let mut function = Function {
            name: Some(name.to_owned()),
            result: Some(FunctionResult { ty: self.bool, binding: None }),
            ..Function::default()
        };
        let yes = function.expressions.append(Expression::Literal(Literal::Bool(true)), naga::Span::UNDEFINED);
        let over = naga::LocalVariable { name: Some("over".to_owned()), ty: self.bool, init: Some(yes) };
        let over = function.local_variables.append(over, naga::Span::UNDEFINED);
        let mut writer = Writer::new(&mut function.expressions);
        let over = writer.fixed(Expression::LocalVariable(over));
        let used_pointer = writer.global(self.used);
        let used = writer.load(used_pointer);
        let most = self.launch(&mut writer, CHUNKS_PER_INVOCATION);
        let may = writer.binary(BinaryOperator::Less, used, most);
        writer.either(
            may,
            |writer| {
                let answer = self.draw(writer, used);
                writer.store(over, answer);
            },
            |writer| {
                let gone = writer.number(GONE | ERROR_INVOCATION);
                let gone = writer.math(MathFunction::Max, used, gone);
                writer.store(used_pointer, gone);
            },
        );
        let answer = writer.load(over);
        writer.push(Statement::Return { value: Some(answer) });
        function.body = writer.finish();
        function
    }

    /// Draws a chunk from what all have; whether there is none.
    fn draw(self, writer: &mut Writer<'_>, used: Handle<Expression>) -> Handle<Expression> {
        let shared = self.status(writer, SPENT);
        let seen = writer.atomic_add(shared, 1, self.word);
        let most = self.launch(writer, CHUNKS);
        let mut over = writer.binary(BinaryOperator::GreaterEqual, seen, most);
        if let Some(stop) = self.stop {
            over = agree(writer, stop, over);
        }
        let (left_pointer, used_pointer) = (writer.global(self.left), writer.global(self.used));
        let left = writer.load(left_pointer);
        let chunk = self.launch(writer, CHUNK);
        let more = writer.binary(BinaryOperator::Add, left, chunk);
        let none = writer.integer(0);
        let left = writer.choose(over, none, more);
        writer.store(left_pointer, left);
        let one = writer.number(1);
        let next = writer.binary(BinaryOperator::Add, used, one);
        let gone = writer.number(GONE | ERROR_DISPATCH);
        let used = writer.choose(over, gone, next);
        writer.store(used_pointer, used);
        over
    }
}

/// Whether it is over for anyone in the workgroup, each of which counts its own chunk.
fn agree(writer: &mut Writer<'_>, stop: Handle<GlobalVariable>, over: Handle<Expression>) -> Handle<Expression> {
    let stop = writer.global(stop);
    writer.when(over, |writer| {
        let one = writer.number(1);
        writer.atomic_or(stop, one);
    });
    // The first barrier: what any of the group set is seen by all. The second: nobody goes on to set it in the next
    // refill while another still has to look.
    writer.push(Statement::ControlBarrier(Barrier::WORK_GROUP));
    let seen = writer.load(stop);
    writer.push(Statement::ControlBarrier(Barrier::WORK_GROUP));
    let zero = writer.number(0);
    writer.binary(BinaryOperator::NotEqual, seen, zero)
}
