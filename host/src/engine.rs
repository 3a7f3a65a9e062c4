//! The engine profile, the probe of an engine that somebody else built, and the thread that keeps guests interruptible.

use crate::error::{Error, Result};
use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};
use wasmtime::{Config, Engine, EngineWeak, InstanceAllocationStrategy, PoolingAllocationConfig, WasmFeatures};

/// Address space that each linear memory reserves, and so the most it can grow to. A store's own limit lies below.
pub const MEMORY_RESERVATION_BYTES: u64 = 256 << 20;
/// Live tenants, where the system allows as many mappings.
pub const MAX_TENANTS: u32 = 10_000;
/// Calls that run or wait at one time: each holds a stack of its own.
pub const MAX_CALLS: u32 = 1_024;
/// How often a running guest gives way: the resolution of deadlines, and the longest it holds its thread.
pub const TICK: Duration = Duration::from_millis(5);

/// Address space behind each linear memory that nothing may touch: the engine's default.
const GUARD_BYTES: u64 = 32 << 20;

/// Mappings of one composed tenant: two memories of four each, with their copy-on-write images.
const MAPPINGS_PER_TENANT: u32 = 8;
/// Mappings of one pooled stack: itself and its guard page.
const MAPPINGS_PER_CALL: u32 = 2;
/// Mappings left for the rest of the process: code, threads, drivers.
const MAPPINGS_FOR_OTHERS: u32 = 8_192;
/// Tenants where nothing tells how many mappings there may be.
const TENANTS_UNKNOWN_SYSTEM: u32 = 1_000;

/// Memories, tables and core instances of one component that fit the pool; a larger one is allocated on demand.
const POOLED_MEMORIES_PER_COMPONENT: u32 = 8;
const POOLED_TABLES_PER_COMPONENT: u32 = 64;
const POOLED_CORE_INSTANCES_PER_COMPONENT: u32 = 64;
/// What a tenant takes of the pool on average: it and the registry bring a memory each, and tables for their shims.
const MEMORIES_PER_TENANT: u32 = 2;
const TABLES_PER_TENANT: u32 = 6;
const CORE_INSTANCES_PER_TENANT: u32 = 16;
/// Elements of one pooled table. A large C# or JavaScript component has some ten thousand functions in one.
const POOLED_TABLE_ELEMENTS: usize = 32 << 10;
/// Kept resident in a free slot, and wiped by writing rather than by a system call: most small guests fit.
const KEEP_RESIDENT_MEMORY_BYTES: usize = 64 << 10;
const KEEP_RESIDENT_TABLE_BYTES: usize = 16 << 10;

/// Applies our profile to `config`: what a tenant's code may be, and how much room it gets.
///
/// - Guests can be stopped (epoch interruption). Compiled by Cranelift.
/// - Off: garbage collection and all that lives in its heap (exceptions, typed references), threads, 64-bit memories,
///   custom page sizes, tail calls, relaxed SIMD, and component-model async. Each is code that
///   tenants need not reach; several have had escapes or aborts this year.
/// - On: extended constants, without which no component made of shared libraries loads (Python's are), and multiple
///   memories. The latter not for guests: the adapters between composed components need them, and compiling without
///   panics.
/// - Pooled instances, for as many tenants as [`tenants`] says; 256 MiB of address space for each memory.
pub fn config(config: &mut Config) -> &mut Config {
    config_for(config, tenants())
}

/// The same, pooled for this many tenants.
pub(crate) fn config_for(config: &mut Config, tenants: u32) -> &mut Config {
    compile_config(config);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(tenants)));
    config
}

/// The part of [`config`] that decides what compiled code looks like: the compile worker's. No pool, because a pool
/// reserves address space, which is what a worker is short of.
pub fn compile_config(config: &mut Config) -> &mut Config {
    config
        .epoch_interruption(true)
        .concurrency_support(false)
        .gc_support(false)
        .wasm_gc(false)
        .wasm_function_references(false)
        .wasm_exceptions(false)
        .wasm_threads(false)
        .wasm_memory64(false)
        .wasm_custom_page_sizes(false)
        .wasm_tail_call(false)
        .wasm_relaxed_simd(false)
        .wasm_extended_const(true)
        .wasm_multi_memory(true)
        .memory_reservation(MEMORY_RESERVATION_BYTES)
        .allocation_strategy(InstanceAllocationStrategy::OnDemand)
}

/// How many tenants can live at one time: [`MAX_TENANTS`], or as many as the system's limit on mappings allows.
pub fn tenants() -> u32 {
    let Some(mappings) = max_map_count() else { return TENANTS_UNKNOWN_SYSTEM };
    let room = mappings.saturating_sub(MAPPINGS_FOR_OTHERS + MAX_CALLS * MAPPINGS_PER_CALL);
    (room / MAPPINGS_PER_TENANT).clamp(16, MAX_TENANTS)
}

/// Address space that a pool for this many tenants reserves for linear memories, in bytes; little more is reserved besides.
pub(crate) fn reserved_bytes(tenants: u32) -> u64 {
    let slot = MEMORY_RESERVATION_BYTES.saturating_add(GUARD_BYTES);
    slot.saturating_mul(memories(tenants).into())
}

/// Memories of a pool for this many tenants: at least what one component may have.
fn memories(tenants: u32) -> u32 {
    tenants.saturating_mul(MEMORIES_PER_TENANT).max(POOLED_MEMORIES_PER_COMPONENT)
}

fn max_map_count() -> Option<u32> {
    std::fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
}

fn pool(tenants: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(tenants)
        .total_core_instances(
            tenants.saturating_mul(CORE_INSTANCES_PER_TENANT).max(POOLED_CORE_INSTANCES_PER_COMPONENT),
        )
        .total_memories(memories(tenants))
        .total_tables(tenants.saturating_mul(TABLES_PER_TENANT).max(POOLED_TABLES_PER_COMPONENT))
        .total_stacks(MAX_CALLS.min(tenants))
        .total_gc_heaps(0)
        .max_core_instances_per_component(POOLED_CORE_INSTANCES_PER_COMPONENT)
        .max_memories_per_component(POOLED_MEMORIES_PER_COMPONENT)
        .max_tables_per_component(POOLED_TABLES_PER_COMPONENT)
        .max_memories_per_module(POOLED_MEMORIES_PER_COMPONENT)
        .max_tables_per_module(POOLED_TABLES_PER_COMPONENT)
        .table_elements(POOLED_TABLE_ELEMENTS)
        .max_memory_size(usize::try_from(MEMORY_RESERVATION_BYTES).unwrap_or(usize::MAX))
        .linear_memory_keep_resident(KEEP_RESIDENT_MEMORY_BYTES)
        .table_keep_resident(KEEP_RESIDENT_TABLE_BYTES);
    pool
}

/// An engine like `engine` that allocates on demand; code compiled for one loads in the other.
pub(crate) fn on_demand(engine: &Engine) -> Result<Engine> {
    let mut config = engine.config().clone();
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    Engine::new(&config).map_err(|error| Error::Internal(format!("an on-demand twin of the engine: {error:#}")))
}

/// Names each setting of `engine` that weakens the threat model; an empty list for one built by [`config`].
///
/// # Errors
/// [`Error::Setup`] if no composed component can run on it at all.
pub fn probe(engine: &Engine) -> Result<Vec<String>> {
    let features = engine.get_wasm_features();
    if !features.contains(WasmFeatures::COMPONENT_MODEL) {
        return Err(Error::Setup(
            "the engine has the component model off; call Config::wasm_component_model(true)".into(),
        ));
    }
    if !features.contains(WasmFeatures::MULTI_MEMORY) {
        return Err(Error::Setup(
            "the engine has multiple memories off, and compiling a composed component then panics; leave \
             Config::wasm_multi_memory on"
                .into(),
        ));
    }
    let mut found = Vec::new();
    let mut weak = |is: bool, text: &str| {
        if is {
            found.push(text.to_owned());
        }
    };
    weak(!engine.get_epoch_interruption(), "epoch_interruption is off, so an endless guest cannot be stopped");
    weak(engine.get_concurrency_support(), "concurrency_support is on, so component-model async is reachable");
    weak(
        matches!(engine.get_strategy(), Some(wasmtime::Strategy::Winch)),
        "the Winch compiler is chosen, which has had several escapes",
    );
    weak(features.contains(WasmFeatures::GC), "wasm_gc is on");
    weak(
        features.contains(WasmFeatures::EXCEPTIONS),
        "wasm_exceptions is on, whose objects live in the collector's heap",
    );
    weak(features.contains(WasmFeatures::FUNCTION_REFERENCES), "wasm_function_references is on");
    weak(features.contains(WasmFeatures::THREADS), "wasm_threads is on");
    weak(features.contains(WasmFeatures::MEMORY64), "wasm_memory64 is on");
    weak(features.contains(WasmFeatures::CUSTOM_PAGE_SIZES), "wasm_custom_page_sizes is on");
    weak(features.contains(WasmFeatures::TAIL_CALL), "wasm_tail_call is on");
    weak(features.contains(WasmFeatures::RELAXED_SIMD), "wasm_relaxed_simd is on");
    weak(features.contains(WasmFeatures::STACK_SWITCHING), "wasm_stack_switching is on");
    Ok(found)
}

/// Advances the epoch of engines every [`TICK`]. The thread ends with the ticker.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<Ticking>,
    stop: Condvar,
}

struct Ticking {
    engines: Vec<EngineWeak>,
    stopped: bool,
}

impl Ticker {
    /// # Errors
    /// [`Error::Internal`] if the system refuses a thread.
    pub(crate) fn start(engine: &Engine, tick: Duration) -> Result<Self> {
        let state = Mutex::new(Ticking { engines: vec![engine.weak()], stopped: false });
        let shared = Arc::new(Shared { state, stop: Condvar::new() });
        let theirs = Arc::clone(&shared);
        thread::Builder::new()
            .name("hal-epoch".into())
            .spawn(move || theirs.run(tick))
            .map_err(|error| Error::Internal(format!("no thread for the epoch: {error}")))?;
        Ok(Self { shared })
    }

    pub(crate) fn add(&self, engine: &Engine) {
        self.shared.lock().engines.push(engine.weak());
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.stop.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Ticking> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, tick: Duration) {
        let mut state = self.lock();
        while !state.stopped {
            state.engines.retain(|engine| engine.upgrade().inspect(Engine::increment_epoch).is_some());
            state = self.stop.wait_timeout(state, tick).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
