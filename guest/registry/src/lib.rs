//! The driver registry: an ordered list of driver factories that finds a driver by name and opens a device by URI.
//!
//! Built for wasm32 this crate is the component `hal:registry/registry-component`, one instance per tenant. Elsewhere it is
//! the same logic as a library, for tests and for measuring what the component costs:
//!
//! ```
//! use hal_registry::{Driver, DriverInfo, Error, Factory, FactoryInfo, Registry};
//!
//! #[derive(Clone)]
//! struct Cpu;
//!
//! impl Factory for Cpu {
//!     type Driver = Cpu;
//!     fn id(&self) -> u64 { 1 }
//!     fn info(&self) -> FactoryInfo { FactoryInfo { name: "cpu".into(), version: "0.1.0".into() } }
//!     fn enumerate(&self) -> Result<Vec<DriverInfo>, Error> {
//!         Ok(vec![DriverInfo { name: "cpu".into(), full_name: "CPU".into(), version: "0.1.0".into() }])
//!     }
//!     fn try_create(&self, _name: &str) -> Result<Cpu, Error> { Ok(Cpu) }
//!     fn duplicate(&self) -> Result<Self, Error> { Ok(Cpu) }
//! }
//!
//! impl Driver for Cpu {
//!     type Device = String;
//!     fn create_device_by_uri(&self, uri: &str) -> Result<String, Error> { Ok(uri.into()) }
//! }
//!
//! let registry = Registry::new();
//! registry.register_factory(&Cpu)?;
//! assert_eq!(registry.create_device("cpu://0")?, "cpu://0");
//! assert!(registry.create_device("vulkan://").unwrap_err().message.contains("there are: cpu"));
//! # Ok::<(), Error>(())
//! ```
//!
//! Semantics follow IREE's `iree_hal_driver_registry_t`, less its defects.
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
// A native cdylib needs the panic handler that comes with std.
#[cfg(not(target_arch = "wasm32"))]
extern crate std;

#[cfg(target_arch = "wasm32")]
mod bindings;
#[cfg(target_arch = "wasm32")]
mod component;
#[cfg(target_arch = "wasm32")]
mod convert;
mod error;
mod factory;
mod registry;
mod text;

pub use error::{Code, Error, LimitHit};
pub use factory::{Driver, DriverInfo, Factory, FactoryInfo};
pub use registry::{DEFAULT_CAPACITY, Failure, Listing, MAX_NAME_BYTES, Registry};

#[cfg(test)]
mod tests;
