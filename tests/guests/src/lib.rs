//! What the test guests share: bindings, the export, and checks that say what was expected and what happened.
//!
//! A guest is one file, `src/bin/<suite>_<subject>_<behaviour>.rs`, whose first doc line says what it shows. Its suite says how it ends:
//!
//! | suite | ends |
//! |---|---|
//! | `ok_` | well |
//! | `deny_` | well, after it was refused what it has no right to; or with the trap that the test names |
//! | `limit_` | well, after it met a limit at its exact edge and went on |
//! | `trap_` | with a trap of its own |
//! | `hang_` | never, unless the host ends it |
//! | `registry_` | well, after it used the registry on factories that the test arranged |
//!
//! Guests use the raw bindings: what they test is the interface, not the SDK.

pub mod check;
pub mod kernels;
pub mod memory;
pub mod work;

/// Everything generated from the WIT, and nothing else.
#[allow(missing_docs, reason = "generated; documented in wit/")]
#[allow(clippy::all, reason = "generated")]
pub mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/device", "../../wit/registry", "wit"],
        world: "test:guest/guest",
        generate_all,
        pub_export_macro: true,
        default_bindings_module: "test_guests::bindings",
    });
}

pub use bindings::hal::device::{
    blob::Blob,
    buffer::{Buffer, BufferInfo, BufferParams},
    device::{Binding, Compatibility, Device, DeviceInfo, DeviceKind, Timing, WaitMode},
    executable::{BindingKind, Executable, ExecutableParams, FunctionInfo, OverrideConstant, OverrideValue},
    recording::{
        Batch, BufferRef, BufferSource, Command, CopyCommand, DispatchBinding, DispatchCommand, FillCommand, Recording,
        UpdateCommand, Workgroups,
    },
    semaphore::{Semaphore, TimePoint},
    types::{Amount, BufferUsage, Error, LimitHit, MemoryAccess, MemoryType, StatusCode, Usage},
};
pub use bindings::hal::registry::{
    blobs,
    drivers::{Driver, DriverFactory, DriverInfo},
    factories,
    registry::{Failure, Listing, Registry},
};

/// How a guest ends: with a report for the test (most have none), or with what went wrong.
pub type Outcome<T = ()> = Result<T, String>;

/// The largest timeout: for ever, which is until the host ends the call.
pub const FOR_EVER: u64 = u64::MAX;

/// Ten seconds: far more than anything here takes, so that a wait that fails is a finding and not a slow machine.
pub const LONG: u64 = 10_000_000_000;

/// What [`guest!`] exports. Not for use by hand.
#[doc(hidden)]
pub trait Report {
    fn text(self) -> String;
}

impl Report for () {
    fn text(self) -> String {
        String::new()
    }
}

impl Report for String {
    fn text(self) -> String {
        self
    }
}

/// Exports a function as the guest's `run`: `fn() -> Outcome`, or with `input`, `fn(&str) -> Outcome<String>`.
#[macro_export]
macro_rules! guest {
    ($run:ident) => {
        $crate::guest!(|_input| $run());
    };
    (input $run:ident) => {
        $crate::guest!(|input| $run(&input));
    };
    (|$input:ident| $call:expr) => {
        struct Program;

        impl $crate::bindings::Guest for Program {
            fn run($input: String) -> Result<String, String> {
                $call.map($crate::Report::text)
            }
        }

        $crate::bindings::export!(Program);
    };
}

/// Returns an error from a guest unless a condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

/// Opens a device by URI through the default registry.
pub fn open(uri: &str) -> Outcome<Device> {
    Registry::default().create_device(uri).map_err(|error| format!("opening {uri}: {}", check::show(&error)))
}

/// The device of the null driver: memory and transfers, no kernels.
pub fn null() -> Outcome<Device> {
    open("null://")
}

/// The device of the cpu driver.
pub fn cpu() -> Outcome<Device> {
    open("cpu://")
}
