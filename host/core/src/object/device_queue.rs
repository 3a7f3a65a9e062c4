//! A device's queue: submissions, queue-ordered allocation, waits.

use super::{Blob, Buffer, Device, Recording, Storage, Timing};
use crate::{
    Batch, SlotBinding, TimePoint, WaitMode,
    budget::Charge,
    check,
    error::{Result, invalid},
    policy::Limit,
    queue::{Action, Entry, Job, Range, Rest, Signals, Touch, View, enqueue, not_above, wait},
};
use hal_driver::{BufferParams, BufferRef, Command, MemoryAccess, Source, Usage};
use std::{mem::size_of, sync::Arc};

impl Device {
    /// Checks a batch and keeps it. `slots` is how many slots its commands may name; at most 64.
    ///
    /// # Errors
    /// As [`Device::submit`]; `resource-exhausted` for "recordings" and "host-bytes".
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn create_recording(&self, batch: Batch, slots: u32, label: &str) -> Result<Recording> {
        let result = self.try_record(batch, slots, label);
        self.0.tenant.observe("device.create-recording", result)
    }

    fn try_record(&self, batch: Batch, slots: u32, label: &str) -> Result<Recording> {
        self.0.gate()?;
        let label = check::label(label)?;
        if slots > check::MAX_SLOTS {
            return Err(invalid(format!("{slots} slots; a recording has at most {}", check::MAX_SLOTS)));
        }
        let recording = self.0.node.charge(Limit::Recordings, 1)?;
        let checked = check::batch(&self.0, batch, Some(slots))?;
        let bytes = self.0.node.charge(Limit::HostBytes, checked.host_bytes)?;
        Ok(Recording::new(&self.0, checked, label, [recording, bytes]))
    }

    /// Queues a batch: it runs when every wait is met, then raises every signal. No commands: a queue barrier. With a `timing` tag
    /// its times are kept for [`Device::take_timings`].
    ///
    /// # Errors
    /// All found before anything is queued: `out-of-range`; `invalid-argument`; `permission-denied` (usage or access);
    /// `failed-precondition` (a closed object); `resource-exhausted` ("submissions", "host-bytes", "update-bytes", workgroup
    /// counts). What goes wrong later fails the signals. So does a wait for a semaphore that has failed, or fails while the work waits: the work
    /// does not run, and where there are no signals nothing tells of it. A signal to a semaphore that has failed changes nothing; the work runs.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn submit(
        &self,
        wait: Vec<TimePoint>,
        batch: Batch,
        signal: Vec<TimePoint>,
        timing: Option<u64>,
    ) -> Result<()> {
        let result = self.try_submit(&wait, batch, &signal, timing);
        self.0.tenant.observe("device.submit", result)
    }

    fn try_submit(&self, wait: &[TimePoint], batch: Batch, signal: &[TimePoint], tag: Option<u64>) -> Result<()> {
        self.0.gate()?;
        let waits = self.points(wait, false)?;
        let signals = self.points(signal, true)?;
        let checked = check::batch(&self.0, batch, None)?;
        let charges = self.queue_charges(waits.len() + signals.len(), checked.host_bytes)?;
        let action = if checked.commands.is_empty() {
            Action::Barrier
        } else {
            Action::Work { commands: checked.commands, executables: checked.executables }
        };
        let uses = uses(&checked.touches, |index| checked.buffers.get(index).map(|buffer| &buffer.storage));
        let rest = Rest {
            signals,
            uses,
            buffers: checked.buffers,
            keep: vec![Arc::new(checked.executables_held)],
            charges,
            tag,
            ..Rest::default()
        };
        enqueue(&self.0, waits, Job { action, rest });
        Ok(())
    }

    /// Queues a recording, with `bindings` (indices into `buffers`) filling its slots in order.
    ///
    /// # Errors
    /// As [`Device::submit`]; `invalid-argument` if a used slot has no binding.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn execute(
        &self,
        wait: Vec<TimePoint>,
        recording: &Recording,
        buffers: Vec<Buffer>,
        bindings: Vec<SlotBinding>,
        signal: Vec<TimePoint>,
        timing: Option<u64>,
    ) -> Result<()> {
        let result = self.try_execute(&wait, recording, &buffers, &bindings, &signal, timing);
        self.0.tenant.observe("device.execute", result)
    }

    fn try_execute(
        &self,
        wait: &[TimePoint],
        recording: &Recording,
        buffers: &[Buffer],
        bindings: &[SlotBinding],
        signal: &[TimePoint],
        tag: Option<u64>,
    ) -> Result<()> {
        self.0.gate()?;
        recording.open()?;
        if !Arc::ptr_eq(&recording.0.device, &self.0) {
            return Err(invalid("the recording was made for another device"));
        }
        let waits = self.points(wait, false)?;
        let signals = self.points(signal, true)?;
        let checked = &recording.0.checked;
        check::count("buffers", buffers.len())?;
        if bindings.len() > check::MAX_SLOTS as usize {
            return Err(invalid(format!(
                "{} bindings; a recording has at most {} slots",
                bindings.len(),
                check::MAX_SLOTS
            )));
        }
        let (slots, slot_touches) = check::slots(&self.0, checked, buffers, bindings)?;
        let tables = checked.buffers.len().saturating_add(slots.len()).saturating_mul(size_of::<View>() * 2);
        // The recording pays for its ranges; each execution is a use of them.
        let used = check::USE_BYTES.saturating_mul(checked.touches.len() as u64);
        let bytes = (tables as u64).saturating_add(used).saturating_add(check::touch_bytes(&slot_touches));
        let charges = self.queue_charges(waits.len() + signals.len(), bytes)?;
        let mut uses = uses(&checked.touches, |index| checked.buffers.get(index).map(|buffer| &buffer.storage));
        uses.extend(self::uses(&slot_touches, |index| slots.get(index).map(|slot| &slot.buffer.storage)));
        let rest = Rest {
            signals,
            uses,
            buffers: checked.buffers.clone(),
            slots,
            keep: vec![recording.0.clone()],
            charges,
            tag,
            ..Rest::default()
        };
        let action = if checked.commands.is_empty() {
            Action::Barrier
        } else {
            Action::Work { commands: checked.commands.clone(), executables: checked.executables.clone() }
        };
        enqueue(&self.0, waits, Job { action, rest });
        Ok(())
    }

    /// Queue-ordered allocation. The buffer can be named in work at once; it is backed by memory when the waits are met and
    /// the signals raised. The budget is charged by this call.
    ///
    /// # Errors
    /// As [`Device::allocate`]. Memory that is short later fails the signals.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn alloca(
        &self,
        wait: Vec<TimePoint>,
        params: BufferParams,
        size: u64,
        signal: Vec<TimePoint>,
    ) -> Result<Buffer> {
        let result = self.try_alloca(&wait, params, size, &signal);
        self.0.tenant.observe("device.alloca", result)
    }

    fn try_alloca(&self, wait: &[TimePoint], params: BufferParams, size: u64, signal: &[TimePoint]) -> Result<Buffer> {
        let new = self.storage(params, size)?;
        let waits = self.points(wait, false)?;
        let signals = self.points(signal, true)?;
        let charges = self.queue_charges(waits.len() + signals.len(), 0)?;
        let params = new.params.clone();
        let storage = Storage::transient(&self.0, new);
        let buffer = Buffer::new(storage.clone());
        let rest = Rest { signals, charges, ..Rest::default() };
        enqueue(&self.0, waits, Job { action: Action::Alloca { storage, params }, rest });
        Ok(buffer)
    }

    /// Queue-ordered release of a buffer made by [`Device::alloca`]. Work that runs after it and names the buffer fails.
    ///
    /// # Errors
    /// `invalid-argument` for a buffer that alloca did not make; `failed-precondition` if it was released, or its release is
    /// queued. If a wait fails nothing is released and the signals fail: it can be released again later.
    #[tracing::instrument(level = "trace", skip_all)]
    pub fn dealloca(&self, wait: Vec<TimePoint>, buffer: &Buffer, signal: Vec<TimePoint>) -> Result<()> {
        let result = self.try_dealloca(&wait, buffer, &signal);
        self.0.tenant.observe("device.dealloca", result)
    }

    fn try_dealloca(&self, wait: &[TimePoint], buffer: &Buffer, signal: &[TimePoint]) -> Result<()> {
        self.0.gate()?;
        self.own(buffer)?;
        if !buffer.0.storage.is_transient() || buffer.0.is_subspan() {
            return Err(invalid("only a buffer that alloca made, and no part of one, can be released by dealloca"));
        }
        let waits = self.points(wait, false)?;
        let signals = self.points(signal, true)?;
        let charges = self.queue_charges(waits.len() + signals.len(), 0)?;
        buffer.0.storage.releasing()?;
        let rest = Rest { signals, charges, ..Rest::default() };
        enqueue(&self.0, waits, Job { action: Action::Dealloca { storage: buffer.0.storage.clone() }, rest });
        Ok(())
    }

    /// Queues a copy from a blob into a buffer.
    ///
    /// # Errors
    /// As [`Device::submit`] for the buffer's range; `out-of-range` past the blob's end; `data-loss` fails the signals.
    #[allow(clippy::too_many_arguments, reason = "the shape of the WIT function")]
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn read_blob(
        &self,
        wait: Vec<TimePoint>,
        blob: &Blob,
        blob_offset: u64,
        buffer: &Buffer,
        buffer_offset: u64,
        length: u64,
        signal: Vec<TimePoint>,
    ) -> Result<()> {
        let target = BufferRef { source: Source::Direct(0), offset: buffer_offset, length: Some(length) };
        let result = self.try_read_blob(&wait, (blob, blob_offset), (buffer, target, length), &signal);
        self.0.tenant.observe("device.read-blob", result)
    }

    fn try_read_blob(
        &self,
        wait: &[TimePoint],
        (blob, blob_offset): (&Blob, u64),
        (buffer, target, length): (&Buffer, BufferRef, u64),
        signal: &[TimePoint],
    ) -> Result<()> {
        self.0.gate()?;
        blob.open()?;
        if blob.0.tenant.lane != self.0.tenant.lane {
            return Err(invalid("the blob belongs to another session"));
        }
        self.own(buffer)?;
        buffer.0.storage.usable()?;
        let waits = self.points(wait, false)?;
        let signals = self.points(signal, true)?;
        check::range(blob.length(), blob_offset, length)?;
        check::range(buffer.0.size, target.offset, length)?;
        check::rights(&buffer.0.storage, Usage::TRANSFER_TARGET, MemoryAccess::WRITE)?;
        let charges = self.queue_charges(waits.len() + signals.len(), size_of::<Command>() as u64)?;
        let command = Command::ReadBlob { blob: blob.0.data.clone(), blob_offset, target };
        let start = buffer.0.offset.saturating_add(target.offset);
        let range = Range { write: true, start, end: start.saturating_add(length) };
        let rest = Rest {
            signals,
            uses: vec![(buffer.0.storage.clone(), Arc::from([range]))],
            buffers: Arc::from([buffer.0.clone()]),
            keep: vec![blob.0.clone()],
            charges,
            ..Rest::default()
        };
        let action = Action::Work { commands: Arc::from([command]), executables: Arc::default() };
        enqueue(&self.0, waits, Job { action, rest });
        Ok(())
    }

    /// Waits for all points, or for any. Answers the index of a point that is met (0 for all, and for no points). The order of the points decides
    /// nothing but which of several met ones an `Any` answers; a failed semaphore meets no value, not even one that it had reached.
    ///
    /// # Errors
    /// The failure of a semaphore, as soon as one fails, unless the wait is for `Any` and another point is met by then;
    /// `deadline-exceeded`.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn wait_semaphores(&self, points: Vec<TimePoint>, mode: WaitMode, timeout_ns: u64) -> Result<u32> {
        let result = self.try_wait(&points, mode, timeout_ns).await;
        self.0.tenant.observe("device.wait-semaphores", result)
    }

    async fn try_wait(&self, points: &[TimePoint], mode: WaitMode, timeout_ns: u64) -> Result<u32> {
        self.0.gate()?;
        let points = self.points(points, false)?;
        let _charge = self.0.node.charge(Limit::HostBytes, point_bytes(points.len()))?;
        wait(&points, mode, self.0.tenant.until(timeout_ns), &self.0, "waiting for semaphores").await
    }

    /// Times of submissions that carried a tag and have ended well, oldest first; each is reported once, the newest 1,024 are kept.
    pub fn take_timings(&self) -> Vec<Timing> {
        self.0.take_timings()
    }

    fn own(&self, buffer: &Buffer) -> Result<()> {
        if !Arc::ptr_eq(&buffer.0.storage.device, &self.0) {
            return Err(invalid("the buffer belongs to another device"));
        }
        buffer.open()
    }

    /// The timelines of points that may be waited for, or signalled.
    fn points(&self, points: &[TimePoint], signal: bool) -> Result<Signals> {
        let one = |point: &TimePoint| {
            point.semaphore.open()?;
            let timeline = &point.semaphore.0.timeline;
            if timeline.lane != self.0.tenant.lane {
                return Err(invalid("a semaphore belongs to another session"));
            }
            // A failed one passes: the failure reaches whoever waits for it.
            match timeline.value() {
                Ok(current) if signal && point.value <= current => Err(not_above(point.value, current)),
                _ => Ok((timeline.clone(), point.value)),
            }
        };
        check::count("points", points.len())?;
        points.iter().map(one).collect()
    }

    /// What a submission costs until it has ended.
    fn queue_charges(&self, points: usize, bytes: u64) -> Result<Vec<Charge>> {
        let kept = (size_of::<Entry>() + size_of::<Job>()) as u64;
        let bytes = bytes.saturating_add(kept).saturating_add(point_bytes(points));
        Ok(vec![self.0.node.charge(Limit::Submissions, 1)?, self.0.node.charge(Limit::HostBytes, bytes)?])
    }
}

/// A point as a list entry, as a registration, and as a waiter in a timeline.
fn point_bytes(points: usize) -> u64 {
    (points as u64).saturating_mul(128)
}

/// Pairs what was touched with the allocations it was touched in.
fn uses<'a>(
    touches: &[Touch],
    storage: impl Fn(usize) -> Option<&'a Arc<Storage>>,
) -> Vec<(Arc<Storage>, Arc<[Range]>)> {
    touches.iter().filter_map(|touch| Some((storage(touch.buffer)?.clone(), touch.ranges.clone()))).collect()
}
