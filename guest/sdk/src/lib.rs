//! What a tenant is written with: find a device by name, move data, run kernels, wait.
#![cfg_attr(feature = "wasi", doc = "\n```no_run")]
#![cfg_attr(not(feature = "wasi"), doc = "\n```ignore")]
//! use hal_guest::{prelude::*, println, run};
//!
//! run!(main);
//!
//! const DOUBLE: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
//! @compute @workgroup_size(1) fn double(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] *= 2u; }";
//!
//! fn main() -> Result<()> {
//!     let device = Registry::default().create_device("cpu://")?;
//!     let data = device.buffer_from(&[1u32, 2, 3])?;
//!     let kernels = device.load_wgsl(DOUBLE)?;
//!     device.run(&Batch::new().dispatch(kernels.function("double")?.dispatch(3).bind(0, &data)))?;
//!     println!("{:?}", data.to_vec::<u32>()?);
//!     Ok(())
//! }
//! ```
//!
//! # Building one
//! A tenant is a component, and a component starts as a `cdylib` for wasm32-unknown-unknown:
//!
//! ```toml
//! [lib]
//! crate-type = ["cdylib"]
//!
//! [dependencies]
//! hal-guest = { path = "...", features = ["wasi"] }
//! ```
//!
//! `cargo xtask guests` builds those of this repository. Elsewhere, `cargo build --target wasm32-unknown-unknown --release` and
//! then `wasm-tools component new target/wasm32-unknown-unknown/release/NAME.wasm -o NAME.wasm`.
//! `hal run NAME.wasm --grant cpu` runs it.
//!
//! # What to know
//! - **A handle is a right.** Without a grant the registry is empty and `create_device` says so. A device carries the limits of
//!   its grant; a limit that is hit is an [`Error`] with [numbers](Error::limit), never a trap.
//! - **Nothing is ordered by itself**: inside a batch a [`Batch::barrier`] orders, between submissions a [`Semaphore`] does, and
//!   [`Device::run`] waits for the end.
//! - **Dropping frees**, when the last work in flight that uses a thing is done. `close` refuses new use at once.
//! - **Printing needs the feature `wasi`**, and this crate's `println!`: the standard library's prints nothing on this target,
//!   and neither do panics. Without the feature no WASI is imported.
//! - **A world of its own** is possible: [`bindings`] says how.
#![forbid(unsafe_op_in_unsafe_fn)]

pub mod bindings;
mod blob;
mod buffer;
mod device;
mod error;
mod executable;
mod recording;
mod registry;
mod semaphore;
mod transfer;
#[cfg(feature = "wasi")]
pub mod wasi;

pub use bindings::hal::device::types::{Amount, Usage};
pub use blob::{Blob, BlobInfo};
pub use buffer::{Buffer, BufferInfo, BufferParams, BufferUsage, MemoryAccess, MemoryType, Slice, slot};
pub use bytemuck;
pub use device::{Compatibility, Device, DeviceInfo, DeviceKind, Heap, Timing, WaitMode};
pub use error::{Code, Error, LimitHit, Result};
pub use executable::{
    BindingInfo, BindingKind, Executable, ExecutableParams, Function, FunctionInfo, OverrideConstant, OverrideValue,
};
pub use recording::{Batch, Command, Dispatch, Recording, Workgroups};
pub use registry::{Driver, DriverInfo, Factory, FactoryInfo, Failure, Listing, Registry};
pub use semaphore::{Semaphore, TimePoint};
#[cfg(feature = "wasi")]
pub use wasi::args;

/// What most tenants name. Import it once per module.
pub mod prelude {
    pub use crate::{
        Batch, Blob, Buffer, BufferParams, BufferUsage, Code, Device, Error, Executable, ExecutableParams, Factory,
        Recording, Registry, Result, Semaphore, Workgroups, slot,
    };
}
