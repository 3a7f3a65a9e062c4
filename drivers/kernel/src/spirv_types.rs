//! How deep the types of SPIR-V are nested and how large they are, worked out as the parser will, which panics where
//! there is no answer: on a type too large for its arithmetic, and on scalars of odd widths.

use std::collections::HashMap;

use crate::error::{ErrorCode, KernelError};
use crate::limits::{MAX_SPIRV_TYPE_BYTES, MAX_SPIRV_TYPE_NESTING};

// Opcodes and decorations, from the SPIR-V specification.
const OP_TYPE_BOOL: u32 = 20;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_TYPE_VECTOR: u32 = 23;
const OP_TYPE_MATRIX: u32 = 24;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_RUNTIME_ARRAY: u32 = 29;
const OP_TYPE_STRUCT: u32 = 30;
const OP_TYPE_POINTER: u32 = 32;
const OP_TYPE_FUNCTION: u32 = 33;
const OP_CONSTANT: u32 = 43;
const OP_DECORATE: u32 = 71;
const OP_MEMBER_DECORATE: u32 = 72;
const DECORATION_ARRAY_STRIDE: u32 = 6;
const DECORATION_OFFSET: u32 = 35;

/// A type. What is none, or of no size, has the default.
#[derive(Clone, Copy)]
struct Layout {
    depth: usize,
    bytes: u64,
    /// A power of two.
    align: u64,
}

impl Default for Layout {
    fn default() -> Self {
        Self { depth: 1, bytes: 0, align: 1 }
    }
}

/// The types so far, by id, and what they are made with.
#[derive(Default)]
pub(crate) struct Types {
    layouts: HashMap<u32, Layout>,
    lengths: HashMap<u32, u32>,
    strides: HashMap<u32, u32>,
    offsets: HashMap<(u32, u32), u32>,
}

impl Types {
    /// Takes note of an instruction at word `at`; one that is not about types is none of its business.
    pub(crate) fn instruction(&mut self, opcode: u32, operands: &[u32], at: usize) -> Result<(), KernelError> {
        match (opcode, operands) {
            (OP_DECORATE, &[id, DECORATION_ARRAY_STRIDE, stride]) => {
                self.strides.insert(id, stride);
                return Ok(());
            }
            (OP_MEMBER_DECORATE, &[id, member, DECORATION_OFFSET, offset]) => {
                self.offsets.insert((id, member), offset);
                return Ok(());
            }
            // Longer ones are of 64 bits, which are no lengths.
            (OP_CONSTANT, &[_, id, value]) => {
                self.lengths.insert(id, value);
                return Ok(());
            }
            _ => {}
        }
        let Some((&id, parts)) = operands.split_first() else { return Ok(()) };
        let Some(layout) = self.layout(opcode, id, parts, at)? else { return Ok(()) };
        if layout.depth > MAX_SPIRV_TYPE_NESTING {
            return Err(too_much(format!("more than {MAX_SPIRV_TYPE_NESTING} types inside each other"), at));
        }
        if layout.bytes > MAX_SPIRV_TYPE_BYTES {
            return Err(too_much(format!("a type of more than {MAX_SPIRV_TYPE_BYTES} bytes"), at));
        }
        self.layouts.insert(id, layout);
        Ok(())
    }

    fn layout(&mut self, opcode: u32, id: u32, parts: &[u32], at: usize) -> Result<Option<Layout>, KernelError> {
        let layout = match (opcode, parts) {
            (OP_TYPE_BOOL, _) => Layout { bytes: 1, ..Layout::default() },
            (OP_TYPE_INT | OP_TYPE_FLOAT, &[width, ..]) => scalar(width, at)?,
            (OP_TYPE_VECTOR, &[part, count, ..]) => {
                let part = self.part(part);
                Layout { bytes: part.bytes.saturating_mul(count.into()), ..widened(part, count) }
            }
            (OP_TYPE_MATRIX, &[part, count, ..]) => {
                let part = self.part(part);
                Layout { depth: part.depth + 1, bytes: stride(part).saturating_mul(count.into()), ..part }
            }
            (OP_TYPE_ARRAY, &[part, length, ..]) => self.array(id, part, self.lengths.get(&length).copied()),
            (OP_TYPE_RUNTIME_ARRAY, &[part, ..]) => self.array(id, part, Some(1)),
            (OP_TYPE_STRUCT, members) => self.structure(id, members),
            (OP_TYPE_POINTER, &[_, part]) => Layout { depth: self.part(part).depth + 1, bytes: 4, ..Layout::default() },
            (OP_TYPE_FUNCTION, parts) => Layout { depth: self.deepest(parts) + 1, ..Layout::default() },
            _ => return Ok(None),
        };
        Ok(Some(layout))
    }

    fn part(&self, id: u32) -> Layout {
        self.layouts.get(&id).copied().unwrap_or_default()
    }

    fn deepest(&self, parts: &[u32]) -> usize {
        parts.iter().map(|&part| self.part(part).depth).max().unwrap_or(1)
    }

    /// A length that is no constant is refused by the parser.
    fn array(&mut self, id: u32, part: u32, length: Option<u32>) -> Layout {
        let part = self.part(part);
        // A decoration is for the next type of this id; a stride of 0 is none.
        let given = self.strides.remove(&id).filter(|&stride| stride != 0);
        let stride = given.map_or_else(|| stride(part), u64::from);
        Layout { depth: part.depth + 1, bytes: stride.saturating_mul(length.unwrap_or(1).into()), align: part.align }
    }

    fn structure(&mut self, id: u32, members: &[u32]) -> Layout {
        // The largest end of any member, as members may overlap and come in any order.
        let (mut end, mut most, mut align) = (0u64, 0u64, 1);
        for (index, &member) in (0..).zip(members) {
            let layout = self.part(member);
            align = layout.align.max(align);
            let offset = self.offsets.remove(&(id, index)).map_or_else(|| round_up(end, layout.align), u64::from);
            end = offset.saturating_add(layout.bytes);
            most = most.max(end);
        }
        Layout { depth: self.deepest(members) + 1, bytes: round_up(most, align), align }
    }
}

fn scalar(width: u32, at: usize) -> Result<Layout, KernelError> {
    if !matches!(width, 8 | 16 | 32 | 64) {
        let message = format!("a number of {width} bits, at word {at}; there are 8, 16, 32 and 64");
        return Err(KernelError::new(ErrorCode::InvalidArgument, message));
    }
    let bytes = u64::from(width / 8);
    Ok(Layout { depth: 1, bytes, align: bytes })
}

/// A vector of so many: aligned as two or as four.
fn widened(part: Layout, count: u32) -> Layout {
    let align = part.align.saturating_mul(if count == 2 { 2 } else { 4 });
    Layout { depth: part.depth + 1, align, ..part }
}

/// From one element to the next, where nothing else is said.
fn stride(part: Layout) -> u64 {
    round_up(part.bytes, part.align)
}

fn round_up(bytes: u64, align: u64) -> u64 {
    bytes.checked_next_multiple_of(align).unwrap_or(u64::MAX)
}

fn too_much(what: String, at: usize) -> KernelError {
    KernelError::new(ErrorCode::ResourceExhausted, format!("{what}, at word {at}; split or simplify the kernel"))
}
