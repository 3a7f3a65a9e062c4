//! Pipelines that outlive the process, where the native interface has them: see `store`.

use crate::state::State;
use hal_driver::Result;

/// A native cache of pipelines, and what of it is on disk.
pub(super) struct Kept {
    pub(super) cache: wgpu::PipelineCache,
    /// Pipelines that were made with it, whether or not they were in it.
    made: u32,
    /// How many there were when it was last written.
    saved: u32,
}

/// What it takes, if it is wanted and offered.
pub(super) fn feature(state: &State, offered: wgpu::Features) -> wgpu::Features {
    if state.store.is_some() { offered & wgpu::Features::PIPELINE_CACHE } else { wgpu::Features::empty() }
}

impl Kept {
    /// With what was kept, if that can be used. None where pipelines are not kept.
    pub(super) fn open(state: &State, device: &wgpu::Device) -> Result<Option<Self>> {
        let Some(store) = state.store.as_ref().filter(|_| device.features().contains(wgpu::Features::PIPELINE_CACHE))
        else {
            return Ok(None);
        };
        let data = store.load();
        let descriptor =
            wgpu::PipelineCacheDescriptor { label: Some("pipelines"), data: data.as_deref(), fallback: true };
        let cache = super::scoped(state, device, |device| {
            // SAFETY: the store hands out only what this driver got from `get_data`, whole, for the same adapter and version of its driver, from a
            // folder that only this user can write.
            unsafe { device.create_pipeline_cache(&descriptor) }
        })?;
        Ok(Some(Self { cache, made: 0, saved: 0 }))
    }

    /// A pipeline was made. Writes now and then: not each time, since what is written holds all pipelines, but whenever there are twice as many.
    pub(super) fn made(&mut self, state: &State) {
        self.made = self.made.saturating_add(1);
        if self.made >= self.saved.saturating_mul(2) {
            self.save(state);
        }
    }

    /// Writes, if there is anything new.
    pub(super) fn save(&mut self, state: &State) {
        if self.made == self.saved || state.lost().is_some() {
            return;
        }
        self.saved = self.made;
        if let (Some(store), Some(data)) = (&state.store, self.cache.get_data()) {
            store.save(&data);
        }
    }
}
