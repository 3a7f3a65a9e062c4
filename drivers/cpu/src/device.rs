//! The device: what it publishes, and where its calls go.

use crate::{
    buffer::CpuBuffer,
    codegen::Codegen,
    executable::{CpuExecutable, Loaded},
    load,
    memory::Memory,
    pool::Pool,
    state::DeviceState,
};
use hal_driver::{
    Buffer, BufferParams, Device, DeviceInfo, Error, Executable, Heap, Limits, LoadRequest, MemoryType, Result, Work,
};
use hal_kernel::Cache;
use std::sync::Arc;

/// Host memory is all of these at once.
const MEMORY: MemoryType = MemoryType::all();

/// All but `max_buffer_bytes` and `max_storage_binding_bytes`, which depend on the device.
pub(crate) const LIMITS: Limits = Limits {
    max_buffer_bytes: 0,
    // The kernel ABI's.
    max_bindings: 64,
    max_constant_bytes: naga_wasm::abi::MAX_CONSTANT_BYTES,
    // The widest WGSL type, and a vector access.
    binding_offset_alignment: naga_wasm::abi::BINDING_ALIGNMENT as u64,
    binding_length_multiple: 4,
    max_uniform_bytes: 64 << 10,
    max_storage_binding_bytes: 0,
    // What graphics hardware has, so that a kernel that runs here runs there: 65,535, and a grid of two full dimensions.
    max_workgroups_per_dimension: 65_535,
    max_workgroups: 65_535 * 65_535,
    max_invocations_per_workgroup: 1024,
    max_workgroup_memory_bytes: 32 << 10,
    // Work units are counted, for the deadline only.
    max_loop_iterations: u64::MAX,
};

pub(crate) struct CpuDevice {
    info: DeviceInfo,
    limits: Limits,
    heap: Heap,
    pub(crate) codegen: Codegen,
    /// Whether kernels may add products that were not rounded; for all of them, so that the cache needs no word of it.
    contract: bool,
    cache: Cache<Loaded>,
    pub(crate) state: Arc<DeviceState>,
}

impl CpuDevice {
    /// Costs address space and a few system calls. `slots`: how many threads may run one dispatch.
    pub(crate) fn new(
        codegen: &Codegen,
        info: DeviceInfo,
        pool: Option<Arc<Pool>>,
        slots: u32,
        contract: bool,
    ) -> Result<Self> {
        let memory = Memory::new(&codegen.engine, slots, info.memory_bytes)?;
        Ok(Self {
            limits: Limits {
                max_buffer_bytes: info.memory_bytes,
                max_storage_binding_bytes: info.memory_bytes,
                ..LIMITS
            },
            heap: Heap { memory: MEMORY, max_allocation: info.memory_bytes },
            info,
            codegen: codegen.clone(),
            contract,
            cache: Cache::default(),
            state: Arc::new(DeviceState::new(memory, pool, slots)),
        })
    }
}

impl Device for CpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn heaps(&self) -> &[Heap] {
        std::slice::from_ref(&self.heap)
    }

    fn allocate(&self, _params: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>> {
        self.state.alive()?;
        Ok(Arc::new(CpuBuffer::new(&self.state, size)?))
    }

    fn allocates_at_once(&self) -> bool {
        // It is bookkeeping, and at most one system call. Only a tenant that has filled its whole address space once may wait for
        // its own large buffers to be cleared.
        true
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Arc<dyn Executable>> {
        self.state.alive()?;
        let compile = || load::load(&self.codegen, request, &self.info.features, self.contract);
        let loaded = self.cache.load(request, compile)?;
        Ok(Arc::new(CpuExecutable::new(&self.state, loaded)))
    }

    fn submit(&self, work: Work) {
        self.state.submit(work);
    }

    fn lost(&self) -> Option<Error> {
        self.state.lost()
    }

    fn trim(&self) -> Result<()> {
        self.state.alive()?;
        self.cache.take().iter().flat_map(|loaded| &loaded.kernels).for_each(|kernel| kernel.trim());
        self.state.trim();
        Ok(())
    }
}
