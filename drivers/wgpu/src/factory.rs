//! The factory: the back ends that this build has for this system.

use crate::{
    backend::{self, Backend},
    config::Config,
    driver::WgpuDriver,
};
use hal_driver::{Code, Driver, DriverInfo, Error, Factory, FactoryInfo, Result};
use std::sync::Arc;

/// Lists the back ends compiled in for this system (`vulkan`; `metal` on Apple's; `dx12` and `vulkan` on Windows), and makes them.
///
/// Listing touches nothing. Making a driver loads its native library and whatever that loads, for the life of the process;
/// a crash in there is a crash of the process, so ask in a process of its own first where that matters, as `hal devices` does.
pub struct WgpuFactory {
    config: Config,
}

impl WgpuFactory {
    /// A factory. Touches nothing.
    pub fn new(config: Config) -> Self {
        Self { config }
    }
}

impl Factory for WgpuFactory {
    fn info(&self) -> FactoryInfo {
        FactoryInfo { name: "wgpu".into(), version: env!("CARGO_PKG_VERSION").into() }
    }

    fn drivers(&self) -> Result<Vec<DriverInfo>> {
        Ok(Backend::compiled_in().map(Backend::info).collect())
    }

    fn create(&self, name: &str) -> Result<Arc<dyn Driver>> {
        let backend = Backend::compiled_in().find(|backend| backend.name() == name).ok_or_else(|| {
            let there: Vec<&str> = Backend::compiled_in().map(Backend::name).collect();
            Error::new(Code::NotFound, format!("no driver {:?} here; there are {there:?}", backend::shorten(name)))
        })?;
        let plain = backend.instance(false)?;
        Ok(Arc::new(WgpuDriver::new(backend, self.config.clone(), plain)))
    }
}
