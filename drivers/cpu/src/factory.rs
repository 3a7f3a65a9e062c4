//! The factory: one engine and one pool, and the drivers over them.

use crate::{
    codegen::Codegen,
    config::Config,
    driver::{self, CpuDriver, DRIVERS},
    pool::Pool,
};
use hal_driver::{Code, Driver, DriverInfo, Error, Factory, FactoryInfo, Result};
use std::sync::Arc;

/// Lists `cpu`, `local-sync` and `local-task`, and makes them.
///
/// All drivers and devices of one factory share its workers; dropping the last of them ends the threads. Two factories share nothing.
pub struct CpuFactory {
    config: Config,
    codegen: Codegen,
    pool: Arc<Pool>,
}

impl CpuFactory {
    /// Sets up the engine that runs kernels. Starts no thread: workers start with the first work that needs them.
    ///
    /// # Errors
    /// `Unavailable` on a processor for which there is no code generator.
    pub fn new(config: Config) -> Result<Self> {
        let codegen = Codegen::new(config.code_cache.clone())?;
        Ok(Self { codegen, pool: Arc::new(Pool::new(config.workers)), config })
    }
}

impl Factory for CpuFactory {
    fn info(&self) -> FactoryInfo {
        FactoryInfo { name: "cpu".into(), version: env!("CARGO_PKG_VERSION").into() }
    }

    fn drivers(&self) -> Result<Vec<DriverInfo>> {
        Ok(DRIVERS.iter().map(|(name, full_name, _)| driver::info(name, full_name)).collect())
    }

    fn create(&self, name: &str) -> Result<Arc<dyn Driver>> {
        let found = DRIVERS.into_iter().find(|(known, ..)| *known == name);
        let (name, full_name, flavour) = found.ok_or_else(|| {
            let name = driver::shorten(name);
            Error::new(
                Code::NotFound,
                format!("no driver {name:?} here; there are \"cpu\", \"local-sync\" and \"local-task\""),
            )
        })?;
        Ok(Arc::new(CpuDriver {
            name,
            full_name,
            flavour,
            config: self.config.clone(),
            codegen: self.codegen.clone(),
            pool: self.pool.clone(),
        }))
    }
}
