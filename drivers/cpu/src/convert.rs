//! The kernel compiler's errors, in the driver interface's terms.

use hal_driver::{Code, Error};
use hal_kernel::Program;
use naga_wasm::{Diagnostic, Kind};

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
