//! A compiled kernel, and the instances that run it.

use crate::{
    codegen::Codegen,
    cost,
    dispatch::Job,
    memory::{Memory, SCRATCH_BYTES},
    slice::Slice,
};
use hal_driver::{Code, Error, Result};
use naga_wasm::abi;
use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use wasmtime::{
    AsContextMut, Caller, Extern, Func, Global, Instance, Module, Store, StoreLimits, StoreLimitsBuilder, TypedFunc,
    Val,
};

/// Most steps of one invocation outside of loops, where a kernel does not look at its budget: a few milliseconds. What the compiler copies
/// into one entry point is far below.
const MAX_STRAIGHT: u64 = 1 << 22;

/// Most blocks in one entry point with what it calls: the compiler's time grows with their square (50,000 took 13 s), and cannot be interrupted.
/// Kernels have some hundreds.
const MAX_BLOCKS: u64 = 10_000;

/// Most blocks times locals, summed over the functions of one entry point. Turning locals into values fills a table of that size, and giving
/// values registers takes time that grows faster than it: four times as much took 16 s. Kernels have some thousands, those built to have many
/// about as much as this.
const MAX_BLOCK_LOCALS: u64 = 1_000_000;

/// One entry point as machine code, with instances that are kept between dispatches.
pub(crate) struct Kernel {
    module: Module,
    pub(crate) abi: abi::Abi,
    /// Whether it has no loops, so that `cost` bounds its running time.
    pub(crate) straight: bool,
    /// Steps of one invocation outside of loops, at most.
    pub(crate) cost: u64,
    idle: Mutex<Vec<Runner>>,
}

/// What a dispatch hands to every instance that takes part in it. It never lies in memory that a kernel can write.
pub(crate) struct Arguments {
    /// Address and length of each binding, in the order of [`abi::Abi::bindings`].
    pub(crate) bindings: Vec<(u32, u32)>,
    /// The constants, by word.
    pub(crate) constants: Vec<u32>,
    /// Workgroups in x, y, z.
    pub(crate) groups: [u32; 3],
}

/// How a run ended that did not trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All workgroups ran.
    Done,
    /// The job said stop.
    Stopped,
}

impl Kernel {
    pub(crate) fn new(codegen: &Codegen, compiled: naga_wasm::Kernel) -> Result<Self> {
        if compiled.scratch_per_worker > SCRATCH_BYTES {
            return Err(defect("it wants more scratch than it was told there is"));
        }
        let refused = |error: &dyn std::fmt::Display| {
            Error::new(
                Code::Internal,
                format!("the kernel compiler's output was refused, a defect of this driver: {error:#}"),
            )
        };
        let costs = cost::of(&compiled.wasm).map_err(|error| refused(&error))?;
        check(costs)?;
        let module = codegen.module(&compiled.wasm).map_err(|error| refused(&error))?;
        let straight = !compiled.features.loops;
        Ok(Self { module, straight, cost: costs.straight, abi: compiled.abi, idle: Mutex::default() })
    }

    /// An instance that takes part in `job` with scratch of its own.
    pub(crate) fn runner(&self, memory: &Memory, job: &Arc<Job>, slot: u32) -> Result<Runner> {
        let kept = self.lock().pop();
        let mut runner = kept.map_or_else(|| Runner::new(self, memory), Ok)?;
        runner.prepare(job, Memory::scratch(slot))?;
        Ok(runner)
    }

    /// Keeps an instance that ended well for the next dispatch. There are never more than took part at once.
    pub(crate) fn keep(&self, mut runner: Runner) {
        runner.store.data_mut().job = None;
        self.lock().push(runner);
    }

    /// Drops the instances that are kept.
    pub(crate) fn trim(&self) {
        let kept = std::mem::take(&mut *self.lock());
        drop(kept);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Runner>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses what would take long to compile or to stop.
fn check(costs: cost::Costs) -> Result<()> {
    let cost::Costs { straight, blocks, block_locals } = costs;
    if straight > MAX_STRAIGHT {
        return Err(Error::new(
            Code::ResourceExhausted,
            format!(
                "one invocation runs up to {straight} steps outside of loops, as functions call each other; at most {MAX_STRAIGHT}"
            ),
        ));
    }
    if blocks > MAX_BLOCKS {
        return Err(Error::new(
            Code::ResourceExhausted,
            format!(
                "the kernel compiles to {blocks} blocks; at most {MAX_BLOCKS}; use fewer branches and loops, or split it"
            ),
        ));
    }
    if block_locals > MAX_BLOCK_LOCALS {
        return Err(Error::new(
            Code::ResourceExhausted,
            format!(
                "the kernel compiles to {block_locals} blocks times locals; at most {MAX_BLOCK_LOCALS}; use fewer variables beside so many branches, or split it"
            ),
        ));
    }
    Ok(())
}

struct State {
    /// What it runs for; none while it is idle, so that an idle instance keeps nothing alive.
    job: Option<Arc<Job>>,
    slice: Slice,
    limits: StoreLimits,
}

/// One instance in a store of its own. One store per instance, because a store frees its instances only as a whole, and because the
/// engine's signal handler asserts that an address lies in at most one memory of a store, which two imports of a shared memory break.
pub(crate) struct Runner {
    store: Store<State>,
    run: TypedFunc<(i64, i64, u32, u32, u32), i32>,
    budget: Global,
    scratch: Global,
    bindings: Vec<(Global, Global)>,
    constants: Vec<Global>,
}

impl Runner {
    fn new(kernel: &Kernel, memory: &Memory) -> Result<Self> {
        // A kernel makes nothing: it has one instance, with no memory and no table of its own.
        let limits = StoreLimitsBuilder::new().instances(1).memories(1).tables(0).build();
        let mut store = Store::new(kernel.module.engine(), State { job: None, slice: Slice::new(), limits });
        store.limiter(|state| &mut state.limits);
        let refill = Func::wrap(&mut store, |mut caller: Caller<'_, State>| {
            let State { job, slice, .. } = caller.data_mut();
            match job {
                Some(job) if job.may_go_on() => slice.next(Instant::now()),
                _ => 0,
            }
        });
        let mut imports = Vec::new();
        for import in kernel.module.imports() {
            imports.push(match (import.module(), import.name()) {
                (abi::IMPORT_MODULE, abi::IMPORT_MEMORY) => Extern::SharedMemory(memory.shared().clone()),
                (abi::IMPORT_MODULE, abi::IMPORT_REFILL) => Extern::Func(refill),
                (module, name) => return Err(defect(&format!("unknown import {module}.{name}"))),
            });
        }
        let instance = Instance::new(&mut store, &kernel.module, &imports)
            .map_err(|error| Error::new(Code::ResourceExhausted, format!("cannot instantiate a kernel: {error:#}")))?;
        let run =
            instance.get_typed_func(&mut store, abi::EXPORT_RUN).map_err(|error| defect(&format!("{error:#}")))?;
        let mut global = |name: &str| {
            instance.get_global(&mut store, name).ok_or_else(|| defect(&format!("there is no global {name}")))
        };
        let bindings = kernel.abi.bindings.iter().map(|b| Ok((global(&b.base_global)?, global(&b.length_global)?)));
        let bindings = bindings.collect::<Result<_>>()?;
        let constants = kernel.abi.constants.iter().map(|name| global(name)).collect::<Result<_>>()?;
        let (budget, scratch) = (global(abi::EXPORT_BUDGET)?, global(abi::EXPORT_SCRATCH)?);
        Ok(Self { store, run, budget, scratch, bindings, constants })
    }

    fn prepare(&mut self, job: &Arc<Job>, scratch: u32) -> Result<()> {
        let arguments = &job.arguments;
        let state = self.store.data_mut();
        (state.job, state.slice) = (Some(job.clone()), Slice::new());
        set(&mut self.store, self.scratch, scratch)?;
        for ((base, length), binding) in self.bindings.iter().zip(&arguments.bindings) {
            set(&mut self.store, *base, binding.0)?;
            set(&mut self.store, *length, binding.1)?;
        }
        for (global, word) in self.constants.iter().zip(&arguments.constants) {
            set(&mut self.store, *global, *word)?;
        }
        Ok(())
    }

    /// Runs the workgroups with these linear numbers, from `now` on.
    ///
    /// # Errors
    /// The kernel trapped, or does not keep to the ABI: the device is to be lost.
    pub(crate) fn run(&mut self, groups: Range<u64>, [x, y, z]: [u32; 3], now: Instant) -> Result<Ended> {
        let units = self.store.data_mut().slice.begin(now);
        self.budget.set(&mut self.store, Val::I64(units)).map_err(|error| defect(&format!("{error:#}")))?;
        let status = self.run.call(&mut self.store, (groups.start as i64, groups.end as i64, x, y, z));
        match status.map_err(|error| defect(&format!("it trapped: {error:#}")))? {
            abi::STATUS_DONE => Ok(Ended::Done),
            abi::STATUS_STOPPED => Ok(Ended::Stopped),
            abi::STATUS_BINDING_TOO_SHORT => Err(defect("a binding was too short, which the checks above let through")),
            status => Err(defect(&format!("unknown status {status}"))),
        }
    }
}

fn set(store: impl AsContextMut, global: Global, value: u32) -> Result<()> {
    global.set(store, Val::I32(value.cast_signed())).map_err(|error| defect(&format!("{error:#}")))
}

fn defect(what: &str) -> Error {
    Error::new(Code::Internal, format!("a kernel broke its contract with the driver: {what}"))
}
