//! The kernels that random work dispatches. Each is right for whatever its buffers hold, and each invocation writes only words of its
//! own or adds to atomic ones.

use hal_kernel::{Format, Program, SourceLimits, load};
use std::sync::LazyLock;

/// A binding that a kernel uses.
pub struct Use {
    /// The `n` in `@binding(n)`.
    pub binding: u32,
    /// Whether it is written; otherwise it is only read.
    pub writes: bool,
    /// Bytes that it needs at least.
    pub min_length: u64,
}

/// A kernel.
pub struct Kernel {
    /// WGSL with the function `main`.
    pub source: &'static str,
    /// Ascending.
    pub uses: &'static [Use],
    /// 32-bit words of constants.
    pub constants: usize,
}

const fn reads(binding: u32, min_length: u64) -> Use {
    Use { binding, writes: false, min_length }
}

const fn writes(binding: u32, min_length: u64) -> Use {
    Use { binding, writes: true, min_length }
}

/// The kernel that writes workgroup counts: three words of constants to the front of binding 0.
pub const COUNTS: usize = 0;

/// All of them.
pub static KERNELS: [Kernel; 9] = [
    Kernel { source: include_str!("kernels/counts.wgsl"), uses: &[writes(0, 12)], constants: 3 },
    Kernel { source: include_str!("kernels/scale.wgsl"), uses: &[reads(0, 4), writes(1, 4)], constants: 2 },
    Kernel { source: include_str!("kernels/reduce.wgsl"), uses: &[reads(0, 4), writes(3, 4)], constants: 0 },
    Kernel { source: include_str!("kernels/histogram.wgsl"), uses: &[reads(0, 4), writes(1, 4)], constants: 1 },
    Kernel { source: include_str!("kernels/tile.wgsl"), uses: &[reads(0, 4), writes(1, 4)], constants: 0 },
    Kernel {
        source: include_str!("kernels/floats.wgsl"),
        uses: &[reads(0, 4), reads(1, 4), writes(2, 4)],
        constants: 0,
    },
    Kernel { source: include_str!("kernels/bytes.wgsl"), uses: &[writes(7, 4)], constants: 1 },
    Kernel {
        source: include_str!("kernels/choose.wgsl"),
        uses: &[reads(0, 32), reads(1, 8), writes(2, 16)],
        constants: 0,
    },
    Kernel { source: include_str!("kernels/collatz.wgsl"), uses: &[reads(1, 4), writes(2, 8)], constants: 0 },
];

/// The same, for the interpreter.
pub static PROGRAMS: LazyLock<Vec<Program>> =
    LazyLock::new(|| KERNELS.iter().map(|kernel| program(kernel.source).expect("the kernels are right")).collect());

/// Loads WGSL without overrides.
///
/// # Errors
/// The front end's message.
pub fn program(source: &str) -> Result<Program, hal_kernel::KernelError> {
    load(Format::Wgsl, source.as_bytes(), &SourceLimits::default())?.specialize(&[])
}
