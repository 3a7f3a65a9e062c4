//! Between WIT types and `hal_core` types. Matches are exhaustive on both sides, so that a new case cannot be forgotten.

use super::{Refusal, View};
use crate::bindings::hal::{
    device::{
        buffer::{BufferInfo, BufferParams},
        device::{Binding, Compatibility, DeviceInfo, DeviceKind, Heap, Timing, WaitMode},
        executable::{BindingInfo, BindingKind, ExecutableParams, FunctionInfo, OverrideConstant, OverrideValue},
        recording::{Batch, BufferRef, BufferSource, Command, Workgroups},
        semaphore::TimePoint,
        types::{Amount, BufferUsage, Error, LimitHit, MemoryAccess, MemoryType, StatusCode, Usage},
    },
    registry::{
        blobs::BlobInfo,
        drivers::{DriverInfo, FactoryInfo},
    },
};
use hal_core::Code;

macro_rules! enums {
    ($($wit:ident = $core:path { $($wit_case:ident = $core_case:ident),* $(,)? })*) => {
        $(
            impl From<$core> for $wit {
                fn from(value: $core) -> Self {
                    use $core as Core;
                    match value { $(Core::$core_case => $wit::$wit_case),* }
                }
            }

            impl From<$wit> for $core {
                fn from(value: $wit) -> Self {
                    use $core as Core;
                    match value { $($wit::$wit_case => Core::$core_case),* }
                }
            }
        )*
    };
}

enums! {
    StatusCode = Code {
        Cancelled = Cancelled,
        Unknown = Unknown,
        InvalidArgument = InvalidArgument,
        DeadlineExceeded = DeadlineExceeded,
        NotFound = NotFound,
        AlreadyExists = AlreadyExists,
        PermissionDenied = PermissionDenied,
        ResourceExhausted = ResourceExhausted,
        FailedPrecondition = FailedPrecondition,
        Aborted = Aborted,
        OutOfRange = OutOfRange,
        Unimplemented = Unimplemented,
        Internal = Internal,
        Unavailable = Unavailable,
        DataLoss = DataLoss,
        Unauthenticated = Unauthenticated,
        Deferred = Deferred,
        Incompatible = Incompatible,
    }
    DeviceKind = hal_core::DeviceKind {
        Cpu = Cpu,
        Integrated = Integrated,
        Discrete = Discrete,
        Virtual = Virtual,
        Other = Other,
    }
    BindingKind = hal_core::BindingKind {
        Storage = Storage,
        Uniform = Uniform,
    }
    WaitMode = hal_core::WaitMode {
        All = All,
        Any = Any,
    }
}

macro_rules! bits {
    ($($wit:ident = $core:path { $($wit_bit:ident = $core_bit:ident),* $(,)? })*) => {
        $(
            impl From<$core> for $wit {
                fn from(value: $core) -> Self {
                    use $core as Core;
                    let mut bits = $wit::empty();
                    $(if value.contains(Core::$core_bit) { bits |= $wit::$wit_bit; })*
                    bits
                }
            }

            impl From<$wit> for $core {
                fn from(value: $wit) -> Self {
                    use $core as Core;
                    let mut bits = Core::empty();
                    $(if value.contains($wit::$wit_bit) { bits = bits | Core::$core_bit; })*
                    bits
                }
            }
        )*
    };
}

bits! {
    MemoryType = hal_core::MemoryType {
        OPTIMAL = OPTIMAL,
        HOST_VISIBLE = HOST_VISIBLE,
        HOST_COHERENT = HOST_COHERENT,
        HOST_CACHED = HOST_CACHED,
        HOST_LOCAL = HOST_LOCAL,
        DEVICE_VISIBLE = DEVICE_VISIBLE,
        DEVICE_LOCAL = DEVICE_LOCAL,
    }
    BufferUsage = hal_core::Usage {
        TRANSFER_SOURCE = TRANSFER_SOURCE,
        TRANSFER_TARGET = TRANSFER_TARGET,
        DISPATCH_INDIRECT_PARAMETERS = DISPATCH_INDIRECT_PARAMETERS,
        DISPATCH_UNIFORM_READ = DISPATCH_UNIFORM_READ,
        DISPATCH_STORAGE_READ = DISPATCH_STORAGE_READ,
        DISPATCH_STORAGE_WRITE = DISPATCH_STORAGE_WRITE,
        MAPPING_SCOPED = MAPPING_SCOPED,
    }
    MemoryAccess = hal_core::MemoryAccess {
        READ = READ,
        WRITE = WRITE,
        DISCARD = DISCARD,
    }
}

impl From<hal_core::Error> for Error {
    fn from(error: hal_core::Error) -> Self {
        let limit = error.limit.map(|hit| LimitHit {
            limit: hit.limit.to_owned(),
            asked: hit.asked,
            available: hit.available,
            allowed: hit.allowed,
        });
        Self { code: error.code.into(), message: error.message, limit }
    }
}

impl From<Error> for hal_core::Error {
    /// A guest's own failure, for `semaphore.fail`. A limit in it is text to us and is dropped: only the host names limits.
    fn from(error: Error) -> Self {
        Self::new(error.code.into(), error.message)
    }
}

impl From<hal_core::Amount> for Amount {
    fn from(amount: hal_core::Amount) -> Self {
        Self { name: amount.name, value: amount.value }
    }
}

impl From<Amount> for hal_core::Amount {
    fn from(amount: Amount) -> Self {
        Self { name: amount.name, value: amount.value }
    }
}

impl From<hal_core::Used> for Usage {
    fn from(used: hal_core::Used) -> Self {
        Self { name: used.name, used: used.used, allowed: used.allowed }
    }
}

impl From<BufferParams> for hal_core::BufferParams {
    fn from(params: BufferParams) -> Self {
        Self {
            memory: params.memory.into(),
            usage: params.usage.into(),
            access: params.access.into(),
            label: params.label,
        }
    }
}

impl From<hal_core::BufferInfo> for BufferInfo {
    fn from(info: hal_core::BufferInfo) -> Self {
        Self {
            size: info.size,
            offset: info.offset,
            memory: info.memory.into(),
            usage: info.usage.into(),
            access: info.access.into(),
            transient: info.transient,
            label: info.label,
        }
    }
}

impl From<ExecutableParams> for hal_core::ExecutableParams {
    fn from(params: ExecutableParams) -> Self {
        let overrides = params.overrides.into_iter().map(|OverrideConstant { name, value }| (name, value.into()));
        Self { format: params.format, overrides: overrides.collect(), label: params.label }
    }
}

impl From<OverrideValue> for hal_core::OverrideValue {
    fn from(value: OverrideValue) -> Self {
        match value {
            OverrideValue::Boolean(value) => Self::Bool(value),
            OverrideValue::Signed(value) => Self::I32(value),
            OverrideValue::Unsigned(value) => Self::U32(value),
            OverrideValue::Float(value) => Self::F32(value),
        }
    }
}

impl From<&hal_core::Function> for FunctionInfo {
    fn from(function: &hal_core::Function) -> Self {
        let bindings = function.bindings.iter().map(|binding| BindingInfo {
            binding: binding.binding,
            kind: binding.kind.into(),
            reads: binding.reads,
            writes: binding.writes,
            min_length: binding.min_length,
        });
        Self {
            name: function.name.clone(),
            workgroup_size: function.workgroup_size.into(),
            bindings: bindings.collect(),
            constant_bytes: function.constant_bytes,
        }
    }
}

impl From<BufferRef> for hal_core::BufferRef {
    fn from(reference: BufferRef) -> Self {
        let source = match reference.source {
            BufferSource::Direct(index) => hal_core::Source::Direct(index),
            BufferSource::Slot(index) => hal_core::Source::Slot(index),
        };
        Self { source, offset: reference.offset, length: reference.length }
    }
}

impl From<Workgroups> for hal_core::Workgroups {
    fn from(workgroups: Workgroups) -> Self {
        match workgroups {
            Workgroups::Direct(counts) => Self::Direct(counts.into()),
            Workgroups::Indirect(reference) => Self::Indirect(reference.into()),
        }
    }
}

impl From<Command> for hal_core::Command {
    fn from(command: Command) -> Self {
        match command {
            Command::Barrier => Self::Barrier,
            Command::Fill(fill) => Self::Fill { target: fill.target.into(), pattern: fill.pattern },
            Command::Update(update) => Self::Update { target: update.target.into(), bytes: update.bytes.into() },
            Command::Copy(copy) => Self::Copy { source: copy.source.into(), target: copy.target.into() },
            Command::Dispatch(dispatch) => {
                let bindings = dispatch
                    .bindings
                    .into_iter()
                    .map(|bound| hal_core::DispatchBinding { binding: bound.binding, buffer: bound.buffer.into() });
                Self::Dispatch(hal_core::Dispatch {
                    executable: dispatch.executable,
                    function: dispatch.function,
                    workgroups: dispatch.workgroups.into(),
                    constants: dispatch.constants.into(),
                    bindings: bindings.collect(),
                })
            }
        }
    }
}

impl From<Binding> for hal_core::SlotBinding {
    fn from(binding: Binding) -> Self {
        Self { buffer: binding.buffer, offset: binding.offset, length: binding.length }
    }
}

impl From<hal_core::DeviceInfo> for DeviceInfo {
    fn from(info: hal_core::DeviceInfo) -> Self {
        Self {
            id: info.id,
            path: info.path,
            name: info.name,
            kind: info.kind.into(),
            memory_bytes: info.memory_bytes,
            formats: info.formats,
            features: info.features,
        }
    }
}

impl From<hal_core::Compatibility> for Compatibility {
    fn from(compatibility: hal_core::Compatibility) -> Self {
        Self {
            allocatable: compatibility.allocatable,
            transferable: compatibility.transferable,
            dispatchable: compatibility.dispatchable,
            size: compatibility.size,
        }
    }
}

impl From<hal_core::Heap> for Heap {
    fn from(heap: hal_core::Heap) -> Self {
        Self { memory: heap.memory.into(), max_allocation: heap.max_allocation }
    }
}

impl From<hal_core::Timing> for Timing {
    fn from(timing: hal_core::Timing) -> Self {
        Self { tag: timing.tag, queue_ns: timing.queue_ns, device_ns: timing.device_ns }
    }
}

impl From<hal_core::DriverInfo> for DriverInfo {
    fn from(info: hal_core::DriverInfo) -> Self {
        Self { name: info.name, full_name: info.full_name, version: info.version }
    }
}

impl From<hal_core::FactoryInfo> for FactoryInfo {
    fn from(info: hal_core::FactoryInfo) -> Self {
        Self { name: info.name, version: info.version }
    }
}

impl From<hal_core::BlobInfo> for BlobInfo {
    fn from(info: hal_core::BlobInfo) -> Self {
        Self { name: info.name, length: info.length }
    }
}

/// Every element, converted.
pub(super) fn all<A, B: From<A>>(list: Vec<A>) -> Vec<B> {
    list.into_iter().map(B::from).collect()
}

impl View<'_> {
    /// A batch with its handles looked up.
    pub(super) fn batch(&self, batch: Batch) -> Result<hal_core::Batch, Refusal> {
        Ok(hal_core::Batch {
            buffers: self.get_all(&batch.buffers)?,
            executables: self.get_all(&batch.executables)?,
            commands: all(batch.commands),
        })
    }

    /// Time points with their handles looked up.
    pub(super) fn points(&self, points: Vec<TimePoint>) -> Result<Vec<hal_core::TimePoint>, Refusal> {
        points
            .into_iter()
            .map(|point| Ok(hal_core::TimePoint { semaphore: self.get(&point.semaphore)?, value: point.value }))
            .collect()
    }
}
