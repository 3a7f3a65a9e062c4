//! The drivers: each registered once, with what it can, what it never will, and what it does not do yet.

use hal_conformance_cases::{BLOB, blob_bytes};
use hal_core::{BlobSource, Limit, Limits};
use hal_driver::{DeviceInfo, Factory};
use hal_driver_wgpu::{Config, WgpuFactory};
use std::sync::{Arc, OnceLock};

/// Demands a device for every driver: set where one is known to be there, as where tests run on a software Vulkan.
pub const REQUIRE_VULKAN: &str = "HAL_REQUIRE_VULKAN";

/// A driver in the manifest.
pub struct Entry {
    /// The driver's name, which is also the scheme of its URIs.
    pub name: &'static str,
    /// Executable formats that it loads. With none, cases with kernels are not run.
    pub formats: &'static [&'static str],
    /// Cases that it will never pass: a pattern, and why.
    pub unsupported: &'static [(&'static str, &'static str)],
    /// Cases that it does not pass yet: a pattern, and why. One that passes all the same is a failure.
    pub expected_failures: &'static [(&'static str, &'static str)],
    /// Whether the driver has to be there, whatever the machine.
    pub always: bool,
    pub(crate) factory: fn() -> Result<Arc<dyn Factory>, String>,
}

/// Every driver.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "null",
        formats: &[],
        unsupported: &[],
        expected_failures: &[],
        always: true,
        factory: || Ok(hal_test_support::null()),
    },
    Entry {
        name: "local-sync",
        formats: &["wgsl", "spirv"],
        unsupported: &[],
        expected_failures: &[],
        always: true,
        factory: cpu,
    },
    Entry {
        name: "local-task",
        formats: &["wgsl", "spirv"],
        unsupported: &[],
        expected_failures: &[],
        always: true,
        factory: cpu,
    },
    Entry {
        name: "vulkan",
        formats: &["wgsl", "spirv"],
        unsupported: &[],
        expected_failures: &[],
        always: false,
        factory: gpu,
    },
];

/// One for both of its drivers.
fn cpu() -> Result<Arc<dyn Factory>, String> {
    static FACTORY: OnceLock<Arc<dyn Factory>> = OnceLock::new();
    Ok(FACTORY.get_or_init(hal_test_support::cpu).clone())
}

/// The one place where the GPU drivers' factory is made.
fn gpu() -> Result<Arc<dyn Factory>, String> {
    Ok(Arc::new(WgpuFactory::new(Config::new())))
}

/// A driver that is there.
#[derive(Clone)]
pub struct Registered {
    /// Its name.
    pub name: &'static str,
    /// What makes it.
    pub factory: Arc<dyn Factory>,
    /// Its default device, as the driver lists it.
    pub device: DeviceInfo,
}

impl Entry {
    /// The driver with a device, or why there is none.
    ///
    /// # Errors
    /// The reason, for a person.
    pub fn find(&self) -> Result<Registered, String> {
        let factory = (self.factory)()?;
        let driver = factory.create(self.name).map_err(|error| error.to_string())?;
        let devices = driver.devices().map_err(|error| error.to_string())?;
        let device = devices.first().ok_or("the driver lists no device")?;
        let (listed, known) = (&device.formats, self.formats);
        if !listed.iter().map(String::as_str).eq(known.iter().copied()) {
            return Err(format!("the device loads {listed:?}, but is registered for {known:?}"));
        }
        Ok(Registered { name: self.name, factory, device: device.clone() })
    }

    /// Whether a driver that is not there is a failure.
    pub fn required(&self) -> bool {
        self.always || std::env::var_os(REQUIRE_VULKAN).is_some_and(|value| value == "1")
    }
}

/// What a case's grant allows: room for every case, little enough that filling it up is quick.
pub fn limits() -> Limits {
    Limits::new()
        .with(Limit::MemoryBytes, 64 << 20)
        .with(Limit::Buffers, 300)
        .with(Limit::Executables, 16)
        .with(Limit::Recordings, 256)
        .with(Limit::Semaphores, 128)
        .with(Limit::Submissions, 256)
        .with(Limit::HostBytes, 8 << 20)
}

/// What a case's session is lent.
pub fn blob() -> BlobSource {
    static BYTES: OnceLock<Arc<[u8]>> = OnceLock::new();
    BlobSource::bytes(BLOB, BYTES.get_or_init(|| blob_bytes().into()).clone())
}
