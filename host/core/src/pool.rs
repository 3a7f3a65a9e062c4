//! Threads for what may block.

/// A bounded pool, fair among sessions.
#[derive(Clone)]
pub struct Pool(());

impl Pool {
    /// A pool of at most this many threads.
    pub fn new(_threads: usize) -> Self { todo!() }
}
