//! The wasm instruction of each operation. Two functions are long because the set of operations is.

use super::body::{Body, defect, memarg};
use super::module::Emitter;
use super::routine::Routine;
use crate::diagnostic::Diagnostic;
use crate::ir::{Address, AtomicOp, Cell, Op, Operand};

impl Body {
    pub(super) fn atomic(
        &mut self,
        emitter: &mut Emitter,
        op: AtomicOp,
        address: Address,
        value: Operand,
        compare: Operand,
    ) -> Result<(), Diagnostic> {
        let search = match op {
            AtomicOp::MinS => Some(Routine::AtomicMinS),
            AtomicOp::MinU => Some(Routine::AtomicMinU),
            AtomicOp::MaxS => Some(Routine::AtomicMaxS),
            AtomicOp::MaxU => Some(Routine::AtomicMaxU),
            _ => None,
        };
        if let Some(routine) = search {
            self.whole_address(emitter, address)?;
            self.operand(emitter, value)?;
            let index = emitter.routine(routine);
            self.code().call(index);
            return Ok(());
        }
        let offset = self.address(emitter, address)?;
        if op == AtomicOp::CompareExchange {
            self.operand(emitter, compare)?;
        }
        if op != AtomicOp::Load {
            self.operand(emitter, value)?;
        }
        let memarg = memarg(Cell::I32, offset);
        let mut code = self.code();
        match op {
            AtomicOp::Load => code.i32_atomic_load(memarg),
            AtomicOp::Store => code.i32_atomic_store(memarg),
            AtomicOp::Add => code.i32_atomic_rmw_add(memarg),
            AtomicOp::Sub => code.i32_atomic_rmw_sub(memarg),
            AtomicOp::And => code.i32_atomic_rmw_and(memarg),
            AtomicOp::Or => code.i32_atomic_rmw_or(memarg),
            AtomicOp::Xor => code.i32_atomic_rmw_xor(memarg),
            AtomicOp::Exchange => code.i32_atomic_rmw_xchg(memarg),
            AtomicOp::CompareExchange => code.i32_atomic_rmw_cmpxchg(memarg),
            AtomicOp::MinS | AtomicOp::MinU | AtomicOp::MaxS | AtomicOp::MaxU => &mut code,
        };
        Ok(())
    }

    /// The instruction of an operation whose arguments were pushed.
    pub(super) fn op(&mut self, emitter: &mut Emitter, op: Op, args: &[Operand]) -> Result<(), Diagnostic> {
        if let Op::Helper(helper) = op {
            let index = emitter.routine(Routine::Helper(helper));
            self.code().call(index);
            return Ok(());
        }
        if args.len() != arity(op) {
            return Err(defect("an operation with the wrong number of operands"));
        }
        let mut code = self.code();
        match op {
            Op::Copy | Op::Helper(_) => &mut code,
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
            Op::Eqz => code.i32_eqz(),
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
}

fn arity(op: Op) -> usize {
    match op {
        Op::Select => 3,
        Op::Copy
        | Op::Eqz
        | Op::Clz
        | Op::Ctz
        | Op::Popcnt
        | Op::FNeg
        | Op::FAbs
        | Op::FSqrt
        | Op::FCeil
        | Op::FFloor
        | Op::FTrunc
        | Op::FNearest
        | Op::TruncS
        | Op::TruncU
        | Op::ConvertS
        | Op::ConvertU
        | Op::ToFloat
        | Op::ToInt => 1,
        _ => 2,
    }
}
