//! Device memory, read and written as slices of plain data.

use crate::bindings::hal::device::buffer;
use crate::transfer;
use crate::{Code, Error, Result};
use bytemuck::{AnyBitPattern, NoUninit};
use std::ops::{Bound, RangeBounds};

pub use crate::bindings::hal::device::types::{BufferUsage, MemoryAccess, MemoryType};
pub use buffer::{BufferInfo, BufferParams};

/// Whatever memory suits the device best, for every use, without a label.
impl Default for BufferParams {
    fn default() -> Self {
        Self {
            memory: MemoryType::OPTIMAL,
            usage: BufferUsage::all(),
            access: MemoryAccess::empty(),
            label: String::new(),
        }
    }
}

/// A range of device memory.
#[derive(Debug)]
pub struct Buffer {
    raw: buffer::Buffer,
    transfer_bytes: u64,
}

impl Buffer {
    pub(crate) fn new(raw: buffer::Buffer, transfer_bytes: u64) -> Self {
        Self { raw, transfer_bytes }
    }

    /// Size, memory type, usage. Constant.
    pub fn info(&self) -> BufferInfo {
        self.raw.info()
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.info().size
    }

    /// Writes a slice, its first element at byte `offset`, in as many calls as the device's limit "transfer-bytes" asks for. At
    /// once: not ordered with queued work.
    ///
    /// # Errors
    /// `out-of-range` past the end; `permission-denied` by usage or access; `failed-precondition` when closed, not
    /// committed, or in use by queued work.
    pub fn write<T: NoUninit>(&self, offset: u64, data: &[T]) -> Result<()> {
        let bytes = bytemuck::cast_slice(data);
        transfer::write(bytes, self.transfer_bytes, |at, chunk| Ok(self.raw.write(offset.saturating_add(at), chunk)?))
    }

    /// Fills a slice from byte `offset` on, in as many calls as needed. At once: not ordered with queued work.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn read<T: AnyBitPattern + NoUninit>(&self, offset: u64, data: &mut [T]) -> Result<()> {
        let bytes = bytemuck::cast_slice_mut(data);
        transfer::read(bytes, self.transfer_bytes, |at, length| Ok(self.raw.read(offset.saturating_add(at), length)?))
    }

    /// The whole buffer.
    ///
    /// # Errors
    /// `invalid-argument` if its size is no multiple of an element's; as [`read`](Self::read).
    pub fn to_vec<T: AnyBitPattern + NoUninit>(&self) -> Result<Vec<T>> {
        let mut data = bytemuck::zeroed_vec(elements::<T>(self.size())?);
        self.read(0, &mut data)?;
        Ok(data)
    }

    /// A view of a part, as a buffer of its own that keeps the memory alive.
    ///
    /// # Errors
    /// `out-of-range` past the end; `resource-exhausted` for the limit "buffers".
    pub fn subspan(&self, offset: u64, length: u64) -> Result<Buffer> {
        Ok(Self::new(self.raw.subspan(offset, length)?, self.transfer_bytes))
    }

    /// A range in bytes, for a command. It is checked when the command is submitted.
    pub fn slice(&self, range: impl RangeBounds<u64>) -> Slice<'_> {
        Slice::from(self).slice(range)
    }

    /// Gives it up. Subspans stay valid, work in flight goes on.
    pub fn close(&self) {
        self.raw.close();
    }

    pub(crate) fn raw(&self) -> &buffer::Buffer {
        &self.raw
    }
}

/// A handle that came from elsewhere, such as a call's argument.
impl From<buffer::Buffer> for Buffer {
    fn from(raw: buffer::Buffer) -> Self {
        Self::new(raw, transfer::UNKNOWN_LIMIT)
    }
}

/// How many elements so many bytes are.
pub(crate) fn elements<T>(bytes: u64) -> Result<usize> {
    let one = size_of::<T>() as u64;
    match bytes.checked_div(one) {
        Some(count) if count * one == bytes => usize::try_from(count)
            .map_err(|_| Error::new(Code::InvalidArgument, format!("{bytes} bytes do not fit into memory"))),
        _ => Err(Error::new(
            Code::InvalidArgument,
            format!("{bytes} bytes are no whole number of elements of {one} bytes"),
        )),
    }
}

/// A range of a buffer, or of what will be in a slot of a recording. `&Buffer` converts to the whole of it.
#[derive(Debug, Clone, Copy)]
pub struct Slice<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) offset: u64,
    pub(crate) length: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    Buffer(&'a buffer::Buffer),
    Slot(u32),
}

/// A length that no buffer has.
const OUT_OF_RANGE: u64 = u64::MAX;

/// A slot of a recording: filled with a buffer each time it is executed.
pub fn slot(index: u32) -> Slice<'static> {
    Slice { source: Source::Slot(index), offset: 0, length: None }
}

impl Slice<'_> {
    /// A part of it, in bytes from its start. A range that ends before it starts, or past this one, is refused as
    /// `out-of-range` when it is submitted.
    #[must_use]
    pub fn slice(self, range: impl RangeBounds<u64>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&end) => Some(end.saturating_add(1)),
            Bound::Excluded(&end) => Some(end),
            Bound::Unbounded => self.length,
        };
        let inside = |end: u64| self.length.is_none_or(|length| end <= length);
        let length = end.map(|end| end.checked_sub(start).filter(|_| inside(end)).unwrap_or(OUT_OF_RANGE));
        Self { source: self.source, offset: self.offset.saturating_add(start), length }
    }
}

impl<'a> From<&'a Buffer> for Slice<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Self { source: Source::Buffer(buffer.raw()), offset: 0, length: None }
    }
}
