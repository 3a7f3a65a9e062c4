//! Every op, run in wasmtime and compared with Rust's own functions of `f64` or of scalars.

use wasm_encoder::{
    BlockType, CodeSection, ExportKind, ExportSection, Function, FunctionSection, InstructionSink, MemArg,
    MemArgTarget, MemorySection, MemoryType, Module, TypeSection, ValType,
};
use wasmtime::{Engine, Instance, Memory, Store, TypedFunc};

use super::{Helper, Op, body, signature};

mod accuracy;
mod exact;
mod timing;

/// A op in a module that maps it over memory: first operands, second operands, results.
struct Bench {
    store: Store<()>,
    memory: Memory,
    map: TypedFunc<i32, ()>,
}

const PAGE: usize = 65536;

impl Bench {
    /// Room for `count` lanes, a multiple of four.
    fn new(op: Op, count: usize) -> Self {
        let bytes = count * 4;
        let engine = Engine::default();
        let wasm = module(op, bytes);
        let compiled = wasmtime::Module::new(&engine, wasm).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &compiled, &[]).unwrap();
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        let map = instance.get_typed_func(&mut store, "map").unwrap();
        Self { store, memory, map }
    }

    fn map(&mut self, bytes: usize) {
        self.map.call(&mut self.store, i32::try_from(bytes).unwrap()).unwrap();
    }
}

/// `map(bytes)` applies the op to each 16 bytes.
fn module(op: Op, bytes: usize) -> Vec<u8> {
    let (params, results) = signature(op);
    let binary = params.len() == 2;
    let mut types = TypeSection::new();
    types.ty().function(params, results);
    types.ty().function([ValType::I32], []);
    let mut functions = FunctionSection::new();
    functions.function(0).function(1);
    let mut memories = MemorySection::new();
    let minimum = (bytes * 3).div_ceil(PAGE) as u64;
    memories.memory(MemoryType { minimum, maximum: None, memory64: false, shared: false, page_size_log2: None });
    let mut exports = ExportSection::new();
    exports.export("memory", ExportKind::Memory, 0).export("map", ExportKind::Func, 1);
    let mut code = CodeSection::new();
    code.function(&body(op).unwrap()).function(&map_body(binary, bytes as u64));
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&memories).section(&exports).section(&code);
    module.finish()
}

fn map_body(binary: bool, bytes: u64) -> Function {
    let at = |offset| MemArg { offset, align: 4, target: MemArgTarget::Memory(0), ordering: None };
    let (end, place) = (0, 1);
    let mut instructions = Vec::new();
    let mut code = InstructionSink::new(&mut instructions);
    code.loop_(BlockType::Empty);
    code.local_get(place).local_get(place).v128_load(at(0));
    if binary {
        code.local_get(place).v128_load(at(bytes));
    }
    code.call(0).v128_store(at(bytes * 2));
    code.local_get(place).i32_const(16).i32_add().local_tee(place).local_get(end).i32_lt_u().br_if(0);
    code.end().end();
    let mut function = Function::new([(1, ValType::I32)]);
    function.raw(instructions);
    function
}

/// The op of all lanes.
fn map(op: Op, xs: &[u32], ys: &[u32]) -> Vec<u32> {
    let count = xs.len().next_multiple_of(4);
    let bytes = count * 4;
    let mut bench = Bench::new(op, count);
    let data = bench.memory.data_mut(&mut bench.store);
    for (values, place) in [(xs, 0), (ys, bytes)] {
        for (value, word) in values.iter().zip(data[place..place + bytes].chunks_exact_mut(4)) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
    bench.map(bytes);
    let results = bench.memory.data(&bench.store)[bytes * 2..].chunks_exact(4);
    results.take(xs.len()).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn map_floats(op: Op, xs: &[f32], ys: &[f32]) -> Vec<f32> {
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    map(op, &bits(xs), &bits(ys)).into_iter().map(f32::from_bits).collect()
}

/// Numbers that look random (splitmix), always the same ones.
fn random(count: usize) -> impl Iterator<Item = u32> {
    (1..=count as u64).map(|index| {
        let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as u32
    })
}
