//! Limits and choices of a compilation.

/// Limits and choices of a compilation. [`Options::default`] is what a host with tenants wants.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Options {
    /// Most workgroup memory, in bytes. Default 32 KiB, what graphics hardware offers.
    pub max_workgroup_bytes: u32,
    /// Most invocations in a workgroup. Default 1,024.
    pub max_invocations: u32,
    /// Most scratch memory per instance, in bytes. Default 16 MiB: 1,024 invocations with 16 KiB each.
    pub max_scratch_bytes: u32,
    /// Largest emitted module, in bytes. Default 1 MiB: compiling it to machine code cannot be interrupted.
    pub max_wasm_bytes: u32,
    /// Most locals in one emitted function, for the same reason. Default 20,000.
    pub max_locals: u32,
    /// A product that is added to something need not be rounded first. WGSL allows that; it is faster, but the results
    /// differ from machine to machine. Default no: then they are those of the operations one by one.
    pub contract: bool,
    /// The kernel counts its work, and stops when its budget is used up. Default yes. Without it nothing stops a kernel: that is for
    /// measuring what the counting costs.
    pub counted: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_workgroup_bytes: 32 << 10,
            max_invocations: 1024,
            max_scratch_bytes: 16 << 20,
            max_wasm_bytes: 1 << 20,
            max_locals: 20_000,
            contract: false,
            counted: true,
        }
    }
}
