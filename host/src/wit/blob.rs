//! `hal:device/blob`.

use super::{Refusal, View};
use crate::bindings::hal::device::blob;
use hal_core::Blob;
use wasmtime::component::Resource;

impl blob::Host for View<'_> {}

impl blob::HostBlob for View<'_> {
    fn name(&mut self, blob: Resource<Blob>) -> wasmtime::Result<String> {
        Ok(self.get(&blob)?.name().to_owned())
    }

    fn length(&mut self, blob: Resource<Blob>) -> wasmtime::Result<u64> {
        Ok(self.get(&blob)?.length())
    }

    async fn read(&mut self, blob: Resource<Blob>, offset: u64, length: u64) -> Result<Vec<u8>, Refusal> {
        Ok(self.get(&blob)?.read(offset, length, Vec::new()).await?)
    }

    fn close(&mut self, blob: Resource<Blob>) -> wasmtime::Result<()> {
        self.get(&blob)?.close();
        Ok(())
    }

    fn drop(&mut self, blob: Resource<Blob>) -> wasmtime::Result<()> {
        self.table.delete(blob)?.close();
        Ok(())
    }
}
