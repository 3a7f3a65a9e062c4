//! What the lanes of a gang do together: they are a subgroup.

use super::body::{Body, defect};
use super::memory::Lanes;
use super::module::Emitter;
use super::value::splat;
use crate::diagnostic::Diagnostic;
use crate::ir::{LANES, Operand, Reg, SubgroupOp, Ty};

impl Body {
    pub(super) fn subgroup(
        &mut self,
        emitter: &Emitter,
        dst: Reg,
        op: SubgroupOp,
        args: &[Operand],
        lanes: Lanes,
    ) -> Result<(), Diagnostic> {
        match (op, args) {
            (SubgroupOp::Active, &[]) if emitter.unit.is_single() => {
                self.code().i32_const(1);
                self.set_scalar(emitter, dst, 0);
                Ok(())
            }
            (SubgroupOp::Active, &[]) => {
                self.mask(emitter, lanes)?;
                self.set_vector(emitter, dst)
            }
            (SubgroupOp::Ballot, &[vote]) => {
                if emitter.unit.is_single() {
                    self.scalar(emitter, vote)?;
                } else {
                    self.vector(emitter, vote)?;
                    self.mask(emitter, lanes)?;
                    self.code().v128_and().i32x4_bitmask();
                }
                self.set_scalar(emitter, dst, 0);
                Ok(())
            }
            // Of values that are the same in all lanes, it does not matter whose.
            (SubgroupOp::Shuffle(_) | SubgroupOp::Pick, &[value, ..]) if self.variance(value).is_gang() => {
                self.scalar(emitter, value)?;
                self.set_scalar(emitter, dst, 0);
                Ok(())
            }
            (SubgroupOp::Shuffle(from), &[value]) => self.shuffle(emitter, dst, from, value),
            (SubgroupOp::Pick, &[value, lane]) => self.pick(emitter, dst, value, lane),
            _ => Err(defect("a subgroup operation with the wrong number of operands")),
        }
    }

    fn shuffle(&mut self, emitter: &Emitter, dst: Reg, from: [u8; 4], value: Operand) -> Result<(), Diagnostic> {
        let [first, ..] = from;
        if from == [first; 4] {
            self.lane(emitter, value, first)?;
            if self.ty(value) == Ty::Bool {
                self.code().i32_const(1).i32_and();
            }
            self.set_scalar(emitter, dst, 0);
            return Ok(());
        }
        let mut bytes = [0u8; 16];
        for (word, lane) in bytes.chunks_exact_mut(4).zip(from) {
            for (at, byte) in (0u8..).zip(word) {
                *byte = 4 * lane + at;
            }
        }
        self.vector(emitter, value)?;
        self.code().v128_const(0).i8x16_shuffle(bytes);
        self.set_vector(emitter, dst)
    }

    /// Each lane gets the value of the one that it names, modulo their number.
    fn pick(&mut self, emitter: &Emitter, dst: Reg, value: Operand, lane: Operand) -> Result<(), Diagnostic> {
        self.vector(emitter, value)?;
        self.vector(emitter, lane)?;
        // The numbers of the bytes of a lane's word.
        self.code().v128_const(splat(LANES - 1)).v128_and().v128_const(splat(0x0404_0404)).i32x4_mul();
        self.code().v128_const(splat(0x0302_0100)).v128_or().i8x16_swizzle();
        if !self.variance(lane).is_gang() {
            return self.set_vector(emitter, dst);
        }
        match self.ty(value) {
            Ty::F32 => self.code().f32x4_extract_lane(0),
            Ty::I32 => self.code().i32x4_extract_lane(0),
            Ty::Bool => self.code().i32x4_extract_lane(0).i32_const(1).i32_and(),
        };
        self.set_scalar(emitter, dst, 0);
        Ok(())
    }
}
