//! Driver factories: capabilities to make drivers, under a grant.
use super::{Amount, Driver, Used};
use crate::Result;
use hal_driver::{DriverInfo, FactoryInfo};

/// A capability to make drivers, under a grant.
pub struct Factory(());

impl Factory {
    /// `driver-factory.id`.
    pub fn id(&self) -> u64 { todo!() }
    /// `driver-factory.info`.
    pub fn info(&self) -> FactoryInfo { todo!() }
    /// `driver-factory.enumerate`.
    pub async fn enumerate(&self) -> Result<Vec<DriverInfo>> { todo!() }
    /// `driver-factory.try-create`.
    pub async fn try_create(&self, _name: &str) -> Result<Driver> { todo!() }
    /// `driver-factory.duplicate`.
    pub fn duplicate(&self) -> Result<Factory> { todo!() }
    /// `driver-factory.narrow`.
    pub fn narrow(&self, _limits: &[Amount], _devices: Option<&[String]>) -> Result<Factory> { todo!() }
    /// `driver-factory.limits`.
    pub fn limits(&self) -> Vec<Amount> { todo!() }
    /// `driver-factory.budget`.
    pub fn budget(&self) -> Vec<Used> { todo!() }
}
