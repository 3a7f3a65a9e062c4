//! The engine that runs kernels. Nothing but kernels ever runs in it, and nothing passes between it and any other engine.

use hal_driver::{Code, Error, Result};
use wasmtime::{Config, Engine, OptLevel};

/// Address space of a device, all of what 32-bit addresses reach: then no access needs a bounds check.
const RESERVATION: u64 = 4 << 30;

/// Stack of a kernel in bytes. Kernels do not recurse and keep arrays in scratch; this must stay well below the 2 MiB of the threads they run on.
const STACK: usize = 512 << 10;

pub(crate) fn new() -> Result<Engine> {
    let mut config = Config::new();
    config
        .wasm_threads(true)
        .shared_memory(true)
        .wasm_simd(true)
        .wasm_relaxed_simd(true)
        // What kernels do not need is off; `gc` and `concurrency_support` are where known aborts are.
        .wasm_gc(false)
        .wasm_function_references(false)
        .wasm_exceptions(false)
        .wasm_tail_call(false)
        .wasm_memory64(false)
        .wasm_extended_const(false)
        .wasm_custom_page_sizes(false)
        .wasm_component_model(false)
        .concurrency_support(false)
        // Interruption is the kernels' own counter: epochs cost up to twice the time in tight loops.
        .epoch_interruption(false)
        .consume_fuel(false)
        .memory_reservation(RESERVATION)
        .memory_may_move(false)
        .signals_based_traps(true)
        .max_wasm_stack(STACK)
        .cranelift_opt_level(OptLevel::Speed)
        // One compilation uses one core, the caller's: a tenant's kernel must not take all of them.
        .parallel_compilation(false)
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false);
    Engine::new(&config)
        .map_err(|error| Error::new(Code::Unavailable, format!("no kernel engine for this processor: {error:#}")))
}
