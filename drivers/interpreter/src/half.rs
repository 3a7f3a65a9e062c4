//! `f16`. A number is kept as the `f32` of the same value. Operators and built-in functions are those of `f32`, and what they
//! give is rounded once.

use crate::{
    error::Result,
    value::{Scalar, Value},
};

/// Whether a value is made of `f16`. Those of arrays and structures do not count: no operation has such operands.
pub(crate) fn is(value: &Value) -> bool {
    let first = match value {
        Value::Scalar(scalar) => Some(scalar),
        Value::Vector(scalars) => scalars.first(),
        Value::Matrix(columns) => columns.first().and_then(|column| column.first()),
        Value::Composite(_) | Value::Pointer(_) => None,
    };
    matches!(first, Some(Scalar::F16(_)))
}

/// The same numbers in `f32`.
pub(crate) fn widened(value: &Value) -> Result<Value> {
    if !is(value) {
        return Ok(value.clone());
    }
    value.each(|scalar| match scalar {
        Scalar::F16(number) => Ok(Scalar::F32(number)),
        other => Ok(other),
    })
}

/// The nearest numbers in `f16`, also of the two results that some functions have; what is no float stays.
pub(crate) fn narrowed(value: &Value) -> Result<Value> {
    if let Value::Composite(parts) = value {
        return parts.iter().map(narrowed).collect::<Result<_>>().map(Value::Composite);
    }
    value.each(|scalar| match scalar {
        Scalar::F32(number) => Ok(Scalar::F16(rounded(number))),
        other => Ok(other),
    })
}

/// The nearest number that `f16` has.
pub(crate) fn rounded(x: f32) -> f32 {
    from_bits(to_bits(x))
}

/// The value of a half-precision number.
pub(crate) fn from_bits(half: u16) -> f32 {
    let (exponent, fraction) = (half >> 10 & 31, f32::from(half & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(i32::from(exponent) - 25),
    };
    if half >> 15 == 1 { -size } else { size }
}

/// The nearest half-precision number, of two the even one; what is too large becomes infinite.
pub(crate) fn to_bits(x: f32) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let size = x.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    // Finite halves are ordered as their bits are. The greatest that is no greater than the number, by bisection:
    let (mut low, mut high) = (0u16, 0x7c00u16);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if from_bits(middle) <= size { low = middle } else { high = middle }
    }
    let (below, above) = (from_bits(low), if low == 0x7bff { 65536.0 } else { from_bits(low + 1) });
    // Both differences are exact: the neighbours are close.
    let up = size - below > above - size || (size - below == above - size && low & 1 == 1);
    sign | if up { low + 1 } else { low }
}
