//! Buffers: bytes of the host.

use hal_driver::{Buffer, Code, Error, Result, Transfer};
use std::{
    any::Any,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The memory that a device's buffers are taken from.
pub(crate) struct Memory {
    free: AtomicU64,
}

impl Memory {
    pub(crate) const fn new(bytes: u64) -> Self {
        Self { free: AtomicU64::new(bytes) }
    }

    fn take(&self, bytes: u64) -> Result<()> {
        let taken = self.free.try_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(bytes));
        taken.map(drop).map_err(|free| exhausted(bytes, &format!("{free} bytes of this device's memory are left")))
    }
}

/// An allocation. It holds its device's memory, not the device: nothing here needs one.
pub(crate) struct NullBuffer {
    bytes: Mutex<Box<[u8]>>,
    size: u64,
    memory: Arc<Memory>,
}

impl NullBuffer {
    pub(crate) fn new(memory: Arc<Memory>, size: u64) -> Result<Self> {
        memory.take(size)?;
        // From here on dropping `buffer` gives the bytes back, whatever fails.
        let mut buffer = Self { bytes: Mutex::default(), size, memory };
        let length = usize::try_from(size).map_err(|_| exhausted(size, "this host's address space is smaller"))?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| exhausted(size, "the system has too little memory"))?;
        bytes.resize(length, 0);
        buffer.bytes = Mutex::new(bytes.into_boxed_slice());
        Ok(buffer)
    }

    /// Calls `f` with a range of the bytes.
    pub(crate) fn with<T>(&self, offset: u64, length: u64, f: impl FnOnce(&mut [u8]) -> T) -> Result<T> {
        let range = range(offset, length);
        match range.and_then(|range| self.lock().get_mut(range).map(f)) {
            Some(value) => Ok(value),
            None => Err(Error::new(
                Code::Internal,
                format!("{length} bytes at {offset} of a buffer of {} passed the checks above", self.size),
            )),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Box<[u8]>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for NullBuffer {
    fn drop(&mut self) {
        self.memory.free.fetch_add(self.size, Ordering::Relaxed);
    }
}

impl Buffer for NullBuffer {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, offset: u64, length: u64, mut into: Vec<u8>) -> Transfer<Vec<u8>> {
        Transfer::Done(self.with(offset, length, |bytes| into.extend_from_slice(bytes)).map(|()| into))
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Transfer<()> {
        Transfer::Done(self.with(offset, bytes.len() as u64, |target| target.copy_from_slice(bytes)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn range(offset: u64, length: u64) -> Option<Range<usize>> {
    let end = offset.checked_add(length)?;
    Some(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
}

fn exhausted(bytes: u64, why: &str) -> Error {
    Error::new(Code::ResourceExhausted, format!("cannot allocate {bytes} bytes: {why}"))
}
