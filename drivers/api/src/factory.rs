//! Factories: where drivers come from.

use crate::{Driver, DriverInfo, Result};
use std::sync::Arc;

/// What a factory calls itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactoryInfo {
    /// Short and stable: `"cpu"`.
    pub name: String,
    /// The version of the implementation.
    pub version: String,
}

/// Lists drivers and makes them.
pub trait Factory: Send + Sync {
    /// Cheap, and the same each time.
    fn info(&self) -> FactoryInfo;

    /// The drivers it can make: cheap, loads no library and opens no device. May name drivers that turn out not to work.
    /// A name is 1 to 64 bytes of `[a-z0-9._-]`; to the host a factory that lists others, or more than 64, has failed.
    ///
    /// # Errors
    /// Whatever keeps it from knowing. Other factories are not affected.
    fn drivers(&self) -> Result<Vec<DriverInfo>>;

    /// Makes a driver that it lists. *Blocking*: may load a native library.
    ///
    /// # Errors
    /// `NotFound` for a name it does not list; `Unavailable` if the native side is missing.
    fn create(&self, name: &str) -> Result<Arc<dyn Driver>>;
}
