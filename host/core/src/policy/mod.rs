//! What a tenant may do: grants, their limits, and policy files.

mod file;
mod grant;
mod limits;
mod pattern;

pub use file::{BlobEntry, Policy, Wasi};
pub(crate) use grant::Terms;
pub use grant::{Grant, Reveal};
pub use limits::{Limit, Limits, Unit, bytes, duration_ns};
pub(crate) use pattern::Patterns;
