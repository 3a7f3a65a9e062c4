//! A factory that does what a test tells it.

use crate::{Code, Driver, DriverInfo, Error, Factory, FactoryInfo};
use alloc::{boxed::Box, format, rc::Rc, string::String, vec::Vec};
use core::cell::{Cell, RefCell};

/// A handle to a fake factory. `Clone` stands for a second handle of the caller's.
pub(super) struct Fake(pub(super) Rc<State>);

pub(super) struct State {
    pub(super) id: u64,
    pub(super) listing: RefCell<Result<Vec<DriverInfo>, Error>>,
    /// What creating a driver fails with, and what opening a device fails with.
    pub(super) create_error: RefCell<Option<Error>>,
    pub(super) device_error: RefCell<Option<Error>>,
    pub(super) duplicate_error: RefCell<Option<Error>>,
    /// Runs inside `enumerate` and `try_create`.
    pub(super) hook: RefCell<Option<Box<dyn Fn()>>>,
    pub(super) listed: Cell<usize>,
    pub(super) handles: Cell<usize>,
    pub(super) drivers: Cell<usize>,
}

impl Fake {
    pub(super) fn new(id: u64, names: &[&str]) -> Self {
        let listing = RefCell::new(Ok(names.iter().map(|name| info(name)).collect()));
        Self(Rc::new(State {
            id,
            listing,
            create_error: RefCell::new(None),
            device_error: RefCell::new(None),
            duplicate_error: RefCell::new(None),
            hook: RefCell::new(None),
            listed: Cell::new(0),
            handles: Cell::new(1),
            drivers: Cell::new(0),
        }))
    }

    pub(super) fn failing(id: u64, error: Error) -> Self {
        let fake = Self::new(id, &[]);
        *fake.0.listing.borrow_mut() = Err(error);
        fake
    }

    pub(super) fn list(&self, names: &[&str]) {
        *self.0.listing.borrow_mut() = Ok(names.iter().map(|name| info(name)).collect());
    }

    pub(super) fn fail_listing(&self, error: Error) {
        *self.0.listing.borrow_mut() = Err(error);
    }

    fn call(&self) {
        if let Some(hook) = &*self.0.hook.borrow() {
            hook();
        }
    }
}

pub(super) fn info(name: &str) -> DriverInfo {
    DriverInfo { name: name.into(), full_name: format!("{name} in full"), version: "0.1.0".into() }
}

pub(super) fn error(code: Code) -> Error {
    Error::new(code, "the cause")
}

impl Clone for Fake {
    fn clone(&self) -> Self {
        self.0.handles.set(self.0.handles.get() + 1);
        Self(Rc::clone(&self.0))
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.0.handles.set(self.0.handles.get() - 1);
    }
}

impl Factory for Fake {
    type Driver = FakeDriver;

    fn id(&self) -> u64 {
        self.0.id
    }

    fn info(&self) -> FactoryInfo {
        FactoryInfo { name: format!("factory-{}", self.0.id), version: "0.1.0".into() }
    }

    fn enumerate(&self) -> Result<Vec<DriverInfo>, Error> {
        self.0.listed.set(self.0.listed.get() + 1);
        self.call();
        self.0.listing.borrow().clone()
    }

    fn try_create(&self, name: &str) -> Result<FakeDriver, Error> {
        self.call();
        match &*self.0.create_error.borrow() {
            Some(error) => Err(error.clone()),
            None => Ok(FakeDriver::new(Rc::clone(&self.0), name)),
        }
    }

    fn duplicate(&self) -> Result<Self, Error> {
        match &*self.0.duplicate_error.borrow() {
            Some(error) => Err(error.clone()),
            None => Ok(self.clone()),
        }
    }
}

/// A driver that knows whose it is.
pub(super) struct FakeDriver {
    pub(super) factory: Rc<State>,
    pub(super) name: String,
}

impl FakeDriver {
    fn new(factory: Rc<State>, name: &str) -> Self {
        factory.drivers.set(factory.drivers.get() + 1);
        Self { factory, name: name.into() }
    }
}

impl Drop for FakeDriver {
    fn drop(&mut self) {
        self.factory.drivers.set(self.factory.drivers.get() - 1);
    }
}

impl Driver for FakeDriver {
    type Device = FakeDevice;

    fn create_device_by_uri(&self, uri: &str) -> Result<FakeDevice, Error> {
        match &*self.factory.device_error.borrow() {
            Some(error) => Err(error.clone()),
            None => Ok(FakeDevice { factory: self.factory.id, uri: uri.into() }),
        }
    }
}

/// A device: where it came from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FakeDevice {
    pub(super) factory: u64,
    pub(super) uri: String,
}
