//! A driver as a guest reaches it: through the WIT interfaces, in the raw bindings.

mod convert;

use convert::{error, params, points};
use hal_conformance_cases::{
    BLOB, Target,
    target::{
        self, Batch, BufferInfo, BufferParams, Code, Compatibility, DeviceInfo, OverrideValue, Point, SlotBinding,
        Used, WaitMode, Which,
    },
};
use test_guests::{
    Binding, Buffer, Device, Driver, Executable, ExecutableParams, Recording, Registry, Semaphore, blobs,
};

/// One driver of the default registry.
pub struct Guest {
    driver: String,
}

impl Guest {
    /// The driver of this name, which is looked for at each use.
    pub fn new(driver: &str) -> Self {
        Self { driver: driver.into() }
    }

    fn driver(&self) -> target::Result<Driver> {
        Registry::default().try_create(&self.driver).map_err(error)
    }
}

/// Reads a blob in pieces.
fn blob(name: &str) -> Result<Vec<u8>, String> {
    let blob = blobs::open(name).map_err(|failed| format!("opening the blob {name}: {}", error(failed)))?;
    blob.read(0, blob.length()).map_err(|failed| format!("reading the blob {name}: {}", error(failed)))
}

impl Target for Guest {
    type Device = Device;
    type Buffer = Buffer;
    type Executable = Executable;
    type Recording = Recording;
    type Semaphore = Semaphore;

    fn query_available_devices(&self) -> target::Result<Vec<DeviceInfo>> {
        let devices = self.driver()?.query_available_devices().map_err(error)?;
        Ok(devices.into_iter().map(convert::device_info).collect())
    }

    fn create_device(&self, which: Which<'_>, parameters: &[(&str, &str)]) -> target::Result<Device> {
        let parameters: Vec<_> = parameters.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let made = match which {
            Which::Default if parameters.is_empty() => self.driver()?.create_default_device(),
            Which::Default => self.driver()?.create_device_by_path("", &parameters),
            Which::Ordinal(ordinal) => self.driver()?.create_device_by_ordinal(ordinal, &parameters),
            Which::Id(id) => self.driver()?.create_device_by_id(id, &parameters),
            Which::Path(path) => self.driver()?.create_device_by_path(path, &parameters),
            // Through the registry, which finds the driver by the scheme.
            Which::Uri(rest) => Registry::default().create_device(&format!("{}:{rest}", self.driver)),
        };
        made.map_err(error)
    }

    fn kernel(&self, name: &str, format: &str) -> Result<Vec<u8>, String> {
        match format {
            "wgsl" => Ok(hal_conformance_cases::wgsl(name)?.as_bytes().to_vec()),
            // Written on the host, which lends them.
            _ => blob(&format!("{name}.{format}")),
        }
    }

    fn device_info(&self, device: &Device) -> DeviceInfo {
        convert::device_info(device.info())
    }

    fn limits(&self, device: &Device) -> Vec<(String, u64)> {
        device.limits().into_iter().map(|limit| (limit.name, limit.value)).collect()
    }

    fn budget(&self, device: &Device) -> Vec<Used> {
        let used = |used: test_guests::Usage| Used { name: used.name, used: used.used, allowed: used.allowed };
        device.budget().into_iter().map(used).collect()
    }

    fn query(&self, device: &Device, category: &str, key: &str) -> target::Result<u64> {
        device.query(category, key).map_err(error)
    }

    fn buffer_compatibility(&self, device: &Device, asked: &BufferParams, size: u64) -> Compatibility {
        let test_guests::Compatibility { allocatable, transferable, dispatchable, size } =
            device.buffer_compatibility(&params(asked), size);
        Compatibility { allocatable, transferable, dispatchable, size }
    }

    fn allocate(&self, device: &Device, asked: &BufferParams, size: u64) -> target::Result<Buffer> {
        device.allocate(&params(asked), size).map_err(error)
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
        let overrides = overrides.iter().map(convert::override_constant).collect();
        let params = ExecutableParams { format: format.into(), overrides, label: String::new() };
        device.load_executable(&params, bytes).map_err(error)
    }

    fn create_recording(&self, device: &Device, batch: &Batch<'_, Self>, slots: u32) -> target::Result<Recording> {
        device.create_recording(&convert::batch(batch), slots, "").map_err(error)
    }

    fn submit(
        &self,
        device: &Device,
        wait: &[Point<'_, Self>],
        batch: &Batch<'_, Self>,
        signal: &[Point<'_, Self>],
    ) -> target::Result<()> {
        device.submit(&points(wait), &convert::batch(batch), &points(signal), None).map_err(error)
    }

    fn execute(
        &self,
        device: &Device,
        wait: &[Point<'_, Self>],
        recording: &Recording,
        buffers: &[&Buffer],
        bindings: &[SlotBinding],
        signal: &[Point<'_, Self>],
    ) -> target::Result<()> {
        let slot = |slot: &SlotBinding| Binding { buffer: slot.buffer, offset: slot.offset, length: slot.length };
        let bindings: Vec<_> = bindings.iter().map(slot).collect();
        device.execute(&points(wait), recording, buffers, &bindings, &points(signal), None).map_err(error)
    }

    fn alloca(
        &self,
        device: &Device,
        wait: &[Point<'_, Self>],
        asked: &BufferParams,
        size: u64,
        signal: &[Point<'_, Self>],
    ) -> target::Result<Buffer> {
        device.alloca(&points(wait), &params(asked), size, &points(signal)).map_err(error)
    }

    fn dealloca(
        &self,
        device: &Device,
        wait: &[Point<'_, Self>],
        buffer: &Buffer,
        signal: &[Point<'_, Self>],
    ) -> target::Result<()> {
        device.dealloca(&points(wait), buffer, &points(signal)).map_err(error)
    }

    fn read_blob(
        &self,
        device: &Device,
        wait: &[Point<'_, Self>],
        blob_offset: u64,
        buffer: &Buffer,
        buffer_offset: u64,
        length: u64,
        signal: &[Point<'_, Self>],
    ) -> target::Result<()> {
        let blob = blobs::open(BLOB).map_err(error)?;
        let signal = points(signal);
        device.read_blob(&points(wait), &blob, blob_offset, buffer, buffer_offset, length, &signal).map_err(error)
    }

    fn wait_semaphores(
        &self,
        device: &Device,
        wait: &[Point<'_, Self>],
        mode: WaitMode,
        timeout_ns: u64,
    ) -> target::Result<u32> {
        let mode = match mode {
            WaitMode::All => test_guests::WaitMode::All,
            WaitMode::Any => test_guests::WaitMode::Any,
        };
        device.wait_semaphores(&points(wait), mode, timeout_ns).map_err(error)
    }

    fn lost(&self, device: &Device) -> Option<target::Error> {
        device.lost().map(error)
    }

    fn loss_semaphore(&self, device: &Device) -> target::Result<Semaphore> {
        device.loss_semaphore().map_err(error)
    }

    fn trim(&self, device: &Device) -> target::Result<()> {
        device.trim().map_err(error)
    }

    fn close_device(&self, device: &Device) {
        device.close();
    }

    fn buffer_info(&self, buffer: &Buffer) -> BufferInfo {
        convert::buffer_info(&buffer.info())
    }

    fn subspan(&self, buffer: &Buffer, offset: u64, length: u64) -> target::Result<Buffer> {
        buffer.subspan(offset, length).map_err(error)
    }

    fn read(&self, buffer: &Buffer, offset: u64, length: u64) -> target::Result<Vec<u8>> {
        buffer.read(offset, length).map_err(error)
    }

    fn write(&self, buffer: &Buffer, offset: u64, bytes: &[u8]) -> target::Result<()> {
        buffer.write(offset, bytes).map_err(error)
    }

    fn close_buffer(&self, buffer: &Buffer) {
        buffer.close();
    }

    fn functions(&self, executable: &Executable) -> Vec<target::Function> {
        executable.functions().into_iter().map(convert::function).collect()
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
        semaphore.fail(&test_guests::Error { code: convert::status(code), message: message.into(), limit: None });
    }

    fn wait(&self, semaphore: &Semaphore, value: u64, timeout_ns: u64) -> target::Result<()> {
        semaphore.wait(value, timeout_ns).map_err(error)
    }

    fn close_semaphore(&self, semaphore: &Semaphore) {
        semaphore.close();
    }
}
