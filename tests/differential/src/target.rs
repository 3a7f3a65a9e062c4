//! Devices, and how they run a plan.

use crate::{Node, Plan, Step, kernels::KERNELS, lower::LANES, model::Memory};
use hal_core::{
    Batch, Buffer, BufferParams, Device, Dispatch, DispatchBinding, Executable, ExecutableParams, Grant, MemoryAccess,
    MemoryType, Session, Source, TimePoint, Usage, WaitMode, Workgroups,
};
use hal_driver::Factory;
use hal_driver_cpu::{Config, CpuFactory};
use std::{cell::RefCell, sync::Arc};

/// How long anything may take.
const PATIENCE_NS: u64 = 30_000_000_000;

/// A device under test.
pub struct Target {
    /// The driver's name.
    pub name: &'static str,
    factory: Arc<dyn Factory>,
    /// None after a failure: whatever state that left is not worth keeping.
    open: RefCell<Option<Arc<Open>>>,
}

struct Open {
    device: Device,
    executables: Vec<Executable>,
    _session: Session,
}

/// The drivers that are compared with the model: the one place to add another.
pub fn targets() -> Vec<Target> {
    let cpu: Arc<dyn Factory> = Arc::new(CpuFactory::new(Config::new().workers(3)).expect("this processor has one"));
    let mut targets = vec![Target::new("local-sync", cpu.clone()), Target::new("local-task", cpu)];
    targets.extend(vulkan());
    targets
}

/// The Vulkan device, if there is one. Without one its part is left out, with the reason printed, unless `HAL_REQUIRE_VULKAN=1`
/// demands it.
fn vulkan() -> Option<Target> {
    let factory = Arc::new(hal_driver_wgpu::WgpuFactory::new(hal_driver_wgpu::Config::new()));
    let target = Target::new("vulkan", factory);
    let opened = runtime().block_on(target.try_open()).map(|_| ());
    let target = opened.map(|()| target);
    match target {
        Ok(target) => Some(target),
        Err(reason) if std::env::var("HAL_REQUIRE_VULKAN").is_ok_and(|value| value == "1") => {
            panic!("HAL_REQUIRE_VULKAN=1, but there is no Vulkan device: {reason}")
        }
        Err(reason) => {
            println!("skipped on vulkan: {reason}");
            None
        }
    }
}

/// What the calls of one test run on.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime needs no more than memory")
}

fn text(error: &hal_core::Error) -> String {
    error.to_string()
}

fn params() -> BufferParams {
    BufferParams {
        memory: MemoryType::DEVICE_VISIBLE,
        usage: Usage::all(),
        access: MemoryAccess::READ | MemoryAccess::WRITE,
        label: String::new(),
    }
}

impl Target {
    /// A factory's driver of this name.
    pub fn new(name: &'static str, factory: Arc<dyn Factory>) -> Self {
        Self { name, factory, open: RefCell::new(None) }
    }

    async fn try_open(&self) -> Result<Arc<Open>, String> {
        if let Some(open) = &*self.open.borrow() {
            return Ok(open.clone());
        }
        let session = Session::builder("differential").grant(Grant::new(self.factory.clone())).start();
        let session = session.map_err(|error| text(&error))?;
        let factory = session.granted().remove(0);
        let driver = factory.try_create(self.name).await.map_err(|error| text(&error))?;
        let device = driver.create_default_device().await.map_err(|error| text(&error))?;
        let mut executables = Vec::new();
        for kernel in &KERNELS {
            executables.push(load(&device, kernel.source).await?);
        }
        let open = Arc::new(Open { device, executables, _session: session });
        *self.open.borrow_mut() = Some(open.clone());
        Ok(open)
    }

    /// Runs a plan and compares what is there after each phase with what has to be.
    ///
    /// # Errors
    /// What differs, or what was refused.
    pub async fn check(&self, plan: &Plan, expected: &[Memory]) -> Result<(), String> {
        let result = match self.try_open().await {
            Ok(open) => open.check(plan, expected).await,
            Err(error) => Err(error),
        };
        result.map_err(|error| {
            self.open.borrow_mut().take();
            format!("{}: {error}", self.name)
        })
    }

    /// Loads a kernel, runs `main` with these bytes at bindings 0, 1, ..., and answers with what they are then.
    ///
    /// # Errors
    /// What was refused.
    pub async fn dispatch(
        &self,
        source: &str,
        function: &str,
        groups: [u32; 3],
        constants: &[u8],
        buffers: &[(u32, Vec<u8>)],
    ) -> Result<Vec<Vec<u8>>, String> {
        let open = self.try_open().await?;
        let result = open.dispatch(source, function, groups, constants, buffers).await;
        if result.is_err() {
            self.open.borrow_mut().take();
        }
        result
    }
}

async fn load(device: &Device, source: &str) -> Result<Executable, String> {
    let params = ExecutableParams { format: "wgsl".into(), ..Default::default() };
    device.load_executable(params, source.as_bytes().to_vec()).await.map_err(|error| text(&error))
}

impl Open {
    async fn dispatch(
        &self,
        source: &str,
        function: &str,
        groups: [u32; 3],
        constants: &[u8],
        buffers: &[(u32, Vec<u8>)],
    ) -> Result<Vec<Vec<u8>>, String> {
        let device = &self.device;
        let executable = load(device, source).await?;
        let function = executable.functions().iter().position(|found| found.name == function);
        let (mut batch, mut bindings) = (Batch { executables: vec![executable], ..Batch::default() }, Vec::new());
        for (binding, bytes) in buffers {
            let buffer = device.allocate(params(), bytes.len() as u64).await.map_err(|error| text(&error))?;
            buffer.write(0, bytes).await.map_err(|error| text(&error))?;
            let source = Source::Direct(batch.buffers.len() as u32);
            let whole = hal_core::BufferRef { source, offset: 0, length: None };
            bindings.push(DispatchBinding { binding: *binding, buffer: whole });
            batch.buffers.push(buffer);
        }
        let made = batch.buffers.clone();
        batch.commands.push(hal_core::Command::Dispatch(Dispatch {
            executable: 0,
            function: function.ok_or("the function is not there")? as u32,
            workgroups: Workgroups::Direct(groups),
            constants: constants.into(),
            bindings: bindings.into(),
        }));
        let done = device.create_semaphore(0).map_err(|error| text(&error))?;
        device.submit(Vec::new(), batch, vec![TimePoint::new(&done, 1)], None).await.map_err(|error| text(&error))?;
        done.wait(1, PATIENCE_NS).await.map_err(|error| text(&error))?;
        read(&made).await
    }

    async fn check(&self, plan: &Plan, expected: &[Memory]) -> Result<(), String> {
        let device = &self.device;
        let gate = device.create_semaphore(0).map_err(|error| text(&error))?;
        let mut lanes = Vec::new();
        for _ in 0..LANES {
            lanes.push(device.create_semaphore(0).map_err(|error| text(&error))?);
        }
        let point = |(lane, value): (usize, u64)| TimePoint::new(&lanes[lane], value);
        let views = self.views(plan).await?;
        let mut last = [0; LANES];
        for (at, (phase, expected)) in plan.phases.iter().zip(expected).enumerate() {
            for (view, offset, bytes) in &phase.writes {
                views[*view].write(*offset, bytes).await.map_err(|error| text(&error))?;
            }
            let mut recordings = Vec::new();
            for recording in &phase.recordings {
                recordings.push(match recording.slots {
                    None => None,
                    Some(slots) => {
                        let batch = self.batch(&views, &recording.commands);
                        let made = device.create_recording(batch, slots, "").await;
                        Some(made.map_err(|error| text(&error))?)
                    }
                });
            }
            for step in &phase.steps {
                match step {
                    Step::Signal(value) => gate.signal(*value).map_err(|error| text(&error))?,
                    Step::Submit(index) => {
                        let Node { recording, table, waits, gate: gated, signal } = &phase.nodes[*index];
                        let mut waits: Vec<_> = waits.iter().map(|wait| point(*wait)).collect();
                        waits.extend(gated.map(|value| TimePoint::new(&gate, value)));
                        let signals = vec![point(*signal)];
                        let result = match &recordings[*recording] {
                            Some(made) => {
                                device.execute(waits, made, views.clone(), table.clone(), signals, None).await
                            }
                            None => {
                                let batch = self.batch(&views, &phase.recordings[*recording].commands);
                                device.submit(waits, batch, signals, None).await
                            }
                        };
                        result.map_err(|error| format!("phase {at}, submission {index}: {error}"))?;
                    }
                }
            }
            phase.nodes.iter().for_each(|node| last[node.signal.0] = node.signal.1);
            let points = last.iter().enumerate().map(|(lane, value)| point((lane, *value))).collect();
            let waited = device.wait_semaphores(points, WaitMode::All, PATIENCE_NS).await;
            waited.map_err(|error| format!("phase {at}: {error}"))?;
            compare(at, &read(&views[..plan.buffers.len()]).await?, expected)?;
        }
        Ok(())
    }

    fn batch(&self, views: &[Buffer], commands: &[hal_core::Command]) -> Batch {
        Batch { buffers: views.to_vec(), executables: self.executables.clone(), commands: commands.to_vec() }
    }

    async fn views(&self, plan: &Plan) -> Result<Vec<Buffer>, String> {
        let mut views: Vec<Buffer> = Vec::new();
        for (size, queued) in &plan.buffers {
            let made = if *queued {
                let there = self.device.create_semaphore(0).map_err(|error| text(&error))?;
                let signals = vec![TimePoint::new(&there, 1)];
                let made = self.device.alloca(Vec::new(), params(), *size, signals).await;
                there.wait(1, PATIENCE_NS).await.map_err(|error| text(&error))?;
                made
            } else {
                self.device.allocate(params(), *size).await
            };
            views.push(made.map_err(|error| text(&error))?);
        }
        for view in &plan.views {
            if let Some((parent, offset)) = view.parent {
                let made = views[parent].subspan(offset, view.length).map_err(|error| text(&error))?;
                views.push(made);
            }
        }
        Ok(views)
    }
}

async fn read(buffers: &[Buffer]) -> Result<Memory, String> {
    let mut memory = Vec::new();
    for buffer in buffers {
        memory.push(buffer.read(0, buffer.info().size, Vec::new()).await.map_err(|error| text(&error))?);
    }
    Ok(memory)
}

fn compare(phase: usize, got: &Memory, expected: &Memory) -> Result<(), String> {
    for (buffer, (got, expected)) in got.iter().zip(expected).enumerate() {
        if let Some(at) = (0..expected.len()).find(|at| got[*at] != expected[*at]) {
            let end = expected.len().min(at + 16);
            let (got, expected) = (&got[at..end], &expected[at..end]);
            return Err(format!(
                "after phase {phase}, buffer {buffer} differs from byte {at} on: {got:02x?}, not {expected:02x?}"
            ));
        }
    }
    Ok(())
}
