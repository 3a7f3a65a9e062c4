//! Kernels that came through SPIR-V: built-in values in private variables, a function around the function.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::{Run, bytes_u, run, run_kernel, validate};
use naga_wasm::Options;

/// WGSL to SPIR-V and back to IR.
fn through_spirv(source: &str) -> naga::Module {
    let (module, info) = common::front(source);
    let options = naga::back::spv::Options { lang_version: (1, 3), ..naga::back::spv::Options::default() };
    let words = naga::back::spv::write_vec(&module, &info, &options, None).unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    naga::front::spv::parse_u8_slice(&bytes, &naga::front::spv::Options::default()).unwrap()
}

const KERNEL: &str = "
    struct C { a: u32, b: u32 }
    var<immediate> c: C;
    @group(0) @binding(0) var<storage, read> i: array<u32>;
    @group(0) @binding(1) var<storage, read_write> o: array<u32>;
    var<workgroup> w: array<u32, 8>;
    fn mixed(x: u32, p: ptr<function, u32>) -> u32 {
        switch x & 3u { case 0u: { *p += 1u; return 5u; } case 1u, 2u: { *p += x; } default: { return x / c.b; } }
        return *p;
    }
    @compute @workgroup_size(8)
    fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) g: vec3<u32>) {
        var acc = 0u;
        var list: array<u32, 4>;
        for (var k = 0u; k < c.a; k++) {
            w[l] = i[id.x] + k;
            workgroupBarrier();
            acc += w[7u - l] * mixed(k + l, &acc);
            workgroupBarrier();
            list[k & 3u] += acc;
        }
        if id.x >= arrayLength(&o) { return; }
        o[id.x] = acc + list[2] + u32(f32(l) * 1.5) + g.x + dot(vec2<u32>(l, k_of(l)), vec2<u32>(3u, 4u));
    }
    fn k_of(l: u32) -> u32 { if l > 4u { return l * 2u; } else { return 1u; } }";

#[test]
fn the_same_results_as_from_wgsl() {
    let module = through_spirv(KERNEL);
    let info = validate(&module).unwrap();
    let kernel =
        naga_wasm::compile(&module, &info, "main", &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let task = || Run {
        groups: [2, 1, 1],
        constants: bytes_u(&[5, 3]),
        buffers: vec![(0, bytes_u(&(0..16).map(|at| at * at).collect::<Vec<_>>())), (1, bytes_u(&[0; 13]))],
        ..Run::default()
    };
    let got = run_kernel(&kernel, task());
    assert_eq!(got.status, 0);
    let want = run(KERNEL, "main", task());
    assert_eq!(got.words(1), want.words(1));
    assert!(want.words(1).iter().all(|&word| word != 0));
}
