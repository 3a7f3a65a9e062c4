//! From naga IR to a pipeline.

use super::Native;
use crate::state::{OnThread, Patience, State};
use hal_driver::{BindingKind, Code, Error, Result};
use hal_kernel::{Program, native::NativeOptions};
use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Variants of one function that are kept apart by which bindings are declared writable. Beyond it one variant has them all.
const MAX_VARIANTS: usize = 8;

/// What a software adapter's compiler takes within some tens of seconds on a busy machine (llvmpipe 22.3.6).
const MAX_SOFTWARE_STEPS: u64 = 8192;
const MAX_SOFTWARE_WRITTEN: u64 = 16 << 10;
const MAX_SOFTWARE_BYTES: u64 = 4 << 10;
const MAX_SOFTWARE_BARRIERS: u64 = 256;
const MAX_SOFTWARE_FUNCTIONS: u64 = 3072;
const MAX_SOFTWARE_LOOPS: u64 = 256;
const MAX_SOFTWARE_NESTING: u64 = 4096;

/// Binding numbers, ascending.
pub(crate) type Bindings = Vec<u32>;

/// A function, and its pipelines as far as they were needed.
pub(crate) struct Kernel {
    program: Program,
    function: usize,
    pub(crate) label: String,
    pub(crate) info: hal_driver::Function,
    /// Steps of a round of its loops at most; of an invocation, if none of them counts.
    pub(super) steps: u64,
    /// Steps of an invocation outside of the loops that count.
    pub(super) work: u64,
    /// Whether there are loops that count their rounds.
    pub(super) has_loops: bool,
    /// Whether some loop has a workgroup barrier inside: such loops have an allowance of their own.
    pub(super) has_group_loops: bool,
    /// Iterations a second that it was seen to make; 0 before.
    pub(super) rate: AtomicU64,
    /// Bindings that are declared writable whatever they are bound to.
    pub(super) declared: Bindings,
    variants: Mutex<Vec<(Bindings, Arc<Pipeline>)>>,
}

/// A native pipeline.
pub(crate) struct Pipeline {
    pub(super) native: OnThread<wgpu::ComputePipeline>,
    pub(super) layout: OnThread<wgpu::BindGroupLayout>,
}

impl Kernel {
    /// Compiles a function as it is usually dispatched. *Blocking.*
    ///
    /// # Errors
    /// What the front end, or the native compiler, refuses.
    pub(crate) fn new(
        state: &Arc<State>,
        program: &Program,
        function: usize,
        info: hal_driver::Function,
        label: &str,
    ) -> Result<Arc<Self>> {
        let native = program.native(function, &options(state, &[]))?;
        if state.adapter.is_software() {
            fits_a_software_compiler(&native, &info.name)?;
        }
        let (work, has_loops) = (native.work, native.has_loops);
        let steps = if has_loops { native.cost } else { work };
        let has_group_loops = native.added_workgroup_bytes > 0;
        let kernel = Arc::new(Self {
            program: program.clone(),
            function,
            label: label.to_owned(),
            info,
            steps,
            work,
            has_loops,
            has_group_loops,
            rate: AtomicU64::new(0),
            declared: native.read_write.clone(),
            variants: Mutex::default(),
        });
        let made = kernel.clone();
        state.ask(move |device| {
            let pipeline = device.compile(&made, native, Bindings::new())?;
            device.warm_up(&made, &pipeline)?;
            device.keep();
            Ok(())
        })?;
        Ok(kernel)
    }

    /// Invocations of one workgroup.
    pub(crate) fn invocations(&self) -> u64 {
        self.info.workgroup_size.iter().map(|&count| u64::from(count)).product()
    }

    /// A rate that was seen: the newest stands.
    pub(super) fn saw_rate(&self, iterations_per_second: u64) {
        self.rate.store(iterations_per_second, Ordering::Relaxed);
    }

    fn find(&self, writable: &Bindings) -> Option<Arc<Pipeline>> {
        self.lock().iter().find(|(known, _)| known == writable).map(|(_, pipeline)| pipeline.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Bindings, Arc<Pipeline>)>> {
        self.variants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Native {
    /// A pipeline was made, which may outlive the process.
    fn keep(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.made(&self.state);
        }
    }

    /// The pipeline in which these bindings, though the kernel only reads them, are declared writable: natively a buffer that is bound
    /// both ways in one dispatch must be writable throughout.
    pub(super) fn pipeline(&mut self, kernel: &Arc<Kernel>, writable: &Bindings) -> Result<Arc<Pipeline>> {
        if let Some(pipeline) = kernel.find(writable) {
            return Ok(pipeline);
        }
        let all: Bindings;
        let writable = if kernel.lock().len() < MAX_VARIANTS {
            writable
        } else {
            let storage = kernel.info.bindings.iter().filter(|binding| binding.kind == BindingKind::Storage);
            all = storage.map(|binding| binding.binding).collect();
            if let Some(pipeline) = kernel.find(&all) {
                return Ok(pipeline);
            }
            &all
        };
        let native = kernel.program.native(kernel.function, &options(&self.state, writable))?;
        self.compile(kernel, native, writable.clone())
    }

    fn compile(
        &mut self,
        kernel: &Kernel,
        native: hal_kernel::native::Native,
        writable: Bindings,
    ) -> Result<Arc<Pipeline>> {
        let entries = kernel.info.bindings.iter().map(|binding| match binding.kind {
            BindingKind::Uniform => uniform_entry(binding.binding, false),
            BindingKind::Storage => storage_entry(binding.binding, native.read_write.contains(&binding.binding)),
        });
        let entries: Vec<_> = entries.collect();
        let label = Some(kernel.label.as_str());
        let launches = &self.launches.layout;
        let cache = self.kept.as_ref().map(|kept| &kept.cache);
        // Native compilers wait for their turn like our own.
        let slot = hal_kernel::compile_slot();
        self.state.renew(Patience::Compile);
        let (native, layout) = self.scoped(|device| {
            let source = wgpu::ShaderSource::Naga(Cow::Owned(native.module));
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
            let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
            let groups = [Some(&layout), Some(launches)];
            let pipeline = compute(device, &module, &kernel.info.name, &groups, kernel.info.constant_bytes, cache);
            (pipeline, layout)
        })?;
        drop(slot);
        self.state.renew(Patience::Work);
        let native = OnThread::new(&self.state, native);
        let layout = OnThread::new(&self.state, layout);
        let pipeline = Arc::new(Pipeline { native, layout });
        kernel.lock().push((writable, pipeline.clone()));
        Ok(pipeline)
    }
}

/// Refuses what would keep a software adapter's compiler busy for minutes: its time grows faster than the kernel does, most of all with memory
/// that each invocation has for itself.
fn fits_a_software_compiler(native: &hal_kernel::native::Native, name: &str) -> Result<()> {
    let bounds = [
        ("steps", native.cost, MAX_SOFTWARE_STEPS, "split the kernel"),
        ("steps, those of short loops once for each round", native.written, MAX_SOFTWARE_WRITTEN, "split the kernel"),
        (
            "workgroup barriers, two for each loop with a barrier and each round of a short loop included",
            native.barriers,
            MAX_SOFTWARE_BARRIERS,
            "split the kernel",
        ),
        (
            "functions like sin and pow, once for each component and those of short loops once for each round",
            native.functions,
            MAX_SOFTWARE_FUNCTIONS,
            "split the kernel",
        ),
        ("loops, with everything that is called written out", native.loops, MAX_SOFTWARE_LOOPS, "split the kernel"),
        ("loops, each counted once for every loop around it", native.nesting, MAX_SOFTWARE_NESTING, "nest fewer loops"),
        (
            "bytes of variables in each invocation, once for each call of the function that has them, each use of a table of constants \
             by a computed index included",
            native.bytes,
            MAX_SOFTWARE_BYTES,
            "split the kernel, or read the values from a buffer",
        ),
    ];
    match bounds.into_iter().find(|(_, found, most, _)| found > most) {
        None => Ok(()),
        Some((what, found, most, remedy)) => Err(Error::new(
            Code::ResourceExhausted,
            format!(
                "\"{name}\" has {found} {what}; a software device takes at most {most}, for its compiler's sake; {remedy}"
            ),
        )),
    }
}

fn options<'a>(state: &State, writable: &'a [u32]) -> NativeOptions<'a> {
    NativeOptions { writable, finds_cut_off: state.adapter.cut_off().is_some() }
}

/// A pipeline with an explicit layout: a derived one would leave out what a kernel declares and does not use.
pub(super) fn compute(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    name: &str,
    groups: &[Option<&wgpu::BindGroupLayout>],
    immediate_size: u32,
    cache: Option<&wgpu::PipelineCache>,
) -> wgpu::ComputePipeline {
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(name),
        bind_group_layouts: groups,
        immediate_size,
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(name),
        layout: Some(&layout),
        module,
        entry_point: Some(name),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache,
    })
}

pub(super) fn storage_entry(binding: u32, writable: bool) -> wgpu::BindGroupLayoutEntry {
    layout_entry(binding, wgpu::BufferBindingType::Storage { read_only: !writable }, false)
}

pub(super) fn uniform_entry(binding: u32, dynamic: bool) -> wgpu::BindGroupLayoutEntry {
    layout_entry(binding, wgpu::BufferBindingType::Uniform, dynamic)
}

fn layout_entry(binding: u32, ty: wgpu::BufferBindingType, has_dynamic_offset: bool) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    }
}

pub(super) fn entry(binding: u32, buffer: wgpu::BufferBinding<'_>) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(buffer) }
}
