//! The traits a driver implements, and the contract behind them.
//!
//! A [`Factory`] lists drivers and makes them; a [`Driver`] lists devices and opens them; a [`Device`] has memory
//! ([`Buffer`]), kernels ([`Executable`]) and one queue. The host stands above with one checked layer for all drivers: it owns
//! semaphores, waits, budgets and grants, so a driver has none of these.
//!
//! # Who validates
//!
//! **The caller.** Every range handed to a driver lies inside its buffer, has passed usage and access checks and every
//! alignment the driver's [`Limits`] publish; constants and bindings fit the function; objects belong to the
//! device. A driver may rely on that, and does not repeat it. It must stay memory-safe all the same if a *kernel* misbehaves.
//! What a driver does check is what only it can know: paths, parameters of [`Driver::open`], kernel sources.
//!
//! # What may fail
//!
//! Only what the caller could not foresee: memory that is short, a device that is lost, a refusal by the native interface, a
//! deadline, a broken invariant. Each is an [`Error`] with a [`Code`]; nothing panics.
//!
//! # Threads
//!
//! All objects are `Send + Sync` and any method may be called from any thread at any time. Methods marked *blocking* are called
//! from a thread that may block; all others return promptly. [`Device::submit`] is called with work whose waits are
//! met, or will be by the work before it, and calls [`Work::done`] exactly once, from any thread, possibly before it returns. No lock of the caller's is held
//! across a call, and no lock of the driver's may be held while it calls `done`.
//!
//! # Order
//!
//! Commands of one [`Work`] see each other's effects only across a [`Command::Barrier`]. Two works are not ordered: the host
//! hands over the second one after `done` of the first where a semaphore says so. A device that keeps the order of `submit` says so
//! ([`Device::in_order`]), and is then handed both at once.
//!
//! # Lifetimes
//!
//! Objects hold what they need: a buffer keeps its device alive, work in flight keeps its buffers and executables, and has let
//! go of them when it calls [`Work::done`]: whoever hears of the end counts on their memory, and on what it cost.
//! Dropping never waits for the device. Memory handed out by [`Device::allocate`] reads as zero, whoever used it before.
//!
//! Roles and names follow IREE's HAL (`iree_hal_driver_t`, `iree_hal_device_t`, ...).

#![deny(unsafe_code)]

mod buffer;
mod code;
mod device;
mod driver;
mod error;
mod executable;
mod factory;
mod features;
mod profile;
mod work;

pub use buffer::{Buffer, BufferParams, MemoryAccess, MemoryType, Transfer, Usage};
pub use code::CodeCache;
pub use device::{Device, DeviceInfo, DeviceKind, Heap, Limits, LoadRequest};
pub use driver::{Driver, DriverInfo, Parameters, Unusable};
pub use error::{Code, Error, Result};
pub use executable::{Binding, BindingKind, Executable, Function, OverrideValue};
pub use factory::{Factory, FactoryInfo};
pub use features::FEATURES;
pub use profile::PORTABLE;
pub use work::{
    Blob, BufferRef, BufferView, Command, Control, Dispatch, DispatchBinding, Done, Source, Span, Timing, Work,
    Workgroups,
};
