//! Factories that do what a test says: list what it names, and misbehave in every way that a factory can.

use hal_driver::{
    Code, Device, DeviceInfo, DeviceKind, Driver, DriverInfo, Error, Factory, FactoryInfo, Parameters, Result,
};
use hal_driver_null::NullFactory;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::sleep,
    time::Duration,
};

/// How one call of a factory ends.
#[derive(Clone, Debug, Default)]
pub enum Behaviour {
    /// As it should.
    #[default]
    Well,
    /// With an error.
    Fails(Code, String),
    /// As it should, after a time.
    Slow(Duration),
    /// With a panic.
    Panics,
}

impl Behaviour {
    fn act(&self, what: &str) -> Result<()> {
        match self {
            Self::Well => Ok(()),
            Self::Fails(code, message) => Err(Error::new(*code, message.clone())),
            Self::Slow(time) => {
                sleep(*time);
                Ok(())
            }
            #[allow(clippy::panic, reason = "it is what the host has to survive")]
            Self::Panics => panic!("a test factory panics in {what}"),
        }
    }
}

/// A factory that lists what it is told. Its drivers' devices are null devices, under paths of the test's choice.
#[derive(Clone, Debug)]
pub struct Fake {
    name: String,
    /// What each call of `drivers` answers, the last one over and over.
    listings: Vec<Vec<DriverInfo>>,
    listed: Arc<AtomicUsize>,
    listing: Vec<Behaviour>,
    creating: Behaviour,
    opening: Behaviour,
    paths: Vec<String>,
    parameters: Vec<String>,
}

/// A driver as it is listed, with a full name that says who made it.
pub fn listed(name: &str, full_name: &str) -> DriverInfo {
    DriverInfo { name: name.into(), full_name: full_name.into(), version: "1.2.3".into() }
}

impl Fake {
    /// Lists drivers by these names, with one device, `0`. A driver's full name is the factory's name and its own.
    pub fn new(name: &str, drivers: &[&str]) -> Self {
        let drivers = drivers.iter().map(|driver| listed(driver, &format!("{name} {driver}"))).collect();
        Self::listing(name, vec![drivers])
    }

    /// Answers each call of `drivers` with the next of these listings, and the last one over and over.
    pub fn listing(name: &str, listings: Vec<Vec<DriverInfo>>) -> Self {
        Self {
            name: name.into(),
            listings,
            listed: Arc::default(),
            listing: vec![Behaviour::Well],
            creating: Behaviour::Well,
            opening: Behaviour::Well,
            paths: vec!["0".into()],
            parameters: Vec::new(),
        }
    }

    /// How calls of `drivers` end, one after the other, the last one over and over.
    #[must_use]
    pub fn when_listing(mut self, behaviours: Vec<Behaviour>) -> Self {
        self.listing = behaviours;
        self
    }

    /// How calls of `create` end.
    #[must_use]
    pub fn when_creating(mut self, behaviour: Behaviour) -> Self {
        self.creating = behaviour;
        self
    }

    /// How opening a device ends.
    #[must_use]
    pub fn when_opening(mut self, behaviour: Behaviour) -> Self {
        self.opening = behaviour;
        self
    }

    /// The paths of its drivers' devices.
    #[must_use]
    pub fn paths(mut self, paths: &[&str]) -> Self {
        self.paths = paths.iter().map(|path| (*path).into()).collect();
        self
    }

    /// The parameters that its drivers know. A device says in its name what it was opened with.
    #[must_use]
    pub fn parameters(mut self, keys: &[&str]) -> Self {
        self.parameters = keys.iter().map(|key| (*key).into()).collect();
        self
    }

    /// How often it was asked for its drivers.
    pub fn times_listed(&self) -> Arc<AtomicUsize> {
        self.listed.clone()
    }

    /// As a factory.
    pub fn arc(self) -> Arc<dyn Factory> {
        Arc::new(self)
    }
}

fn nth<T>(all: &[T], n: usize) -> Option<&T> {
    all.get(n).or_else(|| all.last())
}

impl Factory for Fake {
    fn info(&self) -> FactoryInfo {
        FactoryInfo { name: self.name.clone(), version: "1.2.3".into() }
    }

    fn drivers(&self) -> Result<Vec<DriverInfo>> {
        let time = self.listed.fetch_add(1, Ordering::SeqCst);
        nth(&self.listing, time).map_or(Ok(()), |behaviour| behaviour.act("drivers"))?;
        Ok(nth(&self.listings, time).cloned().unwrap_or_default())
    }

    fn create(&self, name: &str) -> Result<Arc<dyn Driver>> {
        self.creating.act("create")?;
        let info = self.listings.iter().flatten().rfind(|info| info.name == name);
        let info =
            info.ok_or_else(|| Error::new(Code::NotFound, format!("no driver {name:?} in factory {:?}", self.name)))?;
        Ok(Arc::new(FakeDriver { info: info.clone(), factory: self.clone() }))
    }
}

struct FakeDriver {
    info: DriverInfo,
    factory: Fake,
}

impl FakeDriver {
    fn device(&self, path: &str) -> DeviceInfo {
        DeviceInfo {
            path: path.into(),
            name: "Test device".into(),
            kind: DeviceKind::Virtual,
            memory_bytes: 1 << 30,
            formats: Vec::new(),
            features: Vec::new(),
        }
    }

    fn check(&self, path: &str) -> Result<()> {
        if self.factory.paths.iter().any(|known| known == path) {
            return Ok(());
        }
        Err(Error::new(Code::NotFound, format!("no device {path:?}; there are {:?}", self.factory.paths)))
    }
}

impl Driver for FakeDriver {
    fn info(&self) -> DriverInfo {
        self.info.clone()
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(self.factory.paths.iter().map(|path| self.device(path)).collect())
    }

    fn details(&self, path: &str) -> Result<String> {
        self.check(path)?;
        Ok(format!("a test device at {path:?}"))
    }

    fn open(&self, path: &str, parameters: &Parameters) -> Result<Arc<dyn Device>> {
        self.factory.opening.act("open")?;
        self.check(path)?;
        if let Some((key, _)) = parameters.iter().find(|(key, _)| !self.factory.parameters.contains(key)) {
            return Err(Error::new(Code::InvalidArgument, format!("unknown parameter {key:?}")));
        }
        let inner = NullFactory::new().create("null")?.open("0", &[])?;
        let info = DeviceInfo { name: format!("{parameters:?}"), ..self.device(path) };
        Ok(Arc::new(FakeDevice { inner, info }))
    }
}

/// A null device under another name.
struct FakeDevice {
    inner: Arc<dyn Device>,
    info: DeviceInfo,
}

impl Device for FakeDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> &hal_driver::Limits {
        self.inner.limits()
    }

    fn heaps(&self) -> &[hal_driver::Heap] {
        self.inner.heaps()
    }

    fn allocate(&self, params: &hal_driver::BufferParams, size: u64) -> Result<Arc<dyn hal_driver::Buffer>> {
        self.inner.allocate(params, size)
    }

    fn load(&self, request: &hal_driver::LoadRequest<'_>) -> Result<Arc<dyn hal_driver::Executable>> {
        self.inner.load(request)
    }

    fn submit(&self, work: hal_driver::Work) {
        self.inner.submit(work);
    }

    fn lost(&self) -> Option<Error> {
        self.inner.lost()
    }

    fn trim(&self) -> Result<()> {
        self.inner.trim()
    }
}
