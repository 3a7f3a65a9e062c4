//! What every driver must do, each case once.
//!
//! Cases are functions over [`Target`], a small trait that mirrors `hal:device`. It is implemented twice: by a guest component over
//! the WIT, and natively over the host's checked layer. Suites and cases that IREE's HAL conformance suite has too bear its
//! names; suites whose names end in a plain word (`RangeRefusals`, `BudgetEdges`) are ours.
//!
//! A case waits with deadlines only, compares something or fails, and says what it expected and what it found.

#![forbid(unsafe_code)]

mod case;
mod commands;
mod context;
mod kernels;
mod not_applicable;
mod suites;
pub mod target;

pub use case::{Case, FORMATS, Form};
pub use context::{Context, LONG, SHORT};
pub use kernels::{KERNELS, wgsl};
pub use not_applicable::{NOT_APPLICABLE, NotApplicable};
pub use suites::cases;
pub use target::Target;

/// How a case ends: well, or with what it expected and what it found.
pub type Outcome<V = ()> = Result<V, String>;

/// The name under which a target grants [`blob_bytes`].
pub const BLOB: &str = "conformance";

/// What that blob holds.
pub fn blob_bytes() -> Vec<u8> {
    commands::sample(300_000)
}
