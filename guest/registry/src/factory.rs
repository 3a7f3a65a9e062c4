//! What the registry needs from outside: factories that list drivers and make them.

use crate::Error;
use alloc::{string::String, vec::Vec};

/// What a factory is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactoryInfo {
    /// For error messages.
    pub name: String,
    /// Of its implementation.
    pub version: String,
}

/// One driver in a factory's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverInfo {
    /// Lower case; also the scheme of its URIs.
    pub name: String,
    /// For display.
    pub full_name: String,
    /// Of its implementation.
    pub version: String,
}

/// A handle to a driver factory. In the component it is a handle to a resource of the host's, which has cut the listing to its bounds.
///
/// A factory must not call back into a registry that is calling it: it would be answered `failed-precondition`.
pub trait Factory: Sized {
    /// What it makes.
    type Driver;

    /// Equal for two handles exactly if they stand for the same factory.
    fn id(&self) -> u64;

    /// What it is called.
    fn info(&self) -> FactoryInfo;

    /// The drivers it can make. Cheap: loads nothing, opens nothing.
    ///
    /// # Errors
    /// The factory's own.
    fn enumerate(&self) -> Result<Vec<DriverInfo>, Error>;

    /// Makes a driver that it lists; of entries with one name, the last. May fail even for a listed name.
    ///
    /// # Errors
    /// The factory's own.
    fn try_create(&self, name: &str) -> Result<Self::Driver, Error>;

    /// Another handle to the same factory: same id, same budget.
    ///
    /// # Errors
    /// The factory's own, such as `resource-exhausted` for the limit "factories".
    fn duplicate(&self) -> Result<Self, Error>;
}

/// A driver, as far as the registry uses one.
pub trait Driver {
    /// What it opens.
    type Device;

    /// Opens the device that a URI with this driver's name as its scheme names. The device outlives the driver.
    ///
    /// # Errors
    /// The driver's own.
    fn create_device_by_uri(&self, uri: &str) -> Result<Self::Device, Error>;
}
