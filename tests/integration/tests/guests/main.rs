//! Guests on a whole host: one test for each program of the crate `test-guests`, of the same name.
//!
//! Every run counts the live native objects of its drivers down to none: see [`hal_test_support::Guest`].
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy.toml allows these in test functions, and all of this is one test"
)]

mod canonical;
mod deny;
mod hang;
mod host;
mod isolation;
mod limit;
mod limit_source;
mod manifest;
mod ok;
mod registry;
mod registry_model;
mod trap;
