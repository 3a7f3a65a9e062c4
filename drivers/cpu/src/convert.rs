//! The kernel front end's and the kernel compiler's types, in the driver interface's terms.

use hal_driver::{Binding, BindingKind, Code, Error, Function, OverrideValue};
use hal_kernel::{BindingClass, ErrorCode, KernelError, Program};
use naga_wasm::{Diagnostic, Kind};

pub(crate) fn function(function: &hal_kernel::Function) -> Function {
    Function {
        name: function.name.clone(),
        workgroup_size: function.workgroup_size,
        bindings: function.bindings.iter().map(binding).collect(),
        constant_bytes: function.constant_bytes,
    }
}

fn binding(binding: &hal_kernel::Binding) -> Binding {
    Binding {
        binding: binding.binding,
        kind: match binding.class {
            BindingClass::Storage => BindingKind::Storage,
            BindingClass::Uniform => BindingKind::Uniform,
        },
        reads: binding.reads,
        writes: binding.writes,
        min_length: u64::from(binding.min_length),
    }
}

pub(crate) fn override_value(value: OverrideValue) -> hal_kernel::OverrideValue {
    match value {
        OverrideValue::Bool(value) => hal_kernel::OverrideValue::Bool(value),
        OverrideValue::I32(value) => hal_kernel::OverrideValue::I32(value),
        OverrideValue::U32(value) => hal_kernel::OverrideValue::U32(value),
        OverrideValue::F32(value) => hal_kernel::OverrideValue::F32(value),
    }
}

pub(crate) fn kernel_error(error: &KernelError) -> Error {
    let code = match error.code {
        ErrorCode::InvalidArgument => Code::InvalidArgument,
        ErrorCode::Incompatible => Code::Incompatible,
        ErrorCode::ResourceExhausted => Code::ResourceExhausted,
        ErrorCode::Unimplemented => Code::Unimplemented,
        _ => Code::Internal,
    };
    // Its text begins with the place, if there is one.
    Error::new(code, error.to_string())
}

pub(crate) fn diagnostic(error: &Diagnostic, program: &Program) -> Error {
    let code = match error.kind {
        Kind::Unimplemented => Code::Unimplemented,
        Kind::Invalid => Code::InvalidArgument,
        Kind::Limit => Code::ResourceExhausted,
        _ => Code::Internal,
    };
    let place = error.span.and_then(|span| program.place(span)).map(|place| format!("{place}: "));
    Error::new(code, format!("{}{}", place.unwrap_or_default(), error.message))
}
