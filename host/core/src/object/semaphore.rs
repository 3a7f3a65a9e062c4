//! Timeline semaphores.
use crate::{Error, Result};

/// A value that only grows, or a failure that stays.
#[derive(Clone)]
pub struct Semaphore(());

impl Semaphore {
    /// `semaphore.query`.
    pub fn query(&self) -> Result<u64> { todo!() }
    /// `semaphore.signal`.
    pub fn signal(&self, _value: u64) -> Result<()> { todo!() }
    /// `semaphore.fail`.
    pub fn fail(&self, _reason: Error) { todo!() }
    /// `semaphore.wait`.
    pub async fn wait(&self, _value: u64, _timeout_ns: u64) -> Result<()> { todo!() }
    /// `semaphore.close`.
    pub fn close(&self) { todo!() }
}
