#![doc = include_str!("../ABI.md")]
#![forbid(unsafe_code)]

mod error;
mod limits;
mod place;
mod program;

pub use error::{ErrorCode, KernelError, MAX_QUOTED_BYTES, Place};
pub use limits::SourceLimits;
pub use program::{
    Binding, BindingClass, Function, Override, OverrideValue, Program, RequiredFeature, RuntimeArray,
};

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
/// A [`KernelError`] for whatever the bytes hold; it does not panic and does not overflow a stack.
pub fn load(format: Format, bytes: &[u8], limits: &SourceLimits) -> Result<Program, KernelError> {
    let _ = (format, bytes, limits);
    Err(KernelError::new(ErrorCode::Unimplemented, "loading kernels is not there yet"))
}

impl Program {
    /// Resolves all overrides, by `@id` where the source gives one and by name otherwise.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` names an override that is unknown, missing, given twice or of another type.
    pub fn specialize(&self, values: &[(String, OverrideValue)]) -> Result<Program, KernelError> {
        let _ = values;
        Err(KernelError::new(ErrorCode::Unimplemented, "overrides are not there yet"))
    }
}
