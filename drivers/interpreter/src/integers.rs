//! Integers of every width. What is done with them is done on the numbers that they are, and brought into the width's range once.

use crate::{
    error::{Result, defect, unsupported},
    operators::compare,
    value::Scalar,
};
use naga::{BinaryOperator, MathFunction as Fun, ScalarKind};

/// A type of integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kind {
    pub(crate) signed: bool,
    pub(crate) bits: u32,
}

impl Kind {
    /// The type, if it is one of integers.
    pub(crate) fn of(scalar: naga::Scalar) -> Option<Self> {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Sint, 4 | 8) => Some(Self { signed: true, bits: 8 * u32::from(scalar.width) }),
            (ScalarKind::Uint, 4 | 8) => Some(Self { signed: false, bits: 8 * u32::from(scalar.width) }),
            _ => None,
        }
    }

    /// The number that has the lowest bits of `value`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the lowest bits are what is asked for")]
    pub(crate) fn wrap(self, value: i128) -> Scalar {
        match (self.signed, self.bits) {
            (true, 32) => Scalar::I32(value as i32),
            (false, 32) => Scalar::U32(value as u32),
            (true, _) => Scalar::I64(value as i64),
            (false, _) => Scalar::U64(value as u64),
        }
    }

    /// The bits of a number, as an unsigned one.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the lowest bits are what is asked for")]
    fn pattern(self, value: i128) -> u64 {
        value as u64 & self.ones(self.bits)
    }

    /// So many ones, at most as many as there are bits.
    fn ones(self, count: u32) -> u64 {
        u64::MAX.checked_shr(64 - count.min(self.bits)).unwrap_or(0)
    }

    /// The least number of the type, and the one above the greatest.
    pub(crate) fn range(self) -> (f64, f64) {
        if self.signed {
            let size = 2f64.powi(self.bits.cast_signed() - 1);
            (-size, size)
        } else {
            (0.0, 2f64.powi(self.bits.cast_signed()))
        }
    }
}

/// An operator on two numbers of one type; only the count of a shift may be of another.
pub(crate) fn binary(op: BinaryOperator, kind: Kind, a: i128, b: i128) -> Result<Scalar> {
    if let Some(result) = compare(op, a, b) {
        return Ok(result);
    }
    // The count of a shift is modulo the width.
    let count = || u32::try_from(b.rem_euclid(kind.bits.into())).map_err(|_| defect("a shift by too much"));
    Ok(kind.wrap(match op {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        // The lowest bits do not depend on those that are lost.
        BinaryOperator::Multiply => a.wrapping_mul(b),
        // `x / 0` is `x`, `x % 0` is 0, and the lowest number divided by -1 is above the range by one.
        BinaryOperator::Divide => a.checked_div(b).unwrap_or(a),
        BinaryOperator::Modulo => a.checked_rem(b).unwrap_or(0),
        BinaryOperator::And => a & b,
        BinaryOperator::InclusiveOr => a | b,
        BinaryOperator::ExclusiveOr => a ^ b,
        BinaryOperator::ShiftLeft => a.wrapping_shl(count()?),
        BinaryOperator::ShiftRight => a.wrapping_shr(count()?),
        _ => return Err(defect(&format!("{op:?} of integers"))),
    }))
}

/// A built-in function of one number.
pub(crate) fn function(fun: Fun, kind: Kind, x: i128) -> Result<Scalar> {
    let pattern = kind.pattern(x);
    Ok(kind.wrap(match fun {
        Fun::Abs => x.abs(),
        Fun::Sign => x.signum(),
        Fun::CountTrailingZeros => pattern.trailing_zeros().min(kind.bits).into(),
        Fun::CountLeadingZeros => i128::from(pattern.leading_zeros()) - i128::from(64 - kind.bits),
        Fun::CountOneBits => pattern.count_ones().into(),
        Fun::ReverseBits => pattern.reverse_bits().wrapping_shr(64 - kind.bits).into(),
        Fun::FirstTrailingBit if x == 0 => -1,
        Fun::FirstTrailingBit => pattern.trailing_zeros().into(),
        // A negative number's first bit is the first that is unlike its sign.
        Fun::FirstLeadingBit => kind.pattern(if x < 0 { !x } else { x }).checked_ilog2().map_or(-1, i128::from),
        _ => return unsupported(&format!("{fun:?} of an integer")),
    }))
}

/// A built-in function of two numbers.
pub(crate) fn function_of_two(fun: Fun, kind: Kind, a: i128, b: i128) -> Result<Scalar> {
    match fun {
        Fun::Min => Ok(kind.wrap(a.min(b))),
        Fun::Max => Ok(kind.wrap(a.max(b))),
        _ => unsupported(&format!("{fun:?} of two integers")),
    }
}

/// A field of an integer: `count` bits from bit `offset` on, as much of it as there is.
struct Field {
    kind: Kind,
    value: i128,
    offset: u32,
    count: u32,
}

impl Field {
    fn new(value: Scalar, offset: u32, count: u32) -> Result<Self> {
        let (kind, value) = value.integer().ok_or_else(|| defect("bits of what is no integer"))?;
        let offset = offset.min(kind.bits);
        Ok(Self { kind, value, offset, count: count.min(kind.bits - offset) })
    }
}

/// The field of `value`, which of a signed one has a sign.
pub(crate) fn bits_extracted(value: Scalar, offset: u32, count: u32) -> Result<Scalar> {
    let Field { kind, value, offset, count } = Field::new(value, offset, count)?;
    let bits = i128::from(kind.pattern(value)) >> offset & i128::from(kind.ones(count));
    let negative = kind.signed && count > 0 && bits >> (count - 1) & 1 == 1;
    Ok(kind.wrap(if negative { bits - (1 << count) } else { bits }))
}

/// `value` with the lowest bits of `new` in the field.
pub(crate) fn bits_inserted(value: Scalar, new: Scalar, offset: u32, count: u32) -> Result<Scalar> {
    let Field { kind, value, offset, count } = Field::new(value, offset, count)?;
    let (_, new) = new.integer().ok_or_else(|| defect("bits of what is no integer"))?;
    let mask = i128::from(kind.ones(count)) << offset;
    Ok(kind.wrap(value & !mask | new << offset & mask))
}
