//! Buffers: blocks of a device's memory.

use crate::state::DeviceState;
use hal_driver::{Buffer, Code, Error, Result, Transfer};
use std::{any::Any, ops::Range, sync::Arc};

pub(crate) struct CpuBuffer {
    state: Arc<DeviceState>,
    /// At least as long as the size. What is longer is zero, and nobody reaches it.
    block: Range<u64>,
    size: u64,
}

impl CpuBuffer {
    pub(crate) fn new(state: &Arc<DeviceState>, size: u64) -> Result<Self> {
        Ok(Self { block: state.memory.allocate(size)?, state: state.clone(), size })
    }

    /// Address of a range in device memory.
    pub(crate) fn address(&self, offset: u64, length: u64) -> Result<u64> {
        let fits = offset.checked_add(length).is_some_and(|end| end <= self.size);
        fits.then_some(self.block.start.wrapping_add(offset)).ok_or_else(|| {
            Error::new(
                Code::Internal,
                format!("{length} bytes at {offset} of a buffer of {} passed the checks above", self.size),
            )
        })
    }

    /// Whether it is of this device.
    pub(crate) fn belongs_to(&self, state: &Arc<DeviceState>) -> bool {
        Arc::ptr_eq(&self.state, state)
    }
}

impl Drop for CpuBuffer {
    fn drop(&mut self) {
        if self.state.memory.free(self.block.clone()) {
            self.state.scrub_soon();
        }
    }
}

impl Buffer for CpuBuffer {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, offset: u64, length: u64, into: Vec<u8>) -> Transfer<Vec<u8>> {
        let read = || {
            self.state.alive()?;
            self.state.memory.read(self.address(offset, length)?, length, into)
        };
        Transfer::Done(read())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Transfer<()> {
        let write = || {
            self.state.alive()?;
            self.state.memory.write(self.address(offset, bytes.len() as u64)?, bytes)
        };
        Transfer::Done(write())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
