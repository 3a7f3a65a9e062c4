//! The device: memory, and a queue that runs where it is called.

use crate::{
    buffer::{Memory, NullBuffer},
    executable::NullExecutable,
    work,
};
use hal_driver::{
    Buffer, BufferParams, Code, Device, DeviceInfo, DeviceKind, Error, Executable, Heap, Limits, LoadRequest,
    MemoryType, Result, Timing, Work,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Memory of a device in bytes. Small enough that a test which fills it fits any machine that can build this.
const MEMORY_BYTES: u64 = 256 << 20;

/// Host memory is all of these at once.
const MEMORY: MemoryType = MemoryType::all();

/// As other drivers have them, so that whoever plans against these limits plans well. No dispatch ever uses the latter half.
const LIMITS: Limits = Limits {
    max_buffer_bytes: MEMORY_BYTES,
    max_bindings: 64,
    max_constant_bytes: 128,
    binding_offset_alignment: 16,
    binding_length_multiple: 4,
    max_uniform_bytes: 64 << 10,
    max_storage_binding_bytes: MEMORY_BYTES,
    max_workgroups_per_dimension: 65_535,
    max_workgroups: 65_535 * 65_535,
    max_invocations_per_workgroup: 256,
    max_workgroup_memory_bytes: 16 << 10,
    max_loop_iterations: u64::MAX,
};

pub(crate) fn info(path: &str) -> DeviceInfo {
    DeviceInfo {
        path: path.into(),
        name: "Null device".into(),
        kind: DeviceKind::Other,
        memory_bytes: MEMORY_BYTES,
        formats: Vec::new(),
        features: Vec::new(),
    }
}

pub(crate) struct NullDevice {
    info: DeviceInfo,
    memory: Arc<Memory>,
}

impl NullDevice {
    pub(crate) fn new(info: DeviceInfo) -> Self {
        Self { info, memory: Arc::new(Memory::new(MEMORY_BYTES)) }
    }
}

impl Device for NullDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn heaps(&self) -> &[Heap] {
        &[Heap { memory: MEMORY, max_allocation: MEMORY_BYTES }]
    }

    fn allocate(&self, _params: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>> {
        Ok(Arc::new(NullBuffer::new(self.memory.clone(), size)?))
    }

    fn load(&self, _request: &LoadRequest<'_>) -> Result<Arc<dyn Executable>> {
        load().map(|executable| Arc::new(executable) as Arc<dyn Executable>)
    }

    fn submit(&self, mut work: Work) {
        let begin = Instant::now();
        let done = std::mem::replace(&mut work.done, Box::new(drop));
        let outcome = work::run(&work);
        // Buffers go before the news does: whoever hears it may count on their memory.
        drop(work);
        done(outcome.map(|()| Timing { queue: Duration::ZERO, device: Some(begin.elapsed()) }));
    }

    fn lost(&self) -> Option<Error> {
        None
    }

    fn trim(&self) -> Result<()> {
        Ok(())
    }
}

fn load() -> Result<NullExecutable> {
    Err(Error::new(
        Code::Unimplemented,
        "a null device runs no kernels; open a device of another driver, such as \"cpu\"",
    ))
}
