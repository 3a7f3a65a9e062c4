//! Timeline semaphores: how work is ordered, and how a program waits for it.

use crate::bindings::hal::device::semaphore;
use crate::{Code, Result};
use std::time::Duration;

/// A value on a semaphore's timeline, to wait for or to signal: see [`Semaphore::at`].
pub type TimePoint<'a> = semaphore::TimePoint<'a>;

/// A 64-bit value that only grows, or a failure that stays.
#[derive(Debug)]
pub struct Semaphore(semaphore::Semaphore);

impl Semaphore {
    /// A point on its timeline.
    pub fn at(&self, value: u64) -> TimePoint<'_> {
        TimePoint { semaphore: &self.0, value }
    }

    /// The current value.
    ///
    /// # Errors
    /// The failure, if it has failed; `failed-precondition` once closed.
    pub fn query(&self) -> Result<u64> {
        Ok(self.0.query()?)
    }

    /// Raises the value.
    ///
    /// # Errors
    /// `invalid-argument` if `value` is not above the current one; the failure, if it has failed.
    pub fn signal(&self, value: u64) -> Result<()> {
        Ok(self.0.signal(value)?)
    }

    /// Fails it for ever, and with it whatever waits for it.
    pub fn fail(&self, code: Code, message: &str) {
        self.0.fail(&crate::Error::new(code, message).into());
    }

    /// Waits until the value is at least `value`, for as long as the host lets this call take.
    ///
    /// # Errors
    /// The failure, as soon as it fails; `deadline-exceeded` at the host's own deadline.
    pub fn wait(&self, value: u64) -> Result<()> {
        Ok(self.0.wait(value, FOREVER)?)
    }

    /// The same, for at most `timeout`; zero looks once.
    ///
    /// # Errors
    /// As [`wait`](Self::wait); `deadline-exceeded` after `timeout`.
    pub fn wait_timeout(&self, value: u64, timeout: Duration) -> Result<()> {
        Ok(self.0.wait(value, nanoseconds(timeout))?)
    }

    /// Gives it up. Harmless with signals pending.
    pub fn close(&self) {
        self.0.close();
    }
}

impl From<semaphore::Semaphore> for Semaphore {
    fn from(raw: semaphore::Semaphore) -> Self {
        Self(raw)
    }
}

/// The timeout that stands for no timeout.
pub(crate) const FOREVER: u64 = u64::MAX;

pub(crate) fn nanoseconds(timeout: Duration) -> u64 {
    // One below for ever: 584 years.
    u64::try_from(timeout.as_nanos()).unwrap_or(FOREVER - 1)
}
