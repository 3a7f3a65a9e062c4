//! Everything generated from the WIT, and nothing else. The rest of this crate is built on it.
//!
//! Public for a component with a world of its own that takes or returns handles, for instance one that is handed a device. It names
//! these modules in its `with:`, all that its interfaces reach, and then its `Device` is the one that
//! [`Device::from`](crate::Device) takes and [`Device::into_raw`](crate::Device::into_raw) gives back:
//!
//! ```ignore
//! // world kernels {
//! //   use hal:device/types@0.1.0.{error};
//! //   use hal:device/device@0.1.0.{device};
//! //   export double: func(device: device, data: list<u32>) -> result<list<u32>, error>;
//! // }
//! wit_bindgen::generate!({
//!     path: ["wit/device", "wit/kernels"],
//!     world: "mine:kernels/kernels",
//!     with: {
//!         "hal:device/types@0.1.0": hal_guest::bindings::hal::device::types,
//!         "hal:device/blob@0.1.0": hal_guest::bindings::hal::device::blob,
//!         "hal:device/buffer@0.1.0": hal_guest::bindings::hal::device::buffer,
//!         "hal:device/semaphore@0.1.0": hal_guest::bindings::hal::device::semaphore,
//!         "hal:device/executable@0.1.0": hal_guest::bindings::hal::device::executable,
//!         "hal:device/recording@0.1.0": hal_guest::bindings::hal::device::recording,
//!         "hal:device/device@0.1.0": hal_guest::bindings::hal::device::device,
//!     },
//! });
//!
//! struct Kernels;
//! export!(Kernels);
//!
//! impl Guest for Kernels {
//!     fn double(device: Device, data: Vec<u32>) -> Result<Vec<u32>, Error> {
//!         // `?` turns hal_guest's error into the WIT's.
//!         Ok(double(&hal_guest::Device::from(device), &data)?)
//!     }
//! }
//! ```
#![allow(missing_docs, unused_qualifications, reason = "generated; documented in wit/")]
#![allow(clippy::all, clippy::indexing_slicing, clippy::unwrap_used, reason = "generated")]

wit_bindgen::generate!({
    path: ["../../wit/device", "../../wit/registry"],
    world: "hal:registry/tenant",
    generate_all,
});

/// What the feature `wasi` adds.
#[cfg(feature = "wasi")]
pub mod command {
    wit_bindgen::generate!({
        path: ["wit/io", "wit/cli"],
        inline: "
            package hal:guest;
            world command {
                import wasi:cli/environment@0.2.0;
                import wasi:cli/stdout@0.2.0;
                import wasi:cli/stderr@0.2.0;
                export wasi:cli/run@0.2.0;
            }
        ",
        world: "hal:guest/command",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_command",
        default_bindings_module: "hal_guest::bindings::command",
    });
}
