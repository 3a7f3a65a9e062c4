//! A device: memory, kernels, a queue.
use super::{Amount, Blob, Buffer, Executable, ExecutableParams, Recording, Semaphore, Used};
use crate::{Batch, Error, Result, SlotBinding, TimePoint, WaitMode};
use hal_driver::{BufferParams, DeviceKind, Heap};

/// A device as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Counted from 0 per driver handle.
    pub id: u64,
    /// Usable in a URI.
    pub path: String,
    /// For display.
    pub name: String,
    /// What it is made of.
    pub kind: DeviceKind,
    /// Memory as granted, in bytes.
    pub memory_bytes: u64,
    /// Executable formats.
    pub formats: Vec<String>,
    /// Features.
    pub features: Vec<String>,
}

/// How a buffer with some parameters would fare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compatibility {
    /// Can be allocated.
    pub allocatable: bool,
    /// Can be used in copies.
    pub transferable: bool,
    /// Can be bound.
    pub dispatchable: bool,
    /// The size it would have.
    pub size: u64,
}

/// How long a submission took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// What the caller passed.
    pub tag: u64,
    /// From the moment its waits were met until it began.
    pub queue_ns: u64,
    /// While it ran.
    pub device_ns: Option<u64>,
}

/// An open device.
#[derive(Clone)]
pub struct Device(());

impl Device {
    /// `device.info`.
    pub fn info(&self) -> DeviceInfo { todo!() }
    /// `device.limits`.
    pub fn limits(&self) -> Vec<Amount> { todo!() }
    /// `device.budget`.
    pub fn budget(&self) -> Vec<Used> { todo!() }
    /// `device.query`.
    pub async fn query(&self, _category: &str, _key: &str) -> Result<u64> { todo!() }
    /// `device.memory-heaps`.
    pub fn memory_heaps(&self) -> Vec<Heap> { todo!() }
    /// `device.buffer-compatibility`.
    pub fn buffer_compatibility(&self, _params: &BufferParams, _size: u64) -> Compatibility { todo!() }
    /// `device.allocate`.
    pub async fn allocate(&self, _params: BufferParams, _size: u64) -> Result<Buffer> { todo!() }
    /// `device.create-semaphore`.
    pub fn create_semaphore(&self, _initial: u64) -> Result<Semaphore> { todo!() }
    /// `device.can-load`.
    pub fn can_load(&self, _format: &str) -> bool { todo!() }
    /// `device.load-executable`.
    pub async fn load_executable(&self, _params: ExecutableParams, _bytes: Vec<u8>) -> Result<Executable> { todo!() }
    /// `device.create-recording`.
    pub async fn create_recording(&self, _batch: Batch, _slots: u32, _label: &str) -> Result<Recording> { todo!() }
    /// `device.submit`.
    pub async fn submit(&self, _wait: Vec<TimePoint>, _batch: Batch, _signal: Vec<TimePoint>, _timing: Option<u64>) -> Result<()> { todo!() }
    /// `device.execute`.
    pub async fn execute(&self, _wait: Vec<TimePoint>, _recording: &Recording, _buffers: Vec<Buffer>, _bindings: Vec<SlotBinding>, _signal: Vec<TimePoint>, _timing: Option<u64>) -> Result<()> { todo!() }
    /// `device.alloca`.
    pub async fn alloca(&self, _wait: Vec<TimePoint>, _params: BufferParams, _size: u64, _signal: Vec<TimePoint>) -> Result<Buffer> { todo!() }
    /// `device.dealloca`.
    pub fn dealloca(&self, _wait: Vec<TimePoint>, _buffer: &Buffer, _signal: Vec<TimePoint>) -> Result<()> { todo!() }
    /// `device.read-blob`.
    #[allow(clippy::too_many_arguments, reason = "the shape of the WIT function")]
    pub async fn read_blob(&self, _wait: Vec<TimePoint>, _blob: &Blob, _blob_offset: u64, _buffer: &Buffer, _buffer_offset: u64, _length: u64, _signal: Vec<TimePoint>) -> Result<()> { todo!() }
    /// `device.wait-semaphores`.
    pub async fn wait_semaphores(&self, _points: Vec<TimePoint>, _mode: WaitMode, _timeout_ns: u64) -> Result<u32> { todo!() }
    /// `device.take-timings`.
    pub fn take_timings(&self) -> Vec<Timing> { todo!() }
    /// `device.lost`.
    pub fn lost(&self) -> Option<Error> { todo!() }
    /// `device.loss-semaphore`.
    pub fn loss_semaphore(&self) -> Result<Semaphore> { todo!() }
    /// `device.trim`.
    pub async fn trim(&self) -> Result<()> { todo!() }
    /// `device.close`.
    pub fn close(&self) { todo!() }
}
