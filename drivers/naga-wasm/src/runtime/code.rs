//! An assembler for functions whose every local is a vector: values are named, not stacked.

use wasm_encoder::{BlockType, Function, InstructionSink, ValType};

/// A vector, in a local.
#[derive(Clone, Copy, Debug)]
pub(super) struct V(u32);

/// The lanes of an operation that does not care what they hold.
pub(super) struct Bits;

/// What an operation on lanes of type `Lane` takes: a vector, or a number for all lanes.
pub(super) trait Operand<Lane> {
    fn push(self, sink: &mut InstructionSink<'_>);
}

impl<Lane> Operand<Lane> for V {
    fn push(self, sink: &mut InstructionSink<'_>) {
        sink.local_get(self.0);
    }
}

/// Numbers as operands of their own lanes, and of those of any type.
macro_rules! constants {
    ($($number:ty as $lane:ty: $bytes:expr;)*) => {$(
        impl Operand<$lane> for $number {
            fn push(self, sink: &mut InstructionSink<'_>) {
                let bytes: fn($number) -> [u8; 16] = $bytes;
                sink.v128_const(i128::from_le_bytes(bytes(self)));
            }
        }
    )*};
}

constants! {
    f32 as f32: |number| splat(number.to_le_bytes());
    f32 as Bits: |number| splat(number.to_le_bytes());
    f64 as f64: |number| splat(number.to_le_bytes());
    f64 as Bits: |number| splat(number.to_le_bytes());
    u32 as u32: |number| splat(number.to_le_bytes());
    u32 as Bits: |number| splat(number.to_le_bytes());
    u64 as u64: |number| splat(number.to_le_bytes());
    u64 as Bits: |number| splat(number.to_le_bytes());
    [u8; 16] as u8: |bytes| bytes;
}

/// A row of the same lane.
fn splat<const N: usize>(lane: [u8; N]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for chunk in bytes.chunks_exact_mut(N) {
        chunk.copy_from_slice(&lane);
    }
    bytes
}

/// Lanes of a shuffle that are the high halves of both operands, or the low ones.
pub(super) const HIGH_HALVES: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31];
pub(super) const LOW_HALVES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
/// Lanes of a shuffle that are the even words of both operands, or the odd ones.
pub(super) const EVEN_WORDS: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
pub(super) const ODD_WORDS: [u8; 16] = [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31];

/// The sign of an `f32`, and of an `f64`.
pub(super) const SIGN: u32 = 1 << 31;
pub(super) const WIDE_SIGN: u64 = 1 << 63;

/// Added to an `f32` below 2^22 in size, it leaves the nearest whole number in the low bits of the sum.
pub(super) const ROUND: f32 = 12_582_912.0;
/// The same for an `f64` below 2^51.
pub(super) const ROUND_WIDE: f64 = 6_755_399_441_055_744.0;

/// A function under construction. Values get a local each; the compiler below this one sees through them.
pub(super) struct Code {
    bytes: Vec<u8>,
    /// The local of the first parameter.
    first: u32,
    params: u32,
    locals: u32,
}

/// Methods named as the instructions are.
macro_rules! instructions {
    ($($lane:ty { unary: $($unary:ident)*; binary: $($binary:ident)*; shift: $($shift:ident)*; })*) => {
        impl Code {$(
            $(pub(super) fn $unary(&mut self, a: impl Operand<$lane>) -> V {
                a.push(&mut self.sink());
                self.sink().$unary();
                self.set()
            })*
            $(pub(super) fn $binary(&mut self, a: impl Operand<$lane>, b: impl Operand<$lane>) -> V {
                a.push(&mut self.sink());
                b.push(&mut self.sink());
                self.sink().$binary();
                self.set()
            })*
            $(pub(super) fn $shift(&mut self, a: impl Operand<$lane>, count: i32) -> V {
                a.push(&mut self.sink());
                self.sink().i32_const(count).$shift();
                self.set()
            })*
        )*}
    };
}

instructions! {
    f32 {
        unary: f32x4_abs f64x2_promote_low_f32x4;
        binary: f32x4_add f32x4_sub f32x4_mul f32x4_div f32x4_pmin f32x4_pmax f32x4_eq f32x4_lt;
        shift: ;
    }
    f64 {
        unary: f64x2_sqrt f64x2_trunc f32x4_demote_f64x2_zero i32x4_trunc_sat_f64x2_s_zero i32x4_trunc_sat_f64x2_u_zero;
        binary: f64x2_add f64x2_sub f64x2_mul f64x2_div f64x2_pmin f64x2_pmax f64x2_lt f64x2_gt;
        shift: ;
    }
    u32 {
        unary: f32x4_convert_i32x4_s f64x2_convert_low_i32x4_s f64x2_convert_low_i32x4_u
            i64x2_extend_low_i32x4_s i64x2_extend_high_i32x4_s;
        binary: i32x4_add i32x4_sub i32x4_mul i32x4_lt_s i32x4_gt_s i32x4_ge_u i32x4_min_s i32x4_max_s
            i64x2_extmul_low_i32x4_u i64x2_extmul_high_i32x4_u;
        shift: i32x4_shl i32x4_shr_s i32x4_shr_u;
    }
    u64 {
        unary: ;
        binary: i64x2_add;
        shift: i64x2_shl i64x2_shr_u;
    }
    u8 {
        unary: i8x16_popcnt i16x8_extadd_pairwise_i8x16_u i32x4_extadd_pairwise_i16x8_u;
        binary: i8x16_sub i8x16_swizzle i32x4_dot_i16x8_s;
        shift: i16x8_shl i16x8_shr_s i16x8_shr_u;
    }
    Bits {
        unary: ;
        binary: v128_and v128_or v128_xor v128_andnot;
        shift: ;
    }
}

impl Code {
    /// Code with that many vectors as parameters, whose locals begin at `first`.
    pub(super) fn new(params: u32, first: u32) -> Self {
        Self { bytes: Vec::new(), first, params, locals: 0 }
    }

    pub(super) fn param(&self, index: u32) -> V {
        V(self.first + index)
    }

    pub(super) fn sink(&mut self) -> InstructionSink<'_> {
        InstructionSink::new(&mut self.bytes)
    }

    /// Pushes a lane of two, for instructions that there are for scalars only.
    pub(super) fn push_i64(&mut self, pair: V, lane: u8) {
        self.sink().local_get(pair.0).i64x2_extract_lane(lane);
    }

    /// Pushes a lane of four.
    pub(super) fn push_f32(&mut self, x: V, lane: u8) {
        self.sink().local_get(x.0).f32x4_extract_lane(lane);
    }

    /// A vector of two numbers that are pushed one by one.
    pub(super) fn i64_lanes(&mut self, push: impl Fn(&mut Self, u8)) -> V {
        push(self, 0);
        self.sink().i64x2_splat();
        push(self, 1);
        self.sink().i64x2_replace_lane(1);
        self.set()
    }

    /// A vector of four.
    pub(super) fn f32_lanes(&mut self, push: impl Fn(&mut Self, u8)) -> V {
        push(self, 0);
        self.sink().f32x4_splat();
        for lane in 1..4 {
            push(self, lane);
            self.sink().f32x4_replace_lane(lane);
        }
        self.set()
    }

    /// Names what is on the stack.
    fn set(&mut self) -> V {
        let local = self.first + self.params + self.locals;
        self.locals += 1;
        self.sink().local_set(local);
        V(local)
    }

    /// The code as a piece of another function, and how many locals it has, its parameters among them.
    pub(super) fn into_piece(mut self, result: V) -> (Vec<u8>, u32) {
        self.sink().local_get(result.0);
        (self.bytes, self.params + self.locals)
    }

    /// The function that answers `result`.
    pub(super) fn finish(mut self, result: V) -> Function {
        self.sink().local_get(result.0).end();
        let mut function = Function::new([(self.locals, ValType::V128)]);
        function.raw(self.bytes);
        function
    }

    /// Bits of `yes` where `mask` has ones, of `no` elsewhere.
    pub(super) fn select(&mut self, mask: V, yes: impl Operand<Bits>, no: impl Operand<Bits>) -> V {
        yes.push(&mut self.sink());
        no.push(&mut self.sink());
        self.sink().local_get(mask.0).v128_bitselect();
        self.set()
    }

    pub(super) fn shuffle(&mut self, a: V, b: V, lanes: [u8; 16]) -> V {
        self.sink().local_get(a.0).local_get(b.0).i8x16_shuffle(lanes);
        self.set()
    }

    /// Where something rare needs other instructions: code that runs if `mask` is not all zero.
    pub(super) fn if_any(&mut self, mask: V, then: impl FnOnce(&mut Self)) {
        self.sink().local_get(mask.0).v128_any_true().if_(BlockType::Empty);
        then(self);
        self.sink().end();
    }

    /// Gives a value that exists another one; in an [`if_any`](Self::if_any) only.
    pub(super) fn assign(&mut self, variable: V, value: V) {
        self.sink().local_get(value.0).local_set(variable.0);
    }

    /// A polynomial; the coefficient of the lowest power comes first.
    ///
    /// From four on, by Horner's rule in the square of `x`, for lines: half as many steps wait for each other as in `x`, and how long they
    /// wait is mostly what a function takes.
    pub(super) fn polynomial(&mut self, x: V, coefficients: &[f32]) -> V {
        if coefficients.len() < 4 {
            return self.horner(x, coefficients);
        }
        let square = self.f32x4_mul(x, x);
        let mut sum = None;
        for line in coefficients.chunks(2).rev() {
            let line = self.horner(x, line);
            sum = Some(match sum {
                None => line,
                Some(sum) => {
                    let sum = self.f32x4_mul(sum, square);
                    self.f32x4_add(sum, line)
                }
            });
        }
        sum.unwrap_or(x)
    }

    fn horner(&mut self, x: V, coefficients: &[f32]) -> V {
        let Some((&highest, lower)) = coefficients.split_last() else { return x };
        let mut sum = self.constant(highest);
        for &coefficient in lower.iter().rev() {
            sum = self.f32x4_mul(sum, x);
            sum = self.f32x4_add(sum, coefficient);
        }
        sum
    }

    /// The same of `f64`, by Horner's rule.
    pub(super) fn polynomial_wide(&mut self, x: V, coefficients: &[f64]) -> V {
        let Some((&highest, lower)) = coefficients.split_last() else { return x };
        let mut sum = self.constant(highest);
        for &coefficient in lower.iter().rev() {
            sum = self.f64x2_mul(sum, x);
            sum = self.f64x2_add(sum, coefficient);
        }
        sum
    }

    pub(super) fn constant(&mut self, value: impl Operand<Bits>) -> V {
        value.push(&mut self.sink());
        self.set()
    }
}
