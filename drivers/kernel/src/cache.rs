//! Kernels that a device compiled before, by content.

use hal_driver::{LoadRequest, OverrideValue, Result};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Most sources that are remembered. A cache is for the tenant that loads the same few kernels again, as one that opens a model twice
/// does; an entry keeps machine code, or a native pipeline.
const MAX_ENTRIES: usize = 16;

/// What sources were compiled to, the latest used last. One device's only: how fast a kernel loads must not tell a tenant what others loaded.
pub struct Cache<T> {
    entries: Mutex<VecDeque<(Key, Arc<T>)>>,
    /// Held while compiling: one compilation a device at a time, so that no tenant keeps every core busy with compiling.
    compiling: Mutex<()>,
}

/// Everything that decides the outcome. Compared in full, so that no tenant can make two sources meet.
#[derive(PartialEq)]
struct Key {
    format: String,
    bytes: Box<[u8]>,
    overrides: Vec<(String, OverrideValue)>,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self { entries: Mutex::default(), compiling: Mutex::default() }
    }
}

impl<T> Cache<T> {
    /// The remembered outcome, or that of `compile`. It blocks while `compile` does.
    ///
    /// # Errors
    ///
    /// Those of `compile`; they are not remembered.
    pub fn load(&self, request: &LoadRequest<'_>, compile: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        if let Some(loaded) = self.find(request) {
            return Ok(loaded);
        }
        let _one = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = self.find(request) {
            return Ok(loaded);
        }
        let loaded = Arc::new(compile()?);
        let key =
            Key { format: request.format.into(), bytes: request.bytes.into(), overrides: request.overrides.to_vec() };
        let mut entries = self.lock();
        let oldest = if entries.len() < MAX_ENTRIES { None } else { entries.pop_front() };
        entries.push_back((key, loaded.clone()));
        drop(entries);
        // Machine code is unmapped here if nobody else uses it: not under the lock.
        drop(oldest);
        Ok(loaded)
    }

    /// Forgets everything, and answers what that was.
    pub fn take(&self) -> Vec<Arc<T>> {
        std::mem::take(&mut *self.lock()).into_iter().map(|(_, loaded)| loaded).collect()
    }

    fn find(&self, request: &LoadRequest<'_>) -> Option<Arc<T>> {
        let mut entries = self.lock();
        let index = entries.iter().position(|(key, _)| {
            key.format == request.format && *key.bytes == *request.bytes && key.overrides == request.overrides
        })?;
        let entry = entries.remove(index)?;
        let loaded = entry.1.clone();
        entries.push_back(entry);
        Some(loaded)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Key, Arc<T>)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
