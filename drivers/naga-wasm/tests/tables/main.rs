//! Operators and built-in functions over tables of values: each as scalar and as vectors of two, three and four, in one dispatch,
//! with groups of 64 and a last one that is not full.
//!
//! What has one right answer is compared with Rust's; the rest with `f64`, within the error that WGSL allows (WGSL, "Floating Point
//! Accuracy").

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]
#![allow(missing_docs, reason = "read where it is used, in this folder")]

mod accurate;
#[path = "../common/mod.rs"]
mod common;
mod conversions;
mod floats;
mod integers;
mod packing;
mod table;
mod values;
mod vectors;
