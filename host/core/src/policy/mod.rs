//! What a tenant may do: grants, their limits, and policy files.

mod file;
mod grant;
mod limits;
mod pattern;

pub use file::{BlobEntry, Policy, Wasi};
pub use grant::{Grant, Reveal};
pub(crate) use grant::{Narrowing, Terms};
pub use limits::{Limit, Limits, Unit, bytes, duration_ns};
pub(crate) use pattern::Patterns;
pub use pattern::check_pattern;
