//! Operators and conversions.

use crate::{
    error::{Result, defect, unsupported},
    value::{Scalar, Value},
};
use Scalar::{Bool, F32, I32, U32};
use naga::{BinaryOperator, RelationalFunction, ScalarKind, UnaryOperator};

pub(crate) fn unary(op: UnaryOperator, value: &Value) -> Result<Value> {
    value.each(|scalar| match (op, scalar) {
        (UnaryOperator::Negate, I32(a)) => Ok(I32(a.wrapping_neg())),
        (UnaryOperator::Negate, F32(a)) => Ok(F32(-a)),
        (UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot, Bool(a)) => Ok(Bool(!a)),
        (UnaryOperator::BitwiseNot, I32(a)) => Ok(I32(!a)),
        (UnaryOperator::BitwiseNot, U32(a)) => Ok(U32(!a)),
        _ => Err(defect(&format!("{op:?} of {scalar:?}"))),
    })
}

pub(crate) fn binary(op: BinaryOperator, left: &Value, right: &Value) -> Result<Value> {
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
    match (a, b) {
        (F32(a), F32(b)) => floats(op, a, b),
        (I32(a), I32(b)) => signed(op, a, b),
        (U32(a), U32(b)) => unsigned(op, a, b),
        (Bool(a), Bool(b)) => bools(op, a, b),
        // The count of a shift is modulo the width.
        (I32(a), U32(b)) if op == BinaryOperator::ShiftLeft => Ok(I32(a.wrapping_shl(b))),
        (I32(a), U32(b)) if op == BinaryOperator::ShiftRight => Ok(I32(a.wrapping_shr(b))),
        _ => Err(defect(&format!("{op:?} of {a:?} and {b:?}"))),
    }
}

/// The comparison that `op` is, if it is one.
fn compare<T: PartialOrd>(op: BinaryOperator, a: T, b: T) -> Option<Scalar> {
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

fn signed(op: BinaryOperator, a: i32, b: i32) -> Result<Scalar> {
    if let Some(result) = compare(op, a, b) {
        return Ok(result);
    }
    Ok(I32(match op {
        BinaryOperator::Add => a.wrapping_add(b),
        BinaryOperator::Subtract => a.wrapping_sub(b),
        BinaryOperator::Multiply => a.wrapping_mul(b),
        // `x / 0` is `x`, `x % 0` is 0, the lowest number divided by -1 is itself.
        BinaryOperator::Divide if b == 0 => a,
        BinaryOperator::Divide => a.wrapping_div(b),
        BinaryOperator::Modulo if b == 0 => 0,
        BinaryOperator::Modulo => a.wrapping_rem(b),
        BinaryOperator::And => a & b,
        BinaryOperator::InclusiveOr => a | b,
        BinaryOperator::ExclusiveOr => a ^ b,
        _ => return Err(defect(&format!("{op:?} of i32"))),
    }))
}

fn unsigned(op: BinaryOperator, a: u32, b: u32) -> Result<Scalar> {
    if let Some(result) = compare(op, a, b) {
        return Ok(result);
    }
    Ok(U32(match op {
        BinaryOperator::Add => a.wrapping_add(b),
        BinaryOperator::Subtract => a.wrapping_sub(b),
        BinaryOperator::Multiply => a.wrapping_mul(b),
        BinaryOperator::Divide => a.checked_div(b).unwrap_or(a),
        BinaryOperator::Modulo => a.checked_rem(b).unwrap_or(0),
        BinaryOperator::And => a & b,
        BinaryOperator::InclusiveOr => a | b,
        BinaryOperator::ExclusiveOr => a ^ b,
        BinaryOperator::ShiftLeft => a.wrapping_shl(b),
        BinaryOperator::ShiftRight => a.wrapping_shr(b),
        _ => return Err(defect(&format!("{op:?} of u32"))),
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
        Some(1 | 4) => value.each(|scalar| convert(scalar, kind)),
        Some(width) => unsupported(&format!("a {kind:?} of {width} bytes")),
    }
}

fn bitcast(scalar: Scalar, kind: ScalarKind) -> Result<Scalar> {
    let bits = scalar.bits()?;
    match kind {
        ScalarKind::Sint => Ok(I32(bits.cast_signed())),
        ScalarKind::Uint => Ok(U32(bits)),
        ScalarKind::Float => Ok(F32(f32::from_bits(bits))),
        _ => Err(defect(&format!("a bitcast to {kind:?}"))),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "Rust's casts are WGSL's conversions: to nearest even, and of what is in range saturating, with NaN as 0"
)]
fn convert(scalar: Scalar, kind: ScalarKind) -> Result<Scalar> {
    Ok(match (kind, scalar) {
        (ScalarKind::Bool, Bool(_)) | (ScalarKind::Sint, I32(_)) | (ScalarKind::Uint, U32(_)) => scalar,
        (ScalarKind::Float, F32(_)) => scalar,
        (ScalarKind::Bool, I32(a)) => Bool(a != 0),
        (ScalarKind::Bool, U32(a)) => Bool(a != 0),
        (ScalarKind::Bool, F32(a)) => Bool(a != 0.0),
        (ScalarKind::Sint, Bool(a)) => I32(i32::from(a)),
        (ScalarKind::Sint, U32(a)) => I32(a.cast_signed()),
        (ScalarKind::Sint, F32(a)) => I32(at_most(a, 2_147_483_520.0) as i32),
        (ScalarKind::Uint, Bool(a)) => U32(u32::from(a)),
        (ScalarKind::Uint, I32(a)) => U32(a.cast_unsigned()),
        (ScalarKind::Uint, F32(a)) => U32(at_most(a, 4_294_967_040.0) as u32),
        (ScalarKind::Float, Bool(a)) => F32(f32::from(u8::from(a))),
        (ScalarKind::Float, I32(a)) => F32(a as f32),
        (ScalarKind::Float, U32(a)) => F32(a as f32),
        (ScalarKind::AbstractInt | ScalarKind::AbstractFloat, _) => return Err(defect("an abstract number")),
    })
}

/// A float that is to become an integer, not above the greatest number that is both: WGSL wants the nearest of these.
fn at_most(a: f32, greatest: f32) -> f32 {
    if a > greatest { greatest } else { a }
}
