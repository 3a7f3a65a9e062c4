//! The registry's logic on native factories: what the component is compared with.

use hal_registry::{Code, Driver, DriverInfo, Error, Factory, FactoryInfo, Registry};
use std::sync::Arc;

/// A native factory as the registry's logic wants one.
pub struct Native {
    id: u64,
    factory: Arc<dyn hal_driver::Factory>,
}

/// A native driver.
pub struct NativeDriver(Arc<dyn hal_driver::Driver>);

/// A registry with the factories that the guest is granted, in the same order.
///
/// # Errors
/// A factory's own.
pub fn registry(factories: &[Arc<dyn hal_driver::Factory>]) -> anyhow::Result<Registry<Native>> {
    let registry = Registry::new();
    for (id, factory) in (1..).zip(factories) {
        let native = Native { id, factory: factory.clone() };
        registry.register_factory(&native).map_err(|error| anyhow::anyhow!("{}", error.message))?;
    }
    Ok(registry)
}

fn internal(error: hal_driver::Error) -> Error {
    Error { code: Code::Internal, message: error.message, limit: None }
}

impl Factory for Native {
    type Driver = NativeDriver;

    fn id(&self) -> u64 {
        self.id
    }

    fn info(&self) -> FactoryInfo {
        let info = self.factory.info();
        FactoryInfo { name: info.name, version: info.version }
    }

    fn enumerate(&self) -> Result<Vec<DriverInfo>, Error> {
        let drivers = self.factory.drivers().map_err(internal)?;
        let info = |driver: hal_driver::DriverInfo| DriverInfo {
            name: driver.name,
            full_name: driver.full_name,
            version: driver.version,
        };
        Ok(drivers.into_iter().map(info).collect())
    }

    fn try_create(&self, name: &str) -> Result<NativeDriver, Error> {
        self.factory.create(name).map(NativeDriver).map_err(internal)
    }

    fn duplicate(&self) -> Result<Self, Error> {
        Ok(Self { id: self.id, factory: self.factory.clone() })
    }
}

impl Driver for NativeDriver {
    type Device = Arc<dyn hal_driver::Device>;

    fn create_device_by_uri(&self, _uri: &str) -> Result<Self::Device, Error> {
        let devices = self.0.devices().map_err(internal)?;
        let path = devices.first().map(|device| device.path.as_str()).unwrap_or_default();
        self.0.open(path, &[]).map_err(internal)
    }
}
