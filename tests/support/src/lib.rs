//! What the tests share.
//!
//! - [`component`]: components as `cargo xtask guests` built them, refused when stale.
//! - [`Guest`]: a guest with its grants, run once on the host that all tests of a process share.
//! - [`Fake`]: factories that list what a test says and misbehave as it says; [`counted()`]: a layer that counts live native objects.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot be set up ends here, with its reason"
)]

pub mod components;
pub mod counted;
pub mod fake;
pub mod guest;

pub use components::{component, manifest, root};
pub use counted::{Counts, counted};
pub use fake::{Behaviour, Fake, listed};
pub use guest::{Ended, Guest, Running, cpu, host, null, runtime};
