//! The wasm instructions of each operation, on scalars and on vectors. Two functions are long because the set of
//! operations is.

use wasm_encoder::ValType;

use super::body::{Body, defect};
use super::module::{Emitter, MAX_COPIED};
use super::routine::Routine;
use crate::diagnostic::Diagnostic;
use crate::ir::{Helper, LANES, Op, Operand, Reg, Ty};
use crate::passes::variance;
use crate::runtime;

/// Bytes of a routine that is copied to where it is used.
const MAX_PIECE: usize = 700;

impl Body {
    /// An operation, in the cheapest form that its operands and its result allow.
    pub(super) fn operation(
        &mut self,
        emitter: &mut Emitter,
        dst: Reg,
        op: Op,
        args: &[Operand],
    ) -> Result<(), Diagnostic> {
        if args.len() != op.arity() {
            return Err(defect("an operation with the wrong number of operands"));
        }
        if matches!(op, Op::Any | Op::All) {
            for &arg in args {
                if self.is_vector(arg) {
                    self.vector(emitter, arg)?;
                    match op {
                        Op::Any => self.code().v128_any_true(),
                        _ => self.code().i32x4_all_true(),
                    };
                } else {
                    self.scalar(emitter, arg)?;
                }
            }
            self.set_scalar(emitter, dst, 0);
            return Ok(());
        }
        if let (Op::AllLtU | Op::AllLtS, &[number, limit]) = (op, args) {
            let stride =
                self.variance(number).stride.ok_or_else(|| defect("a comparison of lanes without a stride"))?;
            self.below(emitter, number, limit, stride * (LANES - 1), op == Op::AllLtS)?;
            self.set_scalar(emitter, dst, 0);
            return Ok(());
        }
        let known: Vec<_> = args.iter().map(|&arg| self.variance(arg)).collect();
        match variance::result(op, args, &known).stride {
            Some(stride) => {
                self.scalar_operation(emitter, op, args)?;
                self.set_scalar(emitter, dst, stride);
                Ok(())
            }
            None => {
                self.vector_operation(emitter, op, args)?;
                self.set_vector(emitter, dst)
            }
        }
    }

    /// Pushes the result for the first lane.
    fn scalar_operation(&mut self, emitter: &mut Emitter, op: Op, args: &[Operand]) -> Result<(), Diagnostic> {
        match (op, args) {
            (Op::ConstantWord, &[index]) => {
                self.scalar(emitter, index)?;
                let function = emitter.routine(Routine::ConstantWord);
                self.code().call(function);
                return Ok(());
            }
            (Op::Helper(helper), _) => return self.helper_of_one(emitter, helper, args),
            // Twice on the stack, for a choice.
            (Op::MinU | Op::FMin | Op::FMax, &[a, b]) => {
                let (first, second) = if op == Op::MinU { (a, b) } else { (b, a) };
                self.scalar(emitter, first)?;
                self.scalar(emitter, second)?;
                self.scalar(emitter, first)?;
                self.scalar(emitter, second)?;
                match op {
                    Op::MinU => self.code().i32_lt_u(),
                    Op::FMin => self.code().f32_lt(),
                    _ => self.code().f32_gt(),
                };
                self.code().select();
                return Ok(());
            }
            _ => {}
        }
        for &arg in args {
            self.scalar(emitter, arg)?;
        }
        let mut code = self.code();
        match op {
            Op::ConstantWord => return Err(defect("a word of the constants by way of an instruction")),
            Op::Copy | Op::ToNumber | Op::Any | Op::All | Op::AllLtU | Op::AllLtS => &mut code,
            Op::Helper(_) | Op::MinU | Op::FMin | Op::FMax => &mut code,
            Op::FMulAdd | Op::FMulSubFrom => return Err(defect("a fused operation on scalars")),
            Op::Select => code.select(),
            Op::Add => code.i32_add(),
            Op::Sub => code.i32_sub(),
            Op::Mul => code.i32_mul(),
            Op::DivS => code.i32_div_s(),
            Op::DivU => code.i32_div_u(),
            Op::RemS => code.i32_rem_s(),
            Op::RemU => code.i32_rem_u(),
            Op::And => code.i32_and(),
            Op::Or => code.i32_or(),
            Op::Xor => code.i32_xor(),
            Op::Shl => code.i32_shl(),
            Op::ShrS => code.i32_shr_s(),
            Op::ShrU => code.i32_shr_u(),
            Op::Eq => code.i32_eq(),
            Op::Ne => code.i32_ne(),
            Op::LtS => code.i32_lt_s(),
            Op::LtU => code.i32_lt_u(),
            Op::LeS => code.i32_le_s(),
            Op::LeU => code.i32_le_u(),
            Op::GtS => code.i32_gt_s(),
            Op::GtU => code.i32_gt_u(),
            Op::GeS => code.i32_ge_s(),
            Op::GeU => code.i32_ge_u(),
            Op::Not => code.i32_eqz(),
            Op::Clz => code.i32_clz(),
            Op::Ctz => code.i32_ctz(),
            Op::Popcnt => code.i32_popcnt(),
            Op::FAdd => code.f32_add(),
            Op::FSub => code.f32_sub(),
            Op::FMul => code.f32_mul(),
            Op::FDiv => code.f32_div(),
            Op::FNeg => code.f32_neg(),
            Op::FAbs => code.f32_abs(),
            Op::FSqrt => code.f32_sqrt(),
            Op::FCeil => code.f32_ceil(),
            Op::FFloor => code.f32_floor(),
            Op::FTrunc => code.f32_trunc(),
            Op::FNearest => code.f32_nearest(),
            Op::FEq => code.f32_eq(),
            Op::FNe => code.f32_ne(),
            Op::FLt => code.f32_lt(),
            Op::FLe => code.f32_le(),
            Op::FGt => code.f32_gt(),
            Op::FGe => code.f32_ge(),
            Op::TruncS => code.i32_trunc_sat_f32_s(),
            Op::TruncU => code.i32_trunc_sat_f32_u(),
            Op::ConvertS => code.f32_convert_i32_s(),
            Op::ConvertU => code.f32_convert_i32_u(),
            Op::ToFloat => code.f32_reinterpret_i32(),
            Op::ToInt => code.i32_reinterpret_f32(),
        };
        Ok(())
    }

    /// A function of the runtime, for one lane: they are all of four.
    fn helper_of_one(&mut self, emitter: &mut Emitter, helper: Helper, args: &[Operand]) -> Result<(), Diagnostic> {
        for &arg in args {
            self.vector(emitter, arg)?;
        }
        let function = emitter.routine(Routine::Runtime(Op::Helper(helper)));
        self.code().call(function);
        match helper.result() {
            Ty::F32 => self.code().f32x4_extract_lane(0),
            Ty::I32 | Ty::Bool => self.code().i32x4_extract_lane(0),
        };
        Ok(())
    }

    /// Pushes the results for all lanes.
    fn vector_operation(&mut self, emitter: &mut Emitter, op: Op, args: &[Operand]) -> Result<(), Diagnostic> {
        match (op, args) {
            (Op::ConstantWord, &[index]) => return self.constant_words(emitter, index),
            (Op::Select, &[accept, reject, condition]) => return self.choice(emitter, accept, reject, condition),
            (Op::Shl | Op::ShrS | Op::ShrU, &[value, count]) if self.variance(count).is_gang() => {
                self.vector(emitter, value)?;
                self.scalar(emitter, count)?;
                match op {
                    Op::Shl => self.code().i32x4_shl(),
                    Op::ShrS => self.code().i32x4_shr_s(),
                    _ => self.code().i32x4_shr_u(),
                };
                return Ok(());
            }
            (Op::DivS | Op::DivU | Op::RemS | Op::RemU, &[value, by @ Operand::I32(divisor)]) => {
                self.vector(emitter, value)?;
                if self.copy_in(emitter, 1, &|first| runtime::division(op, divisor, first)) != Some(true) {
                    self.vector(emitter, by)?;
                    self.call_or_copy(emitter, op);
                }
                return Ok(());
            }
            (Op::ToNumber, &[truth]) => {
                self.vector(emitter, truth)?;
                self.code().i32x4_neg();
                return Ok(());
            }
            _ => {}
        }
        for &arg in args {
            self.vector(emitter, arg)?;
        }
        if self.call_or_copy(emitter, op) {
            return Ok(());
        }
        let mut code = self.code();
        match op {
            Op::Copy | Op::ToFloat | Op::ToInt => &mut code,
            Op::Add => code.i32x4_add(),
            Op::Sub => code.i32x4_sub(),
            Op::Mul => code.i32x4_mul(),
            Op::And => code.v128_and(),
            Op::Or => code.v128_or(),
            Op::Xor => code.v128_xor(),
            Op::MinU => code.i32x4_min_u(),
            Op::Eq => code.i32x4_eq(),
            Op::Ne => code.i32x4_ne(),
            Op::LtS => code.i32x4_lt_s(),
            Op::LtU => code.i32x4_lt_u(),
            Op::LeS => code.i32x4_le_s(),
            Op::LeU => code.i32x4_le_u(),
            Op::GtS => code.i32x4_gt_s(),
            Op::GtU => code.i32x4_gt_u(),
            Op::GeS => code.i32x4_ge_s(),
            Op::GeU => code.i32x4_ge_u(),
            Op::Not => code.v128_not(),
            Op::FAdd => code.f32x4_add(),
            Op::FSub => code.f32x4_sub(),
            Op::FMul => code.f32x4_mul(),
            Op::FDiv => code.f32x4_div(),
            Op::FMulAdd => code.f32x4_relaxed_madd(),
            Op::FMulSubFrom => code.f32x4_relaxed_nmadd(),
            Op::FNeg => code.f32x4_neg(),
            Op::FAbs => code.f32x4_abs(),
            Op::FSqrt => code.f32x4_sqrt(),
            Op::FCeil => code.f32x4_ceil(),
            Op::FFloor => code.f32x4_floor(),
            Op::FTrunc => code.f32x4_trunc(),
            Op::FNearest => code.f32x4_nearest(),
            Op::FMin => code.f32x4_pmin(),
            Op::FMax => code.f32x4_pmax(),
            Op::FEq => code.f32x4_eq(),
            Op::FNe => code.f32x4_ne(),
            Op::FLt => code.f32x4_lt(),
            Op::FLe => code.f32x4_le(),
            Op::FGt => code.f32x4_gt(),
            Op::FGe => code.f32x4_ge(),
            Op::TruncS => code.i32x4_trunc_sat_f32x4_s(),
            Op::TruncU => code.i32x4_trunc_sat_f32x4_u(),
            Op::ConvertS => code.f32x4_convert_i32x4_s(),
            Op::ConvertU => code.f32x4_convert_i32x4_u(),
            _ => return Err(defect("an operation without an instruction")),
        };
        Ok(())
    }

    /// Applies an operation's function of the runtime to what is on the stack; false if it has none. A call costs as much as
    /// ten instructions or more, as all vectors that are alive have to be kept in memory; so short functions are copied in,
    /// as long as there is room.
    fn call_or_copy(&mut self, emitter: &mut Emitter, op: Op) -> bool {
        match self.copy_in(emitter, op.arity(), &|first| runtime::piece(op, first)) {
            Some(true) => true,
            Some(false) => {
                let function = emitter.routine(Routine::Runtime(op));
                self.code().call(function);
                true
            }
            None => false,
        }
    }

    /// Copies a piece of the runtime in, which takes what is on the stack, if there is one: unless it is too long, or there is no room.
    fn copy_in(
        &mut self,
        emitter: &mut Emitter,
        params: usize,
        piece: &dyn Fn(u32) -> Option<(Vec<u8>, u32)>,
    ) -> Option<bool> {
        let mut first = self.piece_locals(0);
        let (mut bytes, locals) = piece(first)?;
        if bytes.len() > MAX_PIECE || emitter.copied + bytes.len() > MAX_COPIED {
            return Some(false);
        }
        emitter.copied += bytes.len();
        let enough = self.piece_locals(locals);
        if enough != first {
            first = enough;
            bytes = piece(first).map_or(bytes, |(bytes, _)| bytes);
        }
        for param in (0..u32::try_from(params).unwrap_or(u32::MAX)).rev() {
            self.code().local_set(first + param);
        }
        self.raw(&bytes);
        Some(true)
    }

    fn choice(
        &mut self,
        emitter: &Emitter,
        accept: Operand,
        reject: Operand,
        condition: Operand,
    ) -> Result<(), Diagnostic> {
        self.vector(emitter, accept)?;
        self.vector(emitter, reject)?;
        if self.is_vector(condition) {
            self.vector(emitter, condition)?;
            self.code().v128_bitselect();
        } else {
            self.scalar(emitter, condition)?;
            self.code().typed_select(ValType::V128);
        }
        Ok(())
    }

    fn constant_words(&mut self, emitter: &mut Emitter, index: Operand) -> Result<(), Diagnostic> {
        let function = emitter.routine(Routine::ConstantWord);
        self.code().v128_const(0);
        for lane in super::value::ALL_LANES {
            self.lane(emitter, index, lane)?;
            self.code().call(function).i32x4_replace_lane(lane);
        }
        Ok(())
    }
}
