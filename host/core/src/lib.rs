//! The checked layer above the drivers.
//!
//! A [`Session`] is one tenant: it has [`Grant`]s, each a share of a [`hal_driver::Factory`] within [`Limits`]. From it come
//! handles, [`Factory`] → [`Driver`] → [`Device`] → [`Buffer`], [`Semaphore`], [`Executable`], [`Recording`], whose methods are the
//! functions of the WIT interfaces `hal:device` and `hal:registry`, name by name. Nothing here knows wasm: a native program
//! has the same checks, budgets and errors as a guest.
//!
//! - [`policy`] says what a tenant may do. [`budget`] counts it: a tree of nodes, in which every charge is owned by the native
//!   object it paid for.
//! - `check` holds all validation: at the call, and again when queued work becomes ready.
//! - `queue` holds semaphores and submissions. A driver sees work only once its waits are met.
//! - [`Pool`] runs what may block, fairly among sessions.
//!
//! # Threads
//!
//! Every object is `Send + Sync`. No lock is held across a call into a driver. Waiting functions are async and need
//! a tokio runtime with time enabled; a dropped future gives up the wait, never the work.
//!
//! # Ends
//!
//! Handles keep what they need alive. `close`, [`Remote::revoke`] and [`Remote::end`] take rights away at once; native
//! objects go, and charges come back, when the last reference is gone: a handle, a recording, work in flight.

#![forbid(unsafe_code)]

pub mod audit;
pub mod batch;
pub mod budget;
mod check;
mod error;
mod meter;
mod object;
pub mod policy;
mod pool;
mod queue;
mod session;
mod tenant;
pub mod text;

pub use batch::{Batch, Command, SlotBinding, TimePoint, WaitMode};
pub use error::{Error, LimitHit, Result};
pub use hal_driver::{
    Binding, BindingKind, BufferParams, BufferRef, Code, DeviceKind, Dispatch, DispatchBinding, DriverInfo,
    FactoryInfo, Function, Heap, MemoryAccess, MemoryType, OverrideValue, Source, Usage, Workgroups,
};
pub use object::{
    Amount, Blob, BlobInfo, Buffer, BufferInfo, Compatibility, Device, DeviceInfo, Driver, Executable,
    ExecutableParams, Factory, Parameters, Recording, Semaphore, Timing, Used,
};
pub use policy::{Grant, Limit, Limits, Policy, Reveal};
pub use pool::Pool;
pub use session::{BlobSource, GrantReport, Peak, Remote, Report, Session, SessionBuilder};
