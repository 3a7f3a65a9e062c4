//! Runs compute kernels by going through naga's IR, statement by statement. It is what drivers and their compilers are compared with,
//! and what `hal kernel run --check` finds mistakes with, so it is written to be plainly right, not to be fast: a microsecond or so for each
//! operation.
//!
//! ```
//! use hal_interpreter::{Bound, Dispatch, Options, run};
//! use hal_kernel::{Format, SourceLimits, load};
//!
//! let source = b"
//!     @group(0) @binding(0) var<storage, read_write> data: array<u32>;
//!     @compute @workgroup_size(2) fn double(@builtin(global_invocation_id) id: vec3<u32>) {
//!         data[id.x] *= 2u;
//!     }";
//! let program = load(Format::Wgsl, source, &SourceLimits::default())?.specialize(&[])?;
//! let mut bindings = [Bound { binding: 0, bytes: vec![1, 0, 0, 0, 2, 0, 0, 0] }];
//! let dispatch = Dispatch { function: "double", groups: [1, 1, 1], constants: &[] };
//! run(&program, &dispatch, &mut bindings, &Options::default())?;
//! assert_eq!(bindings[0].bytes, [2, 0, 0, 0, 4, 0, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it gives a meaning to
//!
//! Everything that [`hal_kernel`] admits. A subgroup is [`SUBGROUP_SIZE`] invocations.
//!
//! # Which of several answers it gives
//!
//! - Integers wrap; `x / 0` is `x`, `x % 0` is 0; the lowest integer divided by -1 is itself; shifts are modulo the width.
//! - `+ - * /` and `sqrt` on floats are rounded once each, `fma` is a product and a sum. Functions that WGSL allows an error are
//!   computed in 64 bits and rounded once. Floats become the nearest integers that are
//!   floats too, NaN becomes 0.
//! - What an operator or a built-in function gives in `f16` is computed as in `f32` and rounded once more.
//! - An index out of range is the last element.
//! - Workgroups run in order of x, then y, then z. Inside one, invocations run in order of their index, each up to the next barrier.
//!   Atomic operations happen in that order.
//! - Subgroup operations are done by those who come to them in the same rounds of the same loops, from the first to the last. Who asks for the
//!   value of one who did not come keeps its own.
//!
//! With [`Options::checks`] it also tells of what is legal and a mistake all the same: see [`FindingKind`].
//!
//! # Bounds
//!
//! Every run ends, within [`Options::steps`] and [`Options::memory_bytes`], whatever the kernel. Expressions are gone through by recursion, as deep
//! as they are nested in the source; the caps of [`hal_kernel`] on nesting keep that within [`STACK_BYTES`].

#![forbid(unsafe_code)]

mod budget;
mod control;
mod error;
mod evaluate;
mod group;
mod half;
mod integers;
mod layout;
mod machine;
mod math;
mod matrices;
mod memory;
mod monitor;
mod operators;
mod packing;
mod subgroup;
mod value;

pub use error::{Error, ErrorKind, Result};

use hal_kernel::{Place, Program};
use std::time::Instant;

/// Invocations of a subgroup: those whose `local_invocation_index` differs in its lowest bits only.
pub const SUBGROUP_SIZE: u32 = subgroup::SIZE;

/// Stack that a thread needs on which [`run`] is called with sources of strangers.
pub const STACK_BYTES: usize = hal_kernel::limits::COMPILE_STACK_BYTES;

/// One launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// The entry point.
    pub function: &'a str,
    /// Workgroups along x, y and z.
    pub groups: [u32; 3],
    /// Exactly as many bytes as the function takes.
    pub constants: &'a [u8],
}

/// A buffer for one `@binding(n)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The `n`.
    pub binding: u32,
    /// What is in it, before and afterwards.
    pub bytes: Vec<u8>,
}

/// How a kernel is run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Most statements and expressions, over all invocations: every run ends. Values and memory of many words count once more for every 64
    /// words.
    pub steps: u64,
    /// Most bytes that the run keeps at a time beside the bindings: the memory and the values of the invocations of one workgroup, and what
    /// [`Options::checks`] remembers of it.
    pub memory_bytes: u64,
    /// Whether to look for mistakes. Several times slower.
    pub checks: bool,
    /// When the run has to end, if it has not by then.
    pub until: Option<Instant>,
}

impl Default for Options {
    /// 100 million steps, about a minute; 1 GiB; no checks; no time.
    fn default() -> Self {
        Self { steps: 100_000_000, memory_bytes: 1 << 30, checks: false, until: None }
    }
}

/// What a run tells besides the bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Steps taken.
    pub steps: u64,
    /// One for each kind in each place, in the order of the first; empty without [`Options::checks`].
    pub findings: Vec<Finding>,
}

/// Something that is legal and probably a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// Where in the source, if that is known.
    pub place: Option<Place>,
    /// How often it was found there. The rest is about the first time.
    pub times: u64,
    /// The workgroup.
    pub group: [u32; 3],
    /// The invocation inside the workgroup, as `local_invocation_index` counts.
    pub invocation: u32,
    /// Of a race, the other invocation.
    pub other: Option<u32>,
    /// Of a race, whether an index out of range led one of the two there. All such indices lead to the last element, so that this is no mistake
    /// of its own, but what is left there is still one of several.
    pub clamped: bool,
    /// The variable, if what it concerns is in memory and has a name.
    pub variable: Option<String>,
}

/// Kinds of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// An index that is out of range.
    OutOfBounds {
        /// The index.
        index: u32,
        /// How many elements there are.
        count: u32,
    },
    /// Another invocation of the workgroup touched the same byte, no barrier was between, and not both only read or were atomic.
    Race,
    /// A read of memory that nothing has written: of a workgroup's variable, or of an invocation's own that has no initial value. It
    /// reads zero.
    Unwritten,
}

/// Runs a dispatch to its end. `program` is a specialised one. Afterwards `bindings` hold what it left; after an error, what it had
/// left by then.
///
/// # Errors
/// See [`ErrorKind`].
pub fn run(program: &Program, dispatch: &Dispatch<'_>, bindings: &mut [Bound], options: &Options) -> Result<Report> {
    group::run(program, dispatch, bindings, options)
}
