//! How a compiled kernel is called. The one description that compiler and caller share.
//!
//! # Imports
//!
//! | module | name | type |
//! |---|---|---|
//! | [`IMPORT_MODULE`] | [`IMPORT_MEMORY`] | shared memory, 32-bit addresses, at least 1 page, at most 65,536 |
//! | [`IMPORT_MODULE`] | [`IMPORT_REFILL`] | `func () -> i64` |
//!
//! `refill` is called when the budget is used up. It returns more budget (a positive number of *work units*, each about
//! one scalar operation; a million is about a millisecond), or zero or less to stop the kernel.
//!
//! # Exports
//!
//! - [`EXPORT_RUN`]: `func (begin: i64, end: i64, groups_x: i32, groups_y: i32, groups_z: i32) -> i32`. Runs the
//!   workgroups whose linear numbers are in `begin..end`, where the linear number of workgroup (x, y, z) is
//!   `x + groups_x * (y + groups_y * z)`, as unsigned numbers. `groups_*` are also what the kernel sees as
//!   `num_workgroups`. `end` must be at most their product, and none of them 0 unless the range is empty.
//!   It returns one of the `STATUS_*` numbers.
//! - [`EXPORT_SCRATCH`]: mutable `i32` global. Address of [`Kernel::scratch_per_worker`](crate::Kernel) bytes, a
//!   multiple of [`SCRATCH_ALIGNMENT`], that this instance alone uses while it runs. Its contents need not be cleared.
//! - [`EXPORT_BUDGET`]: mutable `i64` global. Work units left. Set it before a run; it may be read afterwards.
//! - For each entry of [`Abi::bindings`]: two mutable `i32` globals, the address of the bound range, a multiple of
//!   [`BINDING_ALIGNMENT`], and its length in bytes.
//! - For each entry of [`Abi::constants`]: a mutable `i32` global that holds one little-endian word of the constants.
//!
//! # Trust
//!
//! Nothing that decides where the kernel may reach is read from memory: ranges, group numbers, scratch address, budget
//! and constants are parameters or globals. All memory accesses stay inside the bound ranges and the scratch area, if
//! the caller gave true ranges. A kernel that still traps (an unaligned base can do that to an atomic) is a defect of
//! caller or compiler.

/// Module name of both imports.
pub const IMPORT_MODULE: &str = "hal";
/// Name of the memory import.
pub const IMPORT_MEMORY: &str = "memory";
/// Name of the budget import.
pub const IMPORT_REFILL: &str = "refill";
/// Name of the exported function.
pub const EXPORT_RUN: &str = "run";
/// Name of the exported global for the scratch address.
pub const EXPORT_SCRATCH: &str = "scratch";
/// Name of the exported global for the budget.
pub const EXPORT_BUDGET: &str = "budget";

/// `run` did all its workgroups.
pub const STATUS_DONE: i32 = 0;
/// `refill` said stop; some workgroups did not run or did not finish.
pub const STATUS_STOPPED: i32 = 1;
/// Nothing ran: a binding is shorter than its [`BindingAbi::min_length`].
pub const STATUS_BINDING_TOO_SHORT: i32 = 2;

/// Alignment of a bound range's address. Wide enough for every WGSL type and for a vector load.
pub const BINDING_ALIGNMENT: u32 = 16;
/// Alignment of the scratch address.
pub const SCRATCH_ALIGNMENT: u32 = 16;
/// Most bytes of constants: 32 words.
pub const MAX_CONSTANT_BYTES: u32 = 128;

/// Invocations of a subgroup: those whose `local_invocation_index` differs in its lowest bits only. The last one of a workgroup may
/// have fewer.
pub const SUBGROUP_SIZE: u32 = 4;

/// What the caller of one kernel has to set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Abi {
    /// Invocations per workgroup.
    pub workgroup_size: [u32; 3],
    /// The bindings that the kernel uses, by number, ascending.
    pub bindings: Vec<BindingAbi>,
    /// Names of the globals for the constants, word 0 first: `constant_bytes / 4` of them.
    pub constants: Vec<String>,
    /// Exact size of the constants in bytes; 0 if the kernel takes none.
    pub constant_bytes: u32,
}

/// One binding of a kernel.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BindingAbi {
    /// The number in `@binding(n)`, in `@group(0)`.
    pub binding: u32,
    /// Whether the kernel writes it. If not, the range may lie in read-only pages.
    pub writes: bool,
    /// Least length in bytes that `run` accepts.
    pub min_length: u32,
    /// Name of the `i32` global for the address: `binding.N.base`.
    pub base_global: String,
    /// Name of the `i32` global for the length in bytes: `binding.N.length`.
    pub length_global: String,
}

/// Name of the global for the address of binding `number`.
pub(crate) fn base_global(number: u32) -> String {
    format!("binding.{number}.base")
}

/// Name of the global for the length of binding `number`.
pub(crate) fn length_global(number: u32) -> String {
    format!("binding.{number}.length")
}

/// Name of the global for a word of the constants.
pub(crate) fn constant_global(word: u32) -> String {
    format!("constant.{word}")
}
