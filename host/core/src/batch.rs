//! What a guest hands over in one call: tables of objects, and commands that name them by index.
//!
//! The shapes are those of `hal:device/recording`, so that a binding converts one to one. References, dispatches and workgroup
//! counts are the driver's own types: a checked command differs from an unchecked one only in having been checked.

use crate::{Buffer, Executable, Semaphore};
use std::sync::Arc;

pub use hal_driver::{BufferRef, Dispatch, DispatchBinding, Source, Workgroups};

/// One command, unchecked.
#[derive(Clone, Debug)]
pub enum Command {
    /// What stands after it sees all effects of what stands before it.
    Barrier,
    /// Repeats a pattern over a range.
    Fill {
        /// The range; offset and length are multiples of the pattern's length.
        target: BufferRef,
        /// 1, 2 or 4 bytes.
        pattern: Vec<u8>,
    },
    /// Writes bytes.
    Update {
        /// The range, as long as the bytes.
        target: BufferRef,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// Copies between ranges of one length that do not overlap.
    Copy {
        /// From here.
        source: BufferRef,
        /// To here.
        target: BufferRef,
    },
    /// Launches a kernel.
    Dispatch(Dispatch),
}

/// Commands with the objects they name.
#[derive(Clone, Default)]
pub struct Batch {
    /// The table behind [`Source::Direct`].
    pub buffers: Vec<Buffer>,
    /// The table behind [`Dispatch::executable`].
    pub executables: Vec<Executable>,
    /// In order.
    pub commands: Vec<Command>,
}

/// What an `execute` puts into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotBinding {
    /// An index into the call's `buffers`.
    pub buffer: u32,
    /// Start inside the buffer, in bytes.
    pub offset: u64,
    /// None: to the end of the buffer.
    pub length: Option<u64>,
}

/// A value on a semaphore's timeline: to wait for, or to signal.
#[derive(Clone)]
pub struct TimePoint {
    /// The timeline.
    pub semaphore: Semaphore,
    /// The value.
    pub value: u64,
}

impl TimePoint {
    /// A value on a timeline.
    pub fn new(semaphore: &Semaphore, value: u64) -> Self {
        Self { semaphore: semaphore.clone(), value }
    }
}

/// Whether a wait needs all of its points or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitMode {
    /// All.
    All,
    /// Any.
    Any,
}
