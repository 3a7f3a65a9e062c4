//! `hal:device/executable`.

use super::View;
use crate::bindings::hal::device::executable;
use hal_core::Executable;
use wasmtime::component::Resource;

impl executable::Host for View<'_> {}

impl executable::HostExecutable for View<'_> {
    fn functions(&mut self, executable: Resource<Executable>) -> wasmtime::Result<Vec<executable::FunctionInfo>> {
        Ok(self.get(&executable)?.functions().iter().map(Into::into).collect())
    }

    fn close(&mut self, executable: Resource<Executable>) -> wasmtime::Result<()> {
        self.get(&executable)?.close();
        Ok(())
    }

    fn drop(&mut self, executable: Resource<Executable>) -> wasmtime::Result<()> {
        self.table.delete(executable)?.close();
        Ok(())
    }
}
