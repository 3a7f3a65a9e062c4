#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod abi;
mod diagnostic;
mod dump;
mod emit;
mod ir;
mod layout;
mod lower;
mod op;
mod options;
mod passes;
mod pipeline;
mod runtime;

pub use abi::{Abi, BindingAbi};
pub use diagnostic::{Diagnostic, Kind};
pub use options::Options;
pub use pipeline::PASSES;

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// A core wasm module; see [`abi`] for its imports and exports.
    pub wasm: Vec<u8>,
    /// What its caller has to set.
    pub abi: Abi,
    /// Bytes of scratch memory that each instance needs, a multiple of 16.
    pub scratch_per_worker: u32,
    /// What the kernel makes use of.
    pub features: Features,
}

/// What a kernel makes use of.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Features {
    /// Workgroup memory, in bytes.
    pub workgroup_bytes: u32,
    /// Barriers split it into regions.
    pub barriers: bool,
    /// It has loops, so that its running time is not known from its size.
    pub loops: bool,
    /// It uses atomic operations on storage memory, so groups of one dispatch may talk to each other.
    pub storage_atomics: bool,
}

/// Compiles entry point `entry` of a validated module whose overrides are resolved.
///
/// `info` must be what [`naga::valid::Validator`] answered for `module`.
///
/// # Errors
///
/// A [`Diagnostic`] for everything that cannot be compiled. Nothing is compiled to something else than it says.
pub fn compile(
    module: &naga::Module,
    info: &naga::valid::ModuleInfo,
    entry: &str,
    options: &Options,
) -> Result<Kernel, Diagnostic> {
    pipeline::run(module, info, entry, options, None)
}

/// [`compile`], which also shows the code after each pass that changes it: `observer` is called with the pass's name, one
/// of [`PASSES`], and a text for people.
///
/// # Errors
///
/// As [`compile`]. What came before the error was shown.
pub fn compile_observed(
    module: &naga::Module,
    info: &naga::valid::ModuleInfo,
    entry: &str,
    options: &Options,
    observer: &mut dyn FnMut(&'static str, &str),
) -> Result<Kernel, Diagnostic> {
    pipeline::run(module, info, entry, options, Some(observer))
}
