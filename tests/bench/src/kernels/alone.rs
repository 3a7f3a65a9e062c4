//! A kernel on one thread, in an engine of its own and without a driver: for figures about the kernel compiler. What a turn took is
//! the time that the thread had a processor, so that others on the machine matter less.

use super::{catalog::Kernel, contest::Contestant, workload::Workload};
use anyhow::{Context, Result, ensure};
use hal_kernel::{Format, SourceLimits};
use naga_wasm::{
    Options,
    abi::{EXPORT_BUDGET, EXPORT_RUN, EXPORT_SCRATCH, IMPORT_MEMORY, IMPORT_MODULE, IMPORT_REFILL, STATUS_DONE},
};
use rustix::time::{ClockId, clock_gettime};
use std::{cell::UnsafeCell, hint::black_box, ops::Range, rc::Rc, time::Instant};
use wasmtime::{Config, Engine, Global, Linker, MemoryType, Module, OptLevel, SharedMemory, Store, TypedFunc, Val};

/// Work units that a kernel gets at once: what the driver's reach with a kernel that is fast.
const SLICE: i64 = 1 << 18;

const PAGE: usize = 64 << 10;

/// Scratch of a kernel, as the driver has it.
const SCRATCH: usize = 4 << 20;

/// A workload's buffers, for all contestants: where they lie in memory matters more than what is compared.
pub struct Buffers {
    memory: SharedMemory,
    places: Vec<Range<usize>>,
    untouched: Vec<u8>,
}

/// A kernel, ready to run.
pub struct Alone {
    store: Store<()>,
    run: TypedFunc<(i64, i64, i32, i32, i32), i32>,
    budget: Global,
    buffers: Rc<Buffers>,
    groups: [u32; 3],
    repeats: u32,
}

/// An engine that compiles as the driver's does.
///
/// # Errors
/// There is no code generator for this processor.
pub fn engine() -> Result<Engine> {
    let mut config = Config::new();
    config
        .wasm_threads(true)
        .shared_memory(true)
        .wasm_relaxed_simd(true)
        .concurrency_support(false)
        .memory_reservation(4 << 30)
        .memory_may_move(false)
        .signals_based_traps(true)
        .cranelift_opt_level(OptLevel::Speed);
    Ok(Engine::new(&config)?)
}

impl Buffers {
    /// Allocates and fills them.
    ///
    /// # Errors
    /// There is not enough address space.
    pub fn new(engine: &Engine, workload: &Workload) -> Result<Self> {
        let untouched = workload.untouched();
        let (mut places, mut end) = (Vec::new(), PAGE + SCRATCH);
        for buffer in workload.inputs.iter().chain([&untouched]) {
            let begin = end.next_multiple_of(PAGE);
            end = begin + buffer.len();
            places.push(begin..end);
        }
        let memory = SharedMemory::new(engine, MemoryType::shared(u32::try_from(end.div_ceil(PAGE))?, 1 << 16))?;
        let buffers = Self { memory, places, untouched };
        for (place, input) in buffers.places.iter().zip(&workload.inputs) {
            buffers.write(place, input)?;
        }
        Ok(buffers)
    }

    fn output(&self) -> Result<&Range<usize>> {
        self.places.last().context("there is no output")
    }

    fn cells(&self, place: &Range<usize>) -> Result<&[UnsafeCell<u8>]> {
        self.memory.data().get(place.clone()).context("the memory is too small")
    }

    fn write(&self, place: &Range<usize>, bytes: &[u8]) -> Result<()> {
        for (cell, byte) in self.cells(place)?.iter().zip(bytes) {
            // SAFETY: kernels run in `turn` alone, and all of it stays on one thread.
            unsafe { *cell.get() = *byte };
        }
        Ok(())
    }
}

impl Alone {
    /// A workload's kernel, as the options have it compiled.
    ///
    /// # Errors
    /// It is refused.
    pub fn new(
        engine: &Engine,
        kernel: &Kernel,
        workload: &Workload,
        buffers: &Rc<Buffers>,
        options: &Options,
    ) -> Result<Self> {
        let program = hal_kernel::load(Format::Wgsl, kernel.source.as_bytes(), &SourceLimits::default())?;
        let program = program.specialize(&[])?;
        let compiled = naga_wasm::compile(program.module(), program.info(), "main", options)?;
        ensure!(compiled.scratch_per_worker as usize <= SCRATCH, "it wants too much scratch");
        let mut store = Store::new(engine, ());
        let mut linker = Linker::new(engine);
        linker.define(&store, IMPORT_MODULE, IMPORT_MEMORY, buffers.memory.clone())?;
        linker.func_wrap(IMPORT_MODULE, IMPORT_REFILL, || {
            // The driver looks at the clock.
            black_box(Instant::now());
            SLICE
        })?;
        let instance = linker.instantiate(&mut store, &Module::new(engine, &compiled.wasm)?)?;
        let run = instance.get_typed_func(&mut store, EXPORT_RUN)?;
        let mut global = |name: &str| instance.get_global(&mut store, name).context("a global is missing");
        let (budget, scratch) = (global(EXPORT_BUDGET)?, global(EXPORT_SCRATCH)?);
        let mut values = vec![(scratch, PAGE)];
        for binding in &compiled.abi.bindings {
            let place = buffers.places.get(binding.binding as usize).context("a binding without a buffer")?;
            values
                .extend([(global(&binding.base_global)?, place.start), (global(&binding.length_global)?, place.len())]);
        }
        for (name, word) in compiled.abi.constants.iter().zip(&workload.constants) {
            values.push((global(name)?, *word as usize));
        }
        for (global, value) in values {
            global.set(&mut store, Val::I32(u32::try_from(value)?.cast_signed()))?;
        }
        Ok(Self { store, run, budget, buffers: buffers.clone(), groups: kernel.groups, repeats: kernel.repeats })
    }
}

impl Contestant for Alone {
    fn turn(&mut self) -> Result<f64> {
        let [x, y, z] = self.groups;
        let end = i64::from(x) * i64::from(y) * i64::from(z);
        let [x, y, z] = self.groups.map(u32::cast_signed);
        // It holds what another contestant wrote.
        self.buffers.write(self.buffers.output()?, &self.buffers.untouched)?;
        let begin = seconds();
        for _ in 0..self.repeats {
            self.budget.set(&mut self.store, Val::I64(SLICE))?;
            let status = self.run.call(&mut self.store, (0, end, x, y, z))?;
            ensure!(status == STATUS_DONE, "the kernel ended with {status}");
        }
        Ok((seconds() - begin) / f64::from(self.repeats))
    }

    fn output(&mut self) -> Result<Vec<f32>> {
        let cells = self.buffers.cells(self.buffers.output()?)?;
        // SAFETY: as in `write`.
        let bytes: Vec<u8> = cells.iter().map(|cell| unsafe { *cell.get() }).collect();
        Ok(bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect())
    }
}

/// What this thread had of a processor.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
