//! Devices.

use crate::{Buffer, BufferParams, Code, Error, Executable, Function, MemoryType, OverrideValue, Result, Work};
use std::sync::Arc;

/// What a device is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// The host's own processor.
    Cpu,
    /// A GPU that shares memory with the host.
    Integrated,
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU lent by a hypervisor.
    Virtual,
    /// None of these.
    Other,
}

impl DeviceKind {
    /// A stable name for text.
    pub fn label(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Integrated => "integrated",
            Self::Discrete => "discrete",
            Self::Virtual => "virtual",
            Self::Other => "other",
        }
    }
}

/// A device as its driver lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Unique and stable; usable in a URI.
    pub path: String,
    /// For display: a model name.
    pub name: String,
    /// What it is made of.
    pub kind: DeviceKind,
    /// Its memory in bytes.
    pub memory_bytes: u64,
    /// Executable formats that it loads: `"wgsl"`, `"spirv"`.
    pub formats: Vec<String>,
    /// Of [`FEATURES`](crate::FEATURES), those it has.
    pub features: Vec<String>,
}

/// A kind of memory and the largest single allocation of it in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heap {
    /// Every bit this memory has.
    pub memory: MemoryType,
    /// Bytes.
    pub max_allocation: u64,
}

/// What a device can take; the host refuses work beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest buffer in bytes.
    pub max_buffer_bytes: u64,
    /// Bindings of one function.
    pub max_bindings: u32,
    /// Constants of one dispatch in bytes.
    pub max_constant_bytes: u32,
    /// Offsets of bindings are multiples of this, a power of two.
    pub binding_offset_alignment: u64,
    /// Lengths of bindings are multiples of this, a power of two.
    pub binding_length_multiple: u64,
    /// Largest uniform binding in bytes.
    pub max_uniform_bytes: u64,
    /// Largest storage binding in bytes.
    pub max_storage_binding_bytes: u64,
    /// Workgroups in each of x, y and z.
    pub max_workgroups_per_dimension: u32,
    /// Workgroups of one dispatch in all.
    pub max_workgroups: u64,
    /// Invocations of one workgroup.
    pub max_invocations_per_workgroup: u32,
    /// `var<workgroup>` bytes of one entry point.
    pub max_workgroup_memory_bytes: u32,
    /// Iterations that one invocation may make over all its loops before the device may end it, whether or not it says so; `u64::MAX` where
    /// nothing but the deadline ends it.
    pub max_loop_iterations: u64,
}

impl Limits {
    /// Every limit under its stable name.
    pub fn named(&self) -> [(&'static str, u64); 12] {
        [
            ("max-buffer-bytes", self.max_buffer_bytes),
            ("max-bindings", u64::from(self.max_bindings)),
            ("max-constant-bytes", u64::from(self.max_constant_bytes)),
            ("binding-offset-alignment", self.binding_offset_alignment),
            ("binding-length-multiple", self.binding_length_multiple),
            ("max-uniform-bytes", self.max_uniform_bytes),
            ("max-storage-binding-bytes", self.max_storage_binding_bytes),
            ("max-workgroups-per-dimension", u64::from(self.max_workgroups_per_dimension)),
            ("max-workgroups", self.max_workgroups),
            ("max-invocations-per-workgroup", u64::from(self.max_invocations_per_workgroup)),
            ("max-workgroup-memory-bytes", u64::from(self.max_workgroup_memory_bytes)),
            ("max-loop-iterations", self.max_loop_iterations),
        ]
    }
}

impl Limits {
    /// The first limit that a function exceeds: its stable name, what is needed, and what is allowed.
    pub fn exceeded_by(&self, function: &Function) -> Option<(&'static str, u64, u64)> {
        let invocations = function.workgroup_size.into_iter().fold(1u64, |all, size| all.saturating_mul(size.into()));
        let needs = [
            ("max-invocations-per-workgroup", invocations, u64::from(self.max_invocations_per_workgroup)),
            ("max-bindings", function.bindings.len() as u64, u64::from(self.max_bindings)),
            ("max-workgroup-memory-bytes", function.workgroup_bytes.into(), self.max_workgroup_memory_bytes.into()),
            ("max-constant-bytes", function.constant_bytes.into(), self.max_constant_bytes.into()),
        ];
        needs.into_iter().find(|(_, needed, allowed)| needed > allowed)
    }

    /// Checks workgroup counts that a driver has read from a buffer: nobody above it could.
    ///
    /// # Errors
    /// `OutOfRange` with the counts and the limits.
    pub fn check_workgroups(&self, counts: [u32; 3]) -> Result<()> {
        let product = counts.iter().map(|&count| u64::from(count)).fold(1, u64::saturating_mul);
        let most = self.max_workgroups_per_dimension;
        if counts.iter().all(|&count| count <= most) && product <= self.max_workgroups {
            return Ok(());
        }
        let [x, y, z] = counts;
        let all = self.max_workgroups;
        let text = format!("{x} x {y} x {z} workgroups; at most {most} in each of x, y, z and {all} in all");
        Err(Error::new(Code::OutOfRange, text))
    }
}

/// Kernels to be compiled.
#[derive(Clone, Copy, Debug)]
pub struct LoadRequest<'a> {
    /// `"wgsl"` or `"spirv"`; the caller has asked [`Device::info`] whether the device loads it.
    pub format: &'a str,
    /// The source, within the caller's size bound but otherwise as a guest wrote it.
    pub bytes: &'a [u8],
    /// Values for override constants, by name or decimal `@id`.
    pub overrides: &'a [(String, OverrideValue)],
    /// For native debug labels; may be empty.
    pub label: &'a str,
}

/// An open device.
pub trait Device: Send + Sync + 'static {
    /// The same as in the driver's list, less what the parameters of the opening took away.
    fn info(&self) -> &DeviceInfo;

    /// What it can take.
    fn limits(&self) -> &Limits;

    /// The kinds of memory it has, the best for device-side use first.
    fn heaps(&self) -> &[Heap];

    /// Zeroed memory with at least the asked bits. Size 0 is legal. *Blocking* where it may have to wait for the native side.
    ///
    /// # Errors
    /// `ResourceExhausted`; `Unavailable` once lost.
    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>>;

    /// Whether [`Device::allocate`] is quick whatever the size, so that it need not be called from a thread that may block.
    fn allocates_at_once(&self) -> bool {
        false
    }

    /// Compiles kernels. *Blocking*, for as long as a compiler takes; bounded by the driver for hostile sources.
    ///
    /// # Errors
    /// `InvalidArgument` with line and column for wrong source or overrides; `Incompatible` for a feature it lacks; `Unimplemented`;
    /// `ResourceExhausted` above a bound of the compiler.
    fn load(&self, request: &LoadRequest<'_>) -> Result<Arc<dyn Executable>>;

    /// Starts work whose waits are met (but see [`Device::in_order`]), and calls its `done` exactly once, after it has dropped all else of the work. Never blocks on the device, except that a
    /// device that runs work on the calling thread (IREE's `local-sync`) may run it here.
    fn submit(&self, work: Work);

    /// Whether works run in the order of [`Device::submit`], each after all effects of those before it, and end in that order, as long as
    /// the device is not lost. The host then hands work over before its waits are met where each of them is for the end of work that was handed over
    /// before: a chain costs one round trip, not one for each link.
    ///
    /// If work fails, those after it that wait for it are told to stop while its [`Work::done`] is called. A driver that has not begun one of
    /// them by then does not begin it any more, and says the reason that [`Control::stopped`](crate::Control::stopped) gives.
    fn in_order(&self) -> bool {
        false
    }

    /// Why it is lost, if it is. Latched: once lost, always lost.
    fn lost(&self) -> Option<Error>;

    /// Gives memory that only caches hold back to the system. *Blocking.*
    ///
    /// # Errors
    /// `Unavailable` once lost.
    fn trim(&self) -> Result<()>;
}
