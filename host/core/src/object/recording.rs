//! Batches that were checked once.

/// A batch that was checked once and can be executed many times.
#[derive(Clone)]
pub struct Recording(());

impl Recording {
    /// `recording.close`.
    pub fn close(&self) { todo!() }
}
