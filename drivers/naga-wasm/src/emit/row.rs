//! Loads of four cells in each lane: a vector for each lane, and a transposition.

use wasm_encoder::{BlockType, ValType};

use super::address::{Guard, Reach};
use super::body::{Body, memarg};
use super::module::Emitter;
use super::value::ALL_LANES;
use crate::diagnostic::Diagnostic;
use crate::ir::{Address, Cell, LANES, Reg};

/// A shuffle of words: those of the second operand are 4 to 7.
const fn words([a, b, c, d]: [u8; 4]) -> [u8; 16] {
    let [a, b, c, d] = [4 * a, 4 * b, 4 * c, 4 * d];
    [a, a + 1, a + 2, a + 3, b, b + 1, b + 2, b + 3, c, c + 1, c + 2, c + 3, d, d + 1, d + 2, d + 3]
}

const LOW: [u8; 16] = words([0, 4, 1, 5]);
const HIGH: [u8; 16] = words([2, 6, 3, 7]);
const LOW_HALVES: [u8; 16] = words([0, 1, 4, 5]);
const HIGH_HALVES: [u8; 16] = words([2, 3, 6, 7]);

impl Body {
    /// Loads `dsts[n]` from `n` cells behind `address`: where `by_index`, at a greater index of that term.
    pub(super) fn load_row(
        &mut self,
        emitter: &Emitter,
        dsts: [Reg; 4],
        cell: Cell,
        address: &Address,
        by_index: Option<usize>,
    ) -> Result<(), Diagnostic> {
        let rows = [(); 4].map(|()| self.temporary(ValType::V128));
        match (self.reach(emitter, address, cell), by_index) {
            (Reach::One, None) => {
                let offset = self.place(emitter, address, cell)?;
                let [row, ..] = rows;
                self.code().v128_load(memarg(cell, offset)).local_set(row);
                for (dst, word) in dsts.into_iter().zip(0..) {
                    self.code().local_get(row).local_get(row).i8x16_shuffle(words([word; 4]));
                    self.set_vector(emitter, dst)?;
                }
                Ok(())
            }
            (Reach::Steps(step, None), _) => {
                self.rows_apart(emitter, address, cell, step, rows)?;
                self.transpose(emitter, rows, dsts)
            }
            (Reach::Steps(step, Some(guard)), None) => {
                self.guard(emitter, guard)?;
                self.code().if_(BlockType::Empty);
                self.rows_apart(emitter, address, cell, step, rows)?;
                self.code().else_();
                self.cold(|this| this.rows_at_places(emitter, address, cell, rows))?;
                self.code().end();
                self.transpose(emitter, rows, dsts)
            }
            (Reach::Steps(step, Some(guard)), Some(_)) => {
                self.guard(emitter, Guard { span: guard.span + LANES - 1, ..guard })?;
                self.code().if_(BlockType::Empty);
                self.rows_apart(emitter, address, cell, step, rows)?;
                self.transpose(emitter, rows, dsts)?;
                self.code().else_();
                self.cold(|this| this.gather_cells(emitter, dsts, cell, address))?;
                self.code().end();
                Ok(())
            }
            (_, None) => {
                self.rows_at_places(emitter, address, cell, rows)?;
                self.transpose(emitter, rows, dsts)
            }
            (_, Some(_)) => self.gather_cells(emitter, dsts, cell, address),
        }
    }

    /// Loads a vector for each lane, where the lanes are `step` bytes apart.
    fn rows_apart(
        &mut self,
        emitter: &Emitter,
        address: &Address,
        cell: Cell,
        step: u32,
        rows: [u32; 4],
    ) -> Result<(), Diagnostic> {
        let offset = self.place(emitter, address, cell)?;
        let place = self.temporary(ValType::I32);
        self.code().local_set(place);
        for (lane, row) in (0u32..).zip(rows) {
            let offset = offset.wrapping_add(step.wrapping_mul(lane));
            self.code().local_get(place).v128_load(memarg(cell, offset)).local_set(row);
        }
        Ok(())
    }

    /// Loads a vector for each lane, wherever it is.
    fn rows_at_places(
        &mut self,
        emitter: &Emitter,
        address: &Address,
        cell: Cell,
        rows: [u32; 4],
    ) -> Result<(), Diagnostic> {
        self.places(emitter, address, cell, 0)?;
        let places = self.temporary(ValType::V128);
        self.code().local_set(places);
        for (lane, row) in ALL_LANES.into_iter().zip(rows) {
            self.code().local_get(places).i32x4_extract_lane(lane).v128_load(memarg(cell, 0)).local_set(row);
        }
        Ok(())
    }

    /// Loads cell by cell and lane by lane.
    fn gather_cells(
        &mut self,
        emitter: &Emitter,
        dsts: [Reg; 4],
        cell: Cell,
        address: &Address,
    ) -> Result<(), Diagnostic> {
        let places = self.temporary(ValType::V128);
        for (ahead, dst) in (0..).zip(dsts) {
            self.places(emitter, address, cell, ahead)?;
            self.code().local_set(places);
            self.gather(cell, places);
            self.set_vector(emitter, dst)?;
        }
        Ok(())
    }

    /// From the rows of the lanes to the cells of all lanes.
    fn transpose(&mut self, emitter: &Emitter, [a, b, c, d]: [u32; 4], dsts: [Reg; 4]) -> Result<(), Diagnostic> {
        let mut halves = [0; 4];
        for (half, (first, second, order)) in
            halves.iter_mut().zip([(a, b, LOW), (c, d, LOW), (a, b, HIGH), (c, d, HIGH)])
        {
            *half = self.temporary(ValType::V128);
            self.code().local_get(first).local_get(second).i8x16_shuffle(order).local_set(*half);
        }
        let [low_ab, low_cd, high_ab, high_cd] = halves;
        let pairs = [(low_ab, low_cd), (high_ab, high_cd)];
        let orders = pairs.into_iter().flat_map(|pair| [(pair, LOW_HALVES), (pair, HIGH_HALVES)]);
        for (((first, second), order), dst) in orders.zip(dsts) {
            self.code().local_get(first).local_get(second).i8x16_shuffle(order);
            self.set_vector(emitter, dst)?;
        }
        Ok(())
    }
}
