//! A driver reached bare: over the driver traits, with no more between than a queue needs, and with no checks. What a driver itself promises, it has to
//! keep without the host's layer above it. Only cases that stay within the drivers' contract are run so: see [`CASES`].

use crate::{
    drivers::Registered,
    spirv,
    timeline::{Timeline, all_met, wait_all, wait_any},
};
use hal_conformance_cases::{
    LONG, Target,
    target::{
        self, Batch, BindingInfo, BufferInfo, BufferParams, Code, Command, Compatibility, DeviceInfo, OverrideValue,
        Point, SlotBinding, Used, WaitMode, Which,
    },
};
use hal_driver::{BufferView, Control, Executable, LoadRequest, Work};
use hal_test_support::{Counts, counted, runtime};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Patterns of the cases that ask a driver for nothing but what its traits promise: bytes, commands, kernels, what kernels are refused for, and
/// memory that begins as zeros. What handles, rights, budgets and semaphores are is the host's, and so are ranges that lie outside.
pub const CASES: &[&str] = &[
    "BufferMappingTest/ReadData*",
    "BufferMappingTest/WriteData*",
    "CommandBufferBasicTest/*",
    "CommandBufferCopyBufferTest/*",
    "CommandBufferFillBufferTest/*",
    "CommandBufferUpdateBufferTest/*",
    "CommandBufferStressTest/Rapid*",
    "CommandBufferStressTest/LargeFillCommandBuffer",
    "ExecutableCacheTest/PrepareExecutable/*",
    "ExecutableTest/Export*",
    "DispatchTest/*",
    "DispatchConstantsTest/*",
    "DispatchConstantsBindingsTest/*",
    "DispatchMultiEntrypointTest/*",
    "DispatchMultiWorkgroupTest/*",
    "DispatchIndirectParametersTest/*",
    "DispatchPipelineTest/UpdateThenDispatch/*",
    "DispatchPipelineTest/ChainedDispatches/*",
    "DispatchPipelineTest/FillDispatchDispatchPipeline/*",
    "DispatchReuseTest/ResubmitWithDifferentBindings/*",
    "DispatchReuseTest/LargeWorkgroupCount/*",
    "DispatchReuseTest/M*",
    "QueueDispatchTest/*",
    "QueueDispatchIndirectParametersTest/*",
    "QueueTransferTest/*",
    "KernelFeatures/*",
    "MemoryIsolation/FreshMemoryIsZero",
    "*MemoryIsolation/UsedMemoryComesBackZero",
    "KernelRefusals/EmptyOrTruncated/*",
    "KernelRefusals/WrongSourceHasAPlace/*",
    "KernelRefusals/BarrierThatNotAllReach/*",
    "KernelRefusals/MoreThanTheDeviceHas/*",
    "IndirectRefusals/CountsA*",
];

/// A driver.
pub struct Bare {
    driver: Arc<dyn hal_driver::Driver>,
}

/// An open device.
pub type Device = Arc<dyn hal_driver::Device>;

/// A part of an allocation.
pub struct Buffer {
    view: BufferView,
    params: BufferParams,
}

/// Commands with the objects they name.
pub struct Recording {
    commands: Arc<[hal_driver::Command]>,
    buffers: Vec<BufferView>,
    executables: Arc<[Arc<dyn Executable>]>,
}

impl Bare {
    /// A driver, and the counts of what comes from it.
    ///
    /// # Errors
    /// What its factory says.
    pub fn new(registered: &Registered) -> Result<(Self, Arc<Counts>), String> {
        let (factory, counts) = counted(registered.factory.clone());
        let driver = factory.create(registered.name).map_err(|error| format!("making the driver: {error}"))?;
        Ok((Self { driver }, counts))
    }
}

fn error(error: hal_driver::Error) -> target::Error {
    target::Error { code: error.code, message: error.message, limit: None }
}

/// The answer of what no driver has.
fn above<V>() -> target::Result<V> {
    Err(target::Error { code: Code::Unimplemented, message: "it is the host's and no driver's".into(), limit: None })
}

fn info(info: &hal_driver::DeviceInfo) -> DeviceInfo {
    let hal_driver::DeviceInfo { path, name, memory_bytes, formats, features, .. } = info.clone();
    DeviceInfo { id: 0, path, name, memory_bytes, formats, features }
}

fn view(buffer: &Buffer) -> BufferView {
    buffer.view.clone()
}

fn recorded(batch: &Batch<'_, Bare>) -> Recording {
    Recording {
        commands: batch.commands.iter().map(command).collect(),
        buffers: batch.buffers.iter().map(|buffer| view(buffer)).collect(),
        executables: batch.executables.iter().map(|executable| Arc::clone(executable)).collect(),
    }
}

/// As the host hands it over.
fn command(command: &Command) -> hal_driver::Command {
    match command.clone() {
        Command::Barrier => hal_driver::Command::Barrier,
        Command::Fill { target, pattern } => {
            let pattern = std::array::from_fn(|at| pattern[at % pattern.len()]);
            hal_driver::Command::Fill { target, pattern }
        }
        Command::Update { target, bytes } => hal_driver::Command::Update { target, bytes: bytes.into() },
        Command::Copy { source, target } => hal_driver::Command::Copy { source, target },
        Command::Dispatch(mut dispatch) => {
            dispatch.bindings.sort_by_key(|binding| binding.binding);
            hal_driver::Command::Dispatch(dispatch)
        }
    }
}

/// Runs a recording when its waits are met: at once if they are, for that is when a driver is given work.
fn start(
    device: &Device,
    waits: &[Point<'_, Bare>],
    recording: &Recording,
    slots: Vec<BufferView>,
    signals: &[Point<'_, Bare>],
) {
    let (device, waits, signals) = (device.clone(), points(waits), points(signals));
    let Recording { commands, buffers, executables } = recording;
    let (commands, buffers, executables) = (commands.clone(), buffers.clone(), executables.clone());
    let ready = all_met(&waits);
    let end = move |result: target::Result<()>| {
        for (timeline, value) in &signals {
            timeline.end(*value, result.clone());
        }
    };
    let run = move || {
        if let Err(error) = wait_all(&waits, LONG) {
            return end(Err(error));
        }
        let control = Arc::new(Control::new(Some(Instant::now() + Duration::from_nanos(LONG))));
        let done = Box::new(move |result: hal_driver::Result<_>| end(result.map(|_| ()).map_err(error)));
        device.submit(Work { commands, buffers, slots, executables, control, done });
    };
    if ready {
        run();
    } else {
        std::thread::spawn(run);
    }
}

fn points(points: &[Point<'_, Bare>]) -> Vec<(Arc<Timeline>, u64)> {
    points.iter().map(|(timeline, value)| (Arc::clone(timeline), *value)).collect()
}

impl Target for Bare {
    type Device = Device;
    type Buffer = Buffer;
    type Executable = Arc<dyn Executable>;
    type Recording = Recording;
    type Semaphore = Arc<Timeline>;

    fn query_available_devices(&self) -> target::Result<Vec<DeviceInfo>> {
        Ok(self.driver.devices().map_err(error)?.iter().map(info).collect())
    }

    fn create_device(&self, which: Which<'_>, parameters: &[(&str, &str)]) -> target::Result<Device> {
        if which != Which::Default || !parameters.is_empty() {
            return above();
        }
        let devices = self.driver.devices().map_err(error)?;
        let chosen = self.driver.choose(&devices, &[]).map_err(error)?;
        self.driver.open(&devices[chosen].path, &[]).map_err(error)
    }

    fn kernel(&self, name: &str, format: &str) -> Result<Vec<u8>, String> {
        spirv::kernel(name, format)
    }

    fn device_info(&self, device: &Device) -> DeviceInfo {
        info(device.info())
    }

    fn limits(&self, device: &Device) -> Vec<(String, u64)> {
        device.limits().named().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn budget(&self, _: &Device) -> Vec<Used> {
        Vec::new()
    }

    fn query(&self, _: &Device, _: &str, _: &str) -> target::Result<u64> {
        above()
    }

    fn buffer_compatibility(&self, _: &Device, _: &BufferParams, size: u64) -> Compatibility {
        Compatibility { allocatable: false, transferable: false, dispatchable: false, size }
    }

    fn allocate(&self, device: &Device, params: &BufferParams, size: u64) -> target::Result<Buffer> {
        let buffer = device.allocate(params, size).map_err(error)?;
        Ok(Buffer { view: BufferView { buffer, offset: 0, length: size }, params: params.clone() })
    }

    fn create_semaphore(&self, _: &Device, initial: u64) -> target::Result<Arc<Timeline>> {
        Ok(Arc::new(Timeline::new(initial)))
    }

    fn can_load(&self, device: &Device, format: &str) -> bool {
        device.info().formats.iter().any(|known| known == format)
    }

    fn load_executable(
        &self,
        device: &Device,
        format: &str,
        overrides: &[(&str, OverrideValue)],
        bytes: &[u8],
    ) -> target::Result<Arc<dyn Executable>> {
        let overrides: Vec<_> = overrides.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        device.load(&LoadRequest { format, bytes, overrides: &overrides, label: "" }).map_err(error)
    }

    fn create_recording(&self, _: &Device, batch: &Batch<'_, Self>, _: u32) -> target::Result<Recording> {
        Ok(recorded(batch))
    }

    fn submit(
        &self,
        device: &Device,
        wait: &[Point<'_, Self>],
        batch: &Batch<'_, Self>,
        signal: &[Point<'_, Self>],
    ) -> target::Result<()> {
        start(device, wait, &recorded(batch), Vec::new(), signal);
        Ok(())
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
        let slot = |slot: &SlotBinding| part(buffers[slot.buffer as usize], slot.offset, slot.length);
        start(device, wait, recording, bindings.iter().map(slot).collect(), signal);
        Ok(())
    }

    fn alloca(
        &self,
        _: &Device,
        _: &[Point<'_, Self>],
        _: &BufferParams,
        _: u64,
        _: &[Point<'_, Self>],
    ) -> target::Result<Buffer> {
        above()
    }

    fn dealloca(&self, _: &Device, _: &[Point<'_, Self>], _: &Buffer, _: &[Point<'_, Self>]) -> target::Result<()> {
        above()
    }

    fn read_blob(
        &self,
        _: &Device,
        _: &[Point<'_, Self>],
        _: u64,
        _: &Buffer,
        _: u64,
        _: u64,
        _: &[Point<'_, Self>],
    ) -> target::Result<()> {
        above()
    }

    fn wait_semaphores(
        &self,
        _: &Device,
        waits: &[Point<'_, Self>],
        mode: WaitMode,
        timeout_ns: u64,
    ) -> target::Result<u32> {
        match mode {
            WaitMode::All => wait_all(&points(waits), timeout_ns).map(|()| 0),
            WaitMode::Any => wait_any(&points(waits), timeout_ns),
        }
    }

    fn lost(&self, device: &Device) -> Option<target::Error> {
        device.lost().map(error)
    }

    fn loss_semaphore(&self, _: &Device) -> target::Result<Arc<Timeline>> {
        above()
    }

    fn trim(&self, device: &Device) -> target::Result<()> {
        device.trim().map_err(error)
    }

    fn close_device(&self, _: &Device) {}

    fn buffer_info(&self, buffer: &Buffer) -> BufferInfo {
        let BufferParams { memory, usage, access, .. } = buffer.params;
        let BufferView { offset, length: size, .. } = buffer.view;
        BufferInfo { size, offset, memory, usage, access, transient: false }
    }

    fn subspan(&self, buffer: &Buffer, offset: u64, length: u64) -> target::Result<Buffer> {
        Ok(Buffer { view: part(buffer, offset, Some(length)), params: buffer.params.clone() })
    }

    fn read(&self, buffer: &Buffer, offset: u64, length: u64) -> target::Result<Vec<u8>> {
        let BufferView { buffer, offset: start, .. } = &buffer.view;
        runtime().block_on(buffer.read(start + offset, length, Vec::new()).finish()).map_err(error)
    }

    fn write(&self, buffer: &Buffer, offset: u64, bytes: &[u8]) -> target::Result<()> {
        let BufferView { buffer, offset: start, .. } = &buffer.view;
        runtime().block_on(buffer.write(start + offset, bytes).finish()).map_err(error)
    }

    fn close_buffer(&self, _: &Buffer) {}

    fn functions(&self, executable: &Arc<dyn Executable>) -> Vec<target::Function> {
        let binding =
            |it: &hal_driver::Binding| BindingInfo { binding: it.binding, reads: it.reads, writes: it.writes };
        let function = |it: &hal_driver::Function| target::Function {
            name: it.name.clone(),
            workgroup_size: it.workgroup_size,
            bindings: it.bindings.iter().map(binding).collect(),
            constant_bytes: it.constant_bytes,
        };
        executable.functions().iter().map(function).collect()
    }

    fn close_executable(&self, _: &Arc<dyn Executable>) {}

    fn close_recording(&self, _: &Recording) {}

    fn query_semaphore(&self, semaphore: &Arc<Timeline>) -> target::Result<u64> {
        semaphore.value()
    }

    fn signal(&self, semaphore: &Arc<Timeline>, value: u64) -> target::Result<()> {
        semaphore.end(value, Ok(()));
        Ok(())
    }

    fn fail(&self, semaphore: &Arc<Timeline>, code: Code, message: &str) {
        semaphore.end(0, Err(target::Error { code, message: message.to_owned(), limit: None }));
    }

    fn wait(&self, semaphore: &Arc<Timeline>, value: u64, timeout_ns: u64) -> target::Result<()> {
        semaphore.wait(value, timeout_ns)
    }

    fn close_semaphore(&self, _: &Arc<Timeline>) {}
}

fn part(buffer: &Buffer, offset: u64, length: Option<u64>) -> BufferView {
    let BufferView { buffer, offset: start, length: all } = view(buffer);
    BufferView { buffer, offset: start + offset, length: length.unwrap_or(all - offset) }
}
