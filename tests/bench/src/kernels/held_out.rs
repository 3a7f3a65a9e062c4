//! Kernels that nothing was tuned for: see `kernels/held_out/README.md`.

use super::catalog::Family;

/// They were added after the kernel compiler was frozen.
pub const FAMILIES: &[Family] = &[];

/// How many times as fast as on lavapipe they have to be, as the geometric mean.
pub const AT_LEAST: f64 = 6.0;
