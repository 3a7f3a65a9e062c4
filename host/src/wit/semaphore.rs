//! `hal:device/semaphore`.

use super::{Refusal, View};
use crate::bindings::hal::device::{semaphore, types};
use hal_core::Semaphore;
use wasmtime::component::Resource;

impl semaphore::Host for View<'_> {}

impl semaphore::HostSemaphore for View<'_> {
    fn query(&mut self, semaphore: Resource<Semaphore>) -> Result<u64, Refusal> {
        Ok(self.get(&semaphore)?.query()?)
    }

    fn signal(&mut self, semaphore: Resource<Semaphore>, value: u64) -> Result<(), Refusal> {
        Ok(self.get(&semaphore)?.signal(value)?)
    }

    fn fail(&mut self, semaphore: Resource<Semaphore>, reason: types::Error) -> wasmtime::Result<()> {
        self.get(&semaphore)?.fail(reason.into());
        Ok(())
    }

    async fn wait(&mut self, semaphore: Resource<Semaphore>, value: u64, timeout: u64) -> Result<(), Refusal> {
        Ok(self.get(&semaphore)?.wait(value, timeout).await?)
    }

    fn close(&mut self, semaphore: Resource<Semaphore>) -> wasmtime::Result<()> {
        self.get(&semaphore)?.close();
        Ok(())
    }

    fn drop(&mut self, semaphore: Resource<Semaphore>) -> wasmtime::Result<()> {
        self.table.delete(semaphore)?.close();
        Ok(())
    }
}
