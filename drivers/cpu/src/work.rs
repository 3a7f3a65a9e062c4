//! Running the commands of one work, in order.

use crate::{
    buffer::CpuBuffer,
    device::LIMITS,
    dispatch,
    executable::CpuExecutable,
    kernel::{Arguments, Kernel},
    state::DeviceState,
};
use hal_driver::{Blob, BufferRef, Code, Command, Dispatch, DispatchBinding, Error, Result, Work, Workgroups};
use std::sync::Arc;

/// Bytes moved between two looks at stop and deadline: well under a millisecond.
const CHUNK_BYTES: u64 = 4 << 20;

/// Bytes of a blob staged at a time: a blob may be anything, and device memory is nothing that it may be handed.
const STAGE_BYTES: u64 = 1 << 20;

/// What a small work has at most, so that it takes a few tens of microseconds: commands, ...
const SMALL_COMMANDS: usize = 16;
/// ... bytes moved, ...
const SMALL_BYTES: u64 = 64 << 10;
/// ... and steps of kernels without loops, most of which run in well under a nanosecond.
const SMALL_COST: u64 = 1 << 20;

/// Whether to run it on the submitting thread, because waking another one takes about as long as the work.
pub(crate) fn is_small(work: &Work) -> bool {
    let (mut bytes, mut cost) = (0_u64, 0_u64);
    work.commands.len() <= SMALL_COMMANDS
        && work.commands.iter().all(|command| {
            match command {
                Command::Barrier => {}
                Command::Fill { target, .. } | Command::Update { target, .. } | Command::Copy { target, .. } => {
                    bytes = bytes.saturating_add(work.resolve(target).map_or(0, |target| target.length));
                }
                // It may block.
                Command::ReadBlob { .. } => return false,
                Command::Dispatch(dispatch) => cost = cost.saturating_add(cost_of(work, dispatch)),
            }
            bytes <= SMALL_BYTES && cost <= SMALL_COST
        })
}

fn cost_of(work: &Work, dispatch: &Dispatch) -> u64 {
    match (executable(work, dispatch).and_then(|executable| executable.kernel(dispatch.function)), dispatch.workgroups)
    {
        (Some(kernel), Workgroups::Direct(groups)) if kernel.straight => {
            let counts = groups.iter().chain(&kernel.abi.workgroup_size).map(|&count| u64::from(count));
            counts.fold(kernel.cost, u64::saturating_mul)
        }
        _ => u64::MAX,
    }
}

/// Runs the commands. `shared`: the pool may help.
pub(crate) fn run(state: &Arc<DeviceState>, work: &Work, shared: bool) -> Result<()> {
    let run = Run { state, work, shared };
    for command in work.commands.iter() {
        run.proceed()?;
        run.command(command)?;
    }
    run.proceed()
}

struct Run<'a> {
    state: &'a Arc<DeviceState>,
    work: &'a Work,
    shared: bool,
}

impl Run<'_> {
    fn command(&self, command: &Command) -> Result<()> {
        match command {
            // Commands run one after the other: each sees what was before it.
            Command::Barrier => Ok(()),
            Command::Fill { target, pattern } => self.fill(target, *pattern),
            Command::Update { target, bytes } => {
                let (address, length) = self.range(target)?;
                same_length(length, bytes.len() as u64)?;
                self.state.memory.write(address, bytes)
            }
            Command::Copy { source, target } => self.copy(source, target),
            Command::ReadBlob { blob, blob_offset, target } => self.read_blob(&**blob, *blob_offset, target),
            Command::Dispatch(dispatch) => self.dispatch(dispatch),
        }
    }

    fn fill(&self, target: &BufferRef, pattern: [u8; 4]) -> Result<()> {
        let (address, length) = self.range(target)?;
        self.pieces(length, CHUNK_BYTES, |at, length| self.state.memory.fill(address + at, length, pattern))
    }

    fn copy(&self, source: &BufferRef, target: &BufferRef) -> Result<()> {
        let ((source, source_length), (target, length)) = (self.range(source)?, self.range(target)?);
        same_length(length, source_length)?;
        self.pieces(length, CHUNK_BYTES, |at, length| self.state.memory.copy(source + at, target + at, length))
    }

    fn read_blob(&self, blob: &dyn Blob, blob_offset: u64, target: &BufferRef) -> Result<()> {
        let (address, length) = self.range(target)?;
        let mut stage = vec![0; length.min(STAGE_BYTES) as usize];
        self.pieces(length, STAGE_BYTES, |at, length| {
            let piece = stage.get_mut(..length as usize).unwrap_or_default();
            blob.read_at(blob_offset + at, piece)?;
            self.state.memory.write(address + at, piece)
        })
    }

    fn dispatch(&self, dispatch: &Dispatch) -> Result<()> {
        let executable = executable(self.work, dispatch).filter(|executable| executable.belongs_to(self.state));
        let kernel = executable.and_then(|executable| executable.kernel(dispatch.function));
        let kernel = kernel.ok_or_else(|| hole("a dispatch names no function of this device"))?;
        let arguments = Arguments {
            groups: self.groups(dispatch)?,
            bindings: self.bindings(kernel, dispatch)?,
            constants: constants(kernel, &dispatch.constants)?,
        };
        dispatch::run(self.state, kernel, &self.work.control, arguments, self.shared)
    }

    /// The counts; those in a buffer are read here, once, before they are checked.
    fn groups(&self, dispatch: &Dispatch) -> Result<[u32; 3]> {
        let counts = match &dispatch.workgroups {
            Workgroups::Direct(counts) => *counts,
            Workgroups::Indirect(counts) => {
                let (address, length) = self.range(counts)?;
                same_length(length, 12)?;
                let bytes = self.state.memory.read(address, length, Vec::with_capacity(12))?;
                let mut counts = [0; 3];
                for (count, word) in counts.iter_mut().zip(words(&bytes)) {
                    *count = word;
                }
                counts
            }
        };
        LIMITS.check_workgroups(counts)?;
        Ok(counts)
    }

    /// Address and length of what the kernel uses. Both lists are in ascending order of binding number.
    fn bindings(&self, kernel: &Kernel, dispatch: &Dispatch) -> Result<Vec<(u32, u32)>> {
        let mut given = dispatch.bindings.iter();
        let wanted = kernel.abi.bindings.iter().map(|wanted| {
            let found = given.find(|given| given.binding == wanted.binding);
            self.binding(found.ok_or_else(|| hole("a dispatch lacks a binding"))?)
        });
        wanted.collect()
    }

    fn binding(&self, binding: &DispatchBinding) -> Result<(u32, u32)> {
        let (address, length) = self.range(&binding.buffer)?;
        let multiple = LIMITS.binding_length_multiple;
        let length = if binding.buffer.length.is_none() { length / multiple * multiple } else { length };
        // Device memory ends below 4 GiB, so neither is ever cut.
        let address = u32::try_from(address).ok().filter(|address| address % naga_wasm::abi::BINDING_ALIGNMENT == 0);
        address.zip(u32::try_from(length).ok()).ok_or_else(|| hole("a binding is not aligned"))
    }

    /// Calls `step` with offset and length of one bounded piece after the other, as long as the work may go on.
    fn pieces(&self, length: u64, piece: u64, mut step: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
        let mut at = 0;
        while at < length {
            let piece = piece.min(length - at);
            step(at, piece)?;
            at += piece;
            self.proceed()?;
        }
        Ok(())
    }

    /// Address and length in device memory.
    fn range(&self, reference: &BufferRef) -> Result<(u64, u64)> {
        let span = self.work.resolve(reference)?;
        let buffer = span.buffer.as_any().downcast_ref::<CpuBuffer>().filter(|buffer| buffer.belongs_to(self.state));
        let buffer = buffer.ok_or_else(|| hole("a work names a buffer of another device"))?;
        Ok((buffer.address(span.offset, span.length)?, span.length))
    }

    /// Fails if the work was told to stop, or the device is lost; lets others have their turn.
    fn proceed(&self) -> Result<()> {
        if let Some(pool) = &self.state.pool {
            pool.relieve();
        }
        self.state.stopped(&self.work.control).map_or(Ok(()), Err)
    }
}

fn executable<'a>(work: &'a Work, dispatch: &Dispatch) -> Option<&'a CpuExecutable> {
    work.executables.get(dispatch.executable as usize)?.as_any().downcast_ref()
}

fn constants(kernel: &Kernel, bytes: &[u8]) -> Result<Vec<u32>> {
    same_length(bytes.len() as u64, u64::from(kernel.abi.constant_bytes))?;
    Ok(words(bytes).collect())
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word))
}

fn same_length(left: u64, right: u64) -> Result<()> {
    if left == right { Ok(()) } else { Err(hole(&format!("{left} bytes stand where {right} belong"))) }
}

fn hole(what: &str) -> Error {
    Error::new(Code::Internal, format!("{what}, and the checks above let it pass"))
}
