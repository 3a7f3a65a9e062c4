//! The drivers this program is built with. A driver that is not named here cannot be granted.

use crate::text;
use hal_driver::{Driver, DriverInfo, Factory};
use hal_host::CodeCache;
use std::sync::Arc;

/// What the crates that are compiled in offer.
pub struct BuiltIn {
    /// In the order in which they are listed.
    pub factories: Vec<Arc<dyn Factory>>,
    /// Every driver of every factory that answers.
    pub drivers: Vec<Listed>,
    /// Factories that do not.
    pub failures: Vec<Failure>,
}

/// Where a factory's drivers are asked for their devices by `hal devices`. To run a tenant is another matter: that opens them here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Probe {
    /// In this process: all of it is our own code.
    Here,
    /// In a child process: it loads libraries of others, which may crash.
    Child,
}

/// A driver that some factory lists.
pub struct Listed {
    /// The factory's name.
    pub factory: String,
    /// What the driver calls itself.
    pub info: DriverInfo,
    /// Whether `hal devices` asks it in a child process.
    pub probe: bool,
    source: Arc<dyn Factory>,
}

impl Listed {
    /// Makes the driver.
    ///
    /// # Errors
    /// The factory's.
    pub fn create(&self) -> hal_driver::Result<Arc<dyn Driver>> {
        self.source.create(&self.info.name)
    }
}

/// A factory or driver that did not answer.
#[derive(Debug, serde::Serialize)]
pub struct Failure {
    /// Which.
    pub name: String,
    /// The error's stable label.
    pub code: String,
    /// The error's sentence.
    pub message: String,
}

impl Failure {
    /// From the error of the one named.
    pub fn new(name: &str, error: hal_driver::Error) -> Self {
        Self { name: name.to_owned(), code: error.code.label().to_owned(), message: error.message }
    }
}

impl BuiltIn {
    /// Sets up one factory of each driver crate. None of them opens a device.
    pub fn new() -> Self {
        Self::with_kernels(None)
    }

    /// The same, with a cache in which drivers keep what they compile from kernels.
    pub fn with_kernels(cache: Option<&CodeCache>) -> Self {
        let mut all = Self { factories: Vec::new(), drivers: Vec::new(), failures: Vec::new() };
        let config = hal_driver_cpu::Config::new();
        let config = cache.map_or(config.clone(), |cache| config.code_cache(Arc::new(cache.clone())));
        match hal_driver_cpu::CpuFactory::new(config) {
            Ok(factory) => all.add(Arc::new(factory), Probe::Here),
            Err(error) => all.failures.push(Failure::new("cpu", error)),
        }
        all.add(Arc::new(hal_driver_null::NullFactory::new()), Probe::Here);
        let config = hal_driver_wgpu::Config::new();
        let config = cache.map_or(config.clone(), |cache| config.pipeline_folder(cache.folder()));
        all.add(Arc::new(hal_driver_wgpu::WgpuFactory::new(config)), Probe::Child);
        all
    }

    fn add(&mut self, source: Arc<dyn Factory>, probe: Probe) {
        let factory = source.info().name;
        match source.drivers() {
            Ok(infos) => self.drivers.extend(infos.into_iter().map(|info| Listed {
                factory: factory.clone(),
                info,
                probe: probe == Probe::Child,
                source: Arc::clone(&source),
            })),
            Err(error) => self.failures.push(Failure::new(&factory, error)),
        }
        self.factories.push(source);
    }

    /// Requires that there is a driver of this name.
    ///
    /// # Errors
    /// A sentence with the names there are, and why a factory that might have had it is missing.
    pub fn require(&self, wanted: &str) -> anyhow::Result<()> {
        if self.drivers.iter().any(|driver| driver.info.name == wanted) {
            return Ok(());
        }
        let names = text::list(self.drivers.iter().map(|driver| driver.info.name.as_str()));
        let mut sentence = format!("no driver {wanted:?} is built into this program; there are: {names}");
        for failure in &self.failures {
            sentence.push_str(&format!(" ({} did not answer: {})", failure.name, failure.message));
        }
        anyhow::bail!(sentence)
    }
}
