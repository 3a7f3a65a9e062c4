//! Between the cases' types and those of the bindings, one to one.

use crate::Guest;
use hal_conformance_cases::target::{self, Code, Command, Point, Source, Workgroups};
use test_guests::{
    Batch, BufferRef, BufferSource, BufferUsage, CopyCommand, DispatchBinding, DispatchCommand, FillCommand,
    MemoryAccess, MemoryType, OverrideConstant, OverrideValue, StatusCode, TimePoint, UpdateCommand,
};

macro_rules! codes {
    ($($name:ident)*) => {
        fn code(code: StatusCode) -> Code {
            match code { $(StatusCode::$name => Code::$name,)* }
        }

        pub(crate) fn status(code: Code) -> StatusCode {
            match code { $(Code::$name => StatusCode::$name,)* }
        }
    };
}

codes! {
    Cancelled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied ResourceExhausted
    FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss Unauthenticated Deferred Incompatible
}

pub(crate) fn error(error: test_guests::Error) -> target::Error {
    let limit = error.limit.map(|hit| target::LimitHit {
        limit: hit.limit,
        asked: hit.asked,
        available: hit.available,
        allowed: hit.allowed,
    });
    target::Error { code: code(error.code), message: error.message, limit }
}

/// The same bits under the same names, both ways.
macro_rules! flags {
    ($there:ident, $back:ident, $ours:ident, $theirs:ident, $($name:ident)*) => {
        fn $there(flags: target::$ours) -> $theirs {
            let mut all = $theirs::empty();
            $(if flags.contains(target::$ours::$name) { all |= $theirs::$name; })*
            all
        }

        fn $back(flags: $theirs) -> target::$ours {
            let mut all = target::$ours::empty();
            $(if flags.contains($theirs::$name) { all = all | target::$ours::$name; })*
            all
        }
    };
}

flags! {
    to_memory, from_memory, MemoryType, MemoryType,
    OPTIMAL HOST_VISIBLE HOST_COHERENT HOST_CACHED HOST_LOCAL DEVICE_VISIBLE DEVICE_LOCAL
}
flags! {
    to_usage, from_usage, Usage, BufferUsage,
    TRANSFER_SOURCE TRANSFER_TARGET DISPATCH_INDIRECT_PARAMETERS DISPATCH_UNIFORM_READ DISPATCH_STORAGE_READ
    DISPATCH_STORAGE_WRITE MAPPING_SCOPED
}
flags! { to_access, from_access, MemoryAccess, MemoryAccess, READ WRITE DISCARD }

pub(crate) fn params(asked: &target::BufferParams) -> test_guests::BufferParams {
    test_guests::BufferParams {
        memory: to_memory(asked.memory),
        usage: to_usage(asked.usage),
        access: to_access(asked.access),
        label: asked.label.clone(),
    }
}

pub(crate) fn buffer_info(info: &test_guests::BufferInfo) -> target::BufferInfo {
    target::BufferInfo {
        size: info.size,
        offset: info.offset,
        memory: from_memory(info.memory),
        usage: from_usage(info.usage),
        access: from_access(info.access),
        transient: info.transient,
    }
}

pub(crate) fn device_info(info: test_guests::DeviceInfo) -> target::DeviceInfo {
    let test_guests::DeviceInfo { id, path, name, memory_bytes, formats, features, .. } = info;
    target::DeviceInfo { id, path, name, memory_bytes, formats, features }
}

pub(crate) fn function(function: test_guests::FunctionInfo) -> target::Function {
    let (x, y, z) = function.workgroup_size;
    let binding = |binding: &test_guests::bindings::hal::device::executable::BindingInfo| target::BindingInfo {
        binding: binding.binding,
        reads: binding.reads,
        writes: binding.writes,
    };
    target::Function {
        name: function.name,
        workgroup_size: [x, y, z],
        bindings: function.bindings.iter().map(binding).collect(),
        constant_bytes: function.constant_bytes,
    }
}

pub(crate) fn override_constant((name, value): &(&str, target::OverrideValue)) -> OverrideConstant {
    let value = match *value {
        target::OverrideValue::Bool(value) => OverrideValue::Boolean(value),
        target::OverrideValue::I32(value) => OverrideValue::Signed(value),
        target::OverrideValue::U32(value) => OverrideValue::Unsigned(value),
        target::OverrideValue::F32(value) => OverrideValue::Float(value),
    };
    OverrideConstant { name: (*name).into(), value }
}

pub(crate) fn points<'a>(points: &[Point<'a, Guest>]) -> Vec<TimePoint<'a>> {
    points.iter().map(|(semaphore, value)| TimePoint { semaphore, value: *value }).collect()
}

pub(crate) fn batch<'a>(batch: &target::Batch<'a, Guest>) -> Batch<'a> {
    Batch {
        buffers: batch.buffers.clone(),
        executables: batch.executables.clone(),
        commands: batch.commands.iter().map(command).collect(),
    }
}

fn command(command: &Command) -> test_guests::Command {
    match command.clone() {
        Command::Barrier => test_guests::Command::Barrier,
        Command::Fill { target, pattern } => {
            test_guests::Command::Fill(FillCommand { target: reference(target), pattern })
        }
        Command::Update { target, bytes } => {
            test_guests::Command::Update(UpdateCommand { target: reference(target), bytes })
        }
        Command::Copy { source, target } => {
            test_guests::Command::Copy(CopyCommand { source: reference(source), target: reference(target) })
        }
        Command::Dispatch(dispatch) => test_guests::Command::Dispatch(DispatchCommand {
            executable: dispatch.executable,
            function: dispatch.function,
            workgroups: match dispatch.workgroups {
                Workgroups::Direct([x, y, z]) => test_guests::Workgroups::Direct((x, y, z)),
                Workgroups::Indirect(counts) => test_guests::Workgroups::Indirect(reference(counts)),
            },
            constants: dispatch.constants.into_vec(),
            bindings: dispatch
                .bindings
                .iter()
                .map(|bound| DispatchBinding { binding: bound.binding, buffer: reference(bound.buffer) })
                .collect(),
        }),
    }
}

fn reference(reference: target::BufferRef) -> BufferRef {
    let source = match reference.source {
        Source::Direct(index) => BufferSource::Direct(index),
        Source::Slot(index) => BufferSource::Slot(index),
    };
    BufferRef { source, offset: reference.offset, length: reference.length }
}
