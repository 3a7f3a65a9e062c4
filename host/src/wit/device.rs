//! `hal:device/device`.

use super::{Refusal, View, convert::all};
use crate::bindings::hal::device::{
    buffer::BufferParams,
    device::{self, Binding, Compatibility, DeviceInfo, Heap, Timing, WaitMode},
    executable::ExecutableParams,
    recording::Batch,
    semaphore::TimePoint,
    types::{Amount, Error, Usage},
};
use hal_core::{Blob, Buffer, Device, Executable, Recording, Semaphore};
use wasmtime::component::Resource;

impl device::Host for View<'_> {}

impl device::HostDevice for View<'_> {
    fn info(&mut self, device: Resource<Device>) -> wasmtime::Result<DeviceInfo> {
        Ok(self.get(&device)?.info().into())
    }

    fn limits(&mut self, device: Resource<Device>) -> wasmtime::Result<Vec<Amount>> {
        Ok(all(self.get(&device)?.limits()))
    }

    fn budget(&mut self, device: Resource<Device>) -> wasmtime::Result<Vec<Usage>> {
        Ok(all(self.get(&device)?.budget()))
    }

    async fn query(&mut self, device: Resource<Device>, category: String, key: String) -> Result<u64, Refusal> {
        Ok(self.get(&device)?.query(&category, &key).await?)
    }

    fn memory_heaps(&mut self, device: Resource<Device>) -> wasmtime::Result<Vec<Heap>> {
        Ok(all(self.get(&device)?.memory_heaps()))
    }

    fn buffer_compatibility(
        &mut self,
        device: Resource<Device>,
        params: BufferParams,
        size: u64,
    ) -> wasmtime::Result<Compatibility> {
        Ok(self.get(&device)?.buffer_compatibility(&params.into(), size).into())
    }

    async fn allocate(
        &mut self,
        device: Resource<Device>,
        params: BufferParams,
        size: u64,
    ) -> Result<Resource<Buffer>, Refusal> {
        let buffer = self.get(&device)?.allocate(params.into(), size).await?;
        self.push(buffer)
    }

    fn create_semaphore(&mut self, device: Resource<Device>, initial: u64) -> Result<Resource<Semaphore>, Refusal> {
        let semaphore = self.get(&device)?.create_semaphore(initial)?;
        self.push(semaphore)
    }

    fn can_load(&mut self, device: Resource<Device>, format: String) -> wasmtime::Result<bool> {
        Ok(self.get(&device)?.can_load(&format))
    }

    async fn load_executable(
        &mut self,
        device: Resource<Device>,
        params: ExecutableParams,
        bytes: Vec<u8>,
    ) -> Result<Resource<Executable>, Refusal> {
        let executable = self.get(&device)?.load_executable(params.into(), bytes).await?;
        self.push(executable)
    }

    async fn create_recording(
        &mut self,
        device: Resource<Device>,
        batch: Batch,
        slots: u32,
        label: String,
    ) -> Result<Resource<Recording>, Refusal> {
        let batch = self.batch(batch)?;
        let recording = self.get(&device)?.create_recording(batch, slots, &label).await?;
        self.push(recording)
    }

    async fn submit(
        &mut self,
        device: Resource<Device>,
        wait: Vec<TimePoint>,
        batch: Batch,
        signal: Vec<TimePoint>,
        timing: Option<u64>,
    ) -> Result<(), Refusal> {
        let (wait, batch, signal) = (self.points(wait)?, self.batch(batch)?, self.points(signal)?);
        Ok(self.get(&device)?.submit(wait, batch, signal, timing).await?)
    }

    async fn execute(
        &mut self,
        device: Resource<Device>,
        wait: Vec<TimePoint>,
        recording: Resource<Recording>,
        buffers: Vec<Resource<Buffer>>,
        bindings: Vec<Binding>,
        signal: Vec<TimePoint>,
        timing: Option<u64>,
    ) -> Result<(), Refusal> {
        let (wait, signal) = (self.points(wait)?, self.points(signal)?);
        let (recording, buffers) = (self.get(&recording)?, self.get_all(&buffers)?);
        Ok(self.get(&device)?.execute(wait, &recording, buffers, all(bindings), signal, timing).await?)
    }

    async fn alloca(
        &mut self,
        device: Resource<Device>,
        wait: Vec<TimePoint>,
        params: BufferParams,
        size: u64,
        signal: Vec<TimePoint>,
    ) -> Result<Resource<Buffer>, Refusal> {
        let (wait, signal) = (self.points(wait)?, self.points(signal)?);
        let buffer = self.get(&device)?.alloca(wait, params.into(), size, signal).await?;
        self.push(buffer)
    }

    fn dealloca(
        &mut self,
        device: Resource<Device>,
        wait: Vec<TimePoint>,
        buffer: Resource<Buffer>,
        signal: Vec<TimePoint>,
    ) -> Result<(), Refusal> {
        let (wait, buffer, signal) = (self.points(wait)?, self.get(&buffer)?, self.points(signal)?);
        Ok(self.get(&device)?.dealloca(wait, &buffer, signal)?)
    }

    async fn read_blob(
        &mut self,
        device: Resource<Device>,
        wait: Vec<TimePoint>,
        blob: Resource<Blob>,
        blob_offset: u64,
        buffer: Resource<Buffer>,
        buffer_offset: u64,
        length: u64,
        signal: Vec<TimePoint>,
    ) -> Result<(), Refusal> {
        let (wait, signal) = (self.points(wait)?, self.points(signal)?);
        let (blob, buffer) = (self.get(&blob)?, self.get(&buffer)?);
        let device = self.get(&device)?;
        Ok(device.read_blob(wait, &blob, blob_offset, &buffer, buffer_offset, length, signal).await?)
    }

    async fn wait_semaphores(
        &mut self,
        device: Resource<Device>,
        points: Vec<TimePoint>,
        mode: WaitMode,
        timeout: u64,
    ) -> Result<u32, Refusal> {
        let points = self.points(points)?;
        Ok(self.get(&device)?.wait_semaphores(points, mode.into(), timeout).await?)
    }

    fn take_timings(&mut self, device: Resource<Device>) -> wasmtime::Result<Vec<Timing>> {
        Ok(all(self.get(&device)?.take_timings()))
    }

    fn lost(&mut self, device: Resource<Device>) -> wasmtime::Result<Option<Error>> {
        Ok(self.get(&device)?.lost().map(Into::into))
    }

    fn loss_semaphore(&mut self, device: Resource<Device>) -> Result<Resource<Semaphore>, Refusal> {
        let semaphore = self.get(&device)?.loss_semaphore()?;
        self.push(semaphore)
    }

    async fn trim(&mut self, device: Resource<Device>) -> Result<(), Refusal> {
        Ok(self.get(&device)?.trim().await?)
    }

    fn close(&mut self, device: Resource<Device>) -> wasmtime::Result<()> {
        self.get(&device)?.close();
        Ok(())
    }

    fn drop(&mut self, device: Resource<Device>) -> wasmtime::Result<()> {
        self.table.delete(device)?;
        Ok(())
    }
}
