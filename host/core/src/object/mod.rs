//! The checked objects behind each WIT interface, one file each.

mod blob;
mod buffer;
mod device;
mod device_queue;
mod device_state;
mod driver;
mod executable;
mod factory;
mod profile;
mod recording;
mod semaphore;

pub(crate) use blob::BlobData;
pub use blob::{Blob, BlobInfo};
pub use buffer::{Buffer, BufferInfo};
pub(crate) use buffer::{BufferShared, Memory, Storage, lacking};
pub use device::{Compatibility, Device, DeviceInfo, Timing};
pub(crate) use device_state::DeviceShared;
pub use driver::{Driver, Parameters};
pub(crate) use executable::ExecutableShared;
pub use executable::{Executable, ExecutableParams};
pub use factory::Factory;
pub(crate) use factory::FactoryShared;
pub use recording::Recording;
pub use semaphore::Semaphore;

/// A named number: a limit, a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amount {
    /// The stable name.
    pub name: String,
    /// In the unit that the name says.
    pub value: u64,
}

/// How much of a limit is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// The limit's stable name.
    pub name: String,
    /// What is charged now.
    pub used: u64,
    /// What the grant allows in all.
    pub allowed: u64,
}
