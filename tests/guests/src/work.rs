//! Short forms for batches: tables, commands, and one call that submits and waits.

use crate::check::fine;
use crate::{
    Batch, Buffer, BufferRef, BufferSource, Command, CopyCommand, Device, DispatchBinding, DispatchCommand, Error,
    Executable, FillCommand, LONG, Outcome, Semaphore, TimePoint, UpdateCommand, Workgroups,
};

/// All of a buffer in the table.
pub fn direct(index: u32) -> BufferRef {
    BufferRef { source: BufferSource::Direct(index), offset: 0, length: None }
}

/// All of what is put into a slot.
pub fn slot(index: u32) -> BufferRef {
    BufferRef { source: BufferSource::Slot(index), offset: 0, length: None }
}

/// A part of what a reference means.
pub fn part(of: BufferRef, offset: u64, length: u64) -> BufferRef {
    BufferRef { offset, length: Some(length), ..of }
}

/// A fill.
pub fn fill(target: BufferRef, pattern: &[u8]) -> Command {
    Command::Fill(FillCommand { target, pattern: pattern.to_vec() })
}

/// An update.
pub fn update(target: BufferRef, bytes: &[u8]) -> Command {
    Command::Update(UpdateCommand { target, bytes: bytes.to_vec() })
}

/// A copy.
pub fn copy(source: BufferRef, target: BufferRef) -> Command {
    Command::Copy(CopyCommand { source, target })
}

/// A dispatch of one function of the first executable, along x, with the buffers bound in order from 0.
pub fn dispatch(function: u32, workgroups: u32, constants: &[u8], bindings: &[BufferRef]) -> Command {
    dispatch_over(function, Workgroups::Direct((workgroups, 1, 1)), constants, bindings)
}

/// The same, with the counts in a buffer.
pub fn dispatch_indirect(function: u32, counts: BufferRef, constants: &[u8], bindings: &[BufferRef]) -> Command {
    dispatch_over(function, Workgroups::Indirect(counts), constants, bindings)
}

fn dispatch_over(function: u32, workgroups: Workgroups, constants: &[u8], bindings: &[BufferRef]) -> Command {
    let bindings = (0..).zip(bindings).map(|(binding, buffer)| DispatchBinding { binding, buffer: *buffer }).collect();
    Command::Dispatch(DispatchCommand { executable: 0, function, workgroups, constants: constants.to_vec(), bindings })
}

/// A batch.
pub fn batch<'a>(buffers: &[&'a Buffer], executables: &[&'a Executable], commands: Vec<Command>) -> Batch<'a> {
    Batch { buffers: buffers.to_vec(), executables: executables.to_vec(), commands }
}

/// A batch of transfers.
pub fn transfers<'a>(buffers: &[&'a Buffer], commands: Vec<Command>) -> Batch<'a> {
    batch(buffers, &[], commands)
}

/// A batch without commands: a barrier in the queue.
pub fn nothing() -> Batch<'static> {
    batch(&[], &[], Vec::new())
}

/// A value of a semaphore.
pub fn at(semaphore: &Semaphore, value: u64) -> TimePoint<'_> {
    TimePoint { semaphore, value }
}

/// A semaphore that starts at 0.
pub fn semaphore(device: &Device) -> Outcome<Semaphore> {
    fine(device.create_semaphore(0), "making a semaphore")
}

/// Submits a batch and waits for it. The error is the submission's or, if that was accepted, the work's.
pub fn try_run(device: &Device, batch: Batch<'_>) -> Result<(), Error> {
    let done = device.create_semaphore(0)?;
    device.submit(&[], &batch, &[at(&done, 1)], None)?;
    done.wait(1, LONG)
}

/// Submits a batch and waits for it.
pub fn run(device: &Device, batch: Batch<'_>) -> Outcome {
    fine(try_run(device, batch), "submitting a batch and waiting for it")
}
