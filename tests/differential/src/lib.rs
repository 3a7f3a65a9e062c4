//! Random work and random kernels, on every driver and on a model: all have to leave the same bytes.
//!
//! - [`sequence`] has what proptest makes up and shrinks: numbers without meaning. [`mod@lower`] makes a [`Plan`] of them, whose every
//!   command is valid and whose every outcome is determined: what overlaps is ordered, by barriers and by semaphores.
//! - [`model`] runs a plan on plain bytes, kernels by [`hal_interpreter`]; [`Target`] runs it through `hal-core` on a device.
//! - [`generator`] makes up kernels, likewise valid by construction.
//! - [`wrong`] is a driver with mistakes, to show that they are found.
//!
//! Kernels stay in the domain where all devices agree to the bit: integers, and sums and products of floats without NaN, negative
//! zero and denormals; fewer than 60,000 iterations of loops for each invocation, because lavapipe ends it after 65,535.
//!
//! `HAL_DIFFERENTIAL_CASES` is the number of cases of each test. `PROPTEST_RNG_SEED` repeats a run. Failures are kept in
//! `proptest-regressions` and tried first from then on.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of this crate is for tests, which fail by panicking"
)]
#![forbid(unsafe_code)]

pub mod generator;
pub mod kernels;
pub mod lower;
pub mod model;
pub mod sequence;
pub mod target;
pub mod text;
pub mod wrong;

pub use lower::{Node, Phase, Plan, Recording, Step, Table, View, lower};
pub use target::{Target, runtime, targets};

use proptest::test_runner::{Config, FileFailurePersistence};

/// As many cases as `HAL_DIFFERENTIAL_CASES` says, or this many; failures are kept under a name.
pub fn config(cases: u32, name: &'static str) -> Config {
    let asked = std::env::var("HAL_DIFFERENTIAL_CASES").ok();
    let cases = asked.map_or(cases, |asked| asked.parse().expect("HAL_DIFFERENTIAL_CASES is a number"));
    let persistence = FileFailurePersistence::Direct(name);
    Config {
        cases,
        failure_persistence: Some(Box::new(persistence)),
        max_shrink_time: 30_000,
        max_shrink_iters: 100_000,
        ..Config::default()
    }
}
