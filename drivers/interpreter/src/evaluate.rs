//! Expressions whose value depends on nothing but their operands.

use crate::{
    budget::fits,
    error::{Result, defect, unsupported},
    layout::Target,
    math::math,
    operators::{binary, cast, relational, select, unary},
    value::{Scalar, Value},
};
use naga::{Expression, Handle, Module};

/// How an expression gets at its operands.
pub(crate) type Operand<'a> = dyn FnMut(Handle<Expression>) -> Result<Value> + 'a;

/// The value of an expression over `operand`s. What needs memory, arguments or results of calls is a defect here.
pub(crate) fn pure(module: &Module, expression: &Expression, operand: &mut Operand<'_>) -> Result<Value> {
    match expression {
        Expression::Literal(literal) => Scalar::literal(*literal).map(Value::Scalar),
        Expression::Constant(handle) => constant(module, module.constants[*handle].init),
        Expression::ZeroValue(ty) => {
            fits(Target::Type(*ty).size(module)?)?;
            Value::zero(module, &module.types[*ty].inner)
        }
        Expression::Compose { ty, components } => {
            fits(Target::Type(*ty).size(module)?)?;
            let parts = components.iter().map(|component| operand(*component)).collect::<Result<_>>()?;
            Value::compose(&module.types[*ty].inner, parts)
        }
        Expression::Splat { size, value } => Ok(Value::Vector(vec![operand(*value)?.scalar()?; *size as usize])),
        Expression::Swizzle { size, vector, pattern } => {
            let scalars = operand(*vector)?.scalars()?;
            let picked: Option<Vec<_>> =
                pattern.iter().take(*size as usize).map(|at| scalars.get(*at as usize).copied()).collect();
            picked.map(Value::Vector).ok_or_else(|| defect("a swizzle of components that are not there"))
        }
        Expression::Unary { op, expr } => unary(*op, &operand(*expr)?),
        Expression::Binary { op, left, right } => binary(*op, &operand(*left)?, &operand(*right)?),
        Expression::Select { condition, accept, reject } => {
            select(&operand(*condition)?, &operand(*accept)?, &operand(*reject)?)
        }
        Expression::Relational { fun, argument } => relational(*fun, &operand(*argument)?),
        Expression::Math { fun, arg, arg1, arg2, arg3 } => {
            let given = [Some(*arg), *arg1, *arg2, *arg3].into_iter().flatten();
            let arguments: Vec<_> = given.map(operand).collect::<Result<_>>()?;
            math(*fun, &arguments)
        }
        Expression::As { expr, kind, convert } => cast(&operand(*expr)?, *kind, *convert),
        Expression::Access { base, index } => {
            let index = operand(*index)?.index()?;
            operand(*base)?.part(index).map(|(_, part)| part)
        }
        Expression::AccessIndex { base, index } => operand(*base)?.part(*index).map(|(_, part)| part),
        other => refuse(other),
    }
}

/// The value of one of the module's constant expressions.
pub(crate) fn constant(module: &Module, handle: Handle<Expression>) -> Result<Value> {
    pure(module, &module.global_expressions[handle], &mut |operand| constant(module, operand))
}

fn refuse<T>(expression: &Expression) -> Result<T> {
    match expression {
        Expression::ImageSample { .. } | Expression::ImageLoad { .. } | Expression::ImageQuery { .. } => {
            unsupported("a texture")
        }
        Expression::Derivative { .. } => unsupported("a derivative"),
        Expression::CooperativeLoad { .. } | Expression::CooperativeMultiplyAdd { .. } => {
            unsupported("a cooperative matrix")
        }
        other => Err(defect(&format!("{other:?} has no value here"))),
    }
}
