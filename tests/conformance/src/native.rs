//! A driver reached natively: over the host's checked layer, without wasm.

use crate::{drivers::Registered, spirv};
use hal_conformance_cases::{
    BLOB, Target,
    target::{
        self, Batch, BindingInfo, BufferInfo, BufferParams, Code, Command, Compatibility, DeviceInfo, LimitHit,
        OverrideValue, Point, SlotBinding, Used, WaitMode, Which,
    },
};
use hal_core::{
    Buffer, Device, Driver, Error, Executable, ExecutableParams, Grant, Recording, Reveal, Semaphore, Session,
    TimePoint,
};
use hal_test_support::{Counts, counted, runtime};
use std::sync::Arc;

/// A session with one grant, and a driver from it. Dropping it ends the session.
pub struct Native {
    name: &'static str,
    driver: Driver,
    session: Session,
}

impl Native {
    /// A session of its own on a driver, and the counts of what it makes.
    ///
    /// # Errors
    /// What the session or the driver's factory says.
    pub fn new(registered: &Registered) -> Result<(Self, Arc<Counts>), String> {
        let (factory, counts) = counted(registered.factory.clone());
        let grant = Grant::new(factory).drivers([registered.name]).limits(crate::drivers::limits()).reveal(Reveal::All);
        let session = Session::builder("conformance").grant(grant).blob(crate::drivers::blob()).start();
        let session = session.map_err(|error| format!("starting a session: {error}"))?;
        let factory = session.granted().pop().ok_or("a session without its grant")?;
        let driver = runtime().block_on(factory.try_create(registered.name));
        let driver = driver.map_err(|error| format!("making the driver: {error}"))?;
        Ok((Self { name: registered.name, driver, session }, counts))
    }
}

/// As a case sees it.
fn error(error: Error) -> target::Error {
    let limit = error.limit.map(|hit| LimitHit {
        limit: hit.limit.to_owned(),
        asked: hit.asked,
        available: hit.available,
        allowed: hit.allowed,
    });
    target::Error { code: error.code, message: error.message, limit }
}

/// Waits for a call of the checked layer, on the thread of the case.
fn wait<V>(call: impl Future<Output = hal_core::Result<V>>) -> target::Result<V> {
    runtime().block_on(call).map_err(error)
}

fn points(points: &[Point<'_, Native>]) -> Vec<TimePoint> {
    points.iter().map(|(semaphore, value)| TimePoint::new(semaphore, *value)).collect()
}

fn info(info: hal_core::DeviceInfo) -> DeviceInfo {
    let hal_core::DeviceInfo { id, path, name, memory_bytes, formats, features, .. } = info;
    DeviceInfo { id, path, name, memory_bytes, formats, features }
}

fn batch(batch: &Batch<'_, Native>) -> hal_core::Batch {
    hal_core::Batch {
        buffers: batch.buffers.iter().map(|buffer| (*buffer).clone()).collect(),
        executables: batch.executables.iter().map(|executable| (*executable).clone()).collect(),
        commands: batch.commands.iter().map(command).collect(),
    }
}

fn command(command: &Command) -> hal_core::Command {
    match command.clone() {
        Command::Barrier => hal_core::Command::Barrier,
        Command::Fill { target, pattern } => hal_core::Command::Fill { target, pattern },
        Command::Update { target, bytes } => hal_core::Command::Update { target, bytes: bytes.into() },
        Command::Copy { source, target } => hal_core::Command::Copy { source, target },
        Command::Dispatch(dispatch) => hal_core::Command::Dispatch(dispatch),
    }
}

impl Target for Native {
    type Device = Device;
    type Buffer = Buffer;
    type Executable = Executable;
    type Recording = Recording;
    type Semaphore = Semaphore;

    fn query_available_devices(&self) -> target::Result<Vec<DeviceInfo>> {
        Ok(wait(self.driver.query_available_devices())?.into_iter().map(info).collect())
    }

    fn create_device(&self, which: Which<'_>, parameters: &[(&str, &str)]) -> target::Result<Device> {
        let parameters: hal_core::Parameters =
            parameters.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        match which {
            Which::Default if parameters.is_empty() => wait(self.driver.create_default_device()),
            Which::Default => wait(self.driver.create_device_by_path("", parameters)),
            Which::Ordinal(ordinal) => wait(self.driver.create_device_by_ordinal(ordinal, parameters)),
            Which::Id(id) => wait(self.driver.create_device_by_id(id, parameters)),
            Which::Path(path) => wait(self.driver.create_device_by_path(path, parameters)),
            Which::Uri(rest) => wait(self.driver.create_device_by_uri(&format!("{}:{rest}", self.name))),
        }
    }

    fn kernel(&self, name: &str, format: &str) -> Result<Vec<u8>, String> {
        spirv::kernel(name, format)
    }

    fn device_info(&self, device: &Device) -> DeviceInfo {
        info(device.info())
    }

    fn limits(&self, device: &Device) -> Vec<(String, u64)> {
        device.limits().into_iter().map(|limit| (limit.name, limit.value)).collect()
    }

    fn budget(&self, device: &Device) -> Vec<Used> {
        let used = |used: hal_core::Used| Used { name: used.name, used: used.used, allowed: used.allowed };
        device.budget().into_iter().map(used).collect()
    }

    fn query(&self, device: &Device, category: &str, key: &str) -> target::Result<u64> {
        wait(device.query(category, key))
    }

    fn buffer_compatibility(&self, device: &Device, params: &BufferParams, size: u64) -> Compatibility {
        let hal_core::Compatibility { allocatable, transferable, dispatchable, size } =
            device.buffer_compatibility(params, size);
        Compatibility { allocatable, transferable, dispatchable, size }
    }

    fn allocate(&self, device: &Device, params: &BufferParams, size: u64) -> target::Result<Buffer> {
        wait(device.allocate(params.clone(), size))
    }

    fn create_semaphore(&self, device: &Device, initial: u64) -> target::Result<Semaphore> {
        device.create_semaphore(initial).map_err(error)
    }

    fn can_load(&self, device: &Device, format: &str) -> bool {
        device.can_load(format)
    }

    fn load_executable(
        &self,
        device: &Device,
        format: &str,
        overrides: &[(&str, OverrideValue)],
        bytes: &[u8],
    ) -> target::Result<Executable> {
        let overrides = overrides.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let params = ExecutableParams { format: format.to_owned(), overrides, label: String::new() };
        wait(device.load_executable(params, bytes.to_vec()))
    }

    fn create_recording(&self, device: &Device, table: &Batch<'_, Self>, slots: u32) -> target::Result<Recording> {
        wait(device.create_recording(batch(table), slots, ""))
    }

    fn submit(
        &self,
        device: &Device,
        waits: &[Point<'_, Self>],
        table: &Batch<'_, Self>,
        signal: &[Point<'_, Self>],
    ) -> target::Result<()> {
        wait(device.submit(points(waits), batch(table), points(signal), None))
    }

    fn execute(
        &self,
        device: &Device,
        waits: &[Point<'_, Self>],
        recording: &Recording,
        buffers: &[&Buffer],
        bindings: &[SlotBinding],
        signal: &[Point<'_, Self>],
    ) -> target::Result<()> {
        let buffers = buffers.iter().map(|buffer| (*buffer).clone()).collect();
        let slot = |slot: &SlotBinding| hal_core::SlotBinding {
            buffer: slot.buffer,
            offset: slot.offset,
            length: slot.length,
        };
        let bindings = bindings.iter().map(slot).collect();
        wait(device.execute(points(waits), recording, buffers, bindings, points(signal), None))
    }

    fn alloca(
        &self,
        device: &Device,
        waits: &[Point<'_, Self>],
        params: &BufferParams,
        size: u64,
        signal: &[Point<'_, Self>],
    ) -> target::Result<Buffer> {
        wait(device.alloca(points(waits), params.clone(), size, points(signal)))
    }

    fn dealloca(
        &self,
        device: &Device,
        waits: &[Point<'_, Self>],
        buffer: &Buffer,
        signal: &[Point<'_, Self>],
    ) -> target::Result<()> {
        device.dealloca(points(waits), buffer, points(signal)).map_err(error)
    }

    fn read_blob(
        &self,
        device: &Device,
        waits: &[Point<'_, Self>],
        blob_offset: u64,
        buffer: &Buffer,
        buffer_offset: u64,
        length: u64,
        signal: &[Point<'_, Self>],
    ) -> target::Result<()> {
        let blob = self.session.open_blob(BLOB).map_err(error)?;
        wait(device.read_blob(points(waits), &blob, blob_offset, buffer, buffer_offset, length, points(signal)))
    }

    fn wait_semaphores(
        &self,
        device: &Device,
        waits: &[Point<'_, Self>],
        mode: WaitMode,
        timeout_ns: u64,
    ) -> target::Result<u32> {
        let mode = match mode {
            WaitMode::All => hal_core::WaitMode::All,
            WaitMode::Any => hal_core::WaitMode::Any,
        };
        wait(device.wait_semaphores(points(waits), mode, timeout_ns))
    }

    fn lost(&self, device: &Device) -> Option<target::Error> {
        device.lost().map(error)
    }

    fn loss_semaphore(&self, device: &Device) -> target::Result<Semaphore> {
        device.loss_semaphore().map_err(error)
    }

    fn trim(&self, device: &Device) -> target::Result<()> {
        wait(device.trim())
    }

    fn close_device(&self, device: &Device) {
        device.close();
    }

    fn buffer_info(&self, buffer: &Buffer) -> BufferInfo {
        let hal_core::BufferInfo { size, offset, memory, usage, access, transient, .. } = buffer.info();
        BufferInfo { size, offset, memory, usage, access, transient }
    }

    fn subspan(&self, buffer: &Buffer, offset: u64, length: u64) -> target::Result<Buffer> {
        buffer.subspan(offset, length).map_err(error)
    }

    fn read(&self, buffer: &Buffer, offset: u64, length: u64) -> target::Result<Vec<u8>> {
        wait(buffer.read(offset, length, Vec::new()))
    }

    fn write(&self, buffer: &Buffer, offset: u64, bytes: &[u8]) -> target::Result<()> {
        wait(buffer.write(offset, bytes))
    }

    fn close_buffer(&self, buffer: &Buffer) {
        buffer.close();
    }

    fn functions(&self, executable: &Executable) -> Vec<target::Function> {
        let function = |function: &hal_core::Function| target::Function {
            name: function.name.clone(),
            workgroup_size: function.workgroup_size,
            bindings: function
                .bindings
                .iter()
                .map(|binding| BindingInfo { binding: binding.binding, reads: binding.reads, writes: binding.writes })
                .collect(),
            constant_bytes: function.constant_bytes,
        };
        executable.functions().iter().map(function).collect()
    }

    fn close_executable(&self, executable: &Executable) {
        executable.close();
    }

    fn close_recording(&self, recording: &Recording) {
        recording.close();
    }

    fn query_semaphore(&self, semaphore: &Semaphore) -> target::Result<u64> {
        semaphore.query().map_err(error)
    }

    fn signal(&self, semaphore: &Semaphore, value: u64) -> target::Result<()> {
        semaphore.signal(value).map_err(error)
    }

    fn fail(&self, semaphore: &Semaphore, code: Code, message: &str) {
        semaphore.fail(Error::new(code, message));
    }

    fn wait(&self, semaphore: &Semaphore, value: u64, timeout_ns: u64) -> target::Result<()> {
        wait(semaphore.wait(value, timeout_ns))
    }

    fn close_semaphore(&self, semaphore: &Semaphore) {
        semaphore.close();
    }
}
