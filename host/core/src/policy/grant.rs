//! A grant: which devices of which drivers, and how much of them.

use super::{Limits, Patterns};
use crate::{
    budget::Charge,
    error::{Result, not_found},
    text::quote,
};
use hal_driver::Factory;
use serde::Deserialize;
use std::sync::Arc;

/// How much of a device's identity a tenant sees. Names, paths and details fingerprint the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reveal {
    /// Only what kind it is; paths are numbers.
    None,
    /// The model's name; paths are numbers.
    #[default]
    Model,
    /// Everything the driver knows: names, stable paths, details.
    All,
}

#[derive(Clone)]
enum Origin {
    Factory(Arc<dyn Factory>),
    /// A driver's name, to be looked up among an embedder's factories.
    Named(String),
}

/// A share of one factory for one tenant.
#[derive(Clone)]
pub struct Grant {
    origin: Origin,
    /// None: every driver of the factory.
    drivers: Option<Vec<String>>,
    /// None: every device.
    devices: Option<Vec<String>>,
    limits: Limits,
    reveal: Reveal,
    exact_timing: bool,
}

impl Grant {
    /// Everything a factory has, within the default limits: every driver, every device, [`Limits::new`],
    /// [`Reveal::Model`], timings rounded to microseconds.
    pub fn new(factory: Arc<dyn Factory>) -> Self {
        Self::from(Origin::Factory(factory))
    }

    /// One driver by name, within the same defaults. The factory is found when the session starts, among those it was given.
    pub fn named(driver: impl Into<String>) -> Self {
        let driver = driver.into();
        Self { drivers: Some(vec![driver.clone()]), ..Self::from(Origin::Named(driver)) }
    }

    fn from(origin: Origin) -> Self {
        Self {
            origin,
            drivers: None,
            devices: None,
            limits: Limits::new(),
            reveal: Reveal::default(),
            exact_timing: false,
        }
    }

    /// Only these drivers.
    #[must_use]
    pub fn drivers<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.drivers = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Only these devices: `cpu`, `cpu/0`, `vulkan/*`, `*`, where the part behind the slash is a path as the driver lists
    /// it, or a place in its list. Malformed patterns are refused when the session starts.
    #[must_use]
    pub fn devices<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.devices = Some(patterns.into_iter().map(Into::into).collect());
        self
    }

    /// Within these limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How much of a device's identity the tenant sees.
    #[must_use]
    pub fn reveal(mut self, reveal: Reveal) -> Self {
        self.reveal = reveal;
        self
    }

    /// Whether timings come unrounded. Precise clocks are a side channel.
    #[must_use]
    pub fn exact_timing(mut self, exact: bool) -> Self {
        self.exact_timing = exact;
        self
    }

    /// The limits as set so far, to be changed in place.
    pub fn limits_mut(&mut self) -> &mut Limits {
        &mut self.limits
    }

    pub(crate) fn own_limits(&self) -> &Limits {
        &self.limits
    }

    /// What it was made for, for logs: the driver's or the factory's name.
    pub fn name(&self) -> String {
        match &self.origin {
            Origin::Factory(factory) => factory.info().name,
            Origin::Named(name) => name.clone(),
        }
    }

    /// Its terms and limits, with the factory found among `known`.
    pub(crate) fn resolve(self, known: &[Arc<dyn Factory>]) -> Result<(Terms, Limits)> {
        let factory = match self.origin {
            Origin::Factory(factory) => factory,
            Origin::Named(name) => find(&name, known)?,
        };
        let devices = self.devices.as_deref().map(Patterns::parse).transpose()?;
        let terms = Terms {
            factory,
            drivers: self.drivers,
            devices,
            narrowed: Vec::new(),
            reveal: self.reveal,
            exact_timing: self.exact_timing,
        };
        Ok((terms, self.limits))
    }
}

fn find(name: &str, known: &[Arc<dyn Factory>]) -> Result<Arc<dyn Factory>> {
    let mut names = Vec::new();
    for factory in known {
        // A factory that cannot list now is not the one; the others' names make the error useful.
        let drivers = factory.drivers().unwrap_or_default();
        if drivers.iter().any(|driver| driver.name == name) {
            return Ok(factory.clone());
        }
        names.extend(drivers.into_iter().map(|driver| driver.name));
    }
    let there = crate::text::list(names.iter().map(String::as_str));
    Err(not_found(format!("no driver is called {}; this host has {there}", quote(name))))
}

/// The patterns of one narrowing. Shared by all that is narrowed further: a chain of copies would grow with the square of its length.
pub(crate) struct Narrowing {
    pub(crate) patterns: Patterns,
    pub(crate) _charge: Charge,
}

/// A grant as every handle made from it carries it.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) factory: Arc<dyn Factory>,
    pub(crate) drivers: Option<Vec<String>>,
    /// The operator's patterns, over what the driver lists.
    pub(crate) devices: Option<Patterns>,
    /// Those of each narrowing, over what the one before left, under the names that a tenant sees.
    pub(crate) narrowed: Vec<Arc<Narrowing>>,
    pub(crate) reveal: Reveal,
    pub(crate) exact_timing: bool,
}

impl Terms {
    /// Whether a driver exists for the tenant.
    pub(crate) fn driver(&self, name: &str) -> bool {
        self.drivers.as_ref().is_none_or(|names| names.iter().any(|granted| granted == name))
            && self
                .devices
                .iter()
                .chain(self.narrowed.iter().map(|narrowing| &narrowing.patterns))
                .all(|patterns| patterns.driver(name))
    }

    /// Of the devices that a driver lists, those that exist for the tenant.
    pub(crate) fn filter(&self, driver: &str, mut devices: Vec<hal_driver::DeviceInfo>) -> Vec<hal_driver::DeviceInfo> {
        let mut keep = |patterns: &Patterns, native: bool| {
            let mut ordinal = 0;
            devices.retain(|device| {
                let place = ordinal;
                ordinal += 1;
                // A path that is hidden is its place.
                let path = if native { device.path.as_str() } else { "" };
                patterns.device(driver, path, place)
            });
        };
        self.devices.iter().for_each(|patterns| keep(patterns, true));
        self.narrowed.iter().for_each(|narrowing| keep(&narrowing.patterns, self.reveal == Reveal::All));
        devices
    }
}
