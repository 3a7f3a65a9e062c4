//! Loads, stores, and pieces of memory.

use wasm_encoder::{BlockType, ValType};

use super::address::{Guard, Reach};
use super::body::{Body, Target, memarg};
use super::module::{Emitter, MAX_COPIED};
use super::routine::Routine;
use super::value::{ALL_LANES, splat, steps};
use crate::diagnostic::Diagnostic;
use crate::ir::{Address, Cell, LANES, Operand, Reg};

/// Bytes that a scatter takes where it is copied in: a call would have all vectors that are alive kept in memory.
const SCATTER_BYTES: usize = 64;

/// The lanes that do something.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lanes {
    All,
    Some(Operand),
}

/// A store.
#[derive(Clone, Copy)]
pub(super) struct Write<'a> {
    pub(super) cell: Cell,
    pub(super) address: &'a Address,
    pub(super) value: Operand,
    pub(super) lanes: Lanes,
}

impl Body {
    pub(super) fn load(
        &mut self,
        emitter: &mut Emitter,
        dst: Reg,
        cell: Cell,
        address: &Address,
    ) -> Result<(), Diagnostic> {
        match self.reach(emitter, address, cell) {
            Reach::One => {
                let offset = self.place(emitter, address, cell)?;
                self.load_cell(cell, offset);
                self.set_scalar(emitter, dst, 0);
                return Ok(());
            }
            Reach::Copies => {
                let offset = self.place(emitter, address, cell)?;
                match cell {
                    Cell::I32 | Cell::F32 => self.load_value(ValType::V128, offset),
                    Cell::Half | Cell::Byte => {
                        let shift = (8 * (offset & 3)).cast_signed();
                        self.load_value(ValType::V128, offset & !3);
                        self.code().i32_const(shift).i32x4_shr_u().v128_const(splat(part_mask(cell))).v128_and();
                        if cell == Cell::Byte {
                            self.code().v128_const(0).i32x4_ne();
                        }
                    }
                }
            }
            Reach::Steps(step, None) => self.load_steps(emitter, cell, address, step)?,
            Reach::Steps(step, Some(guard)) => {
                self.guard(emitter, guard)?;
                self.code().if_(BlockType::Result(ValType::V128));
                self.load_steps(emitter, cell, address, step)?;
                self.code().else_();
                self.cold(|this| this.gather_places(emitter, address, cell))?;
                self.code().end();
            }
            Reach::Any => self.gather_places(emitter, address, cell)?,
        }
        self.set_vector(emitter, dst)
    }

    /// Pushes cells that are `step` bytes apart.
    fn load_steps(&mut self, emitter: &Emitter, cell: Cell, address: &Address, step: u32) -> Result<(), Diagnostic> {
        let offset = self.place(emitter, address, cell)?;
        if step == cell.bytes() && cell != Cell::Byte {
            match cell {
                Cell::Half => self.code().v128_load16x4_u(memarg(cell, offset)),
                _ => self.code().v128_load(memarg(cell, offset)),
            };
            return Ok(());
        }
        let place = self.temporary(ValType::I32);
        self.code().local_set(place);
        self.assemble(cell, |body, lane| {
            body.code().local_get(place);
            offset.wrapping_add(step.wrapping_mul(u32::from(lane)))
        });
        Ok(())
    }

    /// Pushes the cells of all lanes, wherever they are.
    fn gather_places(&mut self, emitter: &Emitter, address: &Address, cell: Cell) -> Result<(), Diagnostic> {
        self.places(emitter, address, cell, 0)?;
        let places = self.temporary(ValType::V128);
        self.code().local_set(places);
        self.gather(cell, places);
        Ok(())
    }

    /// Pushes the cells at the addresses in a local.
    pub(super) fn gather(&mut self, cell: Cell, places: u32) {
        self.assemble(cell, |body, lane| {
            body.code().local_get(places).i32x4_extract_lane(lane);
            0
        });
    }

    /// Pushes a vector of cells; `place` pushes the address of a lane's and answers the offset to add.
    fn assemble(&mut self, cell: Cell, mut place: impl FnMut(&mut Self, u8) -> u32) {
        if cell == Cell::Byte {
            self.code().v128_const(0);
            for lane in ALL_LANES {
                let offset = place(self, lane);
                self.load_cell(cell, offset);
                self.code().i32x4_replace_lane(lane);
            }
            self.code().v128_const(0).i32x4_ne();
            return;
        }
        // Addresses are pushed first, that of the last lane lowest: a load takes one from below the vector.
        let offsets = [3, 2, 1, 0].map(|lane| place(self, lane));
        if cell == Cell::Half {
            self.code().v128_const(0);
        }
        for (lane, offset) in ALL_LANES.into_iter().zip(offsets.into_iter().rev()) {
            let memarg = memarg(cell, offset);
            match (cell, lane) {
                (Cell::Half, _) => self.code().v128_load16_lane(memarg, 2 * lane),
                (_, 0) => self.code().v128_load32_zero(memarg),
                _ => self.code().v128_load32_lane(memarg, lane),
            };
        }
    }

    pub(super) fn store(&mut self, emitter: &mut Emitter, write: Write<'_>) -> Result<(), Diagnostic> {
        let Write { cell, address, value, .. } = write;
        match self.reach(emitter, address, cell) {
            // All lanes that are on store the same, and one is.
            Reach::One if !self.is_vector(value) && self.variance(value).is_gang() => {
                let offset = self.place(emitter, address, cell)?;
                self.scalar(emitter, value)?;
                self.store_cell(cell, offset);
                Ok(())
            }
            Reach::Copies => self.store_copies(emitter, write),
            Reach::Steps(step, guard) => self.store_steps(emitter, write, step, guard),
            Reach::One | Reach::Any => self.scatter(emitter, write),
        }
    }

    /// Each lane has its own cell, so that one that is off can have it stored as it was.
    fn store_copies(&mut self, emitter: &Emitter, write: Write<'_>) -> Result<(), Diagnostic> {
        let Write { cell, address, value, lanes } = write;
        let offset = self.place(emitter, address, cell)?;
        let (place, word) = (self.temporary(ValType::I32), offset & !3);
        self.code().local_tee(place);
        self.vector(emitter, value)?;
        let shift = 8 * (offset & 3);
        if cell.is_part() {
            if cell == Cell::Half {
                self.code().i32_const(shift.cast_signed()).i32x4_shl();
            }
            let bits = if cell == Cell::Half { part_mask(cell) } else { 1 };
            self.code().v128_const(splat(bits << shift)).v128_and().local_get(place);
            self.load_value(ValType::V128, word);
            self.code().v128_const(splat(!(part_mask(cell) << shift))).v128_and().v128_or();
        }
        if let Lanes::Some(mask) = lanes {
            self.code().local_get(place);
            self.load_value(ValType::V128, word);
            self.vector(emitter, mask)?;
            self.code().v128_bitselect();
        }
        self.store_value(ValType::V128, word);
        Ok(())
    }

    /// Stores where the lanes are `step` bytes apart, if the guard holds and all are on.
    fn store_steps(
        &mut self,
        emitter: &mut Emitter,
        write: Write<'_>,
        step: u32,
        guard: Option<Guard>,
    ) -> Result<(), Diagnostic> {
        let Write { cell, address, value, lanes } = write;
        let mut conditions = 0;
        if let Some(guard) = guard {
            self.guard(emitter, guard)?;
            conditions += 1;
        }
        if let Lanes::Some(mask) = lanes {
            self.vector(emitter, mask)?;
            self.code().i32x4_all_true();
            conditions += 1;
        }
        if conditions == 2 {
            self.code().i32_and();
        }
        if conditions > 0 {
            self.code().if_(BlockType::Empty);
        }
        let offset = self.place(emitter, address, cell)?;
        if step == cell.bytes() && cell != Cell::Byte {
            self.vector(emitter, value)?;
            if cell == Cell::Half {
                // The low halves of the words, one after the other.
                self.code().v128_const(0).i8x16_shuffle([0, 1, 4, 5, 8, 9, 12, 13, 16, 16, 16, 16, 16, 16, 16, 16]);
                self.code().v128_store64_lane(memarg(cell, offset), 0);
            } else {
                self.store_value(ValType::V128, offset);
            }
        } else {
            let place = self.temporary(ValType::I32);
            self.code().local_set(place);
            for lane in ALL_LANES {
                self.code().local_get(place);
                let offset = offset.wrapping_add(step.wrapping_mul(u32::from(lane)));
                self.store_lane(emitter, cell, value, lane, offset)?;
            }
        }
        if conditions > 0 {
            self.code().else_();
            self.cold(|this| this.scatter(emitter, write))?;
            self.code().end();
        }
        Ok(())
    }

    /// Stores each lane where it says, in the order of lanes: the last of those that meet wins.
    fn scatter(&mut self, emitter: &mut Emitter, write: Write<'_>) -> Result<(), Diagnostic> {
        let Write { cell, address, value, lanes } = write;
        self.places(emitter, address, cell, 0)?;
        if emitter.copied < MAX_COPIED {
            emitter.copied += SCATTER_BYTES;
            if let Lanes::Some(mask) = lanes {
                // Lanes that are off store to where nobody reads: branches would have Cranelift compute the value in each.
                let nowhere = emitter.nowhere()?;
                self.fixed(self.builtins.scratch(), emitter.globals.scratch);
                self.code().i32_const(nowhere.cast_signed()).i32_add().i32x4_splat();
                self.code().v128_const(steps(4)).i32x4_add();
                self.vector(emitter, mask)?;
                self.code().v128_bitselect();
            }
            self.vector(emitter, value)?;
            let (cells, places) = (self.temporary(ValType::V128), self.temporary(ValType::V128));
            self.code().local_set(cells).local_set(places);
            self.scatter_locals(cell, places, cells, None);
            return Ok(());
        }
        self.vector(emitter, value)?;
        match lanes {
            Lanes::Some(mask) => self.vector(emitter, mask)?,
            Lanes::All => {
                self.code().v128_const(-1);
            }
        }
        let function = emitter.routine(Routine::Scatter(cell));
        self.code().call(function);
        Ok(())
    }

    /// Stores cells at addresses, all in locals, in the order of lanes.
    pub(super) fn scatter_locals(&mut self, cell: Cell, places: u32, cells: u32, mask: Option<u32>) {
        for lane in ALL_LANES {
            if let Some(mask) = mask {
                self.code().local_get(mask).i32x4_extract_lane(lane).if_(BlockType::Empty);
            }
            self.code().local_get(places).i32x4_extract_lane(lane);
            self.code().local_get(cells);
            match cell {
                Cell::Byte => {
                    self.code().i32x4_extract_lane(lane).i32_const(1).i32_and();
                    self.store_cell(cell, 0);
                }
                Cell::Half => {
                    self.code().v128_store16_lane(memarg(cell, 0), 2 * lane);
                }
                Cell::I32 | Cell::F32 => {
                    self.code().v128_store32_lane(memarg(cell, 0), lane);
                }
            }
            if mask.is_some() {
                self.code().end();
            }
        }
    }

    /// Stores a lane of a value to the address on the stack.
    fn store_lane(
        &mut self,
        emitter: &Emitter,
        cell: Cell,
        value: Operand,
        lane: u8,
        offset: u32,
    ) -> Result<(), Diagnostic> {
        if self.is_vector(value) && cell != Cell::Byte {
            self.vector(emitter, value)?;
            match cell {
                Cell::Half => self.code().v128_store16_lane(memarg(cell, offset), 2 * lane),
                _ => self.code().v128_store32_lane(memarg(cell, offset), lane),
            };
            return Ok(());
        }
        self.lane(emitter, value, lane)?;
        if cell == Cell::Byte {
            self.code().i32_const(1).i32_and();
        }
        self.store_cell(cell, offset);
        Ok(())
    }

    /// Pushes the mask of lanes.
    pub(super) fn mask(&mut self, emitter: &Emitter, lanes: Lanes) -> Result<(), Diagnostic> {
        match (lanes, self.target) {
            (Lanes::Some(mask), _) => self.vector(emitter, mask)?,
            (Lanes::All, Target::Run) => {
                self.code().v128_const(-1);
            }
            // One invocation, in its lane.
            (Lanes::All, Target::Other) => {
                self.code().global_get(emitter.globals.lane).i32x4_splat().v128_const(steps(4)).i32x4_eq();
            }
        }
        Ok(())
    }

    pub(super) fn load_cell(&mut self, cell: Cell, offset: u32) {
        let memarg = memarg(cell, offset);
        match cell {
            Cell::I32 => self.code().i32_load(memarg),
            Cell::F32 => self.code().f32_load(memarg),
            Cell::Half => self.code().i32_load16_u(memarg),
            Cell::Byte => self.code().i32_load8_u(memarg),
        };
    }

    pub(super) fn store_cell(&mut self, cell: Cell, offset: u32) {
        let memarg = memarg(cell, offset);
        match cell {
            Cell::I32 => self.code().i32_store(memarg),
            Cell::F32 => self.code().f32_store(memarg),
            Cell::Half => self.code().i32_store16(memarg),
            Cell::Byte => self.code().i32_store8(memarg),
        };
    }

    /// Zeroes a piece of memory in each lane.
    pub(super) fn fill(
        &mut self,
        emitter: &mut Emitter,
        address: &Address,
        length: u32,
        lanes: Lanes,
    ) -> Result<(), Diagnostic> {
        let copies = self.has_copies(emitter, address);
        let one = matches!(self.reach(emitter, address, Cell::I32), Reach::One);
        if one && !copies {
            self.whole_place(emitter, address)?;
            self.code().i32_const(0).i32_const(length.cast_signed()).memory_fill(0);
            return Ok(());
        }
        let words = address.offset.is_multiple_of(4)
            && length.is_multiple_of(4)
            && address.terms.iter().all(|term| term.stride.is_multiple_of(4));
        if let (Reach::Copies, Lanes::All, true) = (self.reach(emitter, address, Cell::I32), lanes, words) {
            self.whole_place(emitter, address)?;
            let length = length.saturating_mul(LANES).cast_signed();
            self.code().i32_const(0).i32_const(length).memory_fill(0);
            return Ok(());
        }
        self.piece(emitter, address)?;
        self.mask(emitter, lanes)?;
        self.code().i32_const(length.cast_signed());
        let function = emitter.routine(Routine::Fill { copies, words });
        self.code().call(function);
        Ok(())
    }

    /// Copies a piece of memory in each lane.
    #[allow(clippy::too_many_arguments, reason = "a copy, and who does it")]
    pub(super) fn copy(
        &mut self,
        emitter: &mut Emitter,
        to: &Address,
        from: &Address,
        length: u32,
        grain: u32,
        lanes: Lanes,
    ) -> Result<(), Diagnostic> {
        let copies = [to, from].map(|address| self.has_copies(emitter, address));
        let one = [to, from].map(|address| matches!(self.reach(emitter, address, Cell::I32), Reach::One));
        if one == [true; 2] && copies == [false; 2] {
            self.whole_place(emitter, to)?;
            self.whole_place(emitter, from)?;
            self.code().i32_const(length.cast_signed()).memory_copy(0, 0);
            return Ok(());
        }
        self.piece(emitter, to)?;
        self.piece(emitter, from)?;
        self.mask(emitter, lanes)?;
        self.code().i32_const(length.cast_signed());
        let [to, from] = copies;
        let function = emitter.routine(Routine::Move { to, from, words: grain >= 4 });
        self.code().call(function);
        Ok(())
    }

    fn whole_place(&mut self, emitter: &Emitter, address: &Address) -> Result<(), Diagnostic> {
        let offset = self.place(emitter, address, Cell::I32)?;
        self.code().i32_const(offset.cast_signed()).i32_add();
        Ok(())
    }

    /// Pushes a base, and how far from it the place of each lane is.
    fn piece(&mut self, emitter: &Emitter, address: &Address) -> Result<(), Diagnostic> {
        let start = self.base(emitter, address.base)?;
        self.code().i32_const(start.cast_signed()).i32_add();
        self.offsets(emitter, address, 0)
    }
}

/// The bits of a cell that is a part of a word, at its low end.
fn part_mask(cell: Cell) -> u32 {
    match cell {
        Cell::I32 | Cell::F32 => u32::MAX,
        Cell::Half => 0xffff,
        Cell::Byte => 0xff,
    }
}
