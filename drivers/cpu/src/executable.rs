//! Executables: kernels of one source, compiled for one device.

use crate::{kernel::Kernel, state::DeviceState};
use hal_driver::{Executable, Function};
use std::{any::Any, sync::Arc};

/// What a source compiles to. Executables of the same source share it.
pub(crate) struct Loaded {
    pub(crate) functions: Vec<Function>,
    /// One for each function.
    pub(crate) kernels: Vec<Arc<Kernel>>,
}

pub(crate) struct CpuExecutable {
    state: Arc<DeviceState>,
    loaded: Arc<Loaded>,
}

impl CpuExecutable {
    pub(crate) fn new(state: &Arc<DeviceState>, loaded: Arc<Loaded>) -> Self {
        Self { state: state.clone(), loaded }
    }

    /// The kernel of a function.
    pub(crate) fn kernel(&self, function: u32) -> Option<&Arc<Kernel>> {
        self.loaded.kernels.get(function as usize)
    }

    /// Whether it was loaded on this device.
    pub(crate) fn belongs_to(&self, state: &Arc<DeviceState>) -> bool {
        Arc::ptr_eq(&self.state, state)
    }
}

impl Executable for CpuExecutable {
    fn functions(&self) -> &[Function] {
        &self.loaded.functions
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
