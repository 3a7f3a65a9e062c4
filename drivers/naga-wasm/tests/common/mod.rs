//! Compiles WGSL, runs it in wasmtime and hands the buffers back.

#![allow(dead_code, reason = "each test file uses its part of this")]
#![allow(clippy::result_large_err, reason = "naga's errors are what they are")]

pub mod oracle;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use naga_wasm::abi::{EXPORT_BUDGET, EXPORT_RUN, EXPORT_SCRATCH, IMPORT_MEMORY, IMPORT_MODULE, IMPORT_REFILL};
use naga_wasm::{Diagnostic, Kernel, Options};
use wasmtime::{Config, Engine, Extern, Global, Instance, Linker, MemoryType, Module, SharedMemory, Store, Val};

/// Parses and validates as a driver's front end would.
pub fn front(source: &str) -> (naga::Module, naga::valid::ModuleInfo) {
    let module =
        naga::front::wgsl::parse_str(source).unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
    let info = validate(&module).unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
    (module, info)
}

pub fn validate(
    module: &naga::Module,
) -> Result<naga::valid::ModuleInfo, naga::WithSpan<naga::valid::ValidationError>> {
    // What the project's front end accepts, and more, so that the compiler's own refusals are met.
    let flags = naga::valid::ValidationFlags::all() - naga::valid::ValidationFlags::CONTROL_FLOW_UNIFORMITY;
    naga::valid::Validator::new(flags, naga::valid::Capabilities::all()).validate(module)
}

pub fn compile(source: &str, entry: &str) -> Result<Kernel, Diagnostic> {
    let (module, info) = front(source);
    naga_wasm::compile(&module, &info, entry, &Options::default())
}

/// An engine with no more than the README asks for, if nothing is contracted.
pub fn engine() -> Engine {
    engine_for(&Options::default())
}

/// An engine with no more than the README asks for.
pub fn engine_for(options: &Options) -> Engine {
    let mut config = Config::new();
    config
        .wasm_threads(true)
        .shared_memory(true)
        .wasm_relaxed_simd(options.contract)
        .wasm_gc(false)
        .wasm_function_references(false)
        .wasm_reference_types(true)
        .wasm_exceptions(false)
        .wasm_tail_call(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_extended_const(false)
        .wasm_custom_page_sizes(false)
        .wasm_wide_arithmetic(false)
        .wasm_component_model(false);
    Engine::new(&config).unwrap()
}

/// A run of one kernel.
pub struct Run {
    pub groups: [u32; 3],
    pub constants: Vec<u8>,
    pub buffers: Vec<(u32, Vec<u8>)>,
    /// The linear workgroups to run; all by default.
    pub range: Option<(u64, u64)>,
    /// Work units at the start and at each refill.
    pub budget: i64,
    /// How often the budget is refilled before the kernel is told to stop.
    pub refills: i64,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            groups: [1, 1, 1],
            constants: Vec::new(),
            buffers: Vec::new(),
            range: None,
            budget: 1_000_000,
            refills: 1_000_000,
        }
    }
}

/// What a run left.
pub struct Outcome {
    pub status: i32,
    pub buffers: Vec<Vec<u8>>,
    pub refills: i64,
}

impl Outcome {
    pub fn floats(&self, at: usize) -> Vec<f32> {
        floats(&self.buffers[at])
    }

    pub fn words(&self, at: usize) -> Vec<u32> {
        words(&self.buffers[at])
    }

    pub fn ints(&self, at: usize) -> Vec<i32> {
        words(&self.buffers[at]).into_iter().map(u32::cast_signed).collect()
    }
}

pub fn floats(bytes: &[u8]) -> Vec<f32> {
    words(bytes).into_iter().map(f32::from_bits).collect()
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

pub fn bytes_f(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub fn bytes_u(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub fn bytes_i(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// WGSL's conversions of floats to integers: of what is out of range the nearest number that is a float, too.
pub fn i32_of(x: f32) -> i32 {
    if x >= 2f32.powi(31) { 2_147_483_520 } else { x as i32 }
}

pub fn u32_of(x: f32) -> u32 {
    if x >= 2f32.powi(32) { 4_294_967_040 } else { x as u32 }
}

pub fn i64_of(x: f32) -> i64 {
    if x >= 2f32.powi(63) { 9_223_371_487_098_961_920 } else { x as i64 }
}

pub fn u64_of(x: f32) -> u64 {
    if x >= 2f32.powi(64) { 18_446_742_974_197_923_840 } else { x as u64 }
}

/// Bytes around each buffer that nothing may change.
const CANARY: usize = 256;
const CANARY_BYTE: u8 = 0xa5;

/// Runs a compiled kernel and checks that it wrote only to its buffers and its scratch.
pub fn run_kernel(kernel: &Kernel, run: Run) -> Outcome {
    run_kernel_on(&engine(), kernel, run)
}

/// [`run_kernel`], on an engine.
pub fn run_kernel_on(engine: &Engine, kernel: &Kernel, run: Run) -> Outcome {
    let module = Module::new(engine, &kernel.wasm).expect("the module is valid");
    let mut at = 65536usize;
    let scratch = at;
    at += kernel.scratch_per_worker as usize + CANARY;
    let mut places = Vec::new();
    for (_, bytes) in &run.buffers {
        at = at.next_multiple_of(16) + CANARY;
        places.push(at);
        at += bytes.len() + CANARY;
    }
    let pages = u32::try_from(at.div_ceil(65536) + 1).unwrap();
    let memory = SharedMemory::new(engine, MemoryType::shared(pages, 65536)).unwrap();
    // SAFETY: the kernel runs on this thread, and not while these are called.
    let write = |offset: usize, byte: u8| unsafe { *memory.data()[offset].get() = byte };
    // SAFETY: as above.
    let read = |offset: usize| unsafe { *memory.data()[offset].get() };
    for offset in 65536..at {
        write(offset, CANARY_BYTE);
    }
    for ((_, bytes), &place) in run.buffers.iter().zip(&places) {
        for (offset, &byte) in bytes.iter().enumerate() {
            write(place + offset, byte);
        }
    }
    let mut store = Store::new(engine, ());
    let mut linker = Linker::new(engine);
    linker.define(&store, IMPORT_MODULE, IMPORT_MEMORY, memory.clone()).unwrap();
    let left = Arc::new(AtomicI64::new(run.refills));
    let counter = left.clone();
    let budget = run.budget;
    linker
        .func_wrap(
            IMPORT_MODULE,
            IMPORT_REFILL,
            move || {
                if counter.fetch_sub(1, Ordering::Relaxed) > 0 { budget } else { 0 }
            },
        )
        .unwrap();
    let instance = linker.instantiate(&mut store, &module).unwrap();
    set(&mut store, &instance, EXPORT_SCRATCH, Val::I32(scratch as i32));
    set(&mut store, &instance, EXPORT_BUDGET, Val::I64(run.budget));
    for binding in &kernel.abi.bindings {
        let index = run.buffers.iter().position(|(number, _)| *number == binding.binding);
        let index = index.unwrap_or_else(|| panic!("no buffer for binding {}", binding.binding));
        set(&mut store, &instance, &binding.base_global, Val::I32(places[index] as i32));
        set(&mut store, &instance, &binding.length_global, Val::I32(run.buffers[index].1.len() as i32));
    }
    assert_eq!(kernel.abi.constant_bytes as usize, run.constants.len(), "constants");
    for (name, word) in kernel.abi.constants.iter().zip(words(&run.constants)) {
        set(&mut store, &instance, name, Val::I32(word as i32));
    }
    let [x, y, z] = run.groups;
    let total = u64::from(x) * u64::from(y) * u64::from(z);
    let (begin, end) = run.range.unwrap_or((0, total));
    let entry = instance.get_typed_func::<(i64, i64, i32, i32, i32), i32>(&mut store, EXPORT_RUN).unwrap();
    let status = entry.call(&mut store, (begin as i64, end as i64, x as i32, y as i32, z as i32)).unwrap();
    let mut inside = vec![false; at];
    for ((_, bytes), &place) in run.buffers.iter().zip(&places) {
        inside[place..place + bytes.len()].fill(true);
    }
    inside[scratch..scratch + kernel.scratch_per_worker as usize].fill(true);
    for (offset, inside) in inside.into_iter().enumerate().skip(65536) {
        assert!(inside || read(offset) == CANARY_BYTE, "wrote outside of its buffers, at {offset}");
    }
    let buffers = run
        .buffers
        .iter()
        .zip(&places)
        .map(|((_, bytes), &place)| (0..bytes.len()).map(|offset| read(place + offset)).collect())
        .collect();
    Outcome { status, buffers, refills: run.refills - left.load(Ordering::Relaxed) }
}

fn set(store: &mut Store<()>, instance: &Instance, name: &str, value: Val) {
    let global: Global = match instance.get_export(&mut *store, name) {
        Some(Extern::Global(global)) => global,
        _ => panic!("no global `{name}`"),
    };
    global.set(store, value).unwrap();
}

/// Compiles and runs, and expects it to get to its end.
pub fn run(source: &str, entry: &str, run: Run) -> Outcome {
    let kernel = match compile(source, entry) {
        Ok(kernel) => kernel,
        Err(error) => panic!("{error} at {:?}", error.span.map(|span| span.location(source))),
    };
    let outcome = run_kernel(&kernel, run);
    assert_eq!(outcome.status, naga_wasm::abi::STATUS_DONE);
    outcome
}

/// Compiles and expects a refusal.
pub fn refuse(source: &str, entry: &str) -> Diagnostic {
    match compile(source, entry) {
        Ok(_) => panic!("compiled"),
        Err(error) => error,
    }
}
