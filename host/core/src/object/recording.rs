//! Batches that were checked once.

use super::DeviceShared;
use crate::{
    budget::Charge,
    check::Checked,
    error::{Result, precondition},
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

pub(crate) struct RecordingShared {
    pub(crate) checked: Checked,
    pub(crate) label: String,
    pub(crate) device: Arc<DeviceShared>,
    closed: AtomicBool,
    _charges: [Charge; 2],
}

/// A batch that was checked once and can be executed many times, with other buffers in its slots each time. Clones are one
/// handle.
#[derive(Clone)]
pub struct Recording(pub(crate) Arc<RecordingShared>);

impl Recording {
    pub(crate) fn new(device: &Arc<DeviceShared>, checked: Checked, label: String, charges: [Charge; 2]) -> Self {
        let (device, closed) = (device.clone(), AtomicBool::new(false));
        Self(Arc::new(RecordingShared { checked, label, device, closed, _charges: charges }))
    }

    /// The label it was made with.
    pub fn label(&self) -> &str {
        &self.0.label
    }

    /// Gives the recording up. Work in flight keeps what it needs.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
    }

    /// Refuses once closed.
    pub(crate) fn open(&self) -> Result<()> {
        if self.0.closed.load(Ordering::Acquire) { Err(precondition("the recording is closed")) } else { Ok(()) }
    }
}
