//! Built-in functions on packed words.

use crate::{
    error::Result,
    half,
    math::{greater, lesser},
    value::{Scalar, Value},
};
use Scalar::{F32, I32, U32};
use naga::MathFunction as Fun;

/// A call of a function that packs or unpacks; none for other functions.
pub(crate) fn packing(fun: Fun, arguments: &[Value]) -> Result<Option<Value>> {
    let word = |at: usize| match arguments.get(at) {
        Some(Value::Scalar(scalar)) => scalar.word(),
        _ => Err(crate::error::defect("a packed word is missing")),
    };
    let numbers = || arguments.first().cloned().unwrap_or(Value::Vector(Vec::new())).scalars();
    let floats = || numbers()?.into_iter().map(Scalar::f32).collect::<Result<Vec<_>>>();
    let bits = || numbers()?.into_iter().map(Scalar::word).collect::<Result<Vec<_>>>();
    let packed = |fields: Vec<u32>| Ok(Some(Value::u32(join(&fields))));
    let unpacked = |values: Vec<Scalar>| Ok(Some(Value::Vector(values)));
    match fun {
        Fun::Pack4x8snorm => packed(normalised(&floats()?, -1.0, 127.0)),
        Fun::Pack4x8unorm => packed(normalised(&floats()?, 0.0, 255.0)),
        Fun::Pack2x16snorm => packed(normalised(&floats()?, -1.0, 32767.0)),
        Fun::Pack2x16unorm => packed(normalised(&floats()?, 0.0, 65535.0)),
        Fun::Pack2x16float => packed(floats()?.into_iter().map(|x| u32::from(half::to_bits(x))).collect()),
        Fun::Pack4xI8 | Fun::Pack4xU8 => packed(bits()?),
        Fun::Pack4xI8Clamp => {
            packed(bits()?.into_iter().map(|x| x.cast_signed().clamp(-128, 127).cast_unsigned()).collect())
        }
        Fun::Pack4xU8Clamp => packed(bits()?.into_iter().map(|x| x.min(255)).collect()),
        Fun::Unpack4x8snorm => unpacked(bytes(word(0)?).map(|x| signed_part(f32::from(x.cast_signed()), 127.0)).into()),
        Fun::Unpack4x8unorm => unpacked(bytes(word(0)?).map(|x| F32(f32::from(x) / 255.0)).into()),
        Fun::Unpack2x16snorm => {
            unpacked(halves(word(0)?).map(|x| signed_part(f32::from(x.cast_signed()), 32767.0)).into())
        }
        Fun::Unpack2x16unorm => unpacked(halves(word(0)?).map(|x| F32(f32::from(x) / 65535.0)).into()),
        Fun::Unpack2x16float => unpacked(halves(word(0)?).map(|x| F32(half::from_bits(x))).into()),
        Fun::Unpack4xI8 => unpacked(bytes(word(0)?).map(|x| I32(i32::from(x.cast_signed()))).into()),
        Fun::Unpack4xU8 => unpacked(bytes(word(0)?).map(|x| U32(u32::from(x))).into()),
        Fun::Dot4I8Packed => {
            let products = bytes(word(0)?).into_iter().zip(bytes(word(1)?));
            let sum = products.map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed())).sum();
            Ok(Some(Value::Scalar(I32(sum))))
        }
        Fun::Dot4U8Packed => {
            let products = bytes(word(0)?).into_iter().zip(bytes(word(1)?));
            Ok(Some(Value::u32(products.map(|(a, b)| u32::from(a) * u32::from(b)).sum())))
        }
        _ => Ok(None),
    }
}

fn bytes(word: u32) -> [u8; 4] {
    word.to_le_bytes()
}

#[allow(clippy::cast_possible_truncation, reason = "the low half and the high half")]
fn halves(word: u32) -> [u16; 2] {
    [word as u16, (word >> 16) as u16]
}

/// Four bytes or two halves as a word, the first lowest.
fn join(fields: &[u32]) -> u32 {
    let bits = if fields.len() == 2 { 16 } else { 8 };
    fields.iter().rev().fold(0, |word: u32, field| word << bits | field & ((1 << bits) - 1))
}

/// `floor(0.5 + scale * clamp(value, low, 1))`.
#[allow(clippy::cast_possible_truncation, reason = "the values lie in 16 bits")]
fn normalised(values: &[f32], low: f32, scale: f32) -> Vec<u32> {
    let field = |value: &f32| ((scale * lesser(greater(*value, low), 1.0) + 0.5).floor() as i32).cast_unsigned();
    values.iter().map(field).collect()
}

/// The lowest signed field is a little below -1.
fn signed_part(value: f32, scale: f32) -> Scalar {
    F32(greater(value / scale, -1.0))
}
