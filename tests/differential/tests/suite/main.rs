//! Random work and random kernels on every driver.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of this crate is tests, helpers included"
)]

mod corpus;
mod coverage;
mod floats;
mod kernels;
mod mistakes;
mod regressions;
mod sequences;
