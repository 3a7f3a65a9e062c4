//! Built-in functions. The exact ones are exact; those that WGSL allows an error (`exp`, `sin`, ...) are computed in 64 bits and
//! rounded once.

use crate::{
    error::{Result, defect, unsupported},
    half,
    integers::{self, bits_extracted, bits_inserted},
    matrices::{determinant, inverse},
    operators::{dot, transposed},
    packing,
    value::{Scalar, Value},
};
use Scalar::{F32, I32};
use naga::MathFunction as Fun;

/// A call of a built-in function.
pub(crate) fn math(fun: Fun, arguments: &[Value]) -> Result<Value> {
    if arguments.iter().any(half::is) {
        let widened = arguments.iter().map(half::widened).collect::<Result<Vec<_>>>()?;
        return half::narrowed(&math(fun, &widened)?);
    }
    if let Some(value) = packing::packing(fun, arguments)? {
        return Ok(value);
    }
    match arguments {
        [a] => one(fun, a),
        [a, b] => two(fun, a, b),
        [a, b, c] => three(fun, a, b, c),
        [a, b, c, d] if fun == Fun::InsertBits => {
            let (offset, count) = (word(c)?, word(d)?);
            a.both(b, |a, b| bits_inserted(a, b, offset, count))
        }
        _ => Err(defect(&format!("{fun:?} of {} arguments", arguments.len()))),
    }
}

fn one(fun: Fun, a: &Value) -> Result<Value> {
    let floats = || a.floats();
    match (fun, a) {
        (Fun::Length, _) => Ok(Value::Scalar(F32(length(&floats()?)))),
        (Fun::Normalize, _) => {
            let length = length(&floats()?);
            a.each(|x| Ok(F32(x.f32()? / length)))
        }
        (Fun::Transpose, Value::Matrix(columns)) => Ok(Value::Matrix(transposed(columns))),
        (Fun::Determinant, Value::Matrix(columns)) => determinant(columns).map(F32).map(Value::Scalar),
        (Fun::Inverse, Value::Matrix(columns)) => inverse(columns).map(Value::Matrix),
        (Fun::Modf, _) => {
            let fraction = a.each(|x| x.f32().map(|x| F32(x - x.trunc())))?;
            let whole = a.each(|x| x.f32().map(|x| F32(x.trunc())))?;
            Ok(Value::Composite(vec![fraction, whole]))
        }
        (Fun::Frexp, _) => {
            let fraction = a.each(|x| x.f32().map(|x| F32(frexp(x).0)))?;
            let exponent = a.each(|x| x.f32().map(|x| I32(frexp(x).1)))?;
            Ok(Value::Composite(vec![fraction, exponent]))
        }
        _ => a.each(|scalar| match (scalar, scalar.integer()) {
            (F32(x), _) => float_function(fun, x).map(F32),
            (_, Some((kind, x))) => integers::function(fun, kind, x),
            _ => Err(defect(&format!("a function of {scalar:?}"))),
        }),
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the one rounding of what was computed in 64 bits")]
fn float_function(fun: Fun, x: f32) -> Result<f32> {
    let wide = f64::from(x);
    Ok(match fun {
        Fun::Abs => x.abs(),
        Fun::Saturate => lesser(greater(x, 0.0), 1.0),
        Fun::Cos => wide.cos() as f32,
        Fun::Cosh => wide.cosh() as f32,
        Fun::Sin => wide.sin() as f32,
        Fun::Sinh => wide.sinh() as f32,
        Fun::Tan => wide.tan() as f32,
        Fun::Tanh => wide.tanh() as f32,
        Fun::Acos => wide.acos() as f32,
        Fun::Asin => wide.asin() as f32,
        Fun::Atan => wide.atan() as f32,
        Fun::Asinh => wide.asinh() as f32,
        Fun::Acosh => wide.acosh() as f32,
        Fun::Atanh => wide.atanh() as f32,
        Fun::Radians => x * (std::f32::consts::PI / 180.0),
        Fun::Degrees => x * (180.0 / std::f32::consts::PI),
        Fun::Ceil => x.ceil(),
        Fun::Floor => x.floor(),
        Fun::Round => x.round_ties_even(),
        Fun::Fract => x - x.floor(),
        Fun::Trunc => x.trunc(),
        Fun::Exp => wide.exp() as f32,
        Fun::Exp2 => wide.exp2() as f32,
        Fun::Log => wide.ln() as f32,
        Fun::Log2 => wide.log2() as f32,
        Fun::Sign => f32::from(i8::from(x > 0.0) - i8::from(x < 0.0)),
        Fun::Sqrt => x.sqrt(),
        Fun::InverseSqrt => 1.0 / x.sqrt(),
        Fun::QuantizeToF16 => half::rounded(x),
        _ => return unsupported(&format!("{fun:?} of a float")),
    })
}

fn two(fun: Fun, a: &Value, b: &Value) -> Result<Value> {
    match (fun, a, b) {
        (Fun::Dot, Value::Vector(a), Value::Vector(b)) => dot(a, b).map(Value::Scalar),
        (Fun::Cross, ..) => cross(&a.floats()?, &b.floats()?),
        (Fun::Distance, ..) => {
            let between: Vec<f32> = a.floats()?.into_iter().zip(b.floats()?).map(|(a, b)| a - b).collect();
            Ok(Value::Scalar(F32(length(&between))))
        }
        (Fun::Outer, a, Value::Vector(factors)) => {
            let column = |factor: &Scalar| {
                let factor = factor.f32()?;
                a.each(|x| Ok(F32(x.f32()? * factor)))?.scalars()
            };
            factors.iter().map(column).collect::<Result<_>>().map(Value::Matrix)
        }
        (Fun::Reflect, incident, normal) => {
            let along = float_dot(&normal.floats()?, &incident.floats()?) * 2.0;
            incident.both(normal, |i, n| Ok(F32(i.f32()? - n.f32()? * along)))
        }
        _ => a.both(b, |a, b| match (a, b, a.integer(), b.integer()) {
            (F32(a), F32(b), ..) => float_function_of_two(fun, a, b).map(F32),
            (F32(a), I32(b), ..) if fun == Fun::Ldexp => Ok(F32(ldexp(a, b))),
            (_, _, Some((kind, a)), Some((other, b))) if kind == other => integers::function_of_two(fun, kind, a, b),
            _ => unsupported(&format!("{fun:?} of {a:?} and {b:?}")),
        }),
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the one rounding of what was computed in 64 bits")]
fn float_function_of_two(fun: Fun, a: f32, b: f32) -> Result<f32> {
    Ok(match fun {
        Fun::Min => lesser(a, b),
        Fun::Max => greater(a, b),
        Fun::Atan2 => f64::from(a).atan2(f64::from(b)) as f32,
        Fun::Pow => f64::from(a).powf(f64::from(b)) as f32,
        Fun::Step => f32::from(u8::from(a <= b)),
        _ => return unsupported(&format!("{fun:?} of two floats")),
    })
}

fn three(fun: Fun, a: &Value, b: &Value, c: &Value) -> Result<Value> {
    match fun {
        Fun::FaceForward => {
            let ahead = float_dot(&b.floats()?, &c.floats()?) < 0.0;
            a.each(|x| x.f32().map(|x| F32(if ahead { x } else { -x })))
        }
        Fun::Refract => refract(a, b, c.scalar()?.f32()?),
        Fun::ExtractBits => {
            let (offset, count) = (word(b)?, word(c)?);
            a.each(|value| bits_extracted(value, offset, count))
        }
        Fun::Clamp => {
            let low = two(Fun::Max, a, b)?;
            two(Fun::Min, &low, c)
        }
        // `a` and `b` are vectors where `c` is one, and maybe where it is not.
        Fun::Mix => {
            let first = a.both(c, |a, c| Ok(F32(a.f32()? * (1.0 - c.f32()?))))?;
            let second = b.both(c, |b, c| Ok(F32(b.f32()? * c.f32()?)))?;
            first.both(&second, |first, second| Ok(F32(first.f32()? + second.f32()?)))
        }
        // A product and a sum, each rounded.
        Fun::Fma => {
            let product = a.both(b, |a, b| Ok(F32(a.f32()? * b.f32()?)))?;
            product.both(c, |product, c| Ok(F32(product.f32()? + c.f32()?)))
        }
        Fun::SmoothStep => {
            let from = c.both(a, |x, low| Ok(F32(x.f32()? - low.f32()?)))?;
            let range = b.both(a, |high, low| Ok(F32(high.f32()? - low.f32()?)))?;
            from.both(&range, |from, range| {
                let t = lesser(greater(from.f32()? / range.f32()?, 0.0), 1.0);
                Ok(F32(t * t * (3.0 - t * 2.0)))
            })
        }
        _ => unsupported(&format!("{fun:?} of three arguments")),
    }
}

fn word(value: &Value) -> Result<u32> {
    value.scalar()?.word()
}

/// The lesser, as a comparison: of a NaN and a number it is the first.
pub(crate) fn lesser(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

/// The greater, likewise.
pub(crate) fn greater(a: f32, b: f32) -> f32 {
    if a < b { b } else { a }
}

fn float_dot(a: &[f32], b: &[f32]) -> f32 {
    let mut products = a.iter().zip(b).map(|(a, b)| a * b);
    let first = products.next().unwrap_or(0.0);
    products.fold(first, |sum, product| sum + product)
}

fn length(vector: &[f32]) -> f32 {
    match vector {
        [only] => only.abs(),
        _ => float_dot(vector, vector).sqrt(),
    }
}

fn cross(a: &[f32], b: &[f32]) -> Result<Value> {
    let (&[ax, ay, az], &[bx, by, bz]) = (a, b) else { return Err(defect("a cross product not of three")) };
    let components = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
    Ok(Value::Vector(components.map(F32).to_vec()))
}

fn refract(incident: &Value, normal: &Value, eta: f32) -> Result<Value> {
    let dot = float_dot(&normal.floats()?, &incident.floats()?);
    let k = 1.0 - eta * eta * (1.0 - dot * dot);
    if k < 0.0 {
        return incident.each(|_| Ok(F32(0.0)));
    }
    let factor = eta * dot + k.sqrt();
    incident.both(normal, |i, n| Ok(F32(i.f32()? * eta - n.f32()? * factor)))
}

/// `x` as a fraction in `[0.5, 1)` times a power of two. What is no number to be split stays whole.
fn frexp(x: f32) -> (f32, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (mut fraction, mut exponent) = (x, 0);
    while fraction.abs() >= 1.0 {
        fraction /= 2.0;
        exponent += 1;
    }
    while fraction.abs() < 0.5 {
        fraction *= 2.0;
        exponent -= 1;
    }
    (fraction, exponent)
}

#[allow(clippy::cast_possible_truncation, reason = "the one rounding: a 64-bit float holds the product exactly")]
fn ldexp(x: f32, exponent: i32) -> f32 {
    // Beyond 400 every f32 has become infinite, or 0.
    (f64::from(x) * 2f64.powi(exponent.clamp(-400, 400))) as f32
}
