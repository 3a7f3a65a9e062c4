//! Built-in functions on packed words and on bits.

use naga::MathFunction;

use super::Lowerer;
use super::math::Args;
use crate::ir::{Helper, Op, Operand};

impl Lowerer<'_, '_> {
    /// Packing and unpacking; `None` for other functions.
    pub(crate) fn packing(&mut self, fun: MathFunction, values: &[Operand]) -> Option<Vec<Operand>> {
        let word = values.first().copied().unwrap_or(Operand::I32(0));
        Some(match fun {
            MathFunction::Pack4x8snorm => vec![self.pack_normalised(values, 8, -1.0, 127.0)],
            MathFunction::Pack4x8unorm => vec![self.pack_normalised(values, 8, 0.0, 255.0)],
            MathFunction::Pack2x16snorm => vec![self.pack_normalised(values, 16, -1.0, 32767.0)],
            MathFunction::Pack2x16unorm => vec![self.pack_normalised(values, 16, 0.0, 65535.0)],
            MathFunction::Pack2x16float => {
                let halves: Vec<_> =
                    values.iter().map(|&value| self.b.op(Op::Helper(Helper::ToHalf), &[value])).collect();
                vec![self.join(&halves, 16)]
            }
            MathFunction::Pack4xI8 | MathFunction::Pack4xU8 => vec![self.join(values, 8)],
            MathFunction::Pack4xI8Clamp => vec![self.pack_clamped(values, true, (-128i32).cast_unsigned(), 127)],
            MathFunction::Pack4xU8Clamp => vec![self.pack_clamped(values, false, 0, 255)],
            MathFunction::Unpack4x8snorm => self.unpack_normalised(word, 8, true, 127.0),
            MathFunction::Unpack4x8unorm => self.unpack_normalised(word, 8, false, 255.0),
            MathFunction::Unpack2x16snorm => self.unpack_normalised(word, 16, true, 32767.0),
            MathFunction::Unpack2x16unorm => self.unpack_normalised(word, 16, false, 65535.0),
            MathFunction::Unpack2x16float => {
                let fields = self.fields(word, 16, false);
                fields.into_iter().map(|half| self.b.op(Op::Helper(Helper::FromHalf), &[half])).collect()
            }
            MathFunction::Unpack4xI8 => self.fields(word, 8, true),
            MathFunction::Unpack4xU8 => self.fields(word, 8, false),
            _ => return None,
        })
    }

    /// The low `bits` of each value, the first lowest.
    fn join(&mut self, values: &[Operand], bits: u32) -> Operand {
        let mut word = Operand::I32(0);
        for (at, &value) in (0u32..).zip(values) {
            let field = self.b.op(Op::And, &[value, Operand::I32((1 << bits) - 1)]);
            let field = self.b.op(Op::Shl, &[field, Operand::I32(at * bits)]);
            word = self.b.op(Op::Or, &[word, field]);
        }
        word
    }

    /// The fields of a word, the lowest first.
    fn fields(&mut self, word: Operand, bits: u32, signed: bool) -> Vec<Operand> {
        (0..32 / bits)
            .map(|at| {
                let up = self.b.op(Op::Shl, &[word, Operand::I32(32 - bits - at * bits)]);
                self.b.op(if signed { Op::ShrS } else { Op::ShrU }, &[up, Operand::I32(32 - bits)])
            })
            .collect()
    }

    /// `floor(0.5 + scale * clamp(value, low, 1))`, as WGSL defines it.
    fn pack_normalised(&mut self, values: &[Operand], bits: u32, low: f32, scale: f32) -> Operand {
        let fields: Vec<_> = values
            .iter()
            .map(|&value| {
                let value = self.float_max(value, Operand::float(low));
                let value = self.float_min(value, Operand::float(1.0));
                let value = self.b.op(Op::FMul, &[value, Operand::float(scale)]);
                let value = self.b.op(Op::FAdd, &[value, Operand::float(0.5)]);
                let value = self.b.op(Op::FFloor, &[value]);
                self.b.op(Op::TruncS, &[value])
            })
            .collect();
        self.join(&fields, bits)
    }

    fn pack_clamped(&mut self, values: &[Operand], signed: bool, low: u32, high: u32) -> Operand {
        let fields: Vec<_> = values
            .iter()
            .map(|&value| {
                let value = self.integer_pick_greater(signed, value, Operand::I32(low));
                self.integer_pick(signed, value, Operand::I32(high))
            })
            .collect();
        self.join(&fields, 8)
    }

    fn unpack_normalised(&mut self, word: Operand, bits: u32, signed: bool, scale: f32) -> Vec<Operand> {
        let fields = self.fields(word, bits, signed);
        fields
            .into_iter()
            .map(|field| {
                let value = self.b.op(if signed { Op::ConvertS } else { Op::ConvertU }, &[field]);
                let value = self.b.op(Op::FDiv, &[value, Operand::float(scale)]);
                // The lowest signed field is a little below -1.
                if signed { self.float_max(value, Operand::float(-1.0)) } else { value }
            })
            .collect()
    }

    pub(crate) fn packed_dot(&mut self, signed: bool, a: Operand, b: Operand) -> Operand {
        let helper = if signed { Helper::DotS } else { Helper::DotU };
        self.b.op(Op::Helper(helper), &[a, b])
    }

    /// `offset` and `count`, brought into the word.
    fn field_of(&mut self, offset: Operand, count: Operand) -> (Operand, Operand) {
        let offset = self.b.op(Op::MinU, &[offset, Operand::I32(32)]);
        let left = self.b.op(Op::Sub, &[Operand::I32(32), offset]);
        let count = self.b.op(Op::MinU, &[count, left]);
        (offset, count)
    }

    pub(crate) fn extract_bits(&mut self, signed: bool, value: Operand, offset: Operand, count: Operand) -> Operand {
        let (offset, count) = self.field_of(offset, count);
        let left = self.b.op(Op::Sub, &[Operand::I32(32), offset]);
        let left = self.b.op(Op::Sub, &[left, count]);
        let up = self.b.op(Op::Shl, &[value, left]);
        let down = self.b.op(Op::Sub, &[Operand::I32(32), count]);
        let field = self.b.op(if signed { Op::ShrS } else { Op::ShrU }, &[up, down]);
        // A shift by 32 is a shift by 0.
        let some = self.b.op(Op::Ne, &[count, Operand::I32(0)]);
        self.b.select(some, field, Operand::I32(0))
    }

    pub(crate) fn insert_bits(&mut self, args: Args) -> Operand {
        let (offset, count) = self.field_of(args.c, args.d);
        let down = self.b.op(Op::Sub, &[Operand::I32(32), count]);
        let ones = self.b.op(Op::ShrU, &[Operand::I32(u32::MAX), down]);
        let mask = self.b.op(Op::Shl, &[ones, offset]);
        let some = self.b.op(Op::Ne, &[count, Operand::I32(0)]);
        let mask = self.b.select(some, mask, Operand::I32(0));
        let field = self.b.op(Op::Shl, &[args.b, offset]);
        let field = self.b.op(Op::And, &[field, mask]);
        let others = self.b.op(Op::Xor, &[mask, Operand::I32(u32::MAX)]);
        let kept = self.b.op(Op::And, &[args.a, others]);
        self.b.op(Op::Or, &[kept, field])
    }
}
