//! How the driver is set up.

use hal_driver::CodeCache;
use std::{num::NonZeroUsize, sync::Arc, thread};

/// Most workers. More would eat into the address space of a device: each has a slot of scratch.
const MAX_WORKERS: usize = 64;

/// How the driver is set up. [`Config::new`] lists the defaults.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) workers: u32,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) code_cache: Option<Arc<dyn CodeCache>>,
}

impl Config {
    /// The defaults: as many workers as the process may use processors, at most 64; and as much memory for each device as the
    /// system has and 32-bit addresses reach; no code cache.
    pub fn new() -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { workers: 0, memory_bytes: None, code_cache: None }.workers(processors)
    }

    /// How many threads run kernels of all devices together, from 1 to 64. They start when first needed. `local-sync` uses none of them.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.clamp(1, MAX_WORKERS) as u32;
        self
    }

    /// How much memory each device has, where that is less than the default.
    #[must_use]
    pub fn memory_bytes(mut self, memory_bytes: u64) -> Self {
        self.memory_bytes = Some(memory_bytes);
        self
    }

    /// Where the machine code of kernels is kept for the next process, such as the host's cache on disk. Sources are read, checked and refused as
    /// without it; what is saved is code generation, most of the time that a load takes.
    ///
    /// Off by default, because all sessions share it: how fast a kernel loads then tells a tenant whether anybody has loaded it before.
    #[must_use]
    pub fn code_cache(mut self, cache: Arc<dyn CodeCache>) -> Self {
        self.code_cache = Some(cache);
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}
