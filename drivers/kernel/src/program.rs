//! What a loaded kernel source is: naga IR, its analysis, and the functions that can be dispatched.

use std::sync::Arc;

use naga::{AddressSpace, GlobalVariable, Handle};

use crate::error::Place;

/// A validated program. Cheap to clone: the IR is shared.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) module: naga::Module,
    pub(crate) info: naga::valid::ModuleInfo,
    pub(crate) functions: Vec<Function>,
    pub(crate) overrides: Vec<Override>,
    /// WGSL source, kept so that later stages can turn spans into places. Empty for SPIR-V.
    pub(crate) source: String,
}

/// One function that can be dispatched: a `@compute` entry point.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name in the source.
    pub name: String,
    /// Invocations per workgroup along x, y and z; after overrides were resolved.
    pub workgroup_size: [u32; 3],
    /// The bindings that the function uses, by binding number, ascending.
    pub bindings: Vec<Binding>,
    /// Exact size of the constants (`var<immediate>`) that a dispatch must give; 0 if it takes none.
    pub constant_bytes: u32,
    /// Workgroup memory that the function uses, in bytes.
    pub workgroup_bytes: u32,
    /// What a device must offer beyond plain WGSL, each once, in alphabetical order.
    pub required_features: Vec<RequiredFeature>,
}

/// A device feature that a function needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RequiredFeature {
    /// One of [`FEATURES`](crate::FEATURES).
    pub name: &'static str,
    /// Where it is first used, if known.
    pub place: Option<Place>,
}

/// One `@group(0)` binding of a function.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Binding {
    /// The number in `@binding(n)`.
    pub binding: u32,
    /// The variable's name, empty where the source has none.
    pub name: String,
    /// Storage or uniform.
    pub class: BindingClass,
    /// Whether the function, or what it calls, reads it. By use, not by declared access.
    pub reads: bool,
    /// Whether the function, or what it calls, writes it. By use, not by declared access.
    pub writes: bool,
    /// The least number of bytes that must be bound: the whole type, with one element of a runtime array.
    pub min_length: u32,
    /// Where the runtime-sized array lies, if the type has one.
    pub runtime_array: Option<RuntimeArray>,
}

/// The kinds of binding.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum BindingClass {
    /// `var<storage>`.
    Storage,
    /// `var<uniform>`.
    Uniform,
}

/// A runtime-sized array at the end of a binding. Its length is `(bound bytes - offset) / stride`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RuntimeArray {
    /// Bytes before the first element.
    pub offset: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
}

/// The value of an override, typed: a `2.5` for a `u32` is an error, not a 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OverrideValue {
    /// For `override x: bool`.
    Bool(bool),
    /// For `override x: i32`.
    I32(i32),
    /// For `override x: u32`.
    U32(u32),
    /// For `override x: f32`.
    F32(f32),
}

/// A declared override, for listings and messages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Override {
    /// The key by which [`Program::specialize`] finds it: the `@id` in decimal, or else the name.
    pub key: String,
    /// The name in the source.
    pub name: String,
    /// `bool`, `i32`, `u32` or `f32`.
    pub ty: &'static str,
    /// Whether it may be left out.
    pub has_default: bool,
}

impl Program {
    /// The functions that can be dispatched, in source order. While overrides are unresolved, `workgroup_size` holds
    /// only what the source says literally.
    pub fn functions(&self) -> &[Function] {
        &self.inner.functions
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.inner.functions.iter().find(|function| function.name == name)
    }

    /// Overrides that [`Program::specialize`] has still to resolve; empty afterwards, and then the program can be compiled.
    pub fn overrides(&self) -> &[Override] {
        &self.inner.overrides
    }

    /// The IR, for a driver's compiler.
    pub fn module(&self) -> &naga::Module {
        &self.inner.module
    }

    /// The analysis that belongs to [`Program::module`].
    pub fn info(&self) -> &naga::valid::ModuleInfo {
        &self.inner.info
    }

    /// Where the name of a function that can be dispatched is declared; `None` for SPIR-V, and if there is no such function.
    pub fn place_of_function(&self, name: &str) -> Option<Place> {
        self.function(name)?;
        let source = &self.inner.source;
        crate::wgsl_scan::function(source, name).map(|at| crate::place::of_offset(source, at))
    }

    /// Where the variable of a binding that a function uses is declared; `None` for SPIR-V, and if it uses no such binding.
    pub fn place_of_binding(&self, function: &str, binding: u32) -> Option<Place> {
        let (handle, _) = self.bound(function, binding)?;
        self.place(self.inner.module.global_variables.get_span(handle))
    }

    /// The variable of a binding that a function uses.
    pub(crate) fn bound(&self, function: &str, binding: u32) -> Option<(Handle<GlobalVariable>, &GlobalVariable)> {
        let module = self.module();
        let index = module.entry_points.iter().position(|point| point.name == function)?;
        let uses = self.info().get_entry_point(index);
        module.global_variables.iter().find(|(handle, variable)| {
            matches!(variable.space, AddressSpace::Storage { .. } | AddressSpace::Uniform)
                && variable.binding.is_some_and(|it| it.binding == binding)
                && !uses[*handle].is_empty()
        })
    }

    /// Where a span of [`Program::module`] lies in the source; `None` for SPIR-V and for spans that are not defined.
    pub fn place(&self, span: naga::Span) -> Option<Place> {
        crate::place::of_span(&self.inner.source, span)
    }
}
