//! Device memory.
use crate::Result;
use hal_driver::{MemoryAccess, MemoryType, Usage};

/// What a buffer is. Constant for its whole life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferInfo {
    /// Bytes that can be addressed.
    pub size: u64,
    /// Start inside the allocation that a subspan is a view of.
    pub offset: u64,
    /// What was asked for.
    pub memory: MemoryType,
    /// What it may be used for.
    pub usage: Usage,
    /// What may be done to the bytes; never empty.
    pub access: MemoryAccess,
    /// Made by `alloca`.
    pub transient: bool,
    /// As given.
    pub label: String,
}

/// A range of device memory.
#[derive(Clone)]
pub struct Buffer(());

impl Buffer {
    /// `buffer.info`.
    pub fn info(&self) -> BufferInfo { todo!() }
    /// `buffer.subspan`.
    pub fn subspan(&self, _offset: u64, _length: u64) -> Result<Buffer> { todo!() }
    /// `buffer.read`, appended to `into`.
    pub async fn read(&self, _offset: u64, _length: u64, _into: Vec<u8>) -> Result<Vec<u8>> { todo!() }
    /// `buffer.write`.
    pub async fn write(&self, _offset: u64, _bytes: &[u8]) -> Result<()> { todo!() }
    /// `buffer.close`.
    pub fn close(&self) { todo!() }
}
