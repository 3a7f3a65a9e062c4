//! Kernels that a device compiled before, by content.

use crate::executable::Loaded;
use hal_driver::{LoadRequest, OverrideValue, Result};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Most sources that are remembered. A cache is for the tenant that loads the same few kernels again, as one that opens a model twice
/// does; each entry keeps some tens of kilobytes of machine code.
const MAX_ENTRIES: usize = 16;

/// Compiled sources of one device, the latest used last. One device's only: how fast a kernel loads must not tell a tenant what others loaded.
#[derive(Default)]
pub(crate) struct Cache {
    entries: Mutex<VecDeque<(Key, Arc<Loaded>)>>,
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

impl Cache {
    /// The remembered outcome, or that of `compile`. *Blocking.*
    pub(crate) fn load(
        &self,
        request: &LoadRequest<'_>,
        compile: impl FnOnce() -> Result<Loaded>,
    ) -> Result<Arc<Loaded>> {
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

    /// Forgets everything, and the instances of kernels that are still in use.
    pub(crate) fn trim(&self) {
        let entries = std::mem::take(&mut *self.lock());
        entries.iter().flat_map(|(_, loaded)| &loaded.kernels).for_each(|kernel| kernel.trim());
    }

    fn find(&self, request: &LoadRequest<'_>) -> Option<Arc<Loaded>> {
        let mut entries = self.lock();
        let index = entries.iter().position(|(key, _)| {
            key.format == request.format && *key.bytes == *request.bytes && key.overrides == request.overrides
        })?;
        let entry = entries.remove(index)?;
        let loaded = entry.1.clone();
        entries.push_back(entry);
        Some(loaded)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Key, Arc<Loaded>)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
