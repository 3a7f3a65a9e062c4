//! Executables: kernels of one source, compiled for one device.

use crate::{device::Handle, native::Kernel, state::State};
use hal_driver::{BindingKind, Code, Error, Executable, Function, Limits, LoadRequest, Result};
use std::{any::Any, sync::Arc};

/// Most entry points of one source: each is compiled on its own.
const MAX_FUNCTIONS: usize = 64;

/// What a source compiles to. Executables of the same source share it.
pub(crate) struct Loaded {
    functions: Vec<Function>,
    /// One for each function.
    kernels: Vec<Arc<Kernel>>,
}

pub(crate) struct WgpuExecutable {
    // Before the handle: the thread still has to drop what is native in it.
    loaded: Arc<Loaded>,
    handle: Arc<Handle>,
}

impl Loaded {
    /// Compiles every entry point. *Blocking.*
    pub(crate) fn new(state: &Arc<State>, limits: &Limits, request: &LoadRequest<'_>) -> Result<Self> {
        let program = hal_kernel::load_for(request, &state.adapter.info.features, limits)?;
        if program.functions().len() > MAX_FUNCTIONS {
            let found = program.functions().len();
            return Err(Error::new(
                Code::ResourceExhausted,
                format!("{found} entry points; at most {MAX_FUNCTIONS} a source"),
            ));
        }
        let native = state.adapter.native.limits();
        let functions: Vec<Function> = program.functions().iter().map(Function::from).collect();
        functions.iter().try_for_each(|function| fits(function, &native))?;
        let kernels =
            (0..).zip(&functions).map(|(at, info)| Kernel::new(state, &program, at, info.clone(), request.label));
        Ok(Self { kernels: kernels.collect::<Result<_>>()?, functions })
    }
}

impl WgpuExecutable {
    pub(crate) fn new(handle: &Arc<Handle>, loaded: Arc<Loaded>) -> Self {
        Self { loaded, handle: handle.clone() }
    }

    /// The kernel of a function.
    pub(crate) fn kernel(&self, function: u32) -> Option<&Arc<Kernel>> {
        self.loaded.kernels.get(function as usize)
    }

    /// Whether it was loaded on this device.
    pub(crate) fn belongs_to(&self, state: &Arc<State>) -> bool {
        Arc::ptr_eq(&self.handle.state, state)
    }
}

impl Executable for WgpuExecutable {
    fn functions(&self) -> &[Function] {
        &self.loaded.functions
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Refuses what exceeds a limit that only this interface has, before a native compiler sees it.
fn fits(function: &Function, native: &wgpu::Limits) -> Result<()> {
    let [x, y, z] = function.workgroup_size;
    let uniforms = function.bindings.iter().filter(|binding| binding.kind == BindingKind::Uniform).count();
    // One is the driver's own.
    let most_uniforms = native.max_uniform_buffers_per_shader_stage.saturating_sub(1);
    let needs = [
        ("workgroup size along x", u64::from(x), native.max_compute_workgroup_size_x),
        ("workgroup size along y", y.into(), native.max_compute_workgroup_size_y),
        ("workgroup size along z", z.into(), native.max_compute_workgroup_size_z),
        ("number of uniform bindings", uniforms as u64, most_uniforms),
    ];
    match needs.into_iter().find(|&(_, needed, most)| needed > u64::from(most)) {
        None => Ok(()),
        Some((what, needed, most)) => Err(Error::new(
            Code::Incompatible,
            format!(
                "function \"{}\" needs {needed}, but this device's \"{what}\" is {most}; change the kernel",
                function.name
            ),
        )),
    }
}
