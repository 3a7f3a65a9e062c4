//! A device: memory, kernels, a queue.

use crate::bindings::hal::device::device;
use crate::buffer::{Buffer, BufferParams, Slice};
use crate::executable::{Executable, ExecutableParams};
use crate::recording::{Batch, Recording, SlotTable};
use crate::semaphore::{FOREVER, Semaphore, TimePoint, nanoseconds};
use crate::{Amount, Blob, Error, Result, Usage, transfer};
use bytemuck::NoUninit;
use std::cell::{Cell, OnceCell};
use std::time::Duration;

pub use device::{Compatibility, DeviceInfo, DeviceKind, Heap, Timing, WaitMode};

/// An open device, with the limits of the grant it came from.
///
/// It has one queue. Work on it is ordered by semaphores only: two submissions that share none may run in either order or at
/// once. [`run`](Self::run) submits and waits, which is all that a simple program needs.
pub struct Device {
    raw: device::Device,
    transfer_bytes: OnceCell<u64>,
    /// The semaphore of `run` and its last value. None while `run` runs, and after a failure.
    timeline: Cell<Option<(Semaphore, u64)>>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Device").field(&self.raw).finish()
    }
}

impl std::fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Integrated => "integrated",
            DeviceKind::Discrete => "discrete",
            DeviceKind::Virtual => "virtual",
            DeviceKind::Other => "other",
        })
    }
}

/// A device that came from elsewhere, such as a call's argument.
impl From<device::Device> for Device {
    fn from(raw: device::Device) -> Self {
        Self { raw, transfer_bytes: OnceCell::new(), timeline: Cell::new(None) }
    }
}

/// What it is and what it allows.
impl Device {
    /// Path, name, kind, memory, formats, features.
    pub fn info(&self) -> DeviceInfo {
        self.raw.info()
    }

    /// Bounds of this device under its grant.
    pub fn limits(&self) -> Vec<Amount> {
        self.raw.limits()
    }

    /// One of them by name, if it has that name.
    pub fn limit(&self, name: &str) -> Option<u64> {
        self.limits().into_iter().find(|limit| limit.name == name).map(|limit| limit.value)
    }

    /// What is used of the grant, and what it allows.
    pub fn budget(&self) -> Vec<Usage> {
        self.raw.budget()
    }

    /// A number about the device, such as `("hal.features", "shader-f16")`.
    ///
    /// # Errors
    /// `not-found` for a key nobody knows.
    pub fn query(&self, category: &str, key: &str) -> Result<u64> {
        Ok(self.raw.query(category, key)?)
    }

    /// The kinds of memory it has.
    pub fn memory_heaps(&self) -> Vec<Heap> {
        self.raw.memory_heaps()
    }

    /// How a buffer with these parameters would fare.
    pub fn buffer_compatibility(&self, params: &BufferParams, size: u64) -> Compatibility {
        self.raw.buffer_compatibility(params, size)
    }

    /// Whether it loads executables of a format.
    pub fn can_load(&self, format: &str) -> bool {
        self.raw.can_load(format)
    }

    /// Why it is lost; none while it is not.
    pub fn lost(&self) -> Option<Error> {
        self.raw.lost().map(Error::from)
    }

    /// A semaphore that fails when the device is lost or closed, for an any-wait.
    ///
    /// # Errors
    /// `resource-exhausted` for the limit "semaphores".
    pub fn loss_semaphore(&self) -> Result<Semaphore> {
        Ok(self.raw.loss_semaphore()?.into())
    }

    /// Gives memory that only caches hold back to the system.
    ///
    /// # Errors
    /// `unavailable` once lost.
    pub fn trim(&self) -> Result<()> {
        Ok(self.raw.trim()?)
    }

    /// Gives it and everything made from it up.
    pub fn close(&self) {
        self.raw.close();
    }

    /// The handle, for a component with bindings of its own.
    pub fn raw(&self) -> &device::Device {
        &self.raw
    }

    /// The handle, to hand the device on.
    pub fn into_raw(self) -> device::Device {
        self.raw
    }

    fn transfer_bytes(&self) -> u64 {
        *self.transfer_bytes.get_or_init(|| self.limit(transfer::LIMIT).unwrap_or(transfer::UNKNOWN_LIMIT))
    }
}

/// Memory.
impl Device {
    /// A buffer of so many bytes, zeroed, for every use.
    ///
    /// # Errors
    /// `resource-exhausted` ("memory-bytes", "buffers", "max-buffer-bytes", or the device is out of memory).
    pub fn buffer(&self, size: u64) -> Result<Buffer> {
        self.allocate(&BufferParams::default(), size)
    }

    /// A buffer with this content, for every use.
    ///
    /// # Errors
    /// As [`buffer`](Self::buffer) and [`Buffer::write`].
    pub fn buffer_from<T: NoUninit>(&self, data: &[T]) -> Result<Buffer> {
        let buffer = self.buffer(size_of_val(data) as u64)?;
        buffer.write(0, data)?;
        Ok(buffer)
    }

    /// A buffer with the content of a blob, for every use. The bytes never pass through the program.
    ///
    /// # Errors
    /// As [`buffer`](Self::buffer) and [`read_blob`](Self::read_blob).
    pub fn buffer_from_blob(&self, blob: &Blob) -> Result<Buffer> {
        let length = blob.length();
        let buffer = self.buffer(length)?;
        self.finish(|done| self.read_blob(&[], blob, 0, &buffer, 0, length, done))?;
        Ok(buffer)
    }

    /// A zeroed buffer with the memory, usage, access and label asked for.
    ///
    /// # Errors
    /// As [`buffer`](Self::buffer); `invalid-argument` for a memory type nobody has or a label over 64 bytes.
    pub fn allocate(&self, params: &BufferParams, size: u64) -> Result<Buffer> {
        Ok(Buffer::new(self.raw.allocate(params, size)?, self.transfer_bytes()))
    }

    /// Queue-ordered allocation: backed by memory from when the waits are met and the signals raised.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate).
    pub fn alloca(
        &self,
        wait: &[TimePoint<'_>],
        params: &BufferParams,
        size: u64,
        signal: &[TimePoint<'_>],
    ) -> Result<Buffer> {
        Ok(Buffer::new(self.raw.alloca(wait, params, size, signal)?, self.transfer_bytes()))
    }

    /// Queue-ordered release of a buffer made by [`alloca`](Self::alloca).
    ///
    /// # Errors
    /// `invalid-argument` for another buffer; `failed-precondition` if released already.
    pub fn dealloca(&self, wait: &[TimePoint<'_>], buffer: &Buffer, signal: &[TimePoint<'_>]) -> Result<()> {
        Ok(self.raw.dealloca(wait, buffer.raw(), signal)?)
    }

    /// Queues a copy from a blob into a buffer; the bytes never pass through the program.
    ///
    /// # Errors
    /// As [`submit`](Self::submit) for the buffer's range; `out-of-range` past the blob's end.
    #[expect(clippy::too_many_arguments, reason = "one for each of the WIT's")]
    pub fn read_blob(
        &self,
        wait: &[TimePoint<'_>],
        blob: &Blob,
        blob_offset: u64,
        buffer: &Buffer,
        buffer_offset: u64,
        length: u64,
        signal: &[TimePoint<'_>],
    ) -> Result<()> {
        Ok(self.raw.read_blob(wait, blob.raw(), blob_offset, buffer.raw(), buffer_offset, length, signal)?)
    }
}

/// Kernels.
impl Device {
    /// Compiles WGSL without overrides.
    ///
    /// # Errors
    /// `invalid-argument` with line and column; `incompatible`; `unimplemented`; `resource-exhausted`.
    pub fn load_wgsl(&self, source: &str) -> Result<Executable> {
        self.load_executable(&ExecutableParams::default(), source.as_bytes())
    }

    /// Compiles SPIR-V, a sequence of words, without specialisation constants.
    ///
    /// # Errors
    /// As [`load_wgsl`](Self::load_wgsl).
    pub fn load_spirv(&self, words: &[u32]) -> Result<Executable> {
        let params = ExecutableParams { format: "spirv".into(), ..ExecutableParams::default() };
        self.load_executable(&params, bytemuck::cast_slice(words))
    }

    /// Compiles kernels of any format the device knows, with overrides.
    ///
    /// # Errors
    /// As [`load_wgsl`](Self::load_wgsl).
    pub fn load_executable(&self, params: &ExecutableParams, bytes: &[u8]) -> Result<Executable> {
        Ok(self.raw.load_executable(params, bytes)?.into())
    }
}

/// The queue.
impl Device {
    /// Submits a batch and waits until it is done.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); whatever went wrong while it ran; `deadline-exceeded` at the host's deadline.
    pub fn run(&self, batch: &Batch<'_>) -> Result<()> {
        self.finish(|done| self.submit(&[], batch, done))
    }

    /// Executes a recording and waits until it is done.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_recording(&self, recording: &Recording, slots: &[Slice<'_>]) -> Result<()> {
        self.finish(|done| self.execute(&[], recording, slots, done))
    }

    /// Queues a batch: it runs when every wait is met, then raises every signal.
    ///
    /// # Errors
    /// Found before anything is queued: `out-of-range`, `invalid-argument`, `permission-denied`, `failed-precondition`,
    /// `resource-exhausted`. What goes wrong later fails the signals.
    pub fn submit(&self, wait: &[TimePoint<'_>], batch: &Batch<'_>, signal: &[TimePoint<'_>]) -> Result<()> {
        Ok(self.raw.submit(wait, batch.raw(), signal, None)?)
    }

    /// The same; its times are kept under `tag` for [`take_timings`](Self::take_timings).
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub fn submit_timed(
        &self,
        wait: &[TimePoint<'_>],
        batch: &Batch<'_>,
        signal: &[TimePoint<'_>],
        tag: u64,
    ) -> Result<()> {
        Ok(self.raw.submit(wait, batch.raw(), signal, Some(tag))?)
    }

    /// Checks a batch and keeps it. Its commands may name the slots 0 to `slots` - 1, at most 64.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); `resource-exhausted` for the limits "recordings" and "host-bytes".
    pub fn create_recording(&self, batch: &Batch<'_>, slots: u32, label: &str) -> Result<Recording> {
        Ok(self.raw.create_recording(batch.raw(), slots, label)?.into())
    }

    /// Queues a recording with its slots filled, in order.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); `invalid-argument` if a used slot is not filled.
    pub fn execute(
        &self,
        wait: &[TimePoint<'_>],
        recording: &Recording,
        slots: &[Slice<'_>],
        signal: &[TimePoint<'_>],
    ) -> Result<()> {
        let table = SlotTable::new(slots)?;
        Ok(self.raw.execute(wait, recording.raw(), &table.buffers, &table.bindings, signal, None)?)
    }

    /// The same; its times are kept under `tag` for [`take_timings`](Self::take_timings).
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execute_timed(
        &self,
        wait: &[TimePoint<'_>],
        recording: &Recording,
        slots: &[Slice<'_>],
        signal: &[TimePoint<'_>],
        tag: u64,
    ) -> Result<()> {
        let table = SlotTable::new(slots)?;
        Ok(self.raw.execute(wait, recording.raw(), &table.buffers, &table.bindings, signal, Some(tag))?)
    }

    /// Times of submissions with a tag that have ended well since the last call, oldest first.
    pub fn take_timings(&self) -> Vec<Timing> {
        self.raw.take_timings()
    }

    /// A semaphore that starts at `initial`.
    ///
    /// # Errors
    /// `resource-exhausted` for the limit "semaphores".
    pub fn create_semaphore(&self, initial: u64) -> Result<Semaphore> {
        Ok(self.raw.create_semaphore(initial)?.into())
    }

    /// Waits for all points; none: for as long as the host lets this call take.
    ///
    /// # Errors
    /// `deadline-exceeded`; the failure of a semaphore, as soon as one fails.
    pub fn wait_all(&self, points: &[TimePoint<'_>], timeout: Option<Duration>) -> Result<()> {
        self.raw.wait_semaphores(points, WaitMode::All, timeout.map_or(FOREVER, nanoseconds))?;
        Ok(())
    }

    /// Waits for any point and answers the index of one that is met.
    ///
    /// # Errors
    /// As [`wait_all`](Self::wait_all).
    pub fn wait_any(&self, points: &[TimePoint<'_>], timeout: Option<Duration>) -> Result<usize> {
        let met = self.raw.wait_semaphores(points, WaitMode::Any, timeout.map_or(FOREVER, nanoseconds))?;
        Ok(met as usize)
    }

    /// Queues something with a signal of its own and waits for it. One semaphore serves all such calls until one fails.
    fn finish(&self, queue: impl FnOnce(&[TimePoint<'_>]) -> Result<()>) -> Result<()> {
        let (semaphore, last) = match self.timeline.take() {
            Some(timeline) => timeline,
            None => (self.create_semaphore(0)?, 0),
        };
        let next = last + 1;
        if let Err(error) = queue(&[semaphore.at(next)]) {
            // Nothing was queued: the semaphore is as good as before.
            self.timeline.set(Some((semaphore, last)));
            return Err(error);
        }
        semaphore.wait(next)?;
        self.timeline.set(Some((semaphore, next)));
        Ok(())
    }
}
