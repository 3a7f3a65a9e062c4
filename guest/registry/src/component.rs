//! The component: the host's factories behind [`Factory`], registries as exported resources.

use crate::bindings::exports::hal::registry::registry as wit;
use crate::bindings::hal::device::device::Device;
use crate::bindings::hal::device::types;
use crate::bindings::hal::registry::drivers::{self, DriverFactory};
use crate::bindings::hal::registry::factories;
use crate::{Driver, DriverInfo, Error, Factory, FactoryInfo, Failure, Listing, Registry};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

struct Component;

#[expect(unsafe_code, reason = "the exports of the canonical ABI are raw pointers; the generator answers for them")]
mod exports {
    use super::Component;
    crate::bindings::export!(Component with_types_in crate::bindings);
}

/// What a handle to a registry stands for: several may stand for the default one.
pub(crate) struct Handle(Rc<Registry<DriverFactory>>);

/// The instance's default registry, made when first asked for.
struct DefaultRegistry(OnceCell<Rc<Registry<DriverFactory>>>);

#[expect(unsafe_code, reason = "a static has to be Sync")]
// SAFETY: an instance of this component has one thread; the threads proposal is not among what it is built for.
unsafe impl Sync for DefaultRegistry {}

static DEFAULT: DefaultRegistry = DefaultRegistry(OnceCell::new());

impl wit::Guest for Component {
    type Registry = Handle;
}

impl wit::GuestRegistry for Handle {
    fn new() -> Self {
        Self(Rc::new(Registry::new()))
    }

    fn default() -> wit::Registry {
        let registry = DEFAULT.0.get_or_init(|| {
            let registry = Registry::new();
            // Cannot fail: nobody else has this registry yet, so it is not busy.
            let _ = registry.adopt(factories::granted());
            Rc::new(registry)
        });
        wit::Registry::new(Self(Rc::clone(registry)))
    }

    fn register_factory(&self, factory: &DriverFactory) -> Result<(), types::Error> {
        self.0.register_factory(factory).map_err(Into::into)
    }

    fn unregister_factory(&self, factory: &DriverFactory) -> Result<(), types::Error> {
        self.0.unregister_factory(factory).map_err(Into::into)
    }

    fn enumerate(&self) -> Vec<drivers::DriverInfo> {
        // Not busy: a host function has no way into this instance.
        self.0.enumerate().unwrap_or_default().into_iter().map(Into::into).collect()
    }

    fn enumerate_detailed(&self) -> wit::Listing {
        let listing = self.0.enumerate_detailed().unwrap_or_else(|error| Listing {
            drivers: Vec::new(),
            failures: Vec::from([Failure { factory: String::new(), error }]),
        });
        listing.into()
    }

    fn try_create(&self, name: String) -> Result<drivers::Driver, types::Error> {
        self.0.try_create(&name).map_err(Into::into)
    }

    fn create_device(&self, uri: String) -> Result<Device, types::Error> {
        self.0.create_device(&uri).map_err(Into::into)
    }
}

impl Factory for DriverFactory {
    type Driver = drivers::Driver;

    fn id(&self) -> u64 {
        self.id()
    }

    fn info(&self) -> FactoryInfo {
        let drivers::FactoryInfo { name, version } = self.info();
        FactoryInfo { name, version }
    }

    fn enumerate(&self) -> Result<Vec<DriverInfo>, Error> {
        let listing = self.enumerate()?;
        Ok(listing.into_iter().map(Into::into).collect())
    }

    fn try_create(&self, name: &str) -> Result<drivers::Driver, Error> {
        Ok(self.try_create(name)?)
    }

    fn duplicate(&self) -> Result<Self, Error> {
        Ok(self.duplicate()?)
    }
}

impl Driver for drivers::Driver {
    type Device = Device;

    fn create_device_by_uri(&self, uri: &str) -> Result<Device, Error> {
        Ok(self.create_device_by_uri(uri)?)
    }
}
