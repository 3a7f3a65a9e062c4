//! What may differ in the value of an expression.

use naga::{BinaryOperator, Expression, Handle, Literal, MathFunction, TypeInner};

use super::leaves::{Range, all, fit};
use super::walk::Walk;

/// What is known of a value.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Value {
    /// A bit is set where it may differ between invocations.
    Bits(u64),
    /// A pointer into a variable.
    Pointer(Pointer),
}

/// A part of a variable.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Pointer {
    pub(super) root: Root,
    /// The bits that it can be about.
    pub(super) range: Range,
    /// Whether invocations may mean different parts of these.
    pub(super) differs: bool,
}

/// What a pointer leads to.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Root {
    /// A variable of the invocation's own, with this slot.
    Slot(usize),
    /// Memory that is the same for all.
    Same,
    /// Memory that others may write.
    Differs,
}

impl Walk<'_, '_> {
    /// What may differ in a value; in a pointer, which part of the variable it means.
    pub(super) fn bits(&self, handle: Handle<Expression>) -> u64 {
        match self.value(handle) {
            Value::Bits(bits) => bits,
            Value::Pointer(pointer) => u64::from(pointer.differs),
        }
    }

    pub(super) fn value(&self, handle: Handle<Expression>) -> Value {
        self.instance.values.get(handle.index()).copied().unwrap_or(Value::Bits(u64::MAX))
    }

    fn inner(&self, handle: Handle<Expression>) -> &TypeInner {
        self.info[handle].ty.inner_with(&self.analysis.module.types)
    }

    pub(super) fn width(&self, handle: Handle<Expression>) -> u32 {
        self.analysis.leaves.width(&self.info[handle].ty)
    }

    /// The value of an expression whose operands are known.
    pub(super) fn evaluate(&self, handle: Handle<Expression>) -> Value {
        let width = self.width(handle);
        let bits = match self.function.expressions[handle] {
            Expression::Access { base, index } => {
                return self.access(handle, base, self.literal(index), self.bits(index) != 0);
            }
            Expression::AccessIndex { base, index } => return self.access(handle, base, Some(index), false),
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::Override(_)
            | Expression::ZeroValue(_)
            | Expression::ArrayLength(_) => 0,
            Expression::Load { pointer } => self.load(pointer, width),
            Expression::Compose { ref components, .. } => self.compose(components, width),
            Expression::Swizzle { vector, ref pattern, .. } => {
                let of = self.bits(vector);
                let bits = (0u32..width).zip(pattern).map(|(at, &from)| (of >> (from as u32) & 1) << at);
                bits.fold(0, |bits, bit| bits | bit)
            }
            Expression::Splat { value, .. }
            | Expression::Unary { expr: value, .. }
            | Expression::As { expr: value, .. } => self.by_component(width, &[value]),
            Expression::Relational { argument, .. } => self.by_component(width, &[argument]),
            Expression::Select { condition, accept, reject } => self.by_component(width, &[condition, accept, reject]),
            Expression::Binary { op, left, right } => {
                let matrix = |side| matches!(self.inner(side), TypeInner::Matrix { .. });
                if op == BinaryOperator::Multiply && (matrix(left) || matrix(right)) {
                    self.as_a_whole(width, &[left, right])
                } else {
                    self.by_component(width, &[left, right])
                }
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments: Vec<_> = [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect();
                if mixes(fun) { self.as_a_whole(width, &arguments) } else { self.by_component(width, &arguments) }
            }
            // Textures and ray queries, which no kernel has. What has its value without a statement, or by another one, does not get here.
            _ => all(width),
        };
        Value::Bits(bits)
    }

    /// Each component of the result comes from that component of each operand, or from the only one that it has.
    fn by_component(&self, width: u32, operands: &[Handle<Expression>]) -> u64 {
        operands.iter().fold(0, |bits, &operand| bits | fit(self.bits(operand), self.width(operand), width))
    }

    fn as_a_whole(&self, width: u32, operands: &[Handle<Expression>]) -> u64 {
        if operands.iter().all(|&operand| self.bits(operand) == 0) { 0 } else { all(width) }
    }

    fn compose(&self, components: &[Handle<Expression>], width: u32) -> u64 {
        let sum = components.iter().fold(0u32, |sum, &it| sum.saturating_add(self.width(it)));
        if sum != width {
            // Elements that share bits, or a structure with one only.
            return self.by_component(width, components);
        }
        let (mut first, mut bits) = (0u32, 0);
        for &component in components {
            let own = self.width(component);
            bits |= Range { first, width: own }.place(self.bits(component), own);
            first = first.saturating_add(own);
        }
        bits
    }

    fn load(&self, pointer: Handle<Expression>, width: u32) -> u64 {
        let Value::Pointer(pointer) = self.value(pointer) else { return all(width) };
        match pointer.root {
            _ if pointer.differs => all(width),
            Root::Slot(slot) => {
                let bits = self.analysis.slots.get(slot).copied().unwrap_or(u64::MAX);
                pointer.range.read(bits, width)
            }
            Root::Same => 0,
            Root::Differs => all(width),
        }
    }

    /// A part of a value, or a pointer to a part.
    fn access(&self, result: Handle<Expression>, base: Handle<Expression>, index: Option<u32>, differs: bool) -> Value {
        let whole = &self.info[base].ty;
        let part = self.analysis.leaves.part(whole, index);
        match self.value(base) {
            Value::Bits(bits) => {
                let width = self.width(result);
                Value::Bits(if differs { all(width) } else { part.read(bits, width) })
            }
            Value::Pointer(pointer) => {
                let mut range = pointer.range;
                // Bits that are not those of the whole cannot be told apart any more.
                if range.width == self.analysis.leaves.width(whole) {
                    range = Range { first: range.first.saturating_add(part.first), width: part.width };
                }
                Value::Pointer(Pointer { range, differs: pointer.differs || differs, ..pointer })
            }
        }
    }

    /// An index that is written as a number.
    fn literal(&self, index: Handle<Expression>) -> Option<u32> {
        match self.function.expressions[index] {
            Expression::Literal(Literal::U32(value)) => Some(value),
            Expression::Literal(Literal::I32(value)) => u32::try_from(value).ok(),
            _ => None,
        }
    }
}

/// Functions of vectors and matrices whose result has as many components as an argument, but each from all of them.
fn mixes(fun: MathFunction) -> bool {
    use MathFunction as F;
    matches!(
        fun,
        F::Cross | F::Normalize | F::FaceForward | F::Reflect | F::Refract | F::Outer | F::Transpose | F::Inverse
    )
}
