//! Short forms: parameters, references, commands, bytes.

use crate::target::{
    BufferParams, BufferRef, Command, Dispatch, DispatchBinding, MemoryAccess, MemoryType, SlotBinding, Source, Usage,
    Workgroups,
};

/// Parameters for any use, in whatever memory suits the device.
pub fn params() -> BufferParams {
    BufferParams {
        memory: MemoryType::OPTIMAL,
        usage: Usage::all(),
        access: MemoryAccess::empty(),
        label: String::new(),
    }
}

/// All of a buffer.
pub fn whole(index: u32) -> BufferRef {
    BufferRef { source: Source::Direct(index), offset: 0, length: None }
}

/// A part of a buffer.
pub fn part(index: u32, offset: u64, length: u64) -> BufferRef {
    BufferRef { source: Source::Direct(index), offset, length: Some(length) }
}

/// All of what a slot holds.
pub fn slot(index: u32) -> BufferRef {
    BufferRef { source: Source::Slot(index), offset: 0, length: None }
}

/// A fill.
pub fn fill(target: BufferRef, pattern: &[u8]) -> Command {
    Command::Fill { target, pattern: pattern.to_vec() }
}

/// An update.
pub fn update(target: BufferRef, bytes: &[u8]) -> Command {
    Command::Update { target, bytes: bytes.to_vec() }
}

/// A copy.
pub fn copy(source: BufferRef, target: BufferRef) -> Command {
    Command::Copy { source, target }
}

/// A dispatch of a function of the first executable, along x, with buffers bound from 0 in order.
pub fn dispatch(function: u32, groups: u32, constants: &[u8], bindings: &[BufferRef]) -> Command {
    dispatch_of(0, function, Workgroups::Direct([groups, 1, 1]), constants, bindings)
}

/// The same with counts from a buffer.
pub fn dispatch_indirect(function: u32, counts: BufferRef, constants: &[u8], bindings: &[BufferRef]) -> Command {
    dispatch_of(0, function, Workgroups::Indirect(counts), constants, bindings)
}

/// A dispatch of any executable and any counts.
pub fn dispatch_of(
    executable: u32,
    function: u32,
    workgroups: Workgroups,
    constants: &[u8],
    bindings: &[BufferRef],
) -> Command {
    let bindings = (0..).zip(bindings).map(|(binding, buffer)| DispatchBinding { binding, buffer: *buffer }).collect();
    Command::Dispatch(Dispatch { executable, function, workgroups, constants: constants.into(), bindings })
}

/// Slots filled with the buffers of a table, in order.
pub fn table_of(buffers: usize) -> Vec<SlotBinding> {
    (0..buffers as u32).map(|buffer| SlotBinding { buffer, offset: 0, length: None }).collect()
}

/// Numbers as bytes.
pub fn le(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Floats as the numbers of their bits.
pub fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

/// Bytes that differ from their neighbours, of any length.
pub fn sample(length: u64) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(7) ^ (at >> 8).wrapping_mul(13)) as u8 | 1).collect()
}

/// Names by slot what a command names directly.
pub(crate) fn to_slots(command: &mut Command) {
    let slot = |reference: &mut BufferRef| {
        if let Source::Direct(index) = reference.source {
            reference.source = Source::Slot(index);
        }
    };
    match command {
        Command::Barrier => (),
        Command::Fill { target, .. } | Command::Update { target, .. } => slot(target),
        Command::Copy { source, target } => {
            slot(source);
            slot(target);
        }
        Command::Dispatch(dispatch) => {
            if let Workgroups::Indirect(counts) = &mut dispatch.workgroups {
                slot(counts);
            }
            dispatch.bindings.iter_mut().for_each(|binding| slot(&mut binding.buffer));
        }
    }
}
