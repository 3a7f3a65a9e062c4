//! The project's build tool, run as `cargo xtask`: it finds a route to a WebAssembly standard library, builds the guests into components,
//! runs the checks and the tests, and starts the demo.
//!
//! Without the feature `build` only [`manifest`] is left: what was built, from what, and whether that is still so. Tests use it to refuse
//! stale components without pulling in the component encoder.

#![forbid(unsafe_code)]

pub mod manifest;

#[cfg(feature = "build")]
pub mod check;
#[cfg(feature = "build")]
pub mod cli;
#[cfg(feature = "build")]
pub mod conformance;
#[cfg(feature = "build")]
pub mod demo;
#[cfg(feature = "build")]
pub mod guests;
#[cfg(feature = "build")]
mod packages;
#[cfg(feature = "build")]
pub mod paths;
#[cfg(feature = "build")]
pub mod process;
#[cfg(feature = "build")]
pub mod route;
#[cfg(feature = "build")]
pub mod test;
#[cfg(feature = "build")]
mod vulkan;
#[cfg(feature = "build")]
pub mod wit;
#[cfg(feature = "build")]
pub mod workspace;
