//! Drivers: they list devices and open them.
use super::{Device, DeviceInfo};
use crate::Result;
use hal_driver::DriverInfo;

/// A driver under a grant.
pub struct Driver(());

/// Parameters of a device to be opened.
pub type Parameters = Vec<(String, String)>;

impl Driver {
    /// `driver.info`.
    pub fn info(&self) -> DriverInfo { todo!() }
    /// `driver.query-available-devices`.
    pub async fn query_available_devices(&self) -> Result<Vec<DeviceInfo>> { todo!() }
    /// `driver.device-details`.
    pub async fn device_details(&self, _id: u64) -> Result<String> { todo!() }
    /// `driver.create-device-by-ordinal`.
    pub async fn create_device_by_ordinal(&self, _ordinal: u32, _parameters: Parameters) -> Result<Device> { todo!() }
    /// `driver.create-device-by-id`.
    pub async fn create_device_by_id(&self, _id: u64, _parameters: Parameters) -> Result<Device> { todo!() }
    /// `driver.create-device-by-path`.
    pub async fn create_device_by_path(&self, _path: &str, _parameters: Parameters) -> Result<Device> { todo!() }
    /// `driver.create-device-by-uri`.
    pub async fn create_device_by_uri(&self, _uri: &str) -> Result<Device> { todo!() }
    /// `driver.create-default-device`.
    pub async fn create_default_device(&self) -> Result<Device> { todo!() }
}
