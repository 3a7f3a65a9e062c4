//! Operators and conversions.

use crate::{
    error::{Result, defect, unsupported},
    half,
    integers::{self, Kind},
    value::{Scalar, Value},
};
use Scalar::{Bool, F16, F32};
use naga::{BinaryOperator, RelationalFunction, ScalarKind, UnaryOperator};

pub(crate) fn unary(op: UnaryOperator, value: &Value) -> Result<Value> {
    value.each(|scalar| match (op, scalar, scalar.integer()) {
        (UnaryOperator::Negate, F32(a), _) => Ok(F32(-a)),
        (UnaryOperator::Negate, F16(a), _) => Ok(F16(-a)),
        (UnaryOperator::Negate, _, Some((kind, a))) => Ok(kind.wrap(-a)),
        (UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot, Bool(a), _) => Ok(Bool(!a)),
        (UnaryOperator::BitwiseNot, _, Some((kind, a))) => Ok(kind.wrap(!a)),
        _ => Err(defect(&format!("{op:?} of {scalar:?}"))),
    })
}

pub(crate) fn binary(op: BinaryOperator, left: &Value, right: &Value) -> Result<Value> {
    if half::is(left) {
        return half::narrowed(&binary(op, &half::widened(left)?, &half::widened(right)?)?);
    }
    if op == BinaryOperator::Multiply {
        match (left, right) {
            (Value::Matrix(matrix), Value::Vector(vector)) => return times(matrix, vector).map(Value::Vector),
            (Value::Vector(vector), Value::Matrix(matrix)) => {
                return matrix.iter().map(|column| dot(vector, column)).collect::<Result<_>>().map(Value::Vector);
            }
            (Value::Matrix(left), Value::Matrix(right)) => {
                return right.iter().map(|column| times(left, column)).collect::<Result<_>>().map(Value::Matrix);
            }
            _ => {}
        }
    }
    left.both(right, |a, b| scalars(op, a, b))
}

fn scalars(op: BinaryOperator, a: Scalar, b: Scalar) -> Result<Scalar> {
    let shift = matches!(op, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight);
    match (a, b, a.integer(), b.integer()) {
        (F32(a), F32(b), ..) => floats(op, a, b),
        (Bool(a), Bool(b), ..) => bools(op, a, b),
        (_, _, Some((kind, a)), Some((other, b))) if kind == other || shift => integers::binary(op, kind, a, b),
        _ => Err(defect(&format!("{op:?} of {a:?} and {b:?}"))),
    }
}

/// The comparison that `op` is, if it is one.
pub(crate) fn compare<T: PartialOrd>(op: BinaryOperator, a: T, b: T) -> Option<Scalar> {
    Some(Bool(match op {
        BinaryOperator::Equal => a == b,
        BinaryOperator::NotEqual => a != b,
        BinaryOperator::Less => a < b,
        BinaryOperator::LessEqual => a <= b,
        BinaryOperator::Greater => a > b,
        BinaryOperator::GreaterEqual => a >= b,
        _ => return None,
    }))
}

fn floats(op: BinaryOperator, a: f32, b: f32) -> Result<Scalar> {
    if let Some(result) = compare(op, a, b) {
        return Ok(result);
    }
    Ok(F32(match op {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        BinaryOperator::Multiply => a * b,
        BinaryOperator::Divide => a / b,
        // As WGSL defines it; not the exact remainder.
        BinaryOperator::Modulo => a - b * (a / b).trunc(),
        _ => return Err(defect(&format!("{op:?} of floats"))),
    }))
}

fn bools(op: BinaryOperator, a: bool, b: bool) -> Result<Scalar> {
    Ok(Bool(match op {
        BinaryOperator::And | BinaryOperator::LogicalAnd => a && b,
        BinaryOperator::InclusiveOr | BinaryOperator::LogicalOr => a || b,
        BinaryOperator::Equal => a == b,
        BinaryOperator::NotEqual | BinaryOperator::ExclusiveOr => a != b,
        _ => return Err(defect(&format!("{op:?} of bools"))),
    }))
}

/// The sum of the products, from the first component on.
pub(crate) fn dot(left: &[Scalar], right: &[Scalar]) -> Result<Scalar> {
    let mut sum: Option<Scalar> = None;
    for (a, b) in left.iter().zip(right) {
        let product = scalars(BinaryOperator::Multiply, *a, *b)?;
        sum = Some(match sum {
            None => product,
            Some(sum) => scalars(BinaryOperator::Add, sum, product)?,
        });
    }
    sum.ok_or_else(|| defect("a product of empty vectors"))
}

fn times(matrix: &[Vec<Scalar>], vector: &[Scalar]) -> Result<Vec<Scalar>> {
    transposed(matrix).iter().map(|row| dot(row, vector)).collect()
}

pub(crate) fn transposed(matrix: &[Vec<Scalar>]) -> Vec<Vec<Scalar>> {
    let rows = matrix.first().map_or(0, Vec::len);
    (0..rows).map(|row| matrix.iter().filter_map(|column| column.get(row).copied()).collect()).collect()
}

pub(crate) fn select(condition: &Value, accept: &Value, reject: &Value) -> Result<Value> {
    match (condition, accept, reject) {
        (Value::Scalar(condition), ..) => Ok(if condition.bool()? { accept.clone() } else { reject.clone() }),
        (Value::Vector(conditions), Value::Vector(accepts), Value::Vector(rejects)) => {
            let pick = |((condition, accept), reject): ((&Scalar, &Scalar), &Scalar)| {
                condition.bool().map(|condition| if condition { *accept } else { *reject })
            };
            conditions.iter().zip(accepts).zip(rejects).map(pick).collect::<Result<_>>().map(Value::Vector)
        }
        _ => Err(defect("a selection of unequal parts")),
    }
}

pub(crate) fn relational(fun: RelationalFunction, argument: &Value) -> Result<Value> {
    let bools = || argument.clone().scalars()?.into_iter().map(Scalar::bool).collect::<Result<Vec<_>>>();
    match fun {
        RelationalFunction::All => Ok(Value::Scalar(Bool(bools()?.into_iter().all(|value| value)))),
        RelationalFunction::Any => Ok(Value::Scalar(Bool(bools()?.into_iter().any(|value| value)))),
        RelationalFunction::IsNan => argument.each(|scalar| scalar.f32().map(|value| Bool(value.is_nan()))),
        RelationalFunction::IsInf => argument.each(|scalar| scalar.f32().map(|value| Bool(value.is_infinite()))),
    }
}

/// A conversion by value, or of the bits where `width` is not given.
pub(crate) fn cast(value: &Value, kind: ScalarKind, width: Option<u8>) -> Result<Value> {
    match width {
        None => value.each(|scalar| bitcast(scalar, kind)),
        Some(width) => value.each(|scalar| convert(scalar, naga::Scalar { kind, width })),
    }
}

fn bitcast(scalar: Scalar, kind: ScalarKind) -> Result<Scalar> {
    let (bits, width) = scalar.bits()?;
    let width = u8::try_from(width).map_err(|_| defect("a number of many bytes"))?;
    Scalar::from_bits(naga::Scalar { kind, width }, bits)
}

#[allow(clippy::cast_precision_loss, reason = "to nearest even, which is WGSL's conversion")]
fn convert(scalar: Scalar, to: naga::Scalar) -> Result<Scalar> {
    if let Some(kind) = Kind::of(to) {
        return match (scalar, scalar.integer()) {
            (_, Some((_, a))) => Ok(kind.wrap(a)),
            (Bool(a), _) => Ok(kind.wrap(a.into())),
            (F32(a), _) => Ok(nearest(kind, a, f32::MAX)),
            (F16(a), _) => Ok(nearest(kind, a, 65504.0)),
            _ => Err(defect(&format!("{scalar:?} becomes no integer"))),
        };
    }
    let (float, truth) = match (scalar, scalar.integer()) {
        (_, Some((_, a))) => (a as f32, a != 0),
        (Bool(a), _) => (f32::from(u8::from(a)), a),
        (F32(a) | F16(a), _) => (a, a != 0.0),
        _ => return Err(defect(&format!("{scalar:?} is no number"))),
    };
    match (to.kind, to.width) {
        (ScalarKind::Bool, _) => Ok(Bool(truth)),
        (ScalarKind::Float, 4) => Ok(F32(float)),
        // What is rounded twice here is beyond what `f16` has.
        (ScalarKind::Float, 2) => Ok(F16(half::rounded(float))),
        (kind, width) => unsupported(&format!("a {kind:?} of {width} bytes")),
    }
}

/// The integer that a float becomes: WGSL wants the nearest number that both types have, here of floats up to `greatest`. NaN becomes 0.
#[allow(clippy::cast_possible_truncation, reason = "a power of two fits, and what is clamped is in range")]
fn nearest(kind: Kind, x: f32, greatest: f32) -> Scalar {
    let (low, above) = kind.range();
    let high = (above as f32).next_down().min(greatest);
    kind.wrap(f64::from(x).clamp(low.max(f64::from(-greatest)), f64::from(high)) as i128)
}
