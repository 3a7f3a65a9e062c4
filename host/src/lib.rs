//! Runs sandboxed tenants against devices: the host of the HAL driver registry.

pub mod engine;
mod cache;
mod error;
pub mod load;
pub mod worker;

pub use engine::config;
pub use error::{Culprit, Error, Rejection, Result};
pub use load::screen::Screen;
