//! Finding a device: registries, the factories that the host granted, drivers.

use crate::bindings::hal::registry::{drivers, factories, registry};
use crate::{Amount, Device, DeviceInfo, Error, Result, Usage};

pub use drivers::{DriverInfo, FactoryInfo};
/// What there is, and what could not be asked.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The drivers of the factories that answered.
    pub drivers: Vec<DriverInfo>,
    /// The factories that did not.
    pub failures: Vec<Failure>,
}

/// A factory that could not list its drivers.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Its name.
    pub factory: String,
    /// Why.
    pub error: Error,
}

/// An ordered list of driver factories that finds drivers by name and opens devices by URI.
///
/// [`Registry::default`] has every factory that the host granted; most programs need no other.
#[derive(Debug)]
pub struct Registry(registry::Registry);

impl Default for Registry {
    /// The program's default registry, with every granted factory in it. Each call gives a handle to the same one.
    fn default() -> Self {
        Self(registry::Registry::default())
    }
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self(registry::Registry::new())
    }

    /// Appends a factory; later ones override earlier ones of the same driver name. The caller keeps its handle.
    ///
    /// # Errors
    /// `already-exists` for a factory that is in this registry; `resource-exhausted` beyond 64.
    pub fn register_factory(&self, factory: &Factory) -> Result<()> {
        Ok(self.0.register_factory(&factory.0)?)
    }

    /// Removes a factory. Drivers already made stay usable.
    ///
    /// # Errors
    /// `not-found`.
    pub fn unregister_factory(&self, factory: &Factory) -> Result<()> {
        Ok(self.0.unregister_factory(&factory.0)?)
    }

    /// Every driver there is. Empty if nothing was granted.
    pub fn enumerate(&self) -> Vec<DriverInfo> {
        self.0.enumerate()
    }

    /// The same, with the factories that failed to list theirs beside it.
    pub fn enumerate_detailed(&self) -> Listing {
        let registry::Listing { drivers, failures } = self.0.enumerate_detailed();
        let failures =
            failures.into_iter().map(|registry::Failure { factory, error }| Failure { factory, error: error.into() });
        Listing { drivers, failures: failures.collect() }
    }

    /// Makes a driver by its exact name.
    ///
    /// # Errors
    /// `not-found` with the names there are; a factory's own error.
    pub fn try_create(&self, name: &str) -> Result<Driver> {
        Ok(Driver(self.0.try_create(name)?))
    }

    /// Opens a device by URI: `cpu://` is the default device of the driver `cpu`, `vulkan://1` the one with path `1`.
    ///
    /// # Errors
    /// As [`try_create`](Self::try_create) and [`Driver::create_device_by_uri`].
    pub fn create_device(&self, uri: &str) -> Result<Device> {
        Ok(self.0.create_device(uri)?.into())
    }
}

/// A driver: lists devices and opens them. Devices outlive it.
#[derive(Debug)]
pub struct Driver(drivers::Driver);

impl Driver {
    /// Its name, which is the scheme of its URIs, and its version.
    pub fn info(&self) -> DriverInfo {
        self.0.info()
    }

    /// The devices there are now. May be empty.
    ///
    /// # Errors
    /// `permission-denied` once revoked; `unavailable` if the driver's system fails.
    pub fn query_available_devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(self.0.query_available_devices()?)
    }

    /// Text about a device, for diagnostics.
    ///
    /// # Errors
    /// `not-found`.
    pub fn device_details(&self, id: u64) -> Result<String> {
        Ok(self.0.device_details(id)?)
    }

    /// Opens the n-th device of the last list.
    ///
    /// # Errors
    /// `out-of-range` with the count; `unavailable` if that device is gone; as by path.
    pub fn create_device_by_ordinal(&self, ordinal: u32, parameters: &[(&str, &str)]) -> Result<Device> {
        Ok(self.0.create_device_by_ordinal(ordinal, &owned(parameters))?.into())
    }

    /// Opens a device by the id it was listed with.
    ///
    /// # Errors
    /// `not-found`; as by path.
    pub fn create_device_by_id(&self, id: u64, parameters: &[(&str, &str)]) -> Result<Device> {
        Ok(self.0.create_device_by_id(id, &owned(parameters))?.into())
    }

    /// Opens a device by the path it was listed with; the empty path is the default device.
    ///
    /// # Errors
    /// `not-found` with the paths there are; `invalid-argument` for a malformed path or an unknown parameter;
    /// `resource-exhausted` for the limit "devices"; `unavailable`.
    pub fn create_device_by_path(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Device> {
        Ok(self.0.create_device_by_path(path, &owned(parameters))?.into())
    }

    /// Opens a device by a URI whose scheme is this driver's name.
    ///
    /// # Errors
    /// `invalid-argument` for another scheme; as by path.
    pub fn create_device_by_uri(&self, uri: &str) -> Result<Device> {
        Ok(self.0.create_device_by_uri(uri)?.into())
    }

    /// Opens the default device.
    ///
    /// # Errors
    /// `unavailable` if there is none; as by path.
    pub fn create_default_device(&self) -> Result<Device> {
        Ok(self.0.create_default_device()?.into())
    }
}

fn owned(parameters: &[(&str, &str)]) -> drivers::Parameters {
    parameters.iter().map(|&(key, value)| (key.into(), value.into())).collect()
}

/// A factory: the capability to make drivers under a grant.
#[derive(Debug)]
pub struct Factory(drivers::DriverFactory);

impl Factory {
    /// Fresh handles to the factories that the host granted, in the order of the grants.
    pub fn granted() -> Vec<Self> {
        factories::granted().into_iter().map(Self).collect()
    }

    /// Equal for two handles of one factory.
    pub fn id(&self) -> u64 {
        self.0.id()
    }

    /// Its name and version.
    pub fn info(&self) -> FactoryInfo {
        self.0.info()
    }

    /// The drivers it can make.
    ///
    /// # Errors
    /// The factory's own; `deadline-exceeded`; `permission-denied` once revoked.
    pub fn enumerate(&self) -> Result<Vec<DriverInfo>> {
        Ok(self.0.enumerate()?)
    }

    /// Makes a driver that it lists.
    ///
    /// # Errors
    /// `not-found`; the factory's own; `deadline-exceeded`; `permission-denied` once revoked.
    pub fn try_create(&self, name: &str) -> Result<Driver> {
        Ok(Driver(self.0.try_create(name)?))
    }

    /// Another handle to the same factory.
    ///
    /// # Errors
    /// `resource-exhausted` for the limit "factories".
    pub fn duplicate(&self) -> Result<Self> {
        Ok(Self(self.0.duplicate()?))
    }

    /// A new factory with lower limits, and fewer devices if patterns are given. What it uses is charged to this one too.
    ///
    /// # Errors
    /// `invalid-argument` for an unknown limit or a malformed pattern; `resource-exhausted` for the limit "factories".
    pub fn narrow(&self, limits: &[(&str, u64)], devices: Option<&[&str]>) -> Result<Self> {
        let limits: Vec<Amount> = limits.iter().map(|&(name, value)| Amount { name: name.into(), value }).collect();
        let devices: Option<Vec<String>> = devices.map(|patterns| patterns.iter().map(|&text| text.into()).collect());
        Ok(Self(self.0.narrow(&limits, devices.as_deref())?))
    }

    /// Its limits.
    pub fn limits(&self) -> Vec<Amount> {
        self.0.limits()
    }

    /// What is used of them.
    pub fn budget(&self) -> Vec<Usage> {
        self.0.budget()
    }
}
