//! Driver factories: capabilities to make drivers, under a grant.

use super::{Amount, Driver, Used, driver::DriverParts};
use crate::{
    budget::{Charge, Node},
    error::{Result, invalid, not_found},
    policy::{Limit, Narrowing, Patterns, Terms},
    tenant::Tenant,
    text::{MAX_NAME_BYTES, clean, quote, there_are},
};
use hal_driver::{DriverInfo, FactoryInfo};
use std::sync::Arc;

/// Most drivers of one factory.
const MAX_DRIVERS: usize = 64;

/// Longest driver name in bytes: it is a URI's scheme.
const MAX_DRIVER_NAME_BYTES: usize = 64;

/// How long a listing may take: it loads nothing and opens nothing.
const LISTING_NS: u64 = 1_000_000_000;

/// How long making a driver, or opening a device, may take: a native library may be loaded.
pub(super) const CREATING_NS: u64 = 30_000_000_000;

pub(crate) struct FactoryShared {
    id: u64,
    tenant: Arc<Tenant>,
    pub(crate) node: Arc<Node>,
    terms: Terms,
}

impl FactoryShared {
    pub(crate) fn new(tenant: &Arc<Tenant>, node: Arc<Node>, terms: Terms) -> Arc<Self> {
        Arc::new(Self { id: tenant.factory_id(), tenant: tenant.clone(), node, terms })
    }

    /// What exists for the tenant of what the factory lists.
    fn list(&self) -> Result<Vec<DriverInfo>> {
        let mut drivers = self.terms.factory.drivers()?;
        drivers.retain(|driver| self.terms.driver(&driver.name));
        let fails = |why: String| {
            invalid(format!(
                "the factory \"{}\" lists {why}; a factory lists at most {MAX_DRIVERS} drivers, with names of 1 to \
                 {MAX_DRIVER_NAME_BYTES} bytes of [a-z0-9._-]",
                clean(&self.terms.factory.info().name, MAX_DRIVER_NAME_BYTES)
            ))
        };
        if drivers.len() > MAX_DRIVERS {
            return Err(fails(format!("{} drivers", drivers.len())));
        }
        for driver in &mut drivers {
            if !well_named(&driver.name) {
                return Err(fails(format!("a driver called {}", quote(&driver.name))));
            }
            driver.full_name = clean(&driver.full_name, MAX_NAME_BYTES);
            driver.version = clean(&driver.version, MAX_NAME_BYTES);
        }
        Ok(drivers)
    }
}

fn well_named(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
    (1..=MAX_DRIVER_NAME_BYTES).contains(&name.len()) && name.bytes().all(legal)
}

/// A capability to make drivers, under a grant. Several handles may stand for one factory: `id` tells.
pub struct Factory {
    shared: Arc<FactoryShared>,
    _charge: Option<Charge>,
}

impl Factory {
    pub(crate) fn new(shared: &Arc<FactoryShared>, charge: Option<Charge>) -> Self {
        Self { shared: shared.clone(), _charge: charge }
    }

    /// Equal for two handles of one factory; counted per session from 1.
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// What it calls itself.
    pub fn info(&self) -> FactoryInfo {
        let FactoryInfo { name, version } = self.shared.terms.factory.info();
        FactoryInfo { name: clean(&name, MAX_NAME_BYTES), version: clean(&version, MAX_NAME_BYTES) }
    }

    /// The drivers it can make. At most 64, names of 1 to 64 bytes of `[a-z0-9._-]`, or the factory fails.
    ///
    /// # Errors
    /// The factory's own; `invalid-argument`; `deadline-exceeded` after a second; `permission-denied` once revoked.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn enumerate(&self) -> Result<Vec<DriverInfo>> {
        let shared = self.shared.clone();
        let result = self.run(LISTING_NS, "listing drivers", move || shared.list()).await;
        self.shared.tenant.observe("driver-factory.enumerate", result)
    }

    /// Makes a driver that it lists. May be slow, and may fail even for a listed name.
    ///
    /// # Errors
    /// `not-found` with the names there are; the factory's own; `deadline-exceeded` after 30 seconds; `permission-denied` once revoked;
    /// `resource-exhausted` for "drivers".
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn try_create(&self, name: &str) -> Result<Driver> {
        let result = self.create(name).await;
        self.shared.tenant.observe("driver-factory.try-create", result)
    }

    async fn create(&self, name: &str) -> Result<Driver> {
        if name.len() > MAX_NAME_BYTES {
            return Err(invalid(format!(
                "a driver's name has at most {MAX_NAME_BYTES} bytes; this one has {}",
                name.len()
            )));
        }
        self.shared.tenant.alive(&self.shared.node)?;
        let charge = self.shared.node.charge(Limit::Drivers, 1)?;
        let (shared, name) = (self.shared.clone(), name.to_owned());
        let create = move || {
            let drivers = shared.list()?;
            let Some(info) = drivers.iter().rev().find(|driver| driver.name == name) else {
                let there = there_are(drivers.iter().map(|driver| driver.name.as_str()));
                return Err(not_found(format!("no driver is called {}; {there}", quote(&name))));
            };
            let native = shared.terms.factory.create(&name)?;
            Ok(Driver::new(DriverParts {
                tenant: shared.tenant.clone(),
                node: shared.node.clone(),
                terms: shared.terms.clone(),
                info: info.clone(),
                native,
                charge,
            }))
        };
        self.run(CREATING_NS, "making a driver", create).await
    }

    async fn run<T: Send + 'static>(
        &self,
        timeout_ns: u64,
        what: &'static str,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.shared.tenant.run(&self.shared.node, timeout_ns, what, job).await
    }

    /// Another handle to the same factory: same id, same budget.
    ///
    /// # Errors
    /// `resource-exhausted` for "factories"; `permission-denied` once revoked.
    #[tracing::instrument(level = "trace", skip_all)]
    pub fn duplicate(&self) -> Result<Factory> {
        let FactoryShared { tenant, node, .. } = &*self.shared;
        let charge = tenant.alive(node).and_then(|()| node.charge(Limit::Factories, 1));
        tenant.observe("driver-factory.duplicate", charge.map(|charge| Self::new(&self.shared, Some(charge))))
    }

    /// A new factory, with a new id and limits of its own under this one's. `limits` names those to lower; a higher one is cut to
    /// this one's. `devices` are patterns over what this one lists; none keeps this one's.
    ///
    /// # Errors
    /// `invalid-argument` for an unknown limit or a malformed pattern; `resource-exhausted` for "factories" and "host-bytes";
    /// `permission-denied` once revoked.
    #[tracing::instrument(level = "trace", skip_all)]
    pub fn narrow(&self, limits: &[Amount], devices: Option<&[String]>) -> Result<Factory> {
        self.shared.tenant.observe("driver-factory.narrow", self.try_narrow(limits, devices))
    }

    fn try_narrow(&self, amounts: &[Amount], devices: Option<&[String]>) -> Result<Factory> {
        let FactoryShared { tenant, node, terms, .. } = &*self.shared;
        tenant.alive(node)?;
        let mut limits = node.limits().clone();
        for amount in amounts {
            limits.set(&amount.name, amount.value)?;
        }
        let mut terms = terms.clone();
        if let Some(patterns) = devices.map(Patterns::parse).transpose()? {
            let charge = node.charge(Limit::HostBytes, patterns.bytes())?;
            terms.narrowed.push(Arc::new(Narrowing { patterns, _charge: charge }));
        }
        let node = node.narrowed(limits, Limit::Factories)?;
        Ok(Self::new(&FactoryShared::new(tenant, node, terms), None))
    }

    /// What it allows.
    pub fn limits(&self) -> Vec<Amount> {
        self.shared.node.amounts()
    }

    /// What is used and what is allowed.
    pub fn budget(&self) -> Vec<Used> {
        self.shared.node.usage()
    }
}
