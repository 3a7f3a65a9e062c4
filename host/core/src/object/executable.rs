//! Compiled kernels.

use super::DeviceShared;
use crate::{
    budget::Charge,
    error::{Result, precondition},
};
use hal_driver::{Function, OverrideValue};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// What a load asks for besides the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutableParams {
    /// `"wgsl"` or `"spirv"`.
    pub format: String,
    /// Values for override constants, by name or decimal `@id`.
    pub overrides: Vec<(String, OverrideValue)>,
    /// At most 64 bytes. Messages about the source begin with it, as a compiler's do with the file.
    pub label: String,
}

pub(crate) struct ExecutableShared {
    pub(crate) native: Arc<dyn hal_driver::Executable>,
    pub(crate) device: Arc<DeviceShared>,
    closed: AtomicBool,
    _charge: Charge,
}

/// A module of kernels, compiled for one device. Clones are one handle.
#[derive(Clone)]
pub struct Executable(pub(crate) Arc<ExecutableShared>);

impl Executable {
    pub(crate) fn new(device: &Arc<DeviceShared>, native: Arc<dyn hal_driver::Executable>, charge: Charge) -> Self {
        Self(Arc::new(ExecutableShared {
            native,
            device: device.clone(),
            closed: AtomicBool::new(false),
            _charge: charge,
        }))
    }

    /// Entry points, in the order of the source. A dispatch names one by its index here. Answers in every state.
    pub fn functions(&self) -> &[Function] {
        self.0.native.functions()
    }

    /// Gives the executable up. Recordings and work in flight keep what they need.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
    }

    /// Refuses once closed.
    pub(crate) fn open(&self) -> Result<()> {
        if self.0.closed.load(Ordering::Acquire) { Err(precondition("the executable is closed")) } else { Ok(()) }
    }
}
