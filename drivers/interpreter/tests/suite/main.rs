//! What the interpreter makes of small kernels, against values worked out by hand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "all of this crate is tests, helpers included"
)]

mod arithmetic;
mod checks;
mod control;
mod functions;
mod groups;
mod halves;
mod memory;
mod refusals;
mod subgroups;
mod wide;

use hal_interpreter::{Bound, Dispatch, Error, Options, Report, run};
use hal_kernel::{Format, Program, SourceLimits, load};

fn program(source: &str) -> Program {
    let program = load(Format::Wgsl, source.as_bytes(), &SourceLimits::default());
    program.and_then(|program| program.specialize(&[])).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Runs `main` with these buffers at bindings 0, 1, ...
fn try_run(
    source: &str,
    groups: [u32; 3],
    constants: &[u8],
    buffers: &[Vec<u32>],
    options: &Options,
) -> Result<(Vec<Vec<u32>>, Report), Error> {
    let mut bound: Vec<Bound> =
        (0u32..).zip(buffers).map(|(binding, buffer)| Bound { binding, bytes: bytes(buffer) }).collect();
    let dispatch = Dispatch { function: "main", groups, constants };
    let report = run(&program(source), &dispatch, &mut bound, options)?;
    Ok((bound.iter().map(|bound| words(&bound.bytes)).collect(), report))
}

/// Runs one workgroup and answers with the last buffer.
fn group(source: &str, buffers: &[Vec<u32>]) -> Vec<u32> {
    let ran = try_run(source, [1, 1, 1], &[], buffers, &Options::default());
    ran.unwrap_or_else(|error| panic!("{error}\n{source}")).0.pop().unwrap()
}

/// The values of `u32` expressions over the words `a[0]`, `a[1]`, ...
fn values(expressions: &[&str], a: &[u32]) -> Vec<u32> {
    let stores: String = expressions.iter().enumerate().map(|(at, text)| format!("o[{at}] = {text};\n")).collect();
    let source = format!(
        "@group(0) @binding(0) var<storage> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        fn i(at: u32) -> i32 {{ return bitcast<i32>(a[at]); }}
        fn f(at: u32) -> f32 {{ return bitcast<f32>(a[at]); }}
        fn r(x: f32) -> u32 {{ return bitcast<u32>(x); }}
        fn s(x: i32) -> u32 {{ return bitcast<u32>(x); }}
        @compute @workgroup_size(1) fn main() {{ {stores} }}"
    );
    group(&source, &[a.to_vec(), vec![0; expressions.len()]])
}

/// The values of `f32` expressions over the floats `f(0)`, `f(1)`, ...
fn floats(expressions: &[&str], a: &[f32]) -> Vec<f32> {
    let expressions: Vec<String> = expressions.iter().map(|text| format!("r({text})")).collect();
    let expressions: Vec<&str> = expressions.iter().map(String::as_str).collect();
    let a: Vec<u32> = a.iter().map(|value| value.to_bits()).collect();
    values(&expressions, &a).into_iter().map(f32::from_bits).collect()
}
