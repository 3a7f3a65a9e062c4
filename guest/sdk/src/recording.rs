//! Batches of commands, to be submitted once or recorded for many executions.

use crate::bindings::hal::device::{buffer, device, recording};
use crate::buffer::{Slice, Source};
use crate::executable::Function;
use crate::{Code, Error, Result};
use bytemuck::NoUninit;
use std::collections::BTreeMap;

pub use recording::Command;

/// Commands with the objects they name, in the making.
///
/// Nothing in a batch is ordered without a [`barrier`](Self::barrier) between. Everything is checked when the batch is
/// submitted or recorded, not before.
///
/// ```no_run
/// # use hal_guest::prelude::*;
/// # fn f(device: &Device, a: &Buffer, b: &Buffer) -> hal_guest::Result<()> {
/// device.run(&Batch::new().fill(a, 1u32).barrier().copy(a.slice(..64), b.slice(64..128)))?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Batch<'a> {
    raw: recording::Batch<'a>,
    buffer_indices: BTreeMap<u32, u32>,
    executable_indices: BTreeMap<u32, u32>,
}

impl Default for Batch<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Batch<'a> {
    /// No commands. Submitted like this it is a queue barrier.
    pub fn new() -> Self {
        Self {
            raw: recording::Batch { buffers: Vec::new(), executables: Vec::new(), commands: Vec::new() },
            buffer_indices: BTreeMap::new(),
            executable_indices: BTreeMap::new(),
        }
    }

    /// What comes after it sees all effects of what came before.
    #[must_use]
    pub fn barrier(mut self) -> Self {
        self.raw.commands.push(Command::Barrier);
        self
    }

    /// Fills a range with a pattern of 1, 2 or 4 bytes, such as `0u32` or `1.5f32`.
    #[must_use]
    pub fn fill<T: NoUninit>(mut self, target: impl Into<Slice<'a>>, pattern: T) -> Self {
        let target = self.reference(target.into());
        let pattern = bytemuck::bytes_of(&pattern).to_vec();
        self.raw.commands.push(Command::Fill(recording::FillCommand { target, pattern }));
        self
    }

    /// Writes data that is captured now. At most the device's limit "update-bytes"; [`Buffer::write`](crate::Buffer::write) is
    /// for more. The range is as long as the data, whatever lies behind it in `target`.
    #[must_use]
    pub fn update<T: NoUninit>(mut self, target: impl Into<Slice<'a>>, data: &[T]) -> Self {
        let bytes = bytemuck::cast_slice(data).to_vec();
        let mut target = target.into();
        target.length.get_or_insert(bytes.len() as u64);
        let target = self.reference(target);
        self.raw.commands.push(Command::Update(recording::UpdateCommand { target, bytes }));
        self
    }

    /// Copies a range. Both must have the same length; inside one buffer they must not overlap.
    #[must_use]
    pub fn copy(mut self, source: impl Into<Slice<'a>>, target: impl Into<Slice<'a>>) -> Self {
        let source = self.reference(source.into());
        let target = self.reference(target.into());
        self.raw.commands.push(Command::Copy(recording::CopyCommand { source, target }));
        self
    }

    /// Runs a kernel: see [`Function::dispatch`].
    #[must_use]
    pub fn dispatch(mut self, dispatch: Dispatch<'a>) -> Self {
        let raw = dispatch.function.executable().raw();
        let executable = index(&mut self.executable_indices, &mut self.raw.executables, raw, raw.handle());
        let workgroups = match dispatch.workgroups {
            Workgroups::Direct([x, y, z]) => recording::Workgroups::Direct((x, y, z)),
            Workgroups::Indirect(counts) => recording::Workgroups::Indirect(self.reference(counts)),
        };
        let bindings = dispatch
            .bindings
            .into_iter()
            .map(|(binding, slice)| recording::DispatchBinding { binding, buffer: self.reference(slice) })
            .collect();
        self.raw.commands.push(Command::Dispatch(recording::DispatchCommand {
            executable,
            function: dispatch.function.index(),
            workgroups,
            constants: dispatch.constants,
            bindings,
        }));
        self
    }

    /// The commands so far.
    pub fn commands(&self) -> &[Command] {
        &self.raw.commands
    }

    pub(crate) fn raw(&self) -> &recording::Batch<'a> {
        &self.raw
    }

    fn reference(&mut self, slice: Slice<'a>) -> recording::BufferRef {
        let Slice { source, offset, length } = slice;
        let source = match source {
            Source::Buffer(raw) => {
                let at = index(&mut self.buffer_indices, &mut self.raw.buffers, raw, raw.handle());
                recording::BufferSource::Direct(at)
            }
            Source::Slot(slot) => recording::BufferSource::Slot(slot),
        };
        recording::BufferRef { source, offset, length }
    }
}

/// The index of an object in a flat table, to which it is added if it is not there: each handle crosses once.
fn index<'a, T>(indices: &mut BTreeMap<u32, u32>, table: &mut Vec<&'a T>, object: &'a T, handle: u32) -> u32 {
    *indices.entry(handle).or_insert_with(|| {
        table.push(object);
        table.len() as u32 - 1
    })
}

/// How many workgroups a dispatch runs.
#[derive(Debug, Clone, Copy)]
pub enum Workgroups<'a> {
    /// In x, y, z.
    Direct([u32; 3]),
    /// Three `u32` in a buffer, read when the dispatch runs.
    Indirect(Slice<'a>),
}

impl From<u32> for Workgroups<'_> {
    fn from(x: u32) -> Self {
        Self::Direct([x, 1, 1])
    }
}

impl From<[u32; 2]> for Workgroups<'_> {
    fn from([x, y]: [u32; 2]) -> Self {
        Self::Direct([x, y, 1])
    }
}

impl From<[u32; 3]> for Workgroups<'_> {
    fn from(counts: [u32; 3]) -> Self {
        Self::Direct(counts)
    }
}

impl<'a> From<Slice<'a>> for Workgroups<'a> {
    fn from(counts: Slice<'a>) -> Self {
        Self::Indirect(counts)
    }
}

/// One run of a kernel, in the making: see [`Function::dispatch`].
#[derive(Debug, Clone)]
#[must_use]
pub struct Dispatch<'a> {
    function: Function<'a>,
    workgroups: Workgroups<'a>,
    constants: Vec<u8>,
    bindings: Vec<(u32, Slice<'a>)>,
}

impl<'a> Dispatch<'a> {
    pub(crate) fn new(function: Function<'a>, workgroups: Workgroups<'a>) -> Self {
        Self { function, workgroups, constants: Vec::new(), bindings: Vec::new() }
    }

    /// Puts a buffer, a range of one or a [`slot`](crate::slot) into `@group(0) @binding(binding)`.
    pub fn bind(mut self, binding: u32, buffer: impl Into<Slice<'a>>) -> Self {
        self.bindings.push((binding, buffer.into()));
        self
    }

    /// Appends to the constants, which are the kernel's `var<immediate>`: the members in their order, padding included.
    pub fn constant<T: NoUninit>(mut self, value: T) -> Self {
        self.constants.extend_from_slice(bytemuck::bytes_of(&value));
        self
    }
}

/// A batch that was checked once and can be executed many times: see [`Device::create_recording`](crate::Device::create_recording).
#[derive(Debug)]
pub struct Recording(recording::Recording);

impl Recording {
    /// Gives it up. Work in flight goes on.
    pub fn close(&self) {
        self.0.close();
    }

    pub(crate) fn raw(&self) -> &recording::Recording {
        &self.0
    }
}

impl From<recording::Recording> for Recording {
    fn from(raw: recording::Recording) -> Self {
        Self(raw)
    }
}

/// What one execution of a recording puts into its slots, as flat tables.
#[derive(Debug, Default)]
pub(crate) struct SlotTable<'a> {
    pub(crate) buffers: Vec<&'a buffer::Buffer>,
    pub(crate) bindings: Vec<device::Binding>,
}

impl<'a> SlotTable<'a> {
    pub(crate) fn new(slots: &[Slice<'a>]) -> Result<Self> {
        let mut table = Self::default();
        let mut indices = BTreeMap::new();
        for &Slice { source, offset, length } in slots {
            let Source::Buffer(raw) = source else {
                return Err(Error::new(Code::InvalidArgument, "a slot is filled with a buffer, not with another slot"));
            };
            let buffer = index(&mut indices, &mut table.buffers, raw, raw.handle());
            table.bindings.push(device::Binding { buffer, offset, length });
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests;
