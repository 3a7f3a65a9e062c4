//! The WIT interfaces over the checked objects of `hal_core`: one file an interface, nothing but conversion.
//!
//! Every check is made below, in `hal_core`, and every error a guest can cause becomes a WIT `error` through [`Refusal`]. What is
//! left as a trap is a handle that the guest does not hold.

mod blob;
mod blobs;
mod buffer;
mod convert;
mod device;
mod drivers;
mod executable;
mod factories;
mod recording;
mod semaphore;
mod types;

use crate::bindings::hal;
use hal_core::{Code, Session};
use wasmtime::component::{HasData, Linker, Resource, ResourceTable, ResourceTableError};

/// What the interfaces need of a store's data: the table behind the guest's handles, and the session whose grants they carry.
pub struct View<'a> {
    /// Handles of this store. May hold an embedder's own resources too.
    pub table: &'a mut ResourceTable,
    /// The tenant.
    pub session: &'a Session,
}

/// What one store holds for these interfaces, for embedders with nothing of their own to add.
pub struct State {
    /// Handles of this store.
    pub table: ResourceTable,
    /// The tenant.
    pub session: Session,
}

impl State {
    /// An empty table for a session.
    pub fn new(session: Session) -> Self {
        Self { table: ResourceTable::new(), session }
    }

    /// The borrowed view.
    pub fn view(&mut self) -> View<'_> {
        View { table: &mut self.table, session: &self.session }
    }
}

/// Selects [`View`] in generated code.
struct Interfaces;

impl HasData for Interfaces {
    type Data<'a> = View<'a>;
}

/// Defines every interface the host implements, over a view that `get` borrows from the embedder's own store data.
///
/// That is all of `hal:device` and `hal:registry`, less `hal:registry/registry`, which the registry component exports.
///
/// # Errors
/// An interface of one of these names is in the linker already.
pub fn add_to_linker<T: Send + 'static>(linker: &mut Linker<T>, get: fn(&mut T) -> View<'_>) -> wasmtime::Result<()> {
    add_device_to_linker(linker, get)?;
    hal::registry::drivers::add_to_linker::<T, Interfaces>(linker, get)?;
    hal::registry::factories::add_to_linker::<T, Interfaces>(linker, get)?;
    hal::registry::blobs::add_to_linker::<T, Interfaces>(linker, get)
}

/// Defines `hal:device` alone: for guests that are handed a device and can look for no other.
///
/// # Errors
/// An interface of one of these names is in the linker already.
pub fn add_device_to_linker<T: Send + 'static>(
    linker: &mut Linker<T>,
    get: fn(&mut T) -> View<'_>,
) -> wasmtime::Result<()> {
    hal::device::types::add_to_linker::<T, Interfaces>(linker, get)?;
    hal::device::blob::add_to_linker::<T, Interfaces>(linker, get)?;
    buffer::add_to_linker(linker, get)?;
    hal::device::semaphore::add_to_linker::<T, Interfaces>(linker, get)?;
    hal::device::executable::add_to_linker::<T, Interfaces>(linker, get)?;
    hal::device::recording::add_to_linker::<T, Interfaces>(linker, get)?;
    hal::device::device::add_to_linker::<T, Interfaces>(linker, get)
}

/// How a call of a guest's can fail: with a value it sees, or with a trap that ends its session.
#[derive(Debug)]
pub enum Refusal {
    /// A WIT `error`.
    Value(hal_core::Error),
    /// A trap: a handle that the guest does not hold, or a defect of the host's.
    Trap(wasmtime::Error),
}

impl From<hal_core::Error> for Refusal {
    fn from(error: hal_core::Error) -> Self {
        Self::Value(error)
    }
}

impl From<ResourceTableError> for Refusal {
    /// A full table is the guest's doing and a value; any other failure means a handle that is not there.
    fn from(error: ResourceTableError) -> Self {
        match error {
            ResourceTableError::Full => Self::Value(hal_core::Error::new(
                Code::ResourceExhausted,
                "the session's handle table is full; drop handles that are no longer needed",
            )),
            other => Self::Trap(other.into()),
        }
    }
}

impl View<'_> {
    /// The object behind a handle. Clones are reference counts.
    fn get<R: Clone + Send + 'static>(&self, handle: &Resource<R>) -> Result<R, ResourceTableError> {
        self.table.get(handle).cloned()
    }

    /// The objects behind a list of handles, in order.
    fn get_all<R: Clone + Send + 'static>(&self, handles: &[Resource<R>]) -> Result<Vec<R>, ResourceTableError> {
        handles.iter().map(|handle| self.get(handle)).collect()
    }

    /// A new handle.
    fn push<R: Send + 'static>(&mut self, object: R) -> Result<Resource<R>, Refusal> {
        Ok(self.table.push(object)?)
    }
}
