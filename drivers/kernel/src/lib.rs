//! Untrusted shader source to a validated, reflected program: the one front end that every driver shares.
//!
//! ```
//! use hal_kernel::{Format, SourceLimits, load};
//!
//! let source = b"
//!     @group(0) @binding(0) var<storage, read_write> data: array<f32>;
//!     @compute @workgroup_size(64) fn double(@builtin(global_invocation_id) id: vec3<u32>) {
//!         data[id.x] *= 2.0;
//!     }";
//! let program = load(Format::Wgsl, source, &SourceLimits::default())?.specialize(&[])?;
//! assert_eq!(program.functions()[0].name, "double");
//! # Ok::<(), hal_kernel::KernelError>(())
//! ```
//!
//! Whatever the bytes hold, the process lives on and an answer comes soon: the source is walked and capped before a
//! parser sees it ([`limits`]), and parsing runs on threads with a large stack whose panics are caught
//! ([`on_compile_thread`]).
#![doc = include_str!("../ABI.md")]
#![forbid(unsafe_code)]

mod cache;
mod compare;
mod error;
mod front;
mod layout;
pub mod limits;
mod messages;
pub mod native;
mod place;
mod program;
mod reflect;
mod request;
mod specialize;
mod spirv_scan;
mod spirv_types;
mod threads;
mod uniformity;
mod wgsl_scan;

use std::sync::Arc;

pub use cache::Cache;
pub use compare::{Difference, Part, Tolerance, compare};
pub use error::{ErrorCode, KernelError, MAX_QUOTED_BYTES, Place};
pub use layout::{Constant, Element, Layout};
pub use limits::SourceLimits;
pub use program::{Binding, BindingClass, Function, Override, OverrideValue, Program, RequiredFeature, RuntimeArray};
pub use reflect::{FEATURES, MAX_BINDINGS, MAX_CONSTANT_BYTES, MAX_UNIFORM_BYTES};
pub use request::load_for;
pub use threads::{CompileSlot, compile_slot, on_compile_thread};

/// The languages a kernel can be written in.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Format {
    /// WGSL, UTF-8.
    Wgsl,
    /// SPIR-V, little-endian words.
    Spirv,
}

impl Format {
    /// The format of this name, as guests write it: `wgsl` or `spirv`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "wgsl" => Some(Self::Wgsl),
            "spirv" => Some(Self::Spirv),
            _ => None,
        }
    }

    /// The name, as guests write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::Spirv => "spirv",
        }
    }
}

/// Parses, validates and reflects untrusted source.
///
/// It blocks: call it from a thread that may. Parsing itself runs on one of a bounded number of compile threads.
///
/// # Errors
///
/// - `InvalidArgument`: the source is wrong, or has a barrier that not all invocations may reach; the message says where. In a
///   source with overrides barriers are looked at by [`Program::specialize`].
/// - `Incompatible`: it uses what no kernel may (a texture, group 1, a capability): see the ABI above.
/// - `ResourceExhausted`: it exceeds a cap of `limits`.
/// - `Unimplemented`: SPIR-V that the front end cannot read.
/// - `Internal`: the front end panicked; that was caught.
pub fn load(format: Format, bytes: &[u8], limits: &SourceLimits) -> Result<Program, KernelError> {
    let limits = limits.capped();
    let (most, name) = match format {
        Format::Wgsl => (limits.wgsl_bytes, "WGSL"),
        Format::Spirv => (limits.spirv_bytes, "SPIR-V"),
    };
    if bytes.len() > most {
        let message = format!("{} bytes of {name}, more than {most}; split the kernel", bytes.len());
        return Err(KernelError::new(ErrorCode::ResourceExhausted, message));
    }
    let source = match format {
        Format::Wgsl => {
            let source = text(bytes)?;
            wgsl_scan::check(source, &limits)?;
            source
        }
        Format::Spirv => {
            spirv_scan::check(bytes, &limits)?;
            ""
        }
    };
    on_compile_thread(|| {
        let module = match format {
            Format::Wgsl => front::parse_wgsl(source)?,
            Format::Spirv => front::parse_spirv(bytes)?,
        };
        // First: the validator does not name what the ABI has no place for.
        reflect::check_globals(&module, source)?;
        let info = front::validate(&module, source)?;
        let functions = reflect::functions(&module, &info, source);
        let overrides = reflect::overrides(&module);
        // With overrides, that comes with their values: see `Program::specialize`.
        if module.overrides.is_empty() {
            uniformity::check(&module, &info, source)?;
        }
        let inner = program::Inner { module, info, functions, overrides, source: source.to_owned() };
        Ok(Program { inner: Arc::new(inner) })
    })?
}

fn text(bytes: &[u8]) -> Result<&str, KernelError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("the WGSL is not UTF-8: byte {} is wrong", error.valid_up_to());
        KernelError::new(ErrorCode::InvalidArgument, message)
    })
}
