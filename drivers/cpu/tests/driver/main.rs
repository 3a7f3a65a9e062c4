//! What the cpu driver does, through the traits alone. One binary, as each one links a whole compiler.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests: clippy.toml relaxes only what stands inside a #[test] function"
)]

mod cache;
mod features;
mod hostile;
mod kernels;
mod listing;
mod memory;
mod support;
mod transfers;
