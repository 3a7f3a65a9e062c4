//! Compiled kernels and their entry points.

use crate::bindings::hal::device::executable;
use crate::recording::{Dispatch, Workgroups};
use crate::{Code, Error, Result};
use std::cell::OnceCell;

pub use executable::{BindingInfo, BindingKind, ExecutableParams, FunctionInfo, OverrideConstant, OverrideValue};

/// WGSL without overrides and without a label.
impl Default for ExecutableParams {
    fn default() -> Self {
        Self { format: "wgsl".into(), overrides: Vec::new(), label: String::new() }
    }
}

impl ExecutableParams {
    /// Gives an override constant its value. The type must be the declared one.
    #[must_use]
    pub fn with_override(mut self, name: &str, value: impl Into<OverrideValue>) -> Self {
        self.overrides.push(OverrideConstant { name: name.into(), value: value.into() });
        self
    }
}

impl From<bool> for OverrideValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<i32> for OverrideValue {
    fn from(value: i32) -> Self {
        Self::Signed(value)
    }
}

impl From<u32> for OverrideValue {
    fn from(value: u32) -> Self {
        Self::Unsigned(value)
    }
}

impl From<f32> for OverrideValue {
    fn from(value: f32) -> Self {
        Self::Float(value)
    }
}

/// A module of kernels, compiled for one device.
#[derive(Debug)]
pub struct Executable {
    raw: executable::Executable,
    functions: OnceCell<Vec<FunctionInfo>>,
}

impl Executable {
    /// Its entry points, in the order of the source.
    pub fn functions(&self) -> &[FunctionInfo] {
        self.functions.get_or_init(|| self.raw.functions())
    }

    /// An entry point by name.
    ///
    /// # Errors
    /// `not-found` with the names there are.
    pub fn function(&self, name: &str) -> Result<Function<'_>> {
        let functions = self.functions();
        (0..)
            .zip(functions)
            .find(|(_, info)| info.name == name)
            .map(|(index, info)| Function { executable: self, index, info })
            .ok_or_else(|| {
                let names: Vec<_> = functions.iter().map(|info| info.name.as_str()).collect();
                Error::new(Code::NotFound, format!("no function {name:?}; there are: {}", names.join(", ")))
            })
    }

    /// Gives it up. Work in flight goes on.
    pub fn close(&self) {
        self.raw.close();
    }

    pub(crate) fn raw(&self) -> &executable::Executable {
        &self.raw
    }

    #[cfg(test)]
    pub(crate) fn with_functions(raw: executable::Executable, functions: Vec<FunctionInfo>) -> Self {
        Self { raw, functions: OnceCell::from(functions) }
    }
}

impl From<executable::Executable> for Executable {
    fn from(raw: executable::Executable) -> Self {
        Self { raw, functions: OnceCell::new() }
    }
}

/// An entry point of an [`Executable`].
#[derive(Debug, Clone, Copy)]
pub struct Function<'a> {
    executable: &'a Executable,
    index: u32,
    info: &'a FunctionInfo,
}

impl<'a> Function<'a> {
    /// Its index in [`Executable::functions`].
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Its bindings, constants and workgroup size.
    pub fn info(&self) -> &'a FunctionInfo {
        self.info
    }

    /// The executable it belongs to.
    pub fn executable(&self) -> &'a Executable {
        self.executable
    }

    /// As many workgroups as cover so many invocations in x, y, z. The last ones may reach past them: the kernel checks.
    pub fn workgroups_for(&self, invocations: [u32; 3]) -> [u32; 3] {
        let [x, y, z] = invocations;
        let (size_x, size_y, size_z) = self.info.workgroup_size;
        [x.div_ceil(size_x.max(1)), y.div_ceil(size_y.max(1)), z.div_ceil(size_z.max(1))]
    }

    /// A dispatch of so many workgroups, to be given its bindings and constants and put into a [`Batch`](crate::Batch).
    ///
    /// `8`, `[8, 4]` and `[8, 4, 1]` are counts; [`Workgroups::Indirect`] takes them from a buffer.
    pub fn dispatch(self, workgroups: impl Into<Workgroups<'a>>) -> Dispatch<'a> {
        Dispatch::new(self, workgroups.into())
    }
}
