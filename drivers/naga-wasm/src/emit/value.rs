//! Values on the wasm stack: that of the first lane, or those of all lanes.
//!
//! A register that differs from lane to lane by a known stride, or not at all, is a scalar: the value of the first
//! lane. Its vector is made where one is needed. All others are vectors, of `i32`, `f32` or masks.

use wasm_encoder::{Ieee32, ValType};

use super::body::{Body, Target, defect, memarg};
use super::module::Emitter;
use crate::diagnostic::Diagnostic;
use crate::ir::{Builtin, Cell, LANES, Operand, Reg, Ty};
use crate::passes::locals::{Store, is_vector, local_type};
use crate::passes::variance::{self, Variance};

/// Bytes of a vector.
pub(super) const VECTOR: u32 = 4 * LANES;

/// A vector with the same word in all lanes.
pub(super) fn splat(word: u32) -> i128 {
    lanes([word; 4])
}

/// A vector of words, that of the first lane first.
pub(super) fn lanes(words: [u32; 4]) -> i128 {
    words.iter().rev().fold(0u128, |bits, &word| bits << 32 | u128::from(word)).cast_signed()
}

/// A vector of multiples of a number, from 0 on.
pub(super) fn steps(stride: u32) -> i128 {
    lanes([0, 1, 2, 3].map(|lane: u32| lane.wrapping_mul(stride)))
}

/// Numbers of the lanes, as instructions take them.
pub(super) const ALL_LANES: [u8; 4] = [0, 1, 2, 3];

impl Body {
    /// How an operand differs between lanes.
    pub(super) fn variance(&self, operand: Operand) -> Variance {
        variance::of_operand(&self.variances, self.workgroup_size, operand)
    }

    /// Whether an operand is a vector.
    pub(super) fn is_vector(&self, operand: Operand) -> bool {
        self.variance(operand).stride.is_none()
    }

    pub(super) fn is_vector_reg(&self, reg: Reg) -> bool {
        is_vector(&self.variances, reg)
    }

    pub(super) fn reg_ty(&self, Reg(reg): Reg) -> Ty {
        self.regs.get(reg as usize).map_or(Ty::I32, |info| info.ty)
    }

    pub(super) fn ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.reg_ty(reg),
            Operand::Bool(_) | Operand::Builtin(Builtin::Active) => Ty::Bool,
            Operand::F32(_) => Ty::F32,
            Operand::I32(_) | Operand::Builtin(_) => Ty::I32,
        }
    }

    /// Pushes an operand's value in the first lane, which its variance says what the others have.
    pub(super) fn scalar(&mut self, emitter: &Emitter, operand: Operand) -> Result<(), Diagnostic> {
        if self.is_vector(operand) {
            return Err(defect("a vector where a scalar is needed"));
        }
        match operand {
            Operand::Reg(reg) => self.get(emitter, reg),
            Operand::Bool(value) => {
                self.code().i32_const(i32::from(value));
            }
            Operand::I32(bits) => {
                self.code().i32_const(bits.cast_signed());
            }
            Operand::F32(bits) => {
                self.code().f32_const(Ieee32::new(bits));
            }
            Operand::Builtin(builtin) => self.builtin(emitter, builtin)?,
        }
        Ok(())
    }

    /// Pushes an operand's values in all lanes.
    pub(super) fn vector(&mut self, emitter: &Emitter, operand: Operand) -> Result<(), Diagnostic> {
        let word = match operand {
            Operand::Bool(value) => Some(if value { u32::MAX } else { 0 }),
            Operand::I32(bits) | Operand::F32(bits) => Some(bits),
            Operand::Reg(_) | Operand::Builtin(_) => None,
        };
        if let Some(word) = word {
            self.code().v128_const(splat(word));
            return Ok(());
        }
        match (operand, self.variance(operand).stride) {
            (_, Some(stride)) => {
                self.scalar(emitter, operand)?;
                self.spread(self.ty(operand), stride);
            }
            (Operand::Reg(reg), None) => self.get(emitter, reg),
            (Operand::Builtin(builtin), None) => {
                let local = self.builtins.local_of(builtin).ok_or_else(|| defect("a built-in value of no region"))?;
                self.code().local_get(local);
            }
            _ => return Err(defect("a constant that differs")),
        }
        Ok(())
    }

    /// Makes the vector of what is on the stack: the first lane's value of something with a stride.
    pub(super) fn spread(&mut self, ty: Ty, stride: u32) {
        match ty {
            Ty::F32 => {
                self.code().f32x4_splat();
            }
            Ty::I32 => {
                self.code().i32x4_splat();
            }
            Ty::Bool => {
                self.code().i32x4_splat().i32x4_neg();
            }
        }
        if stride != 0 {
            self.code().v128_const(steps(stride)).i32x4_add();
        }
    }

    /// Pops the first lane's value of something with a stride into a register.
    pub(super) fn set_scalar(&mut self, emitter: &Emitter, dst: Reg, stride: u32) {
        if self.is_vector_reg(dst) {
            self.spread(self.reg_ty(dst), stride);
        }
        self.set(emitter, dst);
    }

    /// Pops a vector into a register.
    pub(super) fn set_vector(&mut self, emitter: &Emitter, dst: Reg) -> Result<(), Diagnostic> {
        if !self.is_vector_reg(dst) {
            return Err(defect("a scalar that is set to a vector"));
        }
        self.set(emitter, dst);
        Ok(())
    }

    /// Pushes what a register's local holds.
    pub(super) fn get(&mut self, emitter: &Emitter, reg: Reg) {
        match (self.locals.of(reg), self.spills) {
            (Store::Spill(at), Some(area)) => {
                let ty = local_type(&self.regs, &self.variances, reg);
                self.local_or_global(self.builtins.scratch(), emitter.globals.scratch);
                self.load_value(ty, area + VECTOR * at);
            }
            (Store::Local(local) | Store::Spill(local), _) => {
                self.code().local_get(local);
            }
        }
    }

    /// Pops what a register's local is to hold.
    pub(super) fn set(&mut self, emitter: &Emitter, reg: Reg) {
        match (self.locals.of(reg), self.spills) {
            (Store::Spill(at), Some(area)) => {
                let ty = local_type(&self.regs, &self.variances, reg);
                let value = self.temporary(ty);
                self.code().local_set(value);
                self.local_or_global(self.builtins.scratch(), emitter.globals.scratch);
                self.code().local_get(value);
                self.store_value(ty, area + VECTOR * at);
            }
            (Store::Local(local) | Store::Spill(local), _) => {
                self.code().local_set(local);
            }
        }
    }

    /// Loads what a local can hold.
    pub(super) fn load_value(&mut self, ty: ValType, offset: u32) {
        let memarg = memarg(Cell::I32, offset);
        match ty {
            ValType::F32 => self.code().f32_load(memarg),
            ValType::V128 => self.code().v128_load(memarg),
            _ => self.code().i32_load(memarg),
        };
    }

    /// Stores what a local holds.
    pub(super) fn store_value(&mut self, ty: ValType, offset: u32) {
        let memarg = memarg(Cell::I32, offset);
        match ty {
            ValType::F32 => self.code().f32_store(memarg),
            ValType::V128 => self.code().v128_store(memarg),
            _ => self.code().i32_store(memarg),
        };
    }

    pub(super) fn local_or_global(&mut self, local: Option<u32>, global: u32) {
        match local {
            Some(local) => self.code().local_get(local),
            None => self.code().global_get(global),
        };
    }

    /// Pushes what does not change while the kernel runs. Where code is hardly ever run it is read again: what is computed from locals moves out
    /// of loops, and would take the registers of what the loops are about.
    pub(super) fn fixed(&mut self, local: Option<u32>, global: u32) {
        self.local_or_global(local.filter(|_| !self.cold), global);
    }

    /// Writes what is hardly ever run.
    pub(super) fn cold(&mut self, write: impl FnOnce(&mut Self) -> Result<(), Diagnostic>) -> Result<(), Diagnostic> {
        let around = std::mem::replace(&mut self.cold, true);
        write(self)?;
        self.cold = around;
        Ok(())
    }

    /// Pushes a built-in value, of the first lane.
    fn builtin(&mut self, emitter: &Emitter, builtin: Builtin) -> Result<(), Diagnostic> {
        let globals = emitter.globals;
        let local = self.builtins.local_of(builtin).filter(|_| self.target == Target::Run);
        match (builtin, local) {
            (Builtin::Last(binding), _) => self.fixed(local, globals.last(binding)),
            (Builtin::Constant(word), _) => self.fixed(local, globals.constant(word)),
            (_, Some(local)) => {
                self.code().local_get(local);
            }
            // An axis of one invocation.
            (Builtin::Local(_), None) if self.target == Target::Run => {
                self.code().i32_const(0);
            }
            _ => return Err(defect("a built-in value outside of the entry point")),
        }
        Ok(())
    }

    /// Pops a scalar of the first lane and makes it that of lane `lane` of a vector on the stack below it.
    pub(super) fn replace_lane(&mut self, ty: Ty, lane: u8) {
        match ty {
            Ty::F32 => self.code().f32x4_replace_lane(lane),
            Ty::I32 | Ty::Bool => self.code().i32x4_replace_lane(lane),
        };
    }

    /// Pushes the scalar that an operand is in one lane; a mask gives 0 or -1.
    pub(super) fn lane(&mut self, emitter: &Emitter, operand: Operand, lane: u8) -> Result<(), Diagnostic> {
        if self.is_vector(operand) {
            self.vector(emitter, operand)?;
            match self.ty(operand) {
                Ty::F32 => self.code().f32x4_extract_lane(lane),
                Ty::I32 | Ty::Bool => self.code().i32x4_extract_lane(lane),
            };
            return Ok(());
        }
        self.scalar(emitter, operand)?;
        let stride = self.variance(operand).stride.unwrap_or(0).wrapping_mul(u32::from(lane));
        if stride != 0 {
            self.code().i32_const(stride.cast_signed()).i32_add();
        }
        Ok(())
    }
}
