//! Atomic operations, which each lane does for itself.
//!
//! All invocations of a workgroup run on one thread, so that those on workgroup memory are ordinary loads and stores.

use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, MemArgTarget, ValType};

use super::address::Reach;
use super::body::{Body, Target, memarg};
use super::memory::Lanes;
use super::module::Emitter;
use super::routine::Routine;
use super::value::ALL_LANES;
use crate::diagnostic::Diagnostic;
use crate::ir::{Address, AtomicOp, Base, Cell, Operand, Reg};

impl Body {
    #[allow(clippy::too_many_arguments, reason = "an atomic operation, and who does it")]
    pub(super) fn atomic(
        &mut self,
        emitter: &mut Emitter,
        dst: Option<Reg>,
        op: AtomicOp,
        address: &Address,
        value: Operand,
        compare: Operand,
        lanes: Lanes,
    ) -> Result<(), Diagnostic> {
        let plain = address.base == Base::Workgroup;
        let alone = self.target == Target::Other || emitter.unit.is_single();
        let same = op == AtomicOp::Load && matches!(self.reach(emitter, address, Cell::I32), Reach::One);
        if alone || same {
            let offset = self.place(emitter, address, Cell::I32)?;
            self.code().i32_const(offset.cast_signed()).i32_add();
            self.scalar(emitter, value)?;
            self.scalar(emitter, compare)?;
            let function = emitter.routine(Routine::AtomicOne { op, plain });
            self.code().call(function);
            match dst {
                Some(dst) => self.set_scalar(emitter, dst, 0),
                None => {
                    self.code().drop();
                }
            }
            return Ok(());
        }
        self.places(emitter, address, Cell::I32, 0)?;
        self.vector(emitter, value)?;
        self.vector(emitter, compare)?;
        self.mask(emitter, lanes)?;
        let function = emitter.routine(Routine::Atomic { op, plain });
        self.code().call(function);
        match dst {
            Some(dst) => self.set_vector(emitter, dst),
            None => {
                self.code().drop();
                Ok(())
            }
        }
    }
}

/// The locals of one operation.
#[derive(Clone, Copy)]
struct One {
    address: u32,
    value: u32,
    compare: u32,
    old: u32,
}

/// `(address, value, compare) -> old`
pub(super) fn one(op: AtomicOp, plain: bool) -> Function {
    let mut body = Body::new(&[ValType::I32; 3], &[ValType::I32], Target::Other);
    let locals = One { address: 0, value: 1, compare: 2, old: 3 };
    operate(&mut body.code(), op, plain, locals);
    body.code().local_get(locals.old).end();
    body.into_function()
}

/// `(addresses, values, compares, mask) -> olds`
pub(super) fn all(op: AtomicOp, plain: bool) -> Function {
    let mut body = Body::new(&[ValType::V128; 4], &[ValType::I32; 4], Target::Other);
    let locals = One { address: 4, value: 5, compare: 6, old: 7 };
    for lane in ALL_LANES {
        let mut code = body.code();
        code.local_get(3).i32x4_extract_lane(lane).if_(BlockType::Empty);
        for (vector, scalar) in (0u32..).zip([locals.address, locals.value, locals.compare]) {
            code.local_get(vector).i32x4_extract_lane(lane).local_set(scalar);
        }
        operate(&mut code, op, plain, locals);
        // The addresses are no longer needed: their lanes take the results.
        code.local_get(0).local_get(locals.old).i32x4_replace_lane(lane).local_set(0).end();
    }
    body.code().local_get(0).end();
    body.into_function()
}

/// One operation on what is in locals; it sets `old`.
fn operate(code: &mut InstructionSink<'_>, op: AtomicOp, plain: bool, locals: One) {
    if plain {
        code.local_get(locals.address).i32_load(memarg(Cell::I32, 0)).local_set(locals.old);
        if op != AtomicOp::Load {
            code.local_get(locals.address);
            replacement(code, op, locals);
            code.i32_store(memarg(Cell::I32, 0));
        }
        return;
    }
    let memarg = MemArg { offset: 0, align: 2, target: MemArgTarget::Memory(0), ordering: None };
    if is_repeated(op) {
        // Exchanged until nobody came in between.
        code.loop_(BlockType::Empty);
        code.local_get(locals.address).i32_atomic_load(memarg).local_set(locals.old);
        code.local_get(locals.address).local_get(locals.old);
        replacement(code, op, locals);
        code.i32_atomic_rmw_cmpxchg(memarg).local_get(locals.old).i32_ne().br_if(0).end();
        return;
    }
    code.local_get(locals.address);
    match op {
        AtomicOp::Load => {}
        AtomicOp::CompareExchange => {
            code.local_get(locals.compare).local_get(locals.value);
        }
        _ => {
            code.local_get(locals.value);
        }
    }
    match op {
        AtomicOp::Load => code.i32_atomic_load(memarg),
        AtomicOp::Store => code.i32_atomic_store(memarg).local_get(locals.old),
        AtomicOp::Add => code.i32_atomic_rmw_add(memarg),
        AtomicOp::Sub => code.i32_atomic_rmw_sub(memarg),
        AtomicOp::And => code.i32_atomic_rmw_and(memarg),
        AtomicOp::Or => code.i32_atomic_rmw_or(memarg),
        AtomicOp::Xor => code.i32_atomic_rmw_xor(memarg),
        AtomicOp::CompareExchange => code.i32_atomic_rmw_cmpxchg(memarg),
        AtomicOp::Exchange
        | AtomicOp::MinS
        | AtomicOp::MinU
        | AtomicOp::MaxS
        | AtomicOp::MaxU
        | AtomicOp::FAdd
        | AtomicOp::FSub => code.i32_atomic_rmw_xchg(memarg),
    };
    code.local_set(locals.old);
}

/// Whether there is no instruction for it, so that it is an exchange that is tried until it succeeds.
fn is_repeated(op: AtomicOp) -> bool {
    use AtomicOp::{FAdd, FSub, MaxS, MaxU, MinS, MinU};
    matches!(op, MinS | MinU | MaxS | MaxU | FAdd | FSub)
}

/// Pushes what takes the place of the old value.
fn replacement(code: &mut InstructionSink<'_>, op: AtomicOp, locals: One) {
    let One { value, compare, old, .. } = locals;
    match op {
        AtomicOp::Load => code.local_get(old),
        AtomicOp::Store | AtomicOp::Exchange => code.local_get(value),
        AtomicOp::CompareExchange => {
            code.local_get(value).local_get(old).local_get(old).local_get(compare).i32_eq().select()
        }
        AtomicOp::FAdd | AtomicOp::FSub => {
            code.local_get(old).f32_reinterpret_i32().local_get(value).f32_reinterpret_i32();
            if op == AtomicOp::FAdd {
                code.f32_add()
            } else {
                code.f32_sub()
            };
            code.i32_reinterpret_f32()
        }
        _ => {
            code.local_get(old).local_get(value);
            match op {
                AtomicOp::Add => code.i32_add(),
                AtomicOp::Sub => code.i32_sub(),
                AtomicOp::And => code.i32_and(),
                AtomicOp::Or => code.i32_or(),
                AtomicOp::Xor => code.i32_xor(),
                _ => {
                    code.local_get(old).local_get(value);
                    match op {
                        AtomicOp::MinS => code.i32_lt_s(),
                        AtomicOp::MinU => code.i32_lt_u(),
                        AtomicOp::MaxS => code.i32_gt_s(),
                        _ => code.i32_gt_u(),
                    };
                    code.select()
                }
            }
        }
    };
}
