//! What a case can do: the functions of `hal:device` on a device that somebody else found.

pub use hal_driver::{
    BufferParams, BufferRef, Code, Dispatch, DispatchBinding, MemoryAccess, MemoryType, OverrideValue, Source, Usage,
    Workgroups,
};

/// A failure as a tenant sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of failure it is.
    pub code: Code,
    /// For a person.
    pub message: String,
    /// Present exactly when a limit was hit.
    pub limit: Option<LimitHit>,
}

/// A limit that was hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitHit {
    /// The stable label.
    pub limit: String,
    /// What the call asked for.
    pub asked: u64,
    /// What was left.
    pub available: u64,
    /// What is allowed in all.
    pub allowed: u64,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.limit {
            Some(hit) => write!(f, " [{}: {} of {}, {} left]", hit.limit, hit.asked, hit.allowed, hit.available),
            None => Ok(()),
        }
    }
}

/// A result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A device as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Unique for the driver.
    pub id: u64,
    /// Usable in a URI.
    pub path: String,
    /// For display.
    pub name: String,
    /// Memory as granted, in bytes.
    pub memory_bytes: u64,
    /// Executable formats.
    pub formats: Vec<String>,
    /// Features.
    pub features: Vec<String>,
}

/// Which device to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    /// The driver's default.
    Default,
    /// By its place in the list.
    Ordinal(u32),
    /// By the number it was listed with.
    Id(u64),
    /// By the path it was listed with; the empty path is the default.
    Path(&'a str),
    /// By what stands behind `driver:`.
    Uri(&'a str),
}

/// How a buffer with some parameters would fare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compatibility {
    /// Can be allocated.
    pub allocatable: bool,
    /// Can be used in copies, fills and updates.
    pub transferable: bool,
    /// Can be bound by a dispatch.
    pub dispatchable: bool,
    /// The size it would have, in bytes.
    pub size: u64,
}

/// What a buffer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferInfo {
    /// Bytes that can be addressed.
    pub size: u64,
    /// Start inside the allocation.
    pub offset: u64,
    /// What was asked for.
    pub memory: MemoryType,
    /// What it may be used for.
    pub usage: Usage,
    /// What may be done to the bytes.
    pub access: MemoryAccess,
    /// Made by `alloca`.
    pub transient: bool,
}

/// One `@group(0) @binding(n)` that a function uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindingInfo {
    /// The `n`.
    pub binding: u32,
    /// Whether the function reads it.
    pub reads: bool,
    /// Whether the function writes it.
    pub writes: bool,
}

/// One entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Invocations a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// In ascending order of `binding`.
    pub bindings: Vec<BindingInfo>,
    /// Exact length of a dispatch's constants.
    pub constant_bytes: u32,
}

/// How much of a limit is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// The limit's name.
    pub name: String,
    /// What is charged now.
    pub used: u64,
    /// What is allowed in all.
    pub allowed: u64,
}

/// One command.
#[derive(Clone, Debug)]
pub enum Command {
    /// What stands after it sees all effects of what stands before it.
    Barrier,
    /// Repeats a pattern over a range.
    Fill {
        /// The range.
        target: BufferRef,
        /// 1, 2 or 4 bytes, or what a case tries.
        pattern: Vec<u8>,
    },
    /// Writes bytes.
    Update {
        /// The range.
        target: BufferRef,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Copies between ranges.
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
pub struct Batch<'a, T: Target> {
    /// The table behind [`Source::Direct`].
    pub buffers: Vec<&'a T::Buffer>,
    /// The table behind [`Dispatch::executable`].
    pub executables: Vec<&'a T::Executable>,
    /// In order.
    pub commands: Vec<Command>,
}

/// What an `execute` puts into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotBinding {
    /// An index into the call's buffers.
    pub buffer: u32,
    /// Start inside the buffer.
    pub offset: u64,
    /// None: to the end of the buffer.
    pub length: Option<u64>,
}

/// A value on a semaphore's timeline.
pub type Point<'a, T> = (&'a <T as Target>::Semaphore, u64);

/// Whether a wait needs all of its points or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitMode {
    /// All.
    All,
    /// Any.
    Any,
}

/// One driver, reached one way: by a guest through WIT, or natively over the host's checked layer.
///
/// Each function is the one of the same name in `wit/`, which says what it does and how it fails. Calls wait where those of the WIT do.
/// Dropping a handle is dropping the resource.
#[allow(clippy::missing_errors_doc, reason = "the WIT says so for each")]
#[allow(clippy::too_many_arguments, reason = "the shape of the WIT functions")]
pub trait Target: Sync + Sized {
    /// An open device.
    type Device: Sync;
    /// Device memory.
    type Buffer: Sync;
    /// Compiled kernels.
    type Executable: Sync;
    /// A batch that is kept.
    type Recording: Sync;
    /// A timeline semaphore.
    type Semaphore: Sync;

    /// The devices of the driver.
    fn query_available_devices(&self) -> Result<Vec<DeviceInfo>>;
    /// Opens a device.
    fn create_device(&self, which: Which<'_>, parameters: &[(&str, &str)]) -> Result<Self::Device>;
    /// A kernel of this crate in one of the formats: what [`Target::load_executable`] takes.
    fn kernel(&self, name: &str, format: &str) -> Result<Vec<u8>, String>;

    /// What it is.
    fn device_info(&self, device: &Self::Device) -> DeviceInfo;
    /// Its bounds, by name.
    fn limits(&self, device: &Self::Device) -> Vec<(String, u64)>;
    /// The budget of its grant.
    fn budget(&self, device: &Self::Device) -> Vec<Used>;
    /// A number about it.
    fn query(&self, device: &Self::Device, category: &str, key: &str) -> Result<u64>;
    /// How a buffer would fare.
    fn buffer_compatibility(&self, device: &Self::Device, params: &BufferParams, size: u64) -> Compatibility;
    /// Memory at once.
    fn allocate(&self, device: &Self::Device, params: &BufferParams, size: u64) -> Result<Self::Buffer>;
    /// A semaphore.
    fn create_semaphore(&self, device: &Self::Device, initial: u64) -> Result<Self::Semaphore>;
    /// Whether a format is known.
    fn can_load(&self, device: &Self::Device, format: &str) -> bool;
    /// Compiles kernels.
    fn load_executable(
        &self,
        device: &Self::Device,
        format: &str,
        overrides: &[(&str, OverrideValue)],
        bytes: &[u8],
    ) -> Result<Self::Executable>;
    /// Keeps a batch.
    fn create_recording(&self, device: &Self::Device, batch: &Batch<'_, Self>, slots: u32) -> Result<Self::Recording>;
    /// Queues a batch.
    fn submit(
        &self,
        device: &Self::Device,
        wait: &[Point<'_, Self>],
        batch: &Batch<'_, Self>,
        signal: &[Point<'_, Self>],
    ) -> Result<()>;
    /// Queues a recording.
    fn execute(
        &self,
        device: &Self::Device,
        wait: &[Point<'_, Self>],
        recording: &Self::Recording,
        buffers: &[&Self::Buffer],
        bindings: &[SlotBinding],
        signal: &[Point<'_, Self>],
    ) -> Result<()>;
    /// Queue-ordered allocation.
    fn alloca(
        &self,
        device: &Self::Device,
        wait: &[Point<'_, Self>],
        params: &BufferParams,
        size: u64,
        signal: &[Point<'_, Self>],
    ) -> Result<Self::Buffer>;
    /// Queue-ordered release.
    fn dealloca(
        &self,
        device: &Self::Device,
        wait: &[Point<'_, Self>],
        buffer: &Self::Buffer,
        signal: &[Point<'_, Self>],
    ) -> Result<()>;
    /// Queues a copy from the blob that holds [`blob_bytes`](crate::blob_bytes). The blob is opened for the call and dropped after it.
    fn read_blob(
        &self,
        device: &Self::Device,
        wait: &[Point<'_, Self>],
        blob_offset: u64,
        buffer: &Self::Buffer,
        buffer_offset: u64,
        length: u64,
        signal: &[Point<'_, Self>],
    ) -> Result<()>;
    /// Waits for all points, or for any.
    fn wait_semaphores(
        &self,
        device: &Self::Device,
        points: &[Point<'_, Self>],
        mode: WaitMode,
        timeout_ns: u64,
    ) -> Result<u32>;
    /// Why it is lost.
    fn lost(&self, device: &Self::Device) -> Option<Error>;
    /// Tells of its end.
    fn loss_semaphore(&self, device: &Self::Device) -> Result<Self::Semaphore>;
    /// Gives cached memory back.
    fn trim(&self, device: &Self::Device) -> Result<()>;
    /// Gives it up.
    fn close_device(&self, device: &Self::Device);

    /// What it is.
    fn buffer_info(&self, buffer: &Self::Buffer) -> BufferInfo;
    /// A view of a part.
    fn subspan(&self, buffer: &Self::Buffer, offset: u64, length: u64) -> Result<Self::Buffer>;
    /// Bytes to the caller.
    fn read(&self, buffer: &Self::Buffer, offset: u64, length: u64) -> Result<Vec<u8>>;
    /// Bytes to the buffer.
    fn write(&self, buffer: &Self::Buffer, offset: u64, bytes: &[u8]) -> Result<()>;
    /// Gives it up.
    fn close_buffer(&self, buffer: &Self::Buffer);

    /// Entry points.
    fn functions(&self, executable: &Self::Executable) -> Vec<Function>;
    /// Gives it up.
    fn close_executable(&self, executable: &Self::Executable);
    /// Gives it up.
    fn close_recording(&self, recording: &Self::Recording);

    /// The current value.
    fn query_semaphore(&self, semaphore: &Self::Semaphore) -> Result<u64>;
    /// Raises the value.
    fn signal(&self, semaphore: &Self::Semaphore, value: u64) -> Result<()>;
    /// Fails it for ever.
    fn fail(&self, semaphore: &Self::Semaphore, code: Code, message: &str);
    /// Waits until the value is at least `value`.
    fn wait(&self, semaphore: &Self::Semaphore, value: u64, timeout_ns: u64) -> Result<()>;
    /// Gives it up.
    fn close_semaphore(&self, semaphore: &Self::Semaphore);
}
