//! The host from outside: what it refuses, what it composes, how it compiles, how tenants end.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot be set up ends here, with its reason"
)]

mod composition;
mod example;
mod guests;
mod refusals;
mod tenants;
mod workers;

use hal_host::{Builder, Host};
use std::sync::OnceLock;

/// A builder with a registry that only has the right type, compiling here: what most tests need.
fn builder() -> Builder {
    Host::builder().registry_component(guests::registry("0.1.0")).compile_in_process()
}

/// One host for all tests that need nothing special: engines reserve address space.
fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| builder().build().expect("a host"))
}
