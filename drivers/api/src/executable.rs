//! Compiled kernels.

use std::any::Any;

/// The value of an override constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OverrideValue {
    /// `bool`.
    Bool(bool),
    /// `i32`.
    I32(i32),
    /// `u32`.
    U32(u32),
    /// `f32`, and `f16` where the device has it.
    F32(f32),
}

/// The address space of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// `var<storage>`.
    Storage,
    /// `var<uniform>`.
    Uniform,
}

/// One `@group(0) @binding(n)` that a function uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The `n`.
    pub binding: u32,
    /// Its address space.
    pub kind: BindingKind,
    /// Whether the function reads it: by use, not by declaration.
    pub reads: bool,
    /// Whether the function writes it: by use, not by declaration.
    pub writes: bool,
    /// Bytes that a bound range needs at least; one element for a runtime-sized array.
    pub min_length: u64,
}

/// One entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name in the source.
    pub name: String,
    /// Invocations a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// In ascending order of binding number.
    pub bindings: Vec<Binding>,
    /// Exact length of the constants of a dispatch, a multiple of 4.
    pub constant_bytes: u32,
    /// `var<workgroup>` bytes that it uses.
    pub workgroup_bytes: u32,
    /// Of [`FEATURES`](crate::FEATURES), those it needs.
    pub features: Vec<String>,
}

/// A module of kernels, compiled for one device.
pub trait Executable: Send + Sync + 'static {
    /// Entry points in the order of the source.
    fn functions(&self) -> &[Function];

    /// For the driver's own downcast.
    fn as_any(&self) -> &dyn Any;
}
