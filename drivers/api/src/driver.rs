//! Drivers: lists of devices.

use crate::{Device, DeviceInfo, Result};
use std::sync::Arc;

/// What a driver calls itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfo {
    /// Lower case; also the scheme of its URIs.
    pub name: String,
    /// For display.
    pub full_name: String,
    /// The version of the implementation.
    pub version: String,
}

/// A device that is there and that a driver does not list, because it cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// A model name.
    pub name: String,
    /// Why, in a clause: `it lacks ...`.
    pub reason: String,
}

/// Key-value pairs of a device URI, in order. Keys may repeat.
pub type Parameters = [(String, String)];

/// Lists devices and opens them.
pub trait Driver: Send + Sync {
    /// Cheap, and the same each time.
    fn info(&self) -> DriverInfo;

    /// The devices there are now; the first one is the default device, unless [`Driver::choose`] says otherwise. Paths are unique, stable between processes and
    /// usable in a URI. *Blocking.*
    ///
    /// # Errors
    /// `Unavailable` when the native side fails as a whole. No device at all is an empty list.
    fn devices(&self) -> Result<Vec<DeviceInfo>>;

    /// Devices that the native side has and that [`Driver::devices`] leaves out, for an operator who would look for them there. *Blocking.*
    ///
    /// # Errors
    /// As [`Driver::devices`].
    fn unusable(&self) -> Result<Vec<Unusable>> {
        Ok(Vec::new())
    }

    /// Text for diagnostics about the device at `path`. *Blocking.*
    ///
    /// # Errors
    /// `NotFound`.
    fn details(&self, path: &str) -> Result<String>;

    /// Which of `devices` is meant by a caller that names none: an index into that list, which is never empty and holds what the
    /// caller may use of [`Driver::devices`], in its order. `parameters` are those that [`Driver::open`] gets next, so that a
    /// driver can pick by them (`kind=discrete`). *Blocking.*
    ///
    /// # Errors
    /// `NotFound` if none of them is as the parameters ask, saying what is there instead; `InvalidArgument` for a malformed one.
    fn choose(&self, devices: &[DeviceInfo], parameters: &Parameters) -> Result<usize> {
        let _ = (devices, parameters);
        Ok(0)
    }

    /// Opens the device at `path`, as listed and never empty. A driver refuses every parameter it does not know; `profile` never
    /// arrives here (see [`PORTABLE`](crate::PORTABLE)). *Blocking.*
    ///
    /// # Errors
    /// `NotFound`; `InvalidArgument` naming an unknown or malformed parameter; `ResourceExhausted` or `Unavailable` if it
    /// cannot be opened now.
    fn open(&self, path: &str, parameters: &Parameters) -> Result<Arc<dyn Device>>;
}
