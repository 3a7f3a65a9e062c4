//! Kernels that nothing was tuned for: see `kernels/held_out/README.md`.

use super::catalog::Family;

/// They are added after the kernel compiler is frozen.
pub static FAMILIES: [Family; 0] = [];

/// How many times as fast as on lavapipe they have to be, as the geometric mean.
pub const AT_LEAST: f64 = 6.0;
