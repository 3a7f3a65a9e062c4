//! Calls of functions that are not inlined: they run for one invocation at a time.

use wasm_encoder::BlockType;

use super::body::{Body, Target, defect};
use super::memory::Lanes;
use super::module::Emitter;
use super::value::ALL_LANES;
use crate::diagnostic::Diagnostic;
use crate::ir::{Operand, Reg, Ty};
use crate::passes::locals::scalar_type;

impl Body {
    /// Calls a function for each lane that is on, in their order.
    pub(super) fn call(
        &mut self,
        emitter: &Emitter,
        function: u32,
        args: &[Operand],
        results: &[Reg],
        lanes: Lanes,
    ) -> Result<(), Diagnostic> {
        if self.target == Target::Other || emitter.unit.is_single() {
            return self.call_for(emitter, function, args, results, None);
        }
        for lane in ALL_LANES {
            if let Lanes::Some(mask) = lanes {
                self.lane(emitter, mask, lane)?;
                self.code().if_(BlockType::Empty);
            }
            self.code().i32_const(4 * i32::from(lane)).global_set(emitter.globals.lane);
            self.call_for(emitter, function, args, results, Some(lane))?;
            if let Lanes::Some(_) = lanes {
                self.code().end();
            }
        }
        Ok(())
    }

    /// Calls a function for one lane, or for the one invocation that there is.
    fn call_for(
        &mut self,
        emitter: &Emitter,
        function: u32,
        args: &[Operand],
        results: &[Reg],
        lane: Option<u8>,
    ) -> Result<(), Diagnostic> {
        let spends = emitter.spends.get(function as usize).copied().unwrap_or(true);
        let index = emitter.kept.get(function as usize).copied().ok_or_else(|| defect("a call of no function"))?;
        if spends {
            self.save_budget(emitter);
        }
        for &arg in args {
            match lane {
                Some(lane) => {
                    self.lane(emitter, arg, lane)?;
                    if self.ty(arg) == Ty::Bool {
                        self.code().i32_const(1).i32_and();
                    }
                }
                None => self.scalar(emitter, arg)?,
            }
        }
        self.code().call(index);
        for &result in results.iter().rev() {
            match lane.filter(|_| self.is_vector_reg(result)) {
                Some(lane) => self.set_lane(emitter, result, lane),
                None => self.set_scalar(emitter, result, 0),
            }
        }
        if spends {
            if let Some(budget) = self.budget {
                self.code().global_get(emitter.globals.budget).local_set(budget);
            }
            self.leave_if_stopped(emitter);
        }
        Ok(())
    }

    /// Pops a scalar into a lane of a register.
    fn set_lane(&mut self, emitter: &Emitter, reg: Reg, lane: u8) {
        let ty = self.reg_ty(reg);
        let value = self.temporary(scalar_type(ty));
        self.code().local_set(value);
        self.get(emitter, reg);
        if ty == Ty::Bool {
            self.code().i32_const(0).local_get(value).i32_sub();
        } else {
            self.code().local_get(value);
        }
        self.replace_lane(ty, lane);
        self.set(emitter, reg);
    }
}
