//! `i64` and `u64`: two words each, the low one first.

use naga::{BinaryOperator, MathFunction, Scalar, ScalarKind, UnaryOperator};

use super::Lowerer;
use crate::diagnostic::Diagnostic;
use crate::ir::{Helper, Op, Operand};
use crate::layout::{Shape, words};

/// A number of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct Wide {
    low: Operand,
    high: Operand,
}

const ZERO: Wide = Wide::new(0);
const ONE: Wide = Wide::new(1);
const MINUS_ONE: Wide = Wide::new(u64::MAX);

impl Wide {
    const fn new(value: u64) -> Self {
        // Each half on its own.
        Self { low: Operand::I32(value as u32), high: Operand::I32((value >> 32) as u32) }
    }

    fn words(self) -> [Operand; 2] {
        [self.low, self.high]
    }
}

/// The numbers that a row of words is.
fn numbers(words: &[Operand]) -> Vec<Wide> {
    words.chunks_exact(2).filter_map(|pair| Some(Wide { low: *pair.first()?, high: *pair.last()? })).collect()
}

/// The operands of a literal.
pub(crate) fn literal(value: u64) -> Vec<Operand> {
    Wide::new(value).words().to_vec()
}

/// A component, of a scalar whichever it is.
fn component<T: Copy>(values: &[T], at: usize) -> Option<T> {
    values.get(at).or(values.first()).copied()
}

impl Lowerer<'_, '_> {
    pub(crate) fn wide_unary(&mut self, op: UnaryOperator, values: &[Operand]) -> Vec<Operand> {
        let each = numbers(values).into_iter().flat_map(|value| {
            let result = match op {
                UnaryOperator::Negate => self.wide_sub(ZERO, value),
                UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot => self.by_word(Op::Xor, value, MINUS_ONE),
            };
            result.words()
        });
        each.collect()
    }

    /// An operator whose left side has 64 bits. The right side has too, unless it is a shift's count.
    pub(crate) fn wide_binary(
        &mut self,
        op: BinaryOperator,
        signed: bool,
        left: &[Operand],
        right: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostic> {
        let left = numbers(left);
        let mut results = Vec::new();
        if let BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight = op {
            for (at, &value) in left.iter().enumerate() {
                let count = component(right, at).ok_or_else(|| self.defect("a shift without a count"))?;
                let shifted = match op {
                    BinaryOperator::ShiftLeft => self.wide_shl(value, count),
                    _ => self.wide_shr(signed, value, count),
                };
                results.extend(shifted.words());
            }
            return Ok(results);
        }
        let right = numbers(right);
        for at in 0..left.len().max(right.len()) {
            let (Some(a), Some(b)) = (component(&left, at), component(&right, at)) else {
                return Err(self.defect("an operator without operands"));
            };
            match self.wide_comparison(op, signed, a, b) {
                Some(truth) => results.push(truth),
                None => results.extend(self.wide_arithmetic(op, signed, a, b)?.words()),
            }
        }
        Ok(results)
    }

    fn wide_comparison(&mut self, op: BinaryOperator, signed: bool, a: Wide, b: Wide) -> Option<Operand> {
        let (swapped, negated) = match op {
            BinaryOperator::Equal => return Some(self.wide_equal(a, b)),
            BinaryOperator::NotEqual => {
                let equal = self.wide_equal(a, b);
                return Some(self.b.op(Op::Not, &[equal]));
            }
            BinaryOperator::Less => (false, false),
            BinaryOperator::GreaterEqual => (false, true),
            BinaryOperator::Greater => (true, false),
            BinaryOperator::LessEqual => (true, true),
            _ => return None,
        };
        let less = if swapped { self.wide_less(signed, b, a) } else { self.wide_less(signed, a, b) };
        Some(if negated { self.b.op(Op::Not, &[less]) } else { less })
    }

    fn wide_arithmetic(&mut self, op: BinaryOperator, signed: bool, a: Wide, b: Wide) -> Result<Wide, Diagnostic> {
        Ok(match op {
            BinaryOperator::Add => self.wide_add(a, b),
            BinaryOperator::Subtract => self.wide_sub(a, b),
            BinaryOperator::Multiply => self.wide_mul(a, b),
            BinaryOperator::Divide => self.wide_div(signed, a, b),
            BinaryOperator::Modulo => {
                let zero = self.wide_equal(b, ZERO);
                let divisor = self.wide_select(zero, ONE, b);
                let quotient = self.wide_div(signed, a, divisor);
                let product = self.wide_mul(quotient, divisor);
                self.wide_sub(a, product)
            }
            BinaryOperator::And => self.by_word(Op::And, a, b),
            BinaryOperator::InclusiveOr => self.by_word(Op::Or, a, b),
            BinaryOperator::ExclusiveOr => self.by_word(Op::Xor, a, b),
            _ => return Err(self.defect("an operator that integers do not have")),
        })
    }

    fn by_word(&mut self, op: Op, a: Wide, b: Wide) -> Wide {
        Wide { low: self.b.op(op, &[a.low, b.low]), high: self.b.op(op, &[a.high, b.high]) }
    }

    fn wide_select(&mut self, condition: Operand, accept: Wide, reject: Wide) -> Wide {
        Wide {
            low: self.b.select(condition, accept.low, reject.low),
            high: self.b.select(condition, accept.high, reject.high),
        }
    }

    fn wide_equal(&mut self, a: Wide, b: Wide) -> Operand {
        let low = self.b.op(Op::Eq, &[a.low, b.low]);
        let high = self.b.op(Op::Eq, &[a.high, b.high]);
        self.b.op(Op::And, &[low, high])
    }

    fn wide_less(&mut self, signed: bool, a: Wide, b: Wide) -> Operand {
        let high = self.b.op(if signed { Op::LtS } else { Op::LtU }, &[a.high, b.high]);
        let same = self.b.op(Op::Eq, &[a.high, b.high]);
        let low = self.b.op(Op::LtU, &[a.low, b.low]);
        let low = self.b.op(Op::And, &[same, low]);
        self.b.op(Op::Or, &[high, low])
    }

    fn wide_add(&mut self, a: Wide, b: Wide) -> Wide {
        let low = self.b.op(Op::Add, &[a.low, b.low]);
        let over = self.b.op(Op::LtU, &[low, a.low]);
        let carry = self.b.op(Op::ToNumber, &[over]);
        let high = self.b.op(Op::Add, &[a.high, b.high]);
        Wide { low, high: self.b.op(Op::Add, &[high, carry]) }
    }

    fn wide_sub(&mut self, a: Wide, b: Wide) -> Wide {
        let low = self.b.op(Op::Sub, &[a.low, b.low]);
        let under = self.b.op(Op::LtU, &[a.low, b.low]);
        let borrow = self.b.op(Op::ToNumber, &[under]);
        let high = self.b.op(Op::Sub, &[a.high, b.high]);
        Wide { low, high: self.b.op(Op::Sub, &[high, borrow]) }
    }

    fn wide_mul(&mut self, a: Wide, b: Wide) -> Wide {
        let low = self.b.op(Op::Mul, &[a.low, b.low]);
        let high = self.b.op(Op::Helper(Helper::MulHigh), &[a.low, b.low]);
        let first = self.b.op(Op::Mul, &[a.low, b.high]);
        let second = self.b.op(Op::Mul, &[a.high, b.low]);
        let high = self.b.op(Op::Add, &[high, first]);
        Wide { low, high: self.b.op(Op::Add, &[high, second]) }
    }

    /// The helper answers what WGSL wants: `x / 0 = x`, `MIN / -1 = MIN`.
    fn wide_div(&mut self, signed: bool, a: Wide, b: Wide) -> Wide {
        let args = [a.low, a.high, b.low, b.high];
        let [low, high] = [false, true].map(|high| self.b.op(Op::Helper(Helper::Quotient { signed, high }), &args));
        Wide { low, high }
    }

    /// The count within a word, and whether it is more than a word.
    fn wide_count(&mut self, count: Operand) -> (Operand, Operand, Operand) {
        let beyond = self.b.op(Op::And, &[count, Operand::I32(32)]);
        let beyond = self.b.op(Op::Ne, &[beyond, Operand::I32(0)]);
        let count = self.b.op(Op::And, &[count, Operand::I32(31)]);
        // What is left of a word, less the one by which its bits are shifted first: a shift by 32 is none.
        let rest = self.b.op(Op::Sub, &[Operand::I32(31), count]);
        (count, rest, beyond)
    }

    fn wide_shl(&mut self, value: Wide, count: Operand) -> Wide {
        let (count, rest, beyond) = self.wide_count(count);
        let low = self.b.op(Op::Shl, &[value.low, count]);
        let half = self.b.op(Op::ShrU, &[value.low, Operand::I32(1)]);
        let over = self.b.op(Op::ShrU, &[half, rest]);
        let high = self.b.op(Op::Shl, &[value.high, count]);
        let high = self.b.op(Op::Or, &[high, over]);
        self.wide_select(beyond, Wide { low: Operand::I32(0), high: low }, Wide { low, high })
    }

    fn wide_shr(&mut self, signed: bool, value: Wide, count: Operand) -> Wide {
        let (count, rest, beyond) = self.wide_count(count);
        let shift = if signed { Op::ShrS } else { Op::ShrU };
        let high = self.b.op(shift, &[value.high, count]);
        let twice = self.b.op(Op::Shl, &[value.high, Operand::I32(1)]);
        let over = self.b.op(Op::Shl, &[twice, rest]);
        let low = self.b.op(Op::ShrU, &[value.low, count]);
        let low = self.b.op(Op::Or, &[low, over]);
        let fill = if signed { self.b.op(Op::ShrS, &[value.high, Operand::I32(31)]) } else { Operand::I32(0) };
        self.wide_select(beyond, Wide { low: high, high: fill }, Wide { low, high })
    }

    fn wide_pick(&mut self, signed: bool, greater: bool, a: Wide, b: Wide) -> Wide {
        let less = self.wide_less(signed, a, b);
        if greater { self.wide_select(less, b, a) } else { self.wide_select(less, a, b) }
    }

    /// A built-in function on numbers of 64 bits.
    pub(crate) fn wide_math(
        &mut self,
        fun: MathFunction,
        signed: bool,
        arguments: &[std::rc::Rc<[Operand]>],
    ) -> Result<Vec<Operand>, Diagnostic> {
        let argument = |at: usize| arguments.get(at).map_or(&[][..], |values| &values[..]);
        let (a, b, c) = (numbers(argument(0)), numbers(argument(1)), numbers(argument(2)));
        if fun == MathFunction::Dot {
            let mut sum = ZERO;
            for (&a, &b) in a.iter().zip(&b) {
                let product = self.wide_mul(a, b);
                sum = self.wide_add(sum, product);
            }
            return Ok(sum.words().to_vec());
        }
        let mut results = Vec::new();
        for (at, &a) in a.iter().enumerate() {
            let pick = |values: &[Wide]| component(values, at).unwrap_or(ZERO);
            let (b, c) = (pick(&b), pick(&c));
            let word = |values: &[Operand]| values.first().copied().unwrap_or(Operand::I32(0));
            let result = match fun {
                MathFunction::Min => self.wide_pick(signed, false, a, b),
                MathFunction::Max => self.wide_pick(signed, true, a, b),
                MathFunction::Clamp => {
                    let low = self.wide_pick(signed, true, a, b);
                    self.wide_pick(signed, false, low, c)
                }
                MathFunction::ExtractBits => self.wide_extract(signed, a, word(argument(1)), word(argument(2))),
                MathFunction::InsertBits => self.wide_insert(a, b, word(argument(2)), word(argument(3))),
                _ => self.wide_function(fun, signed, a)?,
            };
            results.extend(result.words());
        }
        Ok(results)
    }

    fn wide_function(&mut self, fun: MathFunction, signed: bool, a: Wide) -> Result<Wide, Diagnostic> {
        Ok(match fun {
            MathFunction::Abs if signed => {
                let negated = self.wide_sub(ZERO, a);
                let negative = self.wide_less(true, a, ZERO);
                self.wide_select(negative, negated, a)
            }
            MathFunction::Abs => a,
            MathFunction::Sign => {
                let positive = self.wide_less(true, ZERO, a);
                let negative = self.wide_less(true, a, ZERO);
                let below = self.wide_select(negative, MINUS_ONE, ZERO);
                self.wide_select(positive, ONE, below)
            }
            MathFunction::ReverseBits => {
                let [low, high] = a.words().map(|word| self.b.op(Op::Helper(Helper::ReverseBits), &[word]));
                Wide { low: high, high: low }
            }
            MathFunction::CountOneBits => {
                let [low, high] = a.words().map(|word| self.b.op(Op::Popcnt, &[word]));
                Wide { low: self.b.op(Op::Add, &[low, high]), high: Operand::I32(0) }
            }
            MathFunction::CountLeadingZeros => {
                Wide { low: self.wide_zeros(Op::Clz, a.high, a.low), high: Operand::I32(0) }
            }
            MathFunction::CountTrailingZeros => {
                Wide { low: self.wide_zeros(Op::Ctz, a.low, a.high), high: Operand::I32(0) }
            }
            MathFunction::FirstTrailingBit => {
                let at = self.wide_zeros(Op::Ctz, a.low, a.high);
                let none = self.wide_equal(a, ZERO);
                self.wide_select(none, MINUS_ONE, Wide { low: at, high: Operand::I32(0) })
            }
            MathFunction::FirstLeadingBit => {
                let sign = self.b.op(Op::ShrS, &[a.high, Operand::I32(31)]);
                let bits = if signed { self.by_word(Op::Xor, a, Wide { low: sign, high: sign }) } else { a };
                let zeros = self.wide_zeros(Op::Clz, bits.high, bits.low);
                let at = self.b.op(Op::Sub, &[Operand::I32(63), zeros]);
                // -1 if there is none.
                Wide { low: at, high: self.b.op(Op::ShrS, &[at, Operand::I32(31)]) }
            }
            _ => return self.unsupported(&format!("the function {fun:?} on integers of 64 bits")),
        })
    }

    /// The zeros of the first word, and of the other if it is zero.
    fn wide_zeros(&mut self, op: Op, first: Operand, other: Operand) -> Operand {
        let [here, there] = [first, other].map(|word| self.b.op(op, &[word]));
        let there = self.b.op(Op::Add, &[there, Operand::I32(32)]);
        let none = self.b.op(Op::Eq, &[first, Operand::I32(0)]);
        self.b.select(none, there, here)
    }

    /// `offset` and `count`, brought into the number.
    fn wide_field(&mut self, offset: Operand, count: Operand) -> (Operand, Operand) {
        let offset = self.b.op(Op::MinU, &[offset, Operand::I32(64)]);
        let left = self.b.op(Op::Sub, &[Operand::I32(64), offset]);
        let count = self.b.op(Op::MinU, &[count, left]);
        (offset, count)
    }

    fn wide_extract(&mut self, signed: bool, value: Wide, offset: Operand, count: Operand) -> Wide {
        let (offset, count) = self.wide_field(offset, count);
        let above = self.b.op(Op::Sub, &[Operand::I32(64), offset]);
        let above = self.b.op(Op::Sub, &[above, count]);
        let up = self.wide_shl(value, above);
        let down = self.b.op(Op::Sub, &[Operand::I32(64), count]);
        let field = self.wide_shr(signed, up, down);
        // A shift by 64 is none.
        let none = self.b.op(Op::Eq, &[count, Operand::I32(0)]);
        self.wide_select(none, ZERO, field)
    }

    fn wide_insert(&mut self, value: Wide, new: Wide, offset: Operand, count: Operand) -> Wide {
        let (offset, count) = self.wide_field(offset, count);
        let down = self.b.op(Op::Sub, &[Operand::I32(64), count]);
        let ones = self.wide_shr(false, MINUS_ONE, down);
        let none = self.b.op(Op::Eq, &[count, Operand::I32(0)]);
        let ones = self.wide_select(none, ZERO, ones);
        let mask = self.wide_shl(ones, offset);
        let field = self.wide_shl(new, offset);
        let field = self.by_word(Op::And, field, mask);
        let others = self.by_word(Op::Xor, mask, MINUS_ONE);
        let kept = self.by_word(Op::And, value, others);
        self.by_word(Op::Or, kept, field)
    }

    /// A conversion from or to 64 bits.
    pub(crate) fn wide_cast(
        &mut self,
        from: Scalar,
        to: Scalar,
        values: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostic> {
        if words(from) == 1 {
            let mut results = Vec::new();
            for &value in values {
                results.extend(self.widened(from.kind, to.kind, value)?.words());
            }
            return Ok(results);
        }
        let values = numbers(values);
        if words(to) == 2 {
            return Ok(values.into_iter().flat_map(Wide::words).collect());
        }
        let signed = from.kind == ScalarKind::Sint;
        let mut results = Vec::new();
        for value in values {
            results.push(match to.kind {
                ScalarKind::Sint | ScalarKind::Uint => value.low,
                ScalarKind::Bool => {
                    let any = self.b.op(Op::Or, &value.words());
                    self.b.op(Op::Ne, &[any, Operand::I32(0)])
                }
                ScalarKind::Float => self.b.op(Op::Helper(Helper::WideToFloat { signed }), &value.words()),
                _ => return self.unsupported("a conversion of abstract numbers"),
            });
        }
        Ok(results)
    }

    fn widened(&mut self, from: ScalarKind, to: ScalarKind, value: Operand) -> Result<Wide, Diagnostic> {
        let zero = Operand::I32(0);
        Ok(match from {
            ScalarKind::Sint => Wide { low: value, high: self.b.op(Op::ShrS, &[value, Operand::I32(31)]) },
            ScalarKind::Uint => Wide { low: value, high: zero },
            ScalarKind::Bool => Wide { low: self.b.op(Op::ToNumber, &[value]), high: zero },
            ScalarKind::Float => {
                let signed = to == ScalarKind::Sint;
                let [low, high] =
                    [false, true].map(|high| self.b.op(Op::Helper(Helper::FloatToWide { signed, high }), &[value]));
                Wide { low, high }
            }
            _ => return self.unsupported("a conversion of abstract numbers"),
        })
    }

    /// An index, as an unsigned word: what does not fit is beyond the end of everything.
    pub(crate) fn index(&mut self, handle: naga::Handle<naga::Expression>) -> Result<Operand, Diagnostic> {
        let shape = self.shape_of(handle)?;
        let values = self.scalars(handle)?;
        match (shape, &values[..]) {
            (Shape::Scalar(_), &[index]) => Ok(index),
            (Shape::Scalar(_), &[low, high]) => {
                let fits = self.b.op(Op::Eq, &[high, Operand::I32(0)]);
                Ok(self.b.select(fits, low, Operand::I32(u32::MAX)))
            }
            _ => Err(self.defect("an index that is no number")),
        }
    }
}
