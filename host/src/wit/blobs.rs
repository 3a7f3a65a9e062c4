//! `hal:registry/blobs`.

use super::{Refusal, View, convert::all};
use crate::bindings::hal::registry::blobs;
use hal_core::Blob;
use wasmtime::component::Resource;

impl blobs::Host for View<'_> {
    fn granted(&mut self) -> wasmtime::Result<Vec<blobs::BlobInfo>> {
        Ok(all(self.session.blobs()))
    }

    fn open(&mut self, name: String) -> Result<Resource<Blob>, Refusal> {
        let blob = self.session.open_blob(&name)?;
        self.push(blob)
    }
}
