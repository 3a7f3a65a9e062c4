//! Functions of a module besides those of the kernel, emitted when something calls them.

use wasm_encoder::{BlockType, Function, ValType};

use super::atomic;
use super::body::{Body, Target};
use super::module::Emitter;
use super::value::ALL_LANES;
use crate::ir::{AtomicOp, Cell, LANES, Op};
use crate::runtime;

/// A function that is emitted once, if something calls it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Routine {
    /// An operation that the runtime has a function for.
    Runtime(Op),
    /// `(addresses, cells, mask)`
    Scatter(Cell),
    /// `(base, offsets, mask, length)`: zeroes in each lane that is on. With copies, offsets are into them.
    Fill { copies: bool, words: bool },
    /// `(to, its offsets, from, its offsets, mask, length)`: copies in each lane that is on.
    Move { to: bool, from: bool, words: bool },
    /// `(addresses, values, compares, mask) -> olds`
    Atomic { op: AtomicOp, plain: bool },
    /// `(address, value, compare) -> old`
    AtomicOne { op: AtomicOp, plain: bool },
    /// `(index) -> word` of the constants.
    ConstantWord,
}

impl Routine {
    fn signature(self) -> (Vec<ValType>, Vec<ValType>) {
        let (int, vector) = (ValType::I32, ValType::V128);
        match self {
            Self::Runtime(op) => runtime::signature(op),
            Self::Scatter(_) => (vec![vector; 3], Vec::new()),
            Self::Fill { .. } => (vec![int, vector, vector, int], Vec::new()),
            Self::Move { .. } => (vec![int, vector, int, vector, vector, int], Vec::new()),
            Self::Atomic { .. } => (vec![vector; 4], vec![vector]),
            Self::AtomicOne { .. } => (vec![int; 3], vec![int]),
            Self::ConstantWord => (vec![int], vec![int]),
        }
    }
}

impl Emitter<'_> {
    /// The function index of a routine.
    pub(crate) fn routine(&mut self, routine: Routine) -> u32 {
        if let Some(&index) = self.functions.routines.get(&routine) {
            return index;
        }
        let (params, results) = routine.signature();
        let index = self.functions.reserve(&params, &results);
        self.functions.routines.insert(routine, index);
        let body = match routine {
            Routine::Runtime(op) => match runtime::body(op) {
                Some(body) => body,
                // Found out where functions without a body are.
                None => return index,
            },
            Routine::Scatter(cell) => scatter(cell),
            Routine::Fill { copies, words } => fill(copies, words),
            Routine::Move { to, from, words } => copy(to, from, words),
            Routine::Atomic { op, plain } => atomic::all(op, plain),
            Routine::AtomicOne { op, plain } => atomic::one(op, plain),
            Routine::ConstantWord => self.constant_word(),
        };
        self.functions.define(index, body);
        index
    }

    /// The constants are globals, which have no computed index: a row of comparisons.
    fn constant_word(&self) -> Function {
        let mut body = Body::new(&[ValType::I32], &[], Target::Other);
        for word in 0..self.unit.constant_bytes / 4 {
            body.code().local_get(0).i32_const(word.cast_signed()).i32_eq().if_(BlockType::Empty);
            body.code().global_get(self.globals.constant(word)).return_().end();
        }
        body.code().i32_const(0).end();
        body.into_function()
    }
}

fn scatter(cell: Cell) -> Function {
    let mut body = Body::new(&[ValType::V128; 3], &[], Target::Other);
    body.scatter_locals(cell, 0, 1, Some(2));
    body.code().end();
    body.into_function()
}

/// A place that moves on: the base, the offset of what is there, and the lane it belongs to.
#[derive(Clone, Copy)]
struct Cursor {
    base: u32,
    offset: u32,
    copies: bool,
}

impl Cursor {
    /// Pushes the address, with the copies interleaved word by word.
    fn push(self, body: &mut Body, lane: u8) {
        body.code().local_get(self.base).local_get(self.offset);
        if self.copies {
            let lane = (u32::from(lane) * 4).cast_signed();
            body.code().i32_const(-4).i32_and().i32_const(LANES.cast_signed()).i32_mul();
            body.code().local_get(self.offset).i32_const(3).i32_and().i32_add().i32_const(lane).i32_add();
        }
        body.code().i32_add();
    }

    fn advance(self, body: &mut Body, grain: i32) {
        body.code().local_get(self.offset).i32_const(grain).i32_add().local_set(self.offset);
    }
}

fn fill(copies: bool, words: bool) -> Function {
    let (int, vector) = (ValType::I32, ValType::V128);
    let mut body = Body::new(&[int, vector, vector, int], &[int, int], Target::Other);
    let (offsets, mask, length, left) = (1, 2, 3, 4);
    let to = Cursor { base: 0, offset: 5, copies };
    let (cell, grain) = if words { (Cell::I32, 4) } else { (Cell::Byte, 1) };
    for lane in ALL_LANES {
        body.code().local_get(mask).i32x4_extract_lane(lane).if_(BlockType::Empty);
        body.code().local_get(offsets).i32x4_extract_lane(lane).local_set(to.offset);
        if copies {
            body.code().local_get(length).local_set(left).loop_(BlockType::Empty);
            to.push(&mut body, lane);
            body.code().i32_const(0);
            body.store_cell(cell, 0);
            to.advance(&mut body, grain);
            body.code().local_get(left).i32_const(grain).i32_sub().local_tee(left).br_if(0).end();
        } else {
            to.push(&mut body, lane);
            body.code().i32_const(0).local_get(length).memory_fill(0);
        }
        body.code().end();
    }
    body.code().end();
    body.into_function()
}

fn copy(to: bool, from: bool, words: bool) -> Function {
    let (int, vector) = (ValType::I32, ValType::V128);
    let mut body = Body::new(&[int, vector, int, vector, vector, int], &[int, int, int], Target::Other);
    let (mask, length, left) = (4, 5, 6);
    let (to, to_offsets) = (Cursor { base: 0, offset: 7, copies: to }, 1);
    let (from, from_offsets) = (Cursor { base: 2, offset: 8, copies: from }, 3);
    let (cell, grain) = if words { (Cell::I32, 4) } else { (Cell::Byte, 1) };
    for lane in ALL_LANES {
        body.code().local_get(mask).i32x4_extract_lane(lane).if_(BlockType::Empty);
        for (cursor, offsets) in [(to, to_offsets), (from, from_offsets)] {
            body.code().local_get(offsets).i32x4_extract_lane(lane).local_set(cursor.offset);
        }
        body.code().local_get(length).local_set(left).loop_(BlockType::Empty);
        to.push(&mut body, lane);
        from.push(&mut body, lane);
        body.load_cell(cell, 0);
        body.store_cell(cell, 0);
        to.advance(&mut body, grain);
        from.advance(&mut body, grain);
        body.code().local_get(left).i32_const(grain).i32_sub().local_tee(left).i32_const(0).i32_gt_s().br_if(0).end();
        body.code().end();
    }
    body.code().end();
    body.into_function()
}
