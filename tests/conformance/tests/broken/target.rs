//! A native target with one thing wrong.

use hal_conformance::native::Native;
use hal_conformance_cases::{
    Target,
    target::{
        Batch, BufferInfo, BufferParams, BufferRef, Code, Command, Compatibility, DeviceInfo, Error, Function,
        OverrideValue, Point, Result, SlotBinding, Used, WaitMode, Which,
    },
};
use std::mem::forget;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No fill is done.
    IgnoresFills,
    /// Fills stop at a multiple of four bytes.
    ShortensFills,
    /// No copy is done.
    DropsCopies,
    /// No update is done.
    DropsUpdates,
    /// No kernel is run.
    SkipsDispatches,
    /// Kernels see zeroes for constants.
    ZeroesConstants,
    /// Kernels see buffers from their start.
    LosesBindingOffsets,
    /// Kernels see their buffers in reverse.
    SwapsBindings,
    /// Work runs at once.
    IgnoresWaits,
    /// Signals are raised before the work.
    SignalsEarly,
    /// Signals are not raised.
    NeverSignals,
    /// Every wait succeeds at once.
    ReturnsFromWaits,
    /// Failing a semaphore does nothing.
    ForgetsFailures,
    /// Every byte that is read is zero.
    ReadsZeroes,
    /// Writes go to the start of the buffer.
    WritesAtTheStart,
    /// Subspans begin where the buffer does.
    LosesSubspanOffsets,
    /// Fresh memory holds something.
    LeavesMemoryDirty,
    /// What is refused and has no answer is allowed.
    SwallowsErrors,
    /// Every failure has the same code.
    ConfusesCodes,
    /// No failure tells of a limit.
    HidesLimits,
    /// No object ever goes.
    KeepsEverything,
}

use Fault::{
    ConfusesCodes, DropsCopies, DropsUpdates, ForgetsFailures, HidesLimits, IgnoresFills, IgnoresWaits,
    KeepsEverything, LeavesMemoryDirty, LosesBindingOffsets, LosesSubspanOffsets, NeverSignals, ReadsZeroes,
    ReturnsFromWaits, ShortensFills, SignalsEarly, SkipsDispatches, SwallowsErrors, SwapsBindings, WritesAtTheStart,
    ZeroesConstants,
};

/// The longest wait: what never comes is not waited for as long as a case would.
const PATIENCE: u64 = 150_000_000;

/// A native target with at most one thing wrong.
pub struct Broken {
    inner: Native,
    fault: Option<Fault>,
}

impl Broken {
    pub fn new(inner: Native, fault: Option<Fault>) -> Self {
        Self { inner, fault }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn error(&self, mut error: Error) -> Error {
        if self.is(ConfusesCodes) {
            error.code = Code::Unknown;
        }
        if self.is(HidesLimits) {
            error.limit = None;
        }
        error
    }

    /// An answer that is an object.
    fn object<V: Clone>(&self, result: Result<V>) -> Result<V> {
        if self.is(KeepsEverything)
            && let Ok(object) = &result
        {
            forget(object.clone());
        }
        result.map_err(|error| self.error(error))
    }

    /// No answer but whether it went well.
    fn done(&self, result: Result<()>) -> Result<()> {
        if self.is(SwallowsErrors) { Ok(()) } else { result.map_err(|error| self.error(error)) }
    }

    fn waits<'a>(&self, wait: &[Point<'a, Self>]) -> Vec<Point<'a, Native>> {
        if self.is(IgnoresWaits) { Vec::new() } else { wait.to_vec() }
    }

    fn signals<'a>(&self, signal: &[Point<'a, Self>]) -> Vec<Point<'a, Native>> {
        if self.is(SignalsEarly) {
            for (semaphore, value) in signal {
                // One that does not advance is a refusal later.
                let _ = self.inner.signal(semaphore, *value);
            }
        }
        if self.is(SignalsEarly) || self.is(NeverSignals) { Vec::new() } else { signal.to_vec() }
    }

    fn batch<'a>(&self, batch: &Batch<'a, Self>) -> Batch<'a, Native> {
        let commands = batch.commands.iter().filter_map(|command| self.command(command.clone())).collect();
        Batch { buffers: batch.buffers.clone(), executables: batch.executables.clone(), commands }
    }

    /// The command as it is passed on, if it is.
    fn command(&self, mut command: Command) -> Option<Command> {
        let lost = match &command {
            Command::Barrier => false,
            Command::Fill { .. } => self.is(IgnoresFills),
            Command::Update { .. } => self.is(DropsUpdates),
            Command::Copy { .. } => self.is(DropsCopies),
            Command::Dispatch(_) => self.is(SkipsDispatches),
        };
        match &mut command {
            Command::Fill { target: BufferRef { length: Some(length), .. }, .. } if self.is(ShortensFills) => {
                *length -= *length % 4;
            }
            Command::Dispatch(dispatch) => {
                if self.is(ZeroesConstants) {
                    dispatch.constants.fill(0);
                }
                if self.is(LosesBindingOffsets) {
                    dispatch.bindings.iter_mut().for_each(|binding| binding.buffer.offset = 0);
                }
                if self.is(SwapsBindings) {
                    let numbers: Vec<_> = dispatch.bindings.iter().rev().map(|binding| binding.binding).collect();
                    dispatch.bindings.iter_mut().zip(numbers).for_each(|(binding, number)| binding.binding = number);
                }
            }
            _ => (),
        }
        (!lost).then_some(command)
    }
}

impl Target for Broken {
    type Device = <Native as Target>::Device;
    type Buffer = <Native as Target>::Buffer;
    type Executable = <Native as Target>::Executable;
    type Recording = <Native as Target>::Recording;
    type Semaphore = <Native as Target>::Semaphore;

    fn query_available_devices(&self) -> Result<Vec<DeviceInfo>> {
        self.inner.query_available_devices()
    }

    fn create_device(&self, which: Which<'_>, parameters: &[(&str, &str)]) -> Result<Self::Device> {
        self.object(self.inner.create_device(which, parameters))
    }

    fn kernel(&self, name: &str, format: &str) -> Result<Vec<u8>, String> {
        self.inner.kernel(name, format)
    }

    fn device_info(&self, device: &Self::Device) -> DeviceInfo {
        self.inner.device_info(device)
    }

    fn limits(&self, device: &Self::Device) -> Vec<(String, u64)> {
        self.inner.limits(device)
    }

    fn budget(&self, device: &Self::Device) -> Vec<Used> {
        self.inner.budget(device)
    }

    fn query(&self, device: &Self::Device, category: &str, key: &str) -> Result<u64> {
        self.inner.query(device, category, key).map_err(|error| self.error(error))
    }

    fn buffer_compatibility(&self, device: &Self::Device, params: &BufferParams, size: u64) -> Compatibility {
        self.inner.buffer_compatibility(device, params, size)
    }

    fn allocate(&self, device: &Self::Device, params: &BufferParams, size: u64) -> Result<Self::Buffer> {
        let buffer = self.object(self.inner.allocate(device, params, size))?;
        if self.is(LeavesMemoryDirty) {
            // Where the host may write; it is enough.
            let _ = self.inner.write(&buffer, 0, &vec![0xCC; size.min(1 << 16) as usize]);
        }
        Ok(buffer)
    }

    fn create_semaphore(&self, device: &Self::Device, initial: u64) -> Result<Self::Semaphore> {
        self.object(self.inner.create_semaphore(device, initial))
    }

    fn can_load(&self, device: &Self::Device, format: &str) -> bool {
        self.inner.can_load(device, format)
    }

    fn load_executable(
        &self,
        device: &Self::Device,
        format: &str,
        overrides: &[(&str, OverrideValue)],
        bytes: &[u8],
    ) -> Result<Self::Executable> {
        self.object(self.inner.load_executable(device, format, overrides, bytes))
    }

    fn create_recording(&self, device: &Self::Device, batch: &Batch<'_, Self>, slots: u32) -> Result<Self::Recording> {
        self.object(self.inner.create_recording(device, &self.batch(batch), slots))
    }

    fn submit(
        &self,
        device: &Self::Device,
        wait: &[Point<'_, Self>],
        batch: &Batch<'_, Self>,
        signal: &[Point<'_, Self>],
    ) -> Result<()> {
        self.done(self.inner.submit(device, &self.waits(wait), &self.batch(batch), &self.signals(signal)))
    }

    fn execute(
        &self,
        device: &Self::Device,
        wait: &[Point<'_, Self>],
        recording: &Self::Recording,
        buffers: &[&Self::Buffer],
        bindings: &[SlotBinding],
        signal: &[Point<'_, Self>],
    ) -> Result<()> {
        self.done(self.inner.execute(device, &self.waits(wait), recording, buffers, bindings, &self.signals(signal)))
    }

    fn alloca(
        &self,
        device: &Self::Device,
        wait: &[Point<'_, Self>],
        params: &BufferParams,
        size: u64,
        signal: &[Point<'_, Self>],
    ) -> Result<Self::Buffer> {
        self.object(self.inner.alloca(device, &self.waits(wait), params, size, &self.signals(signal)))
    }

    fn dealloca(
        &self,
        device: &Self::Device,
        wait: &[Point<'_, Self>],
        buffer: &Self::Buffer,
        signal: &[Point<'_, Self>],
    ) -> Result<()> {
        self.done(self.inner.dealloca(device, &self.waits(wait), buffer, &self.signals(signal)))
    }

    fn read_blob(
        &self,
        device: &Self::Device,
        wait: &[Point<'_, Self>],
        blob_offset: u64,
        buffer: &Self::Buffer,
        buffer_offset: u64,
        length: u64,
        signal: &[Point<'_, Self>],
    ) -> Result<()> {
        let (wait, signal) = (self.waits(wait), self.signals(signal));
        self.done(self.inner.read_blob(device, &wait, blob_offset, buffer, buffer_offset, length, &signal))
    }

    fn wait_semaphores(
        &self,
        device: &Self::Device,
        points: &[Point<'_, Self>],
        mode: WaitMode,
        timeout_ns: u64,
    ) -> Result<u32> {
        if self.is(ReturnsFromWaits) {
            return Ok(0);
        }
        let waited = self.inner.wait_semaphores(device, points, mode, timeout_ns.min(PATIENCE));
        waited.map_err(|error| self.error(error))
    }

    fn lost(&self, device: &Self::Device) -> Option<Error> {
        self.inner.lost(device)
    }

    fn loss_semaphore(&self, device: &Self::Device) -> Result<Self::Semaphore> {
        self.object(self.inner.loss_semaphore(device))
    }

    fn trim(&self, device: &Self::Device) -> Result<()> {
        self.done(self.inner.trim(device))
    }

    fn close_device(&self, device: &Self::Device) {
        self.inner.close_device(device);
    }

    fn buffer_info(&self, buffer: &Self::Buffer) -> BufferInfo {
        self.inner.buffer_info(buffer)
    }

    fn subspan(&self, buffer: &Self::Buffer, offset: u64, length: u64) -> Result<Self::Buffer> {
        let subspan = self.object(self.inner.subspan(buffer, offset, length))?;
        if self.is(LosesSubspanOffsets) { self.object(self.inner.subspan(buffer, 0, length)) } else { Ok(subspan) }
    }

    fn read(&self, buffer: &Self::Buffer, offset: u64, length: u64) -> Result<Vec<u8>> {
        let mut bytes = self.inner.read(buffer, offset, length).map_err(|error| self.error(error))?;
        if self.is(ReadsZeroes) {
            bytes.fill(0);
        }
        Ok(bytes)
    }

    fn write(&self, buffer: &Self::Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        let offset = if self.is(WritesAtTheStart) { 0 } else { offset };
        self.done(self.inner.write(buffer, offset, bytes))
    }

    fn close_buffer(&self, buffer: &Self::Buffer) {
        self.inner.close_buffer(buffer);
    }

    fn functions(&self, executable: &Self::Executable) -> Vec<Function> {
        self.inner.functions(executable)
    }

    fn close_executable(&self, executable: &Self::Executable) {
        self.inner.close_executable(executable);
    }

    fn close_recording(&self, recording: &Self::Recording) {
        self.inner.close_recording(recording);
    }

    fn query_semaphore(&self, semaphore: &Self::Semaphore) -> Result<u64> {
        self.inner.query_semaphore(semaphore).map_err(|error| self.error(error))
    }

    fn signal(&self, semaphore: &Self::Semaphore, value: u64) -> Result<()> {
        self.done(self.inner.signal(semaphore, value))
    }

    fn fail(&self, semaphore: &Self::Semaphore, code: Code, message: &str) {
        if !self.is(ForgetsFailures) {
            self.inner.fail(semaphore, code, message);
        }
    }

    fn wait(&self, semaphore: &Self::Semaphore, value: u64, timeout_ns: u64) -> Result<()> {
        if self.is(ReturnsFromWaits) {
            return Ok(());
        }
        self.inner.wait(semaphore, value, timeout_ns.min(PATIENCE)).map_err(|error| self.error(error))
    }

    fn close_semaphore(&self, semaphore: &Self::Semaphore) {
        self.inner.close_semaphore(semaphore);
    }
}
