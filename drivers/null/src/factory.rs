//! The factory: lists one driver.

use crate::driver::NullDriver;
use hal_driver::{Code, Driver, DriverInfo, Error, Factory, FactoryInfo, Result};
use std::sync::Arc;

/// Lists the driver `null` and makes it. It has no state, so it costs nothing to have.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullFactory;

impl NullFactory {
    /// The factory. There is nothing to configure.
    pub const fn new() -> Self {
        Self
    }
}

impl Factory for NullFactory {
    fn info(&self) -> FactoryInfo {
        FactoryInfo { name: "null".into(), version: env!("CARGO_PKG_VERSION").into() }
    }

    fn drivers(&self) -> Result<Vec<DriverInfo>> {
        Ok(vec![NullDriver.info()])
    }

    fn create(&self, name: &str) -> Result<Arc<dyn Driver>> {
        if name == "null" {
            Ok(Arc::new(NullDriver))
        } else {
            Err(Error::new(Code::NotFound, format!("no driver {name:?} here; this factory makes \"null\"")))
        }
    }
}
