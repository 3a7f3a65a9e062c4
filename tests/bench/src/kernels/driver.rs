//! A kernel on a device of one of our drivers.

use super::{catalog::Kernel, contest::Contestant, workload::Workload};
use anyhow::{Context, Result};
use hal_driver::{
    Buffer, BufferParams, BufferRef, BufferView, Command, Control, Device, DeviceInfo, DeviceKind, Dispatch,
    DispatchBinding, Driver, Executable, Factory, LoadRequest, Source, Work, Workgroups,
};
use std::{
    rc::Rc,
    sync::{Arc, mpsc},
    thread::{self, ThreadId},
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

/// Nothing measured takes as long; a device that hangs ends the run.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The device that is measured, also where there is a GPU: the first in software.
///
/// # Errors
/// The driver's, or there is none.
pub fn in_software(driver: &dyn Driver) -> Result<DeviceInfo> {
    let device = driver.devices()?.into_iter().find(|device| device.kind == DeviceKind::Cpu);
    device.context("there is no device in software; for Vulkan, Mesa's lavapipe is one")
}

/// Opens it anew.
///
/// # Errors
/// The driver's, or there is none.
pub fn open(driver: &dyn Driver) -> Result<Arc<dyn Device>> {
    Ok(driver.open(&in_software(driver)?.path, &[])?)
}

/// A driver of a factory, or why there is none.
///
/// # Errors
/// The factory's.
pub fn driver(factory: &dyn Factory, name: &str) -> Result<Arc<dyn Driver>> {
    factory.create(name).with_context(|| format!("making the driver {name}"))
}

/// Buffers and what they hold, with no kernel yet.
pub struct Bound {
    device: Arc<dyn Device>,
    buffers: Vec<BufferView>,
}

fn whole(buffer: Arc<dyn Buffer>) -> BufferView {
    BufferView { offset: 0, length: buffer.size(), buffer }
}

/// A kernel with its buffers, ready to run.
pub struct Ready {
    bound: Bound,
    executables: Arc<[Arc<dyn Executable>]>,
    commands: Arc<[Command]>,
    repeats: u32,
}

impl Bound {
    /// Allocates and fills a workload's buffers.
    ///
    /// # Errors
    /// The device's.
    pub fn new(device: &Arc<dyn Device>, workload: &Workload) -> Result<Self> {
        let runtime = runtime()?;
        let mut buffers = Vec::new();
        for bytes in workload.inputs.iter().chain([&workload.untouched()]) {
            let buffer = device.allocate(&BufferParams::default(), bytes.len() as u64)?;
            runtime.block_on(buffer.write(0, bytes).finish())?;
            buffers.push(whole(buffer));
        }
        Ok(Self { device: device.clone(), buffers })
    }

    /// One buffer that nobody writes before a kernel does.
    ///
    /// # Errors
    /// The device's.
    pub fn untouched(device: &Arc<dyn Device>, bytes: u64) -> Result<Self> {
        let buffer = device.allocate(&BufferParams::default(), bytes)?;
        Ok(Self { device: device.clone(), buffers: vec![whole(buffer)] })
    }

    /// Compiles a kernel for them. `groups` and `repeats` are what one turn dispatches.
    ///
    /// # Errors
    /// The device's.
    pub fn load(self, source: &str, constants: &[u32], groups: [u32; 3], repeats: u32) -> Result<Ready> {
        let request = LoadRequest { format: "wgsl", bytes: source.as_bytes(), overrides: &[], label: "" };
        let executable = self.device.load(&request)?;
        let count = u32::try_from(self.buffers.len())?;
        let binding = |binding| DispatchBinding {
            binding,
            buffer: BufferRef { source: Source::Direct(binding), offset: 0, length: None },
        };
        let dispatch = Command::Dispatch(Dispatch {
            executable: 0,
            function: 0,
            workgroups: Workgroups::Direct(groups),
            constants: constants.iter().flat_map(|word| word.to_le_bytes()).collect(),
            bindings: (0..count).map(binding).collect(),
        });
        let commands = (0..repeats).flat_map(|_| [dispatch.clone(), Command::Barrier]).collect();
        Ok(Ready { bound: self, executables: Arc::new([executable]), commands, repeats })
    }
}

impl Ready {
    /// A workload's kernel on a device.
    ///
    /// # Errors
    /// The device's.
    pub fn new(device: &Arc<dyn Device>, kernel: &Kernel, workload: &Workload) -> Result<Self> {
        Bound::new(device, workload)?.load(kernel.source, &workload.constants, kernel.groups, kernel.repeats)
    }

    /// Runs it and answers which thread said that it was done.
    ///
    /// # Errors
    /// The device's.
    pub fn run(&self) -> Result<ThreadId> {
        finish(&*self.bound.device, &self.commands, &self.bound.buffers, &self.executables)
    }

    /// Has it run until `control` says stop.
    pub fn submit(&self, control: &Arc<Control>) -> Submitted {
        submit(&*self.bound.device, &self.commands, &self.bound.buffers, &self.executables, control)
    }
}

/// Submits commands, waits for their end, and answers which thread said that they were done.
///
/// # Errors
/// The device's.
pub fn finish(
    device: &dyn Device,
    commands: &Arc<[Command]>,
    buffers: &[BufferView],
    executables: &Arc<[Arc<dyn Executable>]>,
) -> Result<ThreadId> {
    let control = Arc::new(Control::new(Some(Instant::now() + PATIENCE)));
    Ok(submit(device, commands, buffers, executables, &control).wait()??)
}

fn submit(
    device: &dyn Device,
    commands: &Arc<[Command]>,
    buffers: &[BufferView],
    executables: &Arc<[Arc<dyn Executable>]>,
    control: &Arc<Control>,
) -> Submitted {
    let (sender, receiver) = mpsc::sync_channel(1);
    device.submit(Work {
        commands: commands.clone(),
        buffers: buffers.to_vec(),
        slots: Vec::new(),
        executables: executables.clone(),
        control: control.clone(),
        done: Box::new(move |outcome| drop(sender.send(outcome.map(|_| thread::current().id())))),
    });
    Submitted(receiver)
}

/// What a device has been given to do.
pub struct Submitted(mpsc::Receiver<hal_driver::Result<ThreadId>>);

impl Submitted {
    /// Waits for the end of it, and answers how it came.
    ///
    /// # Errors
    /// The device did not say.
    pub fn wait(self) -> Result<hal_driver::Result<ThreadId>> {
        self.0.recv_timeout(PATIENCE * 2).context("the device did not say that it was done")
    }
}

/// Shared, so that one of them can take turns with itself.
impl Contestant for Rc<Ready> {
    fn turn(&mut self) -> Result<f64> {
        let begin = Instant::now();
        self.run()?;
        Ok(begin.elapsed().as_secs_f64() / f64::from(self.repeats))
    }

    fn output(&mut self) -> Result<Vec<f32>> {
        let output = self.bound.buffers.last().context("there is no output")?;
        let bytes = runtime()?.block_on(output.buffer.read(0, output.length, Vec::new()).finish())?;
        Ok(bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect())
    }
}

fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().build()?)
}
