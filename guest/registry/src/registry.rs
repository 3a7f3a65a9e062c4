//! The registry itself. Nothing here knows that it may run inside a component.

use crate::text::{self, Quoted};
use crate::{Code, Driver, DriverInfo, Error, Factory};
use alloc::{format, string::String, vec::Vec};
use core::cell::Cell;
use core::fmt;
use core::ops::{Deref, DerefMut};

/// Factories that one registry takes unless made with another bound. Far more than a host grants, and few enough that a full
/// registry is searched in microseconds and its listing stays small.
pub const DEFAULT_CAPACITY: usize = 64;

/// Longest driver name that is looked up, in bytes. A listed name has at most 64.
pub const MAX_NAME_BYTES: usize = 256;

/// A factory that could not list its drivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The factory's name.
    pub factory: String,
    /// Its error, as it gave it.
    pub error: Error,
}

/// What there is, and what could not be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The drivers of the factories that answered: order of registration, then the factory's own. Names may repeat.
    pub drivers: Vec<DriverInfo>,
    /// The factories that did not answer, in order of registration.
    pub failures: Vec<Failure>,
}

/// An ordered list of driver factories.
///
/// It owns a handle to each factory in it and gives it up when the factory is unregistered or the registry dropped; drivers and
/// devices already made are unaffected.
///
/// Operations take `&self` and are meant for one thread. While one of them calls a factory, every operation on the same
/// registry is answered `failed-precondition`: a factory that calls back gets an error, never a deadlock. That is the only
/// error of [`enumerate`](Self::enumerate).
pub struct Registry<F> {
    /// None while an operation has them: taking them out is the guard against re-entrance.
    entries: Cell<Option<Vec<Entry<F>>>>,
    capacity: usize,
}

impl<F> fmt::Debug for Registry<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

struct Entry<F> {
    factory: F,
    id: u64,
    name: String,
    /// The first listing that succeeded. It stands for as long as the factory is registered.
    listing: Option<Vec<DriverInfo>>,
}

impl<F: Factory> Entry<F> {
    fn new(factory: F, id: u64) -> Self {
        let name = factory.info().name;
        let listing = factory.enumerate().ok();
        Self { factory, id, name, listing }
    }

    /// The listing; asks the factory unless it has answered before.
    fn list(&mut self) -> Result<&[DriverInfo], Error> {
        let listing = match self.listing.take() {
            Some(listing) => listing,
            None => self.factory.enumerate()?,
        };
        Ok(self.listing.insert(listing))
    }
}

impl<F> Default for Registry<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F> Registry<F> {
    /// An empty registry for [`DEFAULT_CAPACITY`] factories.
    pub const fn new() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }

    /// An empty registry for up to `capacity` factories, all of which can be used. Nothing is allocated ahead.
    pub const fn with_capacity(capacity: usize) -> Self {
        Self { entries: Cell::new(Some(Vec::new())), capacity }
    }

    fn enter(&self) -> Result<Lease<'_, F>, Error> {
        match self.entries.take() {
            Some(entries) => Ok(Lease { registry: self, entries }),
            None => Err(Error::new(
                Code::FailedPrecondition,
                "the registry is calling a factory; a factory cannot call back into its registry",
            )),
        }
    }
}

impl<F: Factory> Registry<F> {
    /// Appends a factory, of which the registry keeps a duplicate. The factory is listed now; if that fails it is registered all
    /// the same, and asked again each time its listing is needed until it answers.
    ///
    /// # Errors
    /// `already-exists` for a factory (by id) that is in this registry, whether or not it is full; `resource-exhausted`
    /// if it is full; the factory's own if it cannot be duplicated.
    pub fn register_factory(&self, factory: &F) -> Result<(), Error> {
        let mut entries = self.enter()?;
        let id = factory.id();
        if entries.iter().any(|entry| entry.id == id) {
            let name = factory.info().name;
            return Err(Error::new(
                Code::AlreadyExists,
                format!(
                    "factory {} is in this registry already; narrow it to register it a second time",
                    Quoted(&name)
                ),
            ));
        }
        if entries.len() >= self.capacity {
            return Err(Error::new(
                Code::ResourceExhausted,
                format!("the registry holds {0} of {0} factories; unregister one first", self.capacity),
            ));
        }
        let own = factory
            .duplicate()
            .map_err(|error| error.doing(format_args!("registering factory {}", Quoted(&factory.info().name))))?;
        entries.push(Entry::new(own, id));
        Ok(())
    }

    /// Appends factories that the caller owns, without duplicating them, past any capacity: for a default registry, in which nothing
    /// that was granted may be missing. One that is in the registry already is dropped.
    ///
    /// # Errors
    /// `failed-precondition` while a factory is being called.
    pub fn adopt(&self, factories: impl IntoIterator<Item = F>) -> Result<(), Error> {
        let mut entries = self.enter()?;
        for factory in factories {
            let id = factory.id();
            if !entries.iter().any(|entry| entry.id == id) {
                entries.push(Entry::new(factory, id));
            }
        }
        Ok(())
    }

    /// Removes a factory; the others keep their order. Drivers already made stay usable.
    ///
    /// # Errors
    /// `not-found` for a factory (by id) that is not in this registry.
    pub fn unregister_factory(&self, factory: &F) -> Result<(), Error> {
        let mut entries = self.enter()?;
        let id = factory.id();
        let Some(at) = entries.iter().position(|entry| entry.id == id) else {
            let name = factory.info().name;
            return Err(Error::new(
                Code::NotFound,
                format!("factory {} (id {id}) is not in this registry, which has {}", Quoted(&name), entries.len()),
            ));
        };
        let removed = entries.remove(at);
        // Giving up the handle may run the factory's own code: not before the registry can be used again.
        drop(entries);
        drop(removed);
        Ok(())
    }

    /// Every driver of every factory that answers: order of registration, then the factory's own.
    ///
    /// # Errors
    /// `failed-precondition` while a factory is being called.
    pub fn enumerate(&self) -> Result<Vec<DriverInfo>, Error> {
        self.enumerate_detailed().map(|listing| listing.drivers)
    }

    /// The same, with the factories that did not answer beside it.
    ///
    /// # Errors
    /// `failed-precondition` while a factory is being called.
    pub fn enumerate_detailed(&self) -> Result<Listing, Error> {
        let mut entries = self.enter()?;
        let mut listing = Listing::default();
        for entry in entries.iter_mut() {
            match entry.list() {
                Ok(drivers) => listing.drivers.extend_from_slice(drivers),
                Err(error) => listing.failures.push(Failure { factory: entry.name.clone(), error }),
            }
        }
        Ok(listing)
    }

    /// Makes a driver by its exact, case-sensitive name. The newest factory that lists it is used, and no other: a factory
    /// that lists it and then fails to make it is not passed over for an older one.
    ///
    /// # Errors
    /// `not-found` with the names there are; the error of a factory that lists the name, or, if none does, of the newest one
    /// that could not list, each saying which factory it was; `invalid-argument` above [`MAX_NAME_BYTES`].
    pub fn try_create(&self, name: &str) -> Result<F::Driver, Error> {
        if name.len() > MAX_NAME_BYTES {
            return Err(Error::new(
                Code::InvalidArgument,
                format!("the driver name has {} bytes; at most {MAX_NAME_BYTES} are taken", name.len()),
            ));
        }
        let mut entries = self.enter()?;
        let mut failure = None;
        for entry in entries.iter_mut().rev() {
            match entry.list() {
                Ok(drivers) => {
                    if drivers.iter().any(|driver| driver.name == name) {
                        return entry.factory.try_create(name).map_err(|error| {
                            error.doing(format_args!("driver {} of factory {}", Quoted(name), Quoted(&entry.name)))
                        });
                    }
                }
                Err(error) => {
                    failure.get_or_insert((entry.name.clone(), error));
                }
            }
        }
        Err(match failure {
            Some((factory, error)) => error.doing(format_args!(
                "no driver {} was found, but factory {} could not list its drivers",
                Quoted(name),
                Quoted(&factory)
            )),
            None => not_found(name, &entries),
        })
    }

    /// Opens a device by URI: the scheme picks the driver, which does the rest and is then released.
    ///
    /// # Errors
    /// As [`try_create`](Self::try_create) and as the driver's, each saying which URI was being opened;
    /// `invalid-argument` above [`hal_uri::MAX_URI_BYTES`].
    pub fn create_device(&self, uri: &str) -> Result<<F::Driver as Driver>::Device, Error>
    where
        F::Driver: Driver,
    {
        let scheme = hal_uri::scheme(uri).map_err(|error| Error::new(Code::InvalidArgument, format!("{error}")))?;
        self.try_create(scheme)
            .and_then(|driver| driver.create_device_by_uri(uri))
            .map_err(|error| error.doing(format_args!("opening {}", Quoted(uri))))
    }
}

fn not_found<F>(name: &str, entries: &[Entry<F>]) -> Error {
    let names = entries.iter().flat_map(|entry| entry.listing.iter().flatten()).map(|driver| driver.name.as_str());
    let names = text::list(names);
    let asked = Quoted(name);
    Error::new(
        Code::NotFound,
        if names.is_empty() {
            format!(
                "no driver {asked}; there are none: grant one (as `hal run --grant DRIVER` does) or register a factory"
            )
        } else {
            format!("no driver {asked}; there are: {names}")
        },
    )
}

/// The entries while an operation works on them. Puts them back when it ends, whichever way.
struct Lease<'a, F> {
    registry: &'a Registry<F>,
    entries: Vec<Entry<F>>,
}

impl<F> Drop for Lease<'_, F> {
    fn drop(&mut self) {
        self.registry.entries.set(Some(core::mem::take(&mut self.entries)));
    }
}

impl<F> Deref for Lease<'_, F> {
    type Target = Vec<Entry<F>>;

    fn deref(&self) -> &Vec<Entry<F>> {
        &self.entries
    }
}

impl<F> DerefMut for Lease<'_, F> {
    fn deref_mut(&mut self) -> &mut Vec<Entry<F>> {
        &mut self.entries
    }
}
