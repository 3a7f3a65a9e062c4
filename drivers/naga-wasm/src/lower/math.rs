//! Built-in functions on numbers.

use naga::{MathFunction, ScalarKind};

use super::Lowerer;
use crate::diagnostic::Diagnostic;
use crate::ir::{Helper, Op, Operand, Ty};
use crate::layout::{Shape, words};

/// The arguments of one component.
#[derive(Clone, Copy)]
pub(crate) struct Args {
    pub(crate) a: Operand,
    pub(crate) b: Operand,
    pub(crate) c: Operand,
    pub(crate) d: Operand,
}

impl Lowerer<'_, '_> {
    /// A call of a built-in function. `shape` is that of the first argument.
    pub(crate) fn math(
        &mut self,
        fun: MathFunction,
        shape: Shape,
        result: Shape,
        arguments: &[std::rc::Rc<[Operand]>],
    ) -> Result<Vec<Operand>, Diagnostic> {
        let [first, ..] = arguments else { return Err(self.defect("a built-in function without arguments")) };
        if let Shape::Scalar(scalar) | Shape::Vector { scalar, .. } = shape
            && words(scalar) == 2
        {
            return self.wide_math(fun, scalar.kind == ScalarKind::Sint, arguments);
        }
        if let Some(values) = self.whole_value(fun, shape, arguments)? {
            return Ok(values);
        }
        if let Some(values) = self.packing(fun, first) {
            return Ok(values);
        }
        if matches!(result, Shape::Struct(_)) {
            return self.two_results(fun, first);
        }
        let kind = self.scalar_of(shape)?.kind;
        let count = arguments.iter().map(|argument| argument.len()).max().unwrap_or(0);
        let pick = |argument: usize, at: usize| {
            let values = arguments.get(argument);
            values.and_then(|values| values.get(at).or(values.first())).copied().unwrap_or(Operand::I32(0))
        };
        let mut values = Vec::with_capacity(count);
        for at in 0..count {
            let args = Args { a: pick(0, at), b: pick(1, at), c: pick(2, at), d: pick(3, at) };
            values.push(match kind {
                ScalarKind::Float => self.float_function(fun, args)?,
                _ => self.integer_function(fun, kind == ScalarKind::Sint, args)?,
            });
        }
        Ok(values)
    }

    /// Functions that do not work component by component.
    fn whole_value(
        &mut self,
        fun: MathFunction,
        shape: Shape,
        arguments: &[std::rc::Rc<[Operand]>],
    ) -> Result<Option<Vec<Operand>>, Diagnostic> {
        let argument = |at: usize| arguments.get(at).map_or(&[][..], |values| &values[..]);
        let (a, b, c) = (argument(0), argument(1), argument(2));
        Ok(Some(match (fun, shape) {
            (MathFunction::Dot, _) => vec![self.dot(a, b)],
            (MathFunction::Cross, _) => self.cross(a, b)?,
            (MathFunction::Length, _) => vec![self.length(a)],
            (MathFunction::Distance, _) => {
                let between = self.each(Op::FSub, a, b);
                vec![self.length(&between)]
            }
            (MathFunction::Normalize, _) => {
                let length = self.length(a);
                self.each(Op::FDiv, a, &[length])
            }
            (MathFunction::FaceForward, _) => {
                let dot = self.dot(b, c);
                let ahead = self.b.op(Op::FLt, &[dot, Operand::F32(0)]);
                a.iter()
                    .map(|&value| {
                        let back = self.b.op(Op::FNeg, &[value]);
                        self.b.select(ahead, value, back)
                    })
                    .collect()
            }
            (MathFunction::Reflect, _) => {
                let dot = self.dot(b, a);
                let twice = self.b.op(Op::FMul, &[dot, Operand::float(2.0)]);
                let along = self.each(Op::FMul, b, &[twice]);
                self.each(Op::FSub, a, &along)
            }
            (MathFunction::Refract, _) => self.refract(a, b, c)?,
            (MathFunction::Outer, _) => b.iter().flat_map(|&factor| self.each(Op::FMul, a, &[factor])).collect(),
            (MathFunction::Transpose, Shape::Matrix { columns, rows, .. }) => Self::transpose(columns, rows, a),
            (MathFunction::Determinant, Shape::Matrix { columns, .. }) => {
                vec![self.determinant(columns as usize, a)]
            }
            (MathFunction::Inverse, Shape::Matrix { columns, .. }) => self.inverse(columns as usize, a),
            _ => return Ok(None),
        }))
    }

    /// `op` on each component; a single right operand goes with every left one.
    fn each(&mut self, op: Op, left: &[Operand], right: &[Operand]) -> Vec<Operand> {
        let mut values = Vec::with_capacity(left.len());
        for (at, &a) in left.iter().enumerate() {
            if let Some(&b) = right.get(at).or(right.first()) {
                values.push(self.b.op(op, &[a, b]));
            }
        }
        values
    }

    fn length(&mut self, vector: &[Operand]) -> Operand {
        if let [only] = *vector {
            return self.b.op(Op::FAbs, &[only]);
        }
        let square = self.dot(vector, vector);
        self.b.op(Op::FSqrt, &[square])
    }

    fn cross(&mut self, a: &[Operand], b: &[Operand]) -> Result<Vec<Operand>, Diagnostic> {
        let (&[ax, ay, az], &[bx, by, bz]) = (a, b) else {
            return Err(self.defect("a cross product of something else than two vectors of three"));
        };
        let mut minor = |p: Operand, q: Operand, r: Operand, s: Operand| {
            let first = self.b.op(Op::FMul, &[p, q]);
            let second = self.b.op(Op::FMul, &[r, s]);
            self.b.op(Op::FSub, &[first, second])
        };
        Ok(vec![minor(ay, bz, az, by), minor(az, bx, ax, bz), minor(ax, by, ay, bx)])
    }

    fn refract(
        &mut self,
        incident: &[Operand],
        normal: &[Operand],
        ratio: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostic> {
        let &[eta] = ratio else { return Err(self.defect("a refraction without a ratio")) };
        let one = Operand::float(1.0);
        let dot = self.dot(normal, incident);
        let square = self.b.op(Op::FMul, &[dot, dot]);
        let rest = self.b.op(Op::FSub, &[one, square]);
        let eta_square = self.b.op(Op::FMul, &[eta, eta]);
        let scaled = self.b.op(Op::FMul, &[eta_square, rest]);
        let k = self.b.op(Op::FSub, &[one, scaled]);
        let total = self.b.op(Op::FLt, &[k, Operand::F32(0)]);
        let root = self.b.op(Op::FSqrt, &[k]);
        let along = self.b.op(Op::FMul, &[eta, dot]);
        let factor = self.b.op(Op::FAdd, &[along, root]);
        let bent = self.each(Op::FMul, incident, &[eta]);
        let pushed = self.each(Op::FMul, normal, &[factor]);
        let through = self.each(Op::FSub, &bent, &pushed);
        Ok(through.into_iter().map(|value| self.b.select(total, Operand::F32(0), value)).collect())
    }

    /// `modf` and `frexp`: the first member of all components, then the second.
    fn two_results(&mut self, fun: MathFunction, values: &[Operand]) -> Result<Vec<Operand>, Diagnostic> {
        let mut firsts = Vec::new();
        let mut seconds = Vec::new();
        for &value in values {
            match fun {
                MathFunction::Modf => {
                    let whole = self.b.op(Op::FTrunc, &[value]);
                    firsts.push(self.b.op(Op::FSub, &[value, whole]));
                    seconds.push(whole);
                }
                MathFunction::Frexp => {
                    firsts.push(self.b.op(Op::Helper(Helper::FrexpFraction), &[value]));
                    seconds.push(self.b.op(Op::Helper(Helper::FrexpExponent), &[value]));
                }
                _ => return self.unsupported("a built-in function with a structure as result"),
            }
        }
        firsts.append(&mut seconds);
        Ok(firsts)
    }

    fn float_function(&mut self, fun: MathFunction, args: Args) -> Result<Operand, Diagnostic> {
        let Args { a, b, c, .. } = args;
        let one = Operand::float(1.0);
        let zero = Operand::F32(0);
        if let Some(op) = float_op(fun) {
            let binary = matches!(op, Op::Helper(Helper::Pow | Helper::Atan2 | Helper::Ldexp));
            return Ok(if binary { self.b.op(op, &[a, b]) } else { self.b.op(op, &[a]) });
        }
        Ok(match fun {
            MathFunction::Min => self.float_min(a, b),
            MathFunction::Max => self.float_max(a, b),
            MathFunction::Clamp => {
                let low = self.float_max(a, b);
                self.float_min(low, c)
            }
            MathFunction::Saturate => {
                let low = self.float_max(a, zero);
                self.float_min(low, one)
            }
            MathFunction::Fract => {
                let floor = self.b.op(Op::FFloor, &[a]);
                self.b.op(Op::FSub, &[a, floor])
            }
            MathFunction::Radians => self.b.op(Op::FMul, &[a, Operand::float(std::f32::consts::PI / 180.0)]),
            MathFunction::Degrees => self.b.op(Op::FMul, &[a, Operand::float(180.0 / std::f32::consts::PI)]),
            MathFunction::Sign => {
                let positive = self.b.op(Op::FGt, &[a, zero]);
                let negative = self.b.op(Op::FLt, &[a, zero]);
                let below = self.b.select(negative, Operand::float(-1.0), zero);
                self.b.select(positive, one, below)
            }
            MathFunction::Fma => {
                let product = self.b.op(Op::FMul, &[a, b]);
                self.b.op(Op::FAdd, &[product, c])
            }
            MathFunction::Mix => {
                let rest = self.b.op(Op::FSub, &[one, c]);
                let first = self.b.op(Op::FMul, &[a, rest]);
                let second = self.b.op(Op::FMul, &[b, c]);
                self.b.op(Op::FAdd, &[first, second])
            }
            MathFunction::Step => {
                let reached = self.b.op(Op::FLe, &[a, b]);
                self.b.select(reached, one, zero)
            }
            MathFunction::SmoothStep => self.smooth_step(a, b, c),
            MathFunction::InverseSqrt => {
                let root = self.b.op(Op::FSqrt, &[a]);
                self.b.op(Op::FDiv, &[one, root])
            }
            MathFunction::QuantizeToF16 => self.b.op(Op::Helper(Helper::RoundHalf), &[a]),
            _ => return self.unsupported(&format!("the function {fun:?} on floats")),
        })
    }

    fn smooth_step(&mut self, low: Operand, high: Operand, x: Operand) -> Operand {
        let from = self.b.op(Op::FSub, &[x, low]);
        let range = self.b.op(Op::FSub, &[high, low]);
        let ratio = self.b.op(Op::FDiv, &[from, range]);
        let at_least = self.float_max(ratio, Operand::F32(0));
        let t = self.float_min(at_least, Operand::float(1.0));
        let twice = self.b.op(Op::FMul, &[t, Operand::float(2.0)]);
        let rest = self.b.op(Op::FSub, &[Operand::float(3.0), twice]);
        let square = self.b.op(Op::FMul, &[t, t]);
        self.b.op(Op::FMul, &[square, rest])
    }

    /// The lesser.
    pub(crate) fn float_min(&mut self, a: Operand, b: Operand) -> Operand {
        self.b.op(Op::FMin, &[a, b])
    }

    /// The greater.
    pub(crate) fn float_max(&mut self, a: Operand, b: Operand) -> Operand {
        self.b.op(Op::FMax, &[a, b])
    }

    fn integer_function(&mut self, fun: MathFunction, signed: bool, args: Args) -> Result<Operand, Diagnostic> {
        let Args { a, b, c, .. } = args;
        let zero = Operand::I32(0);
        if self.b.ty(a) == Ty::F32 {
            return Err(self.defect("an integer function on floats"));
        }
        Ok(match fun {
            MathFunction::Abs if signed => {
                let negative = self.b.op(Op::LtS, &[a, zero]);
                let negated = self.b.op(Op::Sub, &[zero, a]);
                self.b.select(negative, negated, a)
            }
            MathFunction::Abs => a,
            MathFunction::Min => self.integer_pick(signed, a, b),
            MathFunction::Max => self.integer_pick_greater(signed, a, b),
            MathFunction::Clamp => {
                let low = self.integer_pick_greater(signed, a, b);
                self.integer_pick(signed, low, c)
            }
            MathFunction::Sign => {
                let positive = self.b.op(Op::GtS, &[a, zero]);
                let positive = self.b.op(Op::ToNumber, &[positive]);
                let negative = self.b.op(Op::ShrS, &[a, Operand::I32(31)]);
                self.b.op(Op::Or, &[positive, negative])
            }
            MathFunction::CountTrailingZeros => self.b.op(Op::Ctz, &[a]),
            MathFunction::CountLeadingZeros => self.b.op(Op::Clz, &[a]),
            MathFunction::CountOneBits => self.b.op(Op::Popcnt, &[a]),
            MathFunction::ReverseBits => self.b.op(Op::Helper(Helper::ReverseBits), &[a]),
            MathFunction::FirstTrailingBit => {
                let at = self.b.op(Op::Ctz, &[a]);
                let some = self.b.op(Op::Ne, &[a, zero]);
                self.b.select(some, at, Operand::I32(u32::MAX))
            }
            MathFunction::FirstLeadingBit => {
                let bits = if signed {
                    let sign = self.b.op(Op::ShrS, &[a, Operand::I32(31)]);
                    self.b.op(Op::Xor, &[a, sign])
                } else {
                    a
                };
                let zeros = self.b.op(Op::Clz, &[bits]);
                self.b.op(Op::Sub, &[Operand::I32(31), zeros])
            }
            MathFunction::ExtractBits => self.extract_bits(signed, a, b, c),
            MathFunction::InsertBits => self.insert_bits(args),
            MathFunction::Dot4I8Packed => self.packed_dot(true, a, b),
            MathFunction::Dot4U8Packed => self.packed_dot(false, a, b),
            _ => return self.unsupported(&format!("the function {fun:?} on integers")),
        })
    }

    pub(crate) fn integer_pick(&mut self, signed: bool, a: Operand, b: Operand) -> Operand {
        let less = self.b.op(if signed { Op::LtS } else { Op::LtU }, &[a, b]);
        self.b.select(less, a, b)
    }

    pub(crate) fn integer_pick_greater(&mut self, signed: bool, a: Operand, b: Operand) -> Operand {
        let less = self.b.op(if signed { Op::LtS } else { Op::LtU }, &[a, b]);
        self.b.select(less, b, a)
    }
}

/// Functions on floats that are one operation.
fn float_op(fun: MathFunction) -> Option<Op> {
    Some(match fun {
        MathFunction::Abs => Op::FAbs,
        MathFunction::Ceil => Op::FCeil,
        MathFunction::Floor => Op::FFloor,
        MathFunction::Round => Op::FNearest,
        MathFunction::Trunc => Op::FTrunc,
        MathFunction::Sqrt => Op::FSqrt,
        MathFunction::Cos => Op::Helper(Helper::Cos),
        MathFunction::Cosh => Op::Helper(Helper::Cosh),
        MathFunction::Sin => Op::Helper(Helper::Sin),
        MathFunction::Sinh => Op::Helper(Helper::Sinh),
        MathFunction::Tan => Op::Helper(Helper::Tan),
        MathFunction::Tanh => Op::Helper(Helper::Tanh),
        MathFunction::Acos => Op::Helper(Helper::Acos),
        MathFunction::Asin => Op::Helper(Helper::Asin),
        MathFunction::Atan => Op::Helper(Helper::Atan),
        MathFunction::Atan2 => Op::Helper(Helper::Atan2),
        MathFunction::Asinh => Op::Helper(Helper::Asinh),
        MathFunction::Acosh => Op::Helper(Helper::Acosh),
        MathFunction::Atanh => Op::Helper(Helper::Atanh),
        MathFunction::Exp => Op::Helper(Helper::Exp),
        MathFunction::Exp2 => Op::Helper(Helper::Exp2),
        MathFunction::Log => Op::Helper(Helper::Log),
        MathFunction::Log2 => Op::Helper(Helper::Log2),
        MathFunction::Pow => Op::Helper(Helper::Pow),
        MathFunction::Ldexp => Op::Helper(Helper::Ldexp),
        _ => return None,
    })
}
