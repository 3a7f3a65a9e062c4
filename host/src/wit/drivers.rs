//! `hal:registry/drivers`.

use super::{Refusal, View, convert::all};
use crate::bindings::hal::{
    device::{device::DeviceInfo, types},
    registry::drivers,
};
use hal_core::{Device, Driver, Factory};
use wasmtime::component::Resource;

impl drivers::Host for View<'_> {}

impl drivers::HostDriver for View<'_> {
    fn info(&mut self, driver: Resource<Driver>) -> wasmtime::Result<drivers::DriverInfo> {
        Ok(self.table.get(&driver)?.info().into())
    }

    async fn query_available_devices(&mut self, driver: Resource<Driver>) -> Result<Vec<DeviceInfo>, Refusal> {
        Ok(all(self.table.get(&driver)?.query_available_devices().await?))
    }

    async fn device_details(&mut self, driver: Resource<Driver>, id: u64) -> Result<String, Refusal> {
        Ok(self.table.get(&driver)?.device_details(id).await?)
    }

    async fn create_device_by_ordinal(
        &mut self,
        driver: Resource<Driver>,
        ordinal: u32,
        parameters: Vec<(String, String)>,
    ) -> Result<Resource<Device>, Refusal> {
        let device = self.table.get(&driver)?.create_device_by_ordinal(ordinal, parameters).await?;
        self.push(device)
    }

    async fn create_device_by_id(
        &mut self,
        driver: Resource<Driver>,
        id: u64,
        parameters: Vec<(String, String)>,
    ) -> Result<Resource<Device>, Refusal> {
        let device = self.table.get(&driver)?.create_device_by_id(id, parameters).await?;
        self.push(device)
    }

    async fn create_device_by_path(
        &mut self,
        driver: Resource<Driver>,
        path: String,
        parameters: Vec<(String, String)>,
    ) -> Result<Resource<Device>, Refusal> {
        let device = self.table.get(&driver)?.create_device_by_path(&path, parameters).await?;
        self.push(device)
    }

    async fn create_device_by_uri(
        &mut self,
        driver: Resource<Driver>,
        uri: String,
    ) -> Result<Resource<Device>, Refusal> {
        let device = self.table.get(&driver)?.create_device_by_uri(&uri).await?;
        self.push(device)
    }

    async fn create_default_device(&mut self, driver: Resource<Driver>) -> Result<Resource<Device>, Refusal> {
        let device = self.table.get(&driver)?.create_default_device().await?;
        self.push(device)
    }

    fn drop(&mut self, driver: Resource<Driver>) -> wasmtime::Result<()> {
        self.table.delete(driver)?;
        Ok(())
    }
}

impl drivers::HostDriverFactory for View<'_> {
    fn id(&mut self, factory: Resource<Factory>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&factory)?.id())
    }

    fn info(&mut self, factory: Resource<Factory>) -> wasmtime::Result<drivers::FactoryInfo> {
        Ok(self.table.get(&factory)?.info().into())
    }

    async fn enumerate(&mut self, factory: Resource<Factory>) -> Result<Vec<drivers::DriverInfo>, Refusal> {
        Ok(all(self.table.get(&factory)?.enumerate().await?))
    }

    async fn try_create(&mut self, factory: Resource<Factory>, name: String) -> Result<Resource<Driver>, Refusal> {
        let driver = self.table.get(&factory)?.try_create(&name).await?;
        self.push(driver)
    }

    fn duplicate(&mut self, factory: Resource<Factory>) -> Result<Resource<Factory>, Refusal> {
        let duplicate = self.table.get(&factory)?.duplicate()?;
        self.push(duplicate)
    }

    fn narrow(
        &mut self,
        factory: Resource<Factory>,
        limits: Vec<types::Amount>,
        devices: Option<Vec<String>>,
    ) -> Result<Resource<Factory>, Refusal> {
        let limits = all::<_, hal_core::Amount>(limits);
        let narrowed = self.table.get(&factory)?.narrow(&limits, devices.as_deref())?;
        self.push(narrowed)
    }

    fn limits(&mut self, factory: Resource<Factory>) -> wasmtime::Result<Vec<types::Amount>> {
        Ok(all(self.table.get(&factory)?.limits()))
    }

    fn budget(&mut self, factory: Resource<Factory>) -> wasmtime::Result<Vec<types::Usage>> {
        Ok(all(self.table.get(&factory)?.budget()))
    }

    fn drop(&mut self, factory: Resource<Factory>) -> wasmtime::Result<()> {
        self.table.delete(factory)?;
        Ok(())
    }
}
