#![doc = include_str!("../../README.md")]
//!
//! # This crate
//!
//! An embedder builds a [`Host`] with the drivers it chooses, loads a tenant's component as a [`Program`], starts a session with
//! grants, and calls the [`Tenant`]'s exports.
//!
//! - [`load`] is the way from bytes to code: look, compose, compile. Nothing of a refused component has run.
//! - [`engine`] is what the sandbox rests on; [`worker`] is the process that compiles.
//! - [`wit`] implements the interfaces over the checked objects of [`hal_core`], which knows no wasm.

pub mod bindings;
mod builder;
mod cache;
pub mod engine;
mod error;
mod host;
mod limiter;
pub mod load;
mod program;
mod tenant;
pub mod wit;
pub mod worker;

pub use builder::Builder;
pub use cache::CodeCache;
pub use engine::config;
pub use error::{Culprit, Error, Rejection, Result};
pub use hal_core;
pub use host::Host;
pub use limiter::StoreLimits;
pub use load::{
    imports::Wasi,
    screen::{Screen, Shape},
};
pub use program::{Inspection, LoadOptions, Program};
pub use tenant::{DEFAULT_CALL_TIMEOUT, Report, State, Tenant, TenantOptions};

/// The registry component that was built in, if one was there when this crate was compiled.
pub fn bundled_registry() -> Option<&'static [u8]> {
    const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/registry.wasm"));
    (!BYTES.is_empty()).then_some(BYTES)
}
