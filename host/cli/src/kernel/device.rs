//! One device: opened under a grant of our own, and a job run on it.

use super::{Stop, data::MAX_DATA_BYTES, job::Job, source::Source};
use crate::{drivers::BuiltIn, exit::Exit, text};
use anyhow::{Context, anyhow, bail};
use hal_driver::OverrideValue;
use hal_host::hal_core::{
    Batch, Buffer, BufferParams, BufferRef, Code, Command, Device, Dispatch, DispatchBinding, Error, Executable,
    ExecutableParams, Grant, Limit, Limits, MemoryAccess, MemoryType, Reveal, Session, Source as Memory, TimePoint,
    Usage, Workgroups,
};
use hal_kernel::{BindingClass, limits};
use std::time::{Duration, Instant};

/// How long opening a device, loading a kernel and moving data may take, beside the time of the kernel itself.
const PATIENCE: Duration = Duration::from_secs(120);
/// How much later than its time a run may be told to have ended before we give up on the device.
const GRACE: Duration = Duration::from_secs(10);

/// An open device.
pub struct Open {
    /// As it was named.
    pub uri: String,
    device: Device,
    _session: Session,
}

/// What a device made of a job.
pub struct Outcome {
    /// The device, as it was named.
    pub uri: String,
    /// The time of each repeat in nanoseconds.
    pub times_ns: Vec<u64>,
    /// Whether the device itself told those times; else they are from the submission to its end.
    pub device_clock: bool,
    /// The bytes of each binding of [`Job::written`], after the last repeat.
    pub left: Vec<Vec<u8>>,
}

/// Opens a device by URI, for kernels that may run for `timeout` each.
///
/// # Errors
/// No such driver, or what the driver says.
pub async fn open(built_in: &BuiltIn, uri: &str, timeout: Duration) -> anyhow::Result<Open> {
    let driver = hal_uri::scheme(uri).map_err(|error| anyhow!("{error}"))?;
    built_in.require(driver)?;
    let session = session(built_in, driver, timeout).map_err(|error| anyhow!(error.message))?;
    let factory = session.granted().into_iter().next().context("a session has what it was granted")?;
    let opening = async { factory.try_create(driver).await?.create_device_by_uri(uri).await };
    let device = in_time(uri, PATIENCE, opening).await?.map_err(|error| {
        let hint = if error.code == Code::NotFound { "; `hal devices` lists what is here" } else { "" };
        anyhow!("{uri} cannot be opened: {error}{hint}")
    })?;
    Ok(Open { uri: uri.to_owned(), device, _session: session })
}

fn session(built_in: &BuiltIn, driver: &str, timeout: Duration) -> Result<Session, Error> {
    let time = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    let limits = Limits::new()
        .with(Limit::MemoryBytes, MAX_DATA_BYTES)
        .with(Limit::TransferBytes, MAX_DATA_BYTES)
        .with(Limit::SourceBytes, limits::MAX_SPIRV_BYTES.max(limits::MAX_WGSL_BYTES) as u64)
        .with(Limit::SubmissionTimeNs, time);
    // Whoever runs this owns the machine.
    let grant = Grant::named(driver).limits(limits).reveal(Reveal::All).exact_timing(true);
    Session::builder("hal kernel").factories(built_in.factories.iter().cloned()).grant(grant).start()
}

/// Gives up on a device that does not answer: the runtime leaves its threads behind.
async fn in_time<T>(uri: &str, time: Duration, work: impl Future<Output = T>) -> anyhow::Result<T> {
    let late = |_| Stop { exit: Exit::Timeout, message: format!("{uri} did not answer in {time:?}") };
    Ok(tokio::time::timeout(time, work).await.map_err(late)?)
}

impl Open {
    /// Whether the device takes kernels of this format at all.
    pub fn can_load(&self, source: &Source) -> bool {
        self.device.can_load(source.format.name())
    }

    /// Loads a kernel. The inner error is the device's refusal, which begins with line and column where it has them.
    ///
    /// # Errors
    /// A device that does not answer.
    pub async fn load(
        &self,
        source: &Source,
        overrides: &[(String, OverrideValue)],
    ) -> anyhow::Result<Result<Executable, Error>> {
        let format = source.format.name().to_owned();
        let params = ExecutableParams { format, overrides: overrides.to_vec(), label: String::new() };
        in_time(&self.uri, PATIENCE, self.device.load_executable(params, source.bytes.clone())).await
    }

    /// Loads a job's kernel, and looks whether its data fits.
    ///
    /// # Errors
    /// A refusal of the kernel; a binding that is larger than this device takes.
    pub async fn prepare(&self, job: &Job) -> anyhow::Result<Executable> {
        let executable = self.load(&job.source, &job.overrides).await?.map_err(|error| {
            let sentence = job.source.placed(&error.message);
            Stop::refused(format!("{sentence} ({}, says {})", error.code, self.uri))
        })?;
        let limits = self.device.limits();
        let used = job.program.function(&job.function).map_or(&[][..], |function| &function.bindings);
        for (used, bound) in used.iter().zip(&job.bindings) {
            let name = match used.class {
                BindingClass::Storage => "max-storage-binding-bytes",
                BindingClass::Uniform => "max-uniform-bytes",
            };
            let limit = limits.iter().find(|limit| limit.name == name).map_or(u64::MAX, |limit| limit.value);
            if bound.bytes.len() as u64 > limit {
                let place = job.program.place_of_binding(&job.function, used.binding);
                let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
                let (binding, bytes) = (used.binding, bound.bytes.len());
                bail!(job.source.placed(&format!(
                    "{place}binding {binding} has {bytes} bytes, and {name} of {} is {limit}; bind less",
                    self.uri
                )));
            }
        }
        Ok(executable)
    }

    /// Runs a job, with what [`Open::prepare`] made of it.
    ///
    /// # Errors
    /// A time that was up; what else went wrong on the device.
    pub async fn run(&self, job: &Job, executable: Executable) -> anyhow::Result<Outcome> {
        let buffers = in_time(&self.uri, PATIENCE, self.buffers(job)).await?.map_err(|error| self.failed(&error))?;
        let batch = batch(job, executable, &buffers)?;
        let (mut wall, mut exact) = (Vec::new(), Vec::new());
        for tag in 0..u64::from(job.repeat) {
            if tag > 0 {
                self.rewrite(job, &buffers).await?;
            }
            let begun = Instant::now();
            let running = in_time(&self.uri, job.timeout.saturating_add(GRACE), self.once(&batch, tag));
            running.await?.map_err(|error| self.failed(&error))?;
            wall.push(nanoseconds(begun.elapsed()));
            let told = self.device.take_timings().into_iter().find(|timing| timing.tag == tag);
            exact.extend(told.and_then(|timing| timing.device_ns));
        }
        let left = in_time(&self.uri, PATIENCE, read(job, &buffers)).await?.map_err(|error| self.failed(&error))?;
        let device_clock = exact.len() == wall.len();
        let times_ns = if device_clock { exact } else { wall };
        Ok(Outcome { uri: self.uri.clone(), times_ns, device_clock, left })
    }

    async fn buffers(&self, job: &Job) -> Result<Vec<Buffer>, Error> {
        let params = BufferParams {
            memory: MemoryType::DEVICE_VISIBLE,
            usage: Usage::all(),
            access: MemoryAccess::READ | MemoryAccess::WRITE,
            label: String::new(),
        };
        let mut buffers = Vec::new();
        for bound in &job.bindings {
            let buffer = self.device.allocate(params.clone(), bound.bytes.len() as u64).await?;
            buffer.write(0, &bound.bytes).await?;
            buffers.push(buffer);
        }
        Ok(buffers)
    }

    /// Puts back what the bindings began with.
    async fn rewrite(&self, job: &Job, buffers: &[Buffer]) -> anyhow::Result<()> {
        let writing = async {
            for (bound, buffer) in job.bindings.iter().zip(buffers).filter(|(bound, _)| job.writes(bound.binding)) {
                buffer.write(0, &bound.bytes).await?;
            }
            Ok(())
        };
        in_time(&self.uri, PATIENCE, writing).await?.map_err(|error: Error| self.failed(&error))
    }

    async fn once(&self, batch: &Batch, tag: u64) -> Result<(), Error> {
        let done = self.device.create_semaphore(0)?;
        self.device.submit(Vec::new(), batch.clone(), vec![TimePoint::new(&done, 1)], Some(tag)).await?;
        done.wait(1, u64::MAX).await
    }

    fn failed(&self, error: &Error) -> anyhow::Error {
        let exit = if error.code == Code::DeadlineExceeded { Exit::Timeout } else { Exit::Failure };
        // A bound on iterations is the device's; no time helps there.
        let more = exit == Exit::Timeout && !error.message.contains("max-loop-iterations");
        let hint = if more {
            "; look for an endless loop, or allow more by --timeout, up to the device's own bound"
        } else {
            ""
        };
        Stop { exit, message: format!("{}: {error}{hint}", self.uri) }.into()
    }
}

fn batch(job: &Job, executable: Executable, buffers: &[Buffer]) -> anyhow::Result<Batch> {
    let function = executable.functions().iter().position(|function| function.name == job.function);
    let function = function.with_context(|| format!("the device knows no function {}", text::shown(&job.function)))?;
    let whole = |index| BufferRef { source: Memory::Direct(index), offset: 0, length: None };
    let bindings = job.bindings.iter().zip(0..);
    let bindings = bindings.map(|(bound, index)| DispatchBinding { binding: bound.binding, buffer: whole(index) });
    let dispatch = Dispatch {
        executable: 0,
        function: u32::try_from(function)?,
        workgroups: Workgroups::Direct(job.groups),
        constants: job.constants.clone().into(),
        bindings: bindings.collect(),
    };
    Ok(Batch { buffers: buffers.to_vec(), executables: vec![executable], commands: vec![Command::Dispatch(dispatch)] })
}

async fn read(job: &Job, buffers: &[Buffer]) -> Result<Vec<Vec<u8>>, Error> {
    let mut left = Vec::new();
    for (bound, buffer) in job.bindings.iter().zip(buffers).filter(|(bound, _)| job.writes(bound.binding)) {
        left.push(buffer.read(0, bound.bytes.len() as u64, Vec::new()).await?);
    }
    Ok(left)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
