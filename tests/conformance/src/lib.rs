//! The conformance suite: every case on every driver, natively and through a guest, and bare where the driver itself promises it.
//!
//! Cases are in `hal-conformance-cases`; drivers are registered in [`drivers`]. `cargo test -p hal-conformance` runs everything;
//! `cargo xtask conformance` prints it as a table and writes `REPORT.md`.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this crate is tests, helpers included"
)]

pub mod bare;
pub mod drivers;
pub mod guest;
pub mod native;
pub mod report;
pub mod run;
pub mod spirv;
mod timeline;
