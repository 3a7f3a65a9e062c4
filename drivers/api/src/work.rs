//! Work: checked commands on their way to a device.

use crate::{Buffer, Error, Executable, Result};
use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

/// Read-only bytes that the host lends. The length never changes.
pub trait Blob: Send + Sync + 'static {
    /// Bytes.
    fn length(&self) -> u64;

    /// Fills `into` from `offset`. The range lies inside the blob. *Blocking.*
    ///
    /// # Errors
    /// `DataLoss` if the bytes are no longer there.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()>;
}

/// A range of an allocation, in bytes.
#[derive(Clone)]
pub struct BufferView {
    /// The allocation.
    pub buffer: Arc<dyn Buffer>,
    /// Start of the view.
    pub offset: u64,
    /// Length of the view.
    pub length: u64,
}

/// Where a command's buffer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An index into [`Work::buffers`].
    Direct(u32),
    /// An index into [`Work::slots`].
    Slot(u32),
}

/// A range relative to a view, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRef {
    /// The view.
    pub source: Source,
    /// Start inside the view.
    pub offset: u64,
    /// None: to the end of the view.
    pub length: Option<u64>,
}

/// A range of an allocation, resolved: what a driver works on.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    /// The allocation.
    pub buffer: &'a Arc<dyn Buffer>,
    /// Start inside the allocation, in bytes.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// How many workgroups a dispatch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workgroups {
    /// In x, y, z; within the device's limits.
    Direct([u32; 3]),
    /// Three little-endian `u32` that the driver reads, once, when the dispatch runs. If one exceeds the limit, or their product
    /// does, no workgroup runs and the work fails with `OutOfRange`.
    Indirect(BufferRef),
}

/// A buffer for one `@binding(n)`. Offset and length satisfy the device's alignments. An open length does after
/// rounding down to [`Limits::binding_length_multiple`](crate::Limits), which is the driver's to do: [`Work::resolve`] does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchBinding {
    /// The `n`.
    pub binding: u32,
    /// What is bound.
    pub buffer: BufferRef,
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// An index into [`Work::executables`].
    pub executable: u32,
    /// An index into [`Executable::functions`].
    pub function: u32,
    /// How many workgroups.
    pub workgroups: Workgroups,
    /// As long as the function's `constant_bytes`.
    pub constants: Box<[u8]>,
    /// Every binding the function uses, once, in ascending order; others may be there too.
    pub bindings: Box<[DispatchBinding]>,
}

/// One checked command.
#[derive(Clone)]
pub enum Command {
    /// What stands after it sees all effects of what stands before it.
    Barrier,
    /// Repeats a pattern of 1, 2 or 4 bytes.
    Fill {
        /// The range; a multiple of the pattern's length.
        target: BufferRef,
        /// The pattern, repeated to four bytes.
        pattern: [u8; 4],
    },
    /// Writes bytes that were captured when the command was made.
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
    /// Copies from a blob. The driver bounds what it stages at a time.
    ReadBlob {
        /// From here; the range lies inside the blob.
        blob: Arc<dyn Blob>,
        /// Start inside the blob.
        blob_offset: u64,
        /// To here.
        target: BufferRef,
    },
    /// Launches a kernel.
    Dispatch(Dispatch),
}

/// How long work took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// From `submit` until it began; of work that came before its waits were met, from when they were.
    pub queue: Duration,
    /// While it ran; none where the device cannot tell.
    pub device: Option<Duration>,
}

/// Called once when work has ended, with nothing of the [`Work`] kept: buffers, slots, executables and commands are dropped first.
pub type Done = Box<dyn FnOnce(Result<Timing>) + Send>;

/// Commands with the objects they name, ready to run.
pub struct Work {
    /// In order; [`Command::Barrier`] separates what must see each other.
    pub commands: Arc<[Command]>,
    /// The table behind [`Source::Direct`].
    pub buffers: Vec<BufferView>,
    /// The table behind [`Source::Slot`].
    pub slots: Vec<BufferView>,
    /// The table behind [`Dispatch::executable`].
    pub executables: Arc<[Arc<dyn Executable>]>,
    /// How it is stopped.
    pub control: Arc<Control>,
    /// Called exactly once, whatever happens, after everything else here was dropped.
    pub done: Done,
}

impl Work {
    /// The allocation and range that a reference means.
    ///
    /// # Errors
    /// `Internal` if the reference does not fit its table: the checked layer above let something through.
    pub fn resolve(&self, reference: &BufferRef) -> Result<Span<'_>> {
        let view = match reference.source {
            Source::Direct(index) => self.buffers.get(index as usize),
            Source::Slot(index) => self.slots.get(index as usize),
        };
        view.and_then(|view| {
            let rest = view.length.checked_sub(reference.offset)?;
            let length = reference.length.unwrap_or(rest);
            let offset = view.offset.checked_add(reference.offset)?;
            (length <= rest).then_some(Span { buffer: &view.buffer, offset, length })
        })
        .ok_or_else(|| {
            Error::new(crate::Code::Internal, format!("a command's reference {reference:?} does not fit its buffer"))
        })
    }
}

/// How running work is told to stop: by whoever cancels it, or by its deadline.
///
/// A driver asks [`Control::stopped`] before it begins, between commands, and from inside a kernel at least every ten milliseconds.
#[derive(Debug)]
pub struct Control {
    /// When its waits were met, once they are.
    begun: OnceLock<Instant>,
    /// How long after that it has to end.
    time: Option<Duration>,
    stop: Mutex<Option<Error>>,
}

impl Control {
    /// Work whose waits are met, and that ends by itself or at `deadline`.
    pub fn new(deadline: Option<Instant>) -> Self {
        let now = Instant::now();
        let time = deadline.map(|deadline| deadline.saturating_duration_since(now));
        Self { begun: OnceLock::from(now), time, stop: Mutex::new(None) }
    }

    /// Work that may be handed over before its waits are met, and has so much time from [`Control::begin`] on.
    pub fn waiting(time: Duration) -> Self {
        Self { begun: OnceLock::new(), time: Some(time), stop: Mutex::new(None) }
    }

    /// Its waits are met: its time begins, unless it has before.
    pub fn begin(&self) {
        self.begun.get_or_init(Instant::now);
    }

    /// When its waits were met; none if it is early and they are not yet.
    pub fn begun(&self) -> Option<Instant> {
        self.begun.get().copied()
    }

    /// When it has to end, whether or not anybody stops it before. None also as long as its waits are not met.
    pub fn deadline(&self) -> Option<Instant> {
        self.begun()?.checked_add(self.time?)
    }

    /// Tells the work to stop. The first reason stands.
    pub fn stop(&self, reason: Error) {
        self.reason().get_or_insert(reason);
    }

    /// Why the work has to stop, if it has to.
    pub fn stopped(&self) -> Option<Error> {
        if let Some(reason) = self.reason().as_ref() {
            return Some(reason.clone());
        }
        let deadline = self.deadline()?;
        (Instant::now() >= deadline).then(|| {
            Error::new(
                crate::Code::DeadlineExceeded,
                "the submission ran past its deadline; split it, or have the operator grant it more time",
            )
        })
    }

    fn reason(&self) -> MutexGuard<'_, Option<Error>> {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
