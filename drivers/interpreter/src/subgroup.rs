//! What the invocations of a subgroup do together.
//!
//! Each runs up to its next subgroup operation. Of those that wait at one, the ones furthest behind then go on, together if they are at the
//! same one in the same rounds of the same loops. So whoever can come to an operation has come there before it is done, and ways that parted
//! are one again where the source has them meet.

use crate::{
    control::{Path, Pause},
    error::{Result, defect},
    group::Shared,
    machine::{Invocation, Machine},
    math::math,
    operators::binary,
    value::Value,
};
use naga::{
    BinaryOperator, CollectiveOperation, Direction, Expression, GatherMode, Handle, MathFunction, Span, Statement,
    SubgroupOperation,
};

/// Invocations of a subgroup: those whose indices in the workgroup differ in the lowest two bits.
pub(crate) const SIZE: u32 = 4;

/// An operation that an invocation waits at.
pub(crate) struct Meeting<'m> {
    statement: &'m Statement,
    span: Span,
    path: Path,
    /// What it brings.
    value: Value,
    /// The number that says whose value it wants; 0 where the operation has none.
    number: u32,
}

/// An invocation that takes part, by its number in the subgroup.
struct Member {
    number: u32,
    value: Value,
    wanted: u32,
}

impl<'m> Machine<'_, 'm> {
    /// What is brought to an operation.
    pub(crate) fn meeting(&mut self, statement: &'m Statement, span: Span, path: Path) -> Result<Meeting<'m>> {
        let (value, number) = match *statement {
            Statement::SubgroupBallot { predicate: Some(predicate), .. } => (self.value(predicate)?, None),
            Statement::SubgroupGather { mode, argument, .. } => (self.value(argument)?, number_of(mode)),
            Statement::SubgroupCollectiveOperation { argument, .. } => (self.value(argument)?, None),
            _ => (Value::bool(true), None),
        };
        let number = number.map_or(Ok(0), |number| self.value(number)?.index())?;
        Ok(Meeting { statement, span, path, value, number })
    }
}

fn number_of(mode: GatherMode) -> Option<Handle<Expression>> {
    match mode {
        GatherMode::Broadcast(number)
        | GatherMode::Shuffle(number)
        | GatherMode::ShuffleDown(number)
        | GatherMode::ShuffleUp(number)
        | GatherMode::ShuffleXor(number)
        | GatherMode::QuadBroadcast(number) => Some(number),
        GatherMode::BroadcastFirst | GatherMode::QuadSwap(_) => None,
    }
}

/// Runs the invocations of a subgroup until each is at a barrier of the workgroup or at its end.
pub(crate) fn run<'m>(members: &mut [Invocation<'m>], shared: &mut Shared<'m>) -> Result<Vec<Pause>> {
    let mut pauses = members.iter_mut().map(|member| member.run(shared)).collect::<Result<Vec<_>>>()?;
    while let Some(path) = members.iter().filter_map(|member| member.meeting.as_ref()).map(|it| &it.path).min() {
        let path = path.clone();
        let here = meet(members, &path, shared)?;
        for ((member, pause), _) in members.iter_mut().zip(&mut pauses).zip(here).filter(|(_, here)| *here) {
            *pause = member.run(shared)?;
        }
    }
    Ok(pauses)
}

/// Does the operation at `path`, and answers who was there.
fn meet<'m>(members: &mut [Invocation<'m>], path: &Path, shared: &mut Shared<'m>) -> Result<Vec<bool>> {
    let (mut here, mut there, mut at) = (Vec::new(), Vec::new(), None);
    for member in members.iter_mut() {
        let meeting = member.meeting.take_if(|meeting| meeting.path == *path);
        here.push(meeting.is_some());
        if let Some(meeting) = meeting {
            there.push(Member { number: member.index % SIZE, value: meeting.value, wanted: meeting.number });
            at = Some((meeting.statement, meeting.span, member.index / SIZE));
        }
    }
    let (statement, span, subgroup) = at.ok_or_else(|| defect("a subgroup operation that nobody is at"))?;
    shared.span = span;
    shared.budget.step()?;
    let Some(result) = result_of(statement) else {
        shared.ordered_among(subgroup);
        return Ok(here);
    };
    let place = shared.program.place(span);
    let answers = answers(statement, &there).map_err(|error| error.or_at(place))?;
    for ((member, _), answer) in members.iter_mut().zip(&here).filter(|(_, here)| **here).zip(answers) {
        member.answer(shared, result, answer)?;
    }
    Ok(here)
}

/// Where the result goes; a barrier has none.
fn result_of(statement: &Statement) -> Option<Handle<Expression>> {
    match *statement {
        Statement::SubgroupBallot { result, .. }
        | Statement::SubgroupGather { result, .. }
        | Statement::SubgroupCollectiveOperation { result, .. } => Some(result),
        _ => None,
    }
}

/// What each of those who are there gets.
fn answers(statement: &Statement, there: &[Member]) -> Result<Vec<Value>> {
    match *statement {
        Statement::SubgroupBallot { .. } => {
            let mut bits = 0;
            for member in there {
                bits |= u32::from(member.value.scalar()?.bool()?) << member.number;
            }
            Ok(vec![Value::Vector([bits, 0, 0, 0].map(crate::value::Scalar::U32).into()); there.len()])
        }
        Statement::SubgroupGather { mode, .. } => {
            let first = there.first().map_or(0, |member| member.number);
            Ok(there.iter().map(|member| value_of(there, whose(mode, member, first), member)).collect())
        }
        Statement::SubgroupCollectiveOperation { op, collective_op, .. } => {
            there.iter().map(|member| collected(op, collective_op, there, member)).collect()
        }
        _ => Err(defect("a subgroup operation without a result")),
    }
}

/// Whose value a member gets.
fn whose(mode: GatherMode, member: &Member, first: u32) -> u32 {
    let (number, wanted) = (member.number, member.wanted);
    match mode {
        GatherMode::BroadcastFirst => first,
        // A quad is all of a subgroup.
        GatherMode::Broadcast(_) | GatherMode::Shuffle(_) | GatherMode::QuadBroadcast(_) => wanted,
        GatherMode::ShuffleDown(_) => number.wrapping_add(wanted),
        GatherMode::ShuffleUp(_) => number.wrapping_sub(wanted),
        GatherMode::ShuffleXor(_) => number ^ wanted,
        GatherMode::QuadSwap(Direction::X) => number ^ 1,
        GatherMode::QuadSwap(Direction::Y) => number ^ 2,
        GatherMode::QuadSwap(Direction::Diagonal) => number ^ 3,
    }
}

/// Of one who is not there, any value may be had: here one keeps one's own.
fn value_of(there: &[Member], number: u32, own: &Member) -> Value {
    there.iter().find(|member| member.number == number).unwrap_or(own).value.clone()
}

/// The values of all, or of those up to a member, as one, from the first to the last.
fn collected(op: SubgroupOperation, range: CollectiveOperation, there: &[Member], own: &Member) -> Result<Value> {
    let counts = |member: &&Member| match range {
        CollectiveOperation::Reduce => true,
        CollectiveOperation::InclusiveScan => member.number <= own.number,
        CollectiveOperation::ExclusiveScan => member.number < own.number,
    };
    let mut values = there.iter().filter(counts).map(|member| &member.value);
    let Some(first) = values.next() else {
        // Only sums and products have exclusive scans.
        let nothing = if op == SubgroupOperation::Mul { 1 } else { 0 };
        return own.value.each(|scalar| scalar.like(nothing));
    };
    values.try_fold(first.clone(), |so_far, value| match op {
        SubgroupOperation::All => binary(BinaryOperator::LogicalAnd, &so_far, value),
        SubgroupOperation::Any => binary(BinaryOperator::LogicalOr, &so_far, value),
        SubgroupOperation::Add => binary(BinaryOperator::Add, &so_far, value),
        SubgroupOperation::Mul => binary(BinaryOperator::Multiply, &so_far, value),
        SubgroupOperation::And => binary(BinaryOperator::And, &so_far, value),
        SubgroupOperation::Or => binary(BinaryOperator::InclusiveOr, &so_far, value),
        SubgroupOperation::Xor => binary(BinaryOperator::ExclusiveOr, &so_far, value),
        SubgroupOperation::Min => math(MathFunction::Min, &[so_far, value.clone()]),
        SubgroupOperation::Max => math(MathFunction::Max, &[so_far, value.clone()]),
    })
}
