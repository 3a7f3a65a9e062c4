//! Kernels with the constructs of naga's own test inputs (`naga/tests/in` of the wgpu repository), one for each that has something for a
//! compute shader in it. They are written anew and named after the input; `left_out` has the inputs without one, and why.
//!
//! Each entry point is compiled as it is and by way of SPIR-V, with and without contraction, and run: it has to leave what the
//! interpreter does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]
#![allow(missing_docs, reason = "read where it is used, in this folder")]

#[path = "../common/mod.rs"]
mod common;
mod left_out;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use common::oracle::load;
use common::{Run, engine_for, run_kernel_on, validate};
use hal_interpreter::{Bound, Dispatch};
use hal_kernel::{Element, Function, Program, Tolerance, compare};
use left_out::LEFT_OUT;
use naga::Module;
use naga::back::spv::{self, Capability};
use naga::valid::ModuleInfo;
use naga_wasm::Options;
use naga_wasm::abi::STATUS_DONE;

/// Elements of a runtime-sized array.
const ELEMENTS: u32 = 20;
/// A kernel that does not end has to be stopped: far more than each of these takes.
const REFILLS: i64 = 10;
/// Workgroups of a run.
const GROUPS: [u32; 3] = [2, 1, 1];

/// Kernels with functions that WGSL allows an error: how many floats a result may be away.
const NEAR: [(&str, u64); 6] = [
    ("debug-symbol-terrain", 64),
    ("degrees", 2),
    ("f16-polyfill", 1),
    ("functions", 2),
    ("inv-hyperbolic-trig-functions", 4),
    ("math-functions", 16),
];
/// Of sums of products that are not rounded in between.
const CONTRACTED: Tolerance = Tolerance { ulps: 1 << 12, absolute: 1e-3 };

/// Kernels that are other kernels once they came through SPIR-V, and why.
const NOT_AS_SPIRV: [(&str, &str); 4] = [
    (
        "control-flow",
        "naga reads a case that has its target in common with the default as one that falls into the next",
    ),
    ("globals", "a uniform `vec3` becomes a structure of 16 bytes"),
    ("workgroup-uniform-load", "it becomes a load between two barriers, of a value that may differ"),
    ("workgroup-uniform-load-atomic", "as above"),
];

fn kernels() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/kernels");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = entries.map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&path).unwrap())
    });
    named.collect()
}

/// Scalars that are neither all alike nor far from each other: integers of both signs, and floats of which some are whole.
fn filled(bytes: usize, element: impl Fn(u64) -> Option<Element>) -> Vec<u8> {
    let mut words: Vec<u8> = Vec::with_capacity(bytes);
    while words.len() < bytes {
        let at = words.len() as u64;
        let number = (at / 2).wrapping_mul(0x9e37_79b9) >> 7 & 63;
        let element = element(at);
        match element {
            Some(Element::F32) => words.extend((number as f32 * 0.375 - 9.0).to_le_bytes()),
            // 1.0 to 3.9, in steps of 2^-5.
            Some(Element::F16) => words.extend((0x3c00 + (number as u16) * 32).to_le_bytes()),
            Some(Element::I64 | Element::U64) => words.extend((number << 30 | number).to_le_bytes()),
            Some(Element::I32 | Element::U32) => {
                words.extend((number as u32).wrapping_sub(at as u32 % 3).to_le_bytes())
            }
            _ => words.extend([0, 0]),
        }
    }
    words.truncate(bytes);
    words
}

fn buffers(program: &Program, function: &Function) -> Vec<(u32, Vec<u8>)> {
    let buffer = |binding: &hal_kernel::Binding| {
        let layout = program.layout(&function.name, binding.binding).unwrap();
        let more = binding.runtime_array.map_or(0, |array| array.stride * (ELEMENTS - 1));
        let bytes = (binding.min_length + more) as usize;
        let start = |at: u64| layout.element(at).filter(|&(start, _)| start == at).map(|(_, element)| element);
        (binding.binding, filled(bytes, start))
    };
    function.bindings.iter().map(buffer).collect()
}

/// What the interpreter leaves.
fn wanted(program: &Program, function: &Function, constants: &[u8]) -> Result<Vec<(u32, Vec<u8>)>, String> {
    let bound = |(binding, bytes)| Bound { binding, bytes };
    let mut bound: Vec<Bound> = buffers(program, function).into_iter().map(bound).collect();
    let dispatch = Dispatch { function: &function.name, groups: GROUPS, constants };
    hal_interpreter::run(program, &dispatch, &mut bound, &hal_interpreter::Options::default())
        .map_err(|error| error.to_string())?;
    Ok(bound.into_iter().map(|bound| (bound.binding, bound.bytes)).collect())
}

fn constants(function: &Function) -> Vec<u8> {
    filled(function.constant_bytes as usize, |_| Some(Element::U32))
}

/// WGSL to SPIR-V and back, without the integers of 8 bits that packing would be made of; none if naga cannot do that.
fn through_spirv(program: &Program) -> Option<(Module, ModuleInfo)> {
    use Capability::{
        AtomicFloat32AddEXT, Float16, GroupNonUniform, GroupNonUniformArithmetic, GroupNonUniformBallot,
        GroupNonUniformQuad, GroupNonUniformShuffle, GroupNonUniformShuffleRelative, GroupNonUniformVote, Int64,
        Shader, StorageBuffer16BitAccess, UniformAndStorageBuffer16BitAccess,
    };
    let capabilities = [
        AtomicFloat32AddEXT,
        Float16,
        GroupNonUniform,
        GroupNonUniformArithmetic,
        GroupNonUniformBallot,
        GroupNonUniformQuad,
        GroupNonUniformShuffle,
        GroupNonUniformShuffleRelative,
        GroupNonUniformVote,
        Int64,
        Shader,
        StorageBuffer16BitAccess,
        UniformAndStorageBuffer16BitAccess,
    ];
    let capabilities = Some(capabilities.into_iter().collect());
    let options = spv::Options { lang_version: (1, 4), capabilities, ..spv::Options::default() };
    let write = || spv::write_vec(program.module(), program.info(), &options, None);
    let words = std::panic::catch_unwind(AssertUnwindSafe(write)).ok()?.ok()?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let module = naga::front::spv::parse_u8_slice(&bytes, &naga::front::spv::Options::default()).ok()?;
    let info = validate(&module).ok()?;
    Some((module, info))
}

/// Compiles and runs an entry point, and compares it with what is wanted.
fn check(name: &str, program: &Program, function: &Function, module: &Module, info: &ModuleInfo) -> Result<(), String> {
    let wanted = wanted(program, function, &constants(function))?;
    let allowed = NEAR.iter().find(|(near, _)| *near == name).map_or(0, |&(_, ulps)| ulps);
    for contract in [false, true] {
        let options = Options { contract, ..Options::default() };
        let kernel = naga_wasm::compile(module, info, &function.name, &options).map_err(|error| error.to_string())?;
        let (constants, buffers) = (constants(function), buffers(program, function));
        let run = Run { groups: GROUPS, constants, buffers, refills: REFILLS, ..Run::default() };
        let outcome = run_kernel_on(&engine_for(&options), &kernel, run);
        if outcome.status != STATUS_DONE {
            return Err(format!("contract {contract}: status {}", outcome.status));
        }
        let tolerance = if contract { CONTRACTED } else { Tolerance { ulps: allowed, absolute: 0.0 } };
        for ((binding, wanted), got) in wanted.iter().zip(&outcome.buffers) {
            let layout = program.layout(&function.name, *binding).unwrap();
            let difference = compare(layout, got, wanted, &tolerance).filter(|difference| difference.beyond > 0);
            if let Some(difference) = difference {
                let [first, largest] = [difference.first, difference.largest];
                return Err(format!("contract {contract}, binding {binding}: first {first}, most {largest}"));
            }
        }
    }
    Ok(())
}

/// All entry points of all kernels, as they are or by way of SPIR-V; answers how many.
fn check_all(spirv: bool) -> usize {
    let (mut entries, mut failures) = (0, Vec::new());
    for (name, source) in kernels() {
        let program = load(&source).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        // Not everything that naga writes as SPIR-V can it read.
        let again =
            if spirv { through_spirv(&program) } else { Some((program.module().clone(), program.info().clone())) };
        let Some((module, info)) = again.filter(|_| !spirv || NOT_AS_SPIRV.iter().all(|(not, _)| *not != name)) else {
            continue;
        };
        for function in program.functions() {
            entries += 1;
            if let Err(why) = check(&name, &program, function, &module, &info) {
                failures.push(format!("{name}, {}: {why}", function.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {entries} fail:\n{}", failures.len(), failures.join("\n"));
    entries
}

#[test]
fn kernels_from_wgsl_do_what_the_interpreter_does() {
    assert!(check_all(false) >= 117);
}

#[test]
fn kernels_that_came_through_spirv_do_the_same() {
    assert!(check_all(true) >= 90);
}

/// A kernel whose buffers stay as they were would pass whatever is compiled.
#[test]
fn every_kernel_leaves_something() {
    for (name, source) in kernels() {
        let program = load(&source).unwrap();
        let changes = program
            .functions()
            .iter()
            .any(|function| wanted(&program, function, &constants(function)).unwrap() != buffers(&program, function));
        assert!(changes || name == "empty", "{name}");
    }
}

#[test]
fn no_input_is_both_left_out_and_here() {
    let kernels = kernels();
    let mut names: Vec<_> = LEFT_OUT.iter().flat_map(|group| group.names).collect();
    let count = names.len();
    assert!(names.iter().all(|name| !kernels.contains_key(**name)));
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "a name is there twice");
    // A reason that names another input in quotes means the kernel of that name.
    for name in LEFT_OUT.iter().filter_map(|group| group.why.strip_prefix("the same")?.split('`').nth(1)) {
        assert!(kernels.contains_key(name), "{name}");
    }
    for name in NEAR.map(|(name, _)| name).into_iter().chain(NOT_AS_SPIRV.map(|(name, _)| name)) {
        assert!(kernels.contains_key(name), "{name}");
    }
}
