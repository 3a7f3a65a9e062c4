//! `hal:device/recording`.

use super::View;
use crate::bindings::hal::device::recording;
use hal_core::Recording;
use wasmtime::component::Resource;

impl recording::Host for View<'_> {}

impl recording::HostRecording for View<'_> {
    fn close(&mut self, recording: Resource<Recording>) -> wasmtime::Result<()> {
        self.get(&recording)?.close();
        Ok(())
    }

    fn drop(&mut self, recording: Resource<Recording>) -> wasmtime::Result<()> {
        self.table.delete(recording)?.close();
        Ok(())
    }
}
