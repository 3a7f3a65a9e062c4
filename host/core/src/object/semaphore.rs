//! Timeline semaphores.

use super::DeviceShared;
use crate::{
    WaitMode,
    error::{Error, Result, precondition},
    queue::{Timeline, wait},
    text,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Most bytes of a failure's message that are kept: it is copied to whatever waits.
const MAX_REASON_BYTES: usize = 1024;

pub(crate) struct SemaphoreShared {
    pub(crate) timeline: Arc<Timeline>,
    device: Arc<DeviceShared>,
    closed: AtomicBool,
    /// Tells of its device's end, so it answers when everything else of the device is closed.
    loss: bool,
}

impl Drop for SemaphoreShared {
    fn drop(&mut self) {
        self.timeline.forsake();
    }
}

/// A value that only grows, or a failure that stays. Clones are one handle.
#[derive(Clone)]
pub struct Semaphore(pub(crate) Arc<SemaphoreShared>);

impl Semaphore {
    pub(crate) fn new(device: &Arc<DeviceShared>, timeline: Arc<Timeline>, loss: bool) -> Self {
        Self(Arc::new(SemaphoreShared { timeline, device: device.clone(), closed: AtomicBool::new(false), loss }))
    }

    /// The current value.
    ///
    /// # Errors
    /// The failure, if it has failed; `failed-precondition` once closed.
    #[tracing::instrument(level = "trace", skip_all)]
    pub fn query(&self) -> Result<u64> {
        let result = self.open().and_then(|()| self.0.timeline.value());
        self.0.device.tenant.observe("semaphore.query", result)
    }

    /// Raises the value. Of a failed semaphore nothing changes.
    ///
    /// # Errors
    /// `invalid-argument` if `value` is not above the current one; the failure, whatever the value; `failed-precondition` once closed.
    #[tracing::instrument(level = "trace", skip_all)]
    pub fn signal(&self, value: u64) -> Result<()> {
        let result = self.open().and_then(|()| self.0.timeline.signal(value));
        self.0.device.tenant.observe("semaphore.signal", result)
    }

    /// Fails the semaphore for ever. Ignored if it has failed already, or is closed. Of the message at most 1,024 bytes are kept, with control
    /// characters replaced, since it ends up in other errors and in logs; and no numbers of a limit: those speak of a grant, and this one
    /// may be another's.
    #[tracing::instrument(level = "trace", skip_all)]
    pub fn fail(&self, reason: Error) {
        let result = self.open().map(|()| {
            let message = text::clean(&reason.message, MAX_REASON_BYTES);
            self.0.timeline.fail(&Error::new(reason.code, message));
        });
        // It answers nothing; the refusal is counted all the same.
        let _ = self.0.device.tenant.observe("semaphore.fail", result);
    }

    /// Waits until the value is at least `value`.
    ///
    /// # Errors
    /// `deadline-exceeded`; the failure, as soon as it fails; `failed-precondition` once closed.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn wait(&self, value: u64, timeout_ns: u64) -> Result<()> {
        let device = &self.0.device;
        let result = match self.open() {
            Ok(()) => match self.0.timeline.check(value) {
                Some(known) => known,
                None => {
                    let points = [(self.0.timeline.clone(), value)];
                    let until = device.tenant.until(timeout_ns);
                    wait(&points, WaitMode::All, until, device, "waiting for a semaphore").await.map(|_| ())
                }
            },
            Err(error) => Err(error),
        };
        device.tenant.observe("semaphore.wait", result)
    }

    /// Gives the semaphore up. Pending signals and waits of queued work go on.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.timeline.forsake();
    }

    /// Refuses once closed, by itself or with its device. A failure is told before the device's state: it is the cause.
    pub(crate) fn open(&self) -> Result<()> {
        if self.0.closed.load(Ordering::Acquire) {
            return Err(precondition("the semaphore is closed"));
        }
        if self.0.loss {
            return Ok(());
        }
        let usable = self.0.device.usable();
        usable.map_err(|error| self.0.timeline.value().err().unwrap_or(error))
    }
}
