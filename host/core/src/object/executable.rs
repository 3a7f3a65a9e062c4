//! Compiled kernels.
use hal_driver::{Function, OverrideValue};

/// What a load asks for besides the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutableParams {
    /// `"wgsl"` or `"spirv"`.
    pub format: String,
    /// Values for override constants, by name or decimal `@id`.
    pub overrides: Vec<(String, OverrideValue)>,
    /// At most 64 bytes.
    pub label: String,
}

/// A module of kernels, compiled for one device.
#[derive(Clone)]
pub struct Executable(());

impl Executable {
    /// `executable.functions`.
    pub fn functions(&self) -> &[Function] { todo!() }
    /// `executable.close`.
    pub fn close(&self) { todo!() }
}
