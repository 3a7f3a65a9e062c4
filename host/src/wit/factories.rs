//! `hal:registry/factories`.

use super::View;
use crate::bindings::hal::registry::factories;
use hal_core::Factory;
use wasmtime::component::Resource;

impl factories::Host for View<'_> {
    fn granted(&mut self) -> wasmtime::Result<Vec<Resource<Factory>>> {
        let granted = self.session.granted();
        granted.into_iter().map(|factory| Ok(self.table.push(factory)?)).collect()
    }
}
