//! Everything generated from the WIT, and nothing else. The rest of this crate is built on it.
//!
//! Public for a component with a world of its own that takes or returns handles: name these modules in that world's
//! `with:`, and its `device` is the one that [`Device`](crate::Device) wraps.
//!
//! ```ignore
//! wit_bindgen::generate!({
//!     path: ["wit/device", "wit/mine"],
//!     world: "mine:kernels/world",
//!     with: {
//!         "hal:device/types@0.1.0": hal_guest::bindings::hal::device::types,
//!         "hal:device/device@0.1.0": hal_guest::bindings::hal::device::device,
//!         // ... and each interface that these refer to; a missing one is named by the compiler.
//!     },
//! });
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
