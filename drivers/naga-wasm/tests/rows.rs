//! Loads of cells that lie one after the other: as vectors that are transposed, at the ends of bindings, and where they may not move.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::{Run, bytes_u, front, run};
use naga_wasm::{Options, compile_observed};

/// How many rows the compiler makes of the loads of `main`.
fn rows(source: &str) -> usize {
    let (module, info) = front(source);
    let mut rows = 0;
    let mut observe = |pass: &str, text: &str| {
        if pass == "interleave" {
            rows = text.matches("LoadRow").count();
        }
    };
    compile_observed(&module, &info, "main", &Options::default(), &mut observe).unwrap();
    rows
}

/// Runs `main` on `groups` workgroups over the words `input` and as many zeroes as are asked for.
fn words(source: &str, groups: u32, input: &[u32], output: usize) -> Vec<u32> {
    let buffers = vec![(0, bytes_u(input)), (1, bytes_u(&vec![0; output]))];
    run(source, "main", Run { groups: [groups, 1, 1], buffers, ..Run::default() }).words(1)
}

/// Sums of the words from `first` on, each times its place among them.
fn weighted(input: &[u32], first: impl Fn(usize) -> usize, words: usize) -> u32 {
    (0..words).map(|n| input[first(n).min(input.len() - 1)] * (n as u32 + 1)).sum()
}

#[test]
fn components_of_vectors() {
    for (index, size, groups) in [("id.x", 8, 2), ("id.x * 3u + 1u", 16, 1), ("id.x * id.x", 4, 1), ("7u - id.x", 4, 1)]
    {
        let source = format!(
            "@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
            @group(0) @binding(1) var<storage, read_write> o: array<u32>;
            @compute @workgroup_size({size}) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                let v = a[{index}];
                o[id.x] = v.x + 2u * v.y + 3u * v.z + 4u * v.w;
            }}"
        );
        assert_eq!(rows(&source), 1, "{index}");
        // The last of the invocations are beyond the end, and get the last element.
        let input: Vec<u32> = (100..132).collect();
        let want: Vec<u32> = (0..16)
            .map(|id| {
                let at = match index {
                    "id.x" => id,
                    "id.x * 3u + 1u" => id * 3 + 1,
                    "id.x * id.x" => id * id,
                    _ => 7usize.wrapping_sub(id),
                };
                weighted(&input, |n| at.min(7) * 4 + n, 4)
            })
            .collect();
        let count = size * groups;
        assert_eq!(words(&source, groups as u32, &input, count), want[..count], "{index}");
    }
}

#[test]
fn unrolled_indices() {
    let source = "
        @group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var sum = 0u;
            for (var n = 0u; n < 8u; n++) { sum += a[id.x * 8u + n] * (n + 1u); }
            o[id.x] = sum;
        }";
    assert_eq!(rows(source), 2);
    // The binding ends within, before and behind a row, and has less than one.
    for length in [64, 61, 37, 35, 32, 29, 5, 3, 1] {
        let input: Vec<u32> = (0..length).map(|n| n * n + 7).collect();
        let want: Vec<u32> = (0..8).map(|id| weighted(&input, |n| id * 8 + n, 8)).collect();
        assert_eq!(words(source, 1, &input, 8), want, "{length}");
    }
}

#[test]
fn indices_that_wrap_around() {
    let source = "
        @group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.x * 4u - 2u;
            o[id.x] = a[i] + 2u * a[i + 1u] + 3u * a[i + 2u] + 4u * a[i + 3u];
        }";
    assert_eq!(rows(source), 1);
    let input: Vec<u32> = (1..=32).collect();
    let at = |id: u32, n: u32| input[(id * 4).wrapping_sub(2).wrapping_add(n).min(31) as usize];
    let want: Vec<u32> = (0..4).map(|id| (0..4).map(|n| at(id, n) * (n + 1)).sum()).collect();
    assert_eq!(words(source, 1, &input, 4), want);
}

#[test]
fn stores_keep_their_place() {
    // Workgroup memory is written between its loads, by every lane to where the next lane reads.
    let source = "
        @group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        var<workgroup> w: array<vec4<u32>, 5>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) id: u32) {
            w[id] = vec4<u32>(a[id]);
            let x = w[id].x + w[id].y;
            w[id].w = 1000u;
            o[id] = x + w[id].z + w[id].w;
        }";
    assert_eq!(rows(source), 0);
    assert_eq!(words(source, 1, &[1, 2, 3, 4], 4), [1003, 1006, 1009, 1012]);
    // A binding does not lie in workgroup memory.
    let apart = source
        .replace("w[id].x + w[id].y", "a[4u * id] + a[4u * id + 1u]")
        .replace("x + w[id].z + w[id].w", "x + a[4u * id + 2u] + a[4u * id + 3u] + w[id].w");
    assert_eq!(rows(&apart), 1);
    let input: Vec<u32> = (0..16).collect();
    assert_eq!(words(&apart, 1, &input, 4), [1006, 1022, 1038, 1054]);
}

#[test]
fn lanes_that_leave_a_loop_early() {
    // Lanes leave at different times, at the greatest numbers too, so that no comparison of scalars may stand for theirs.
    let source = "
        @group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) id: u32) {
            var rounds = 0u;
            for (var i = a[0] + id; i < a[1]; i += 8u) { rounds += 1u; if rounds == 40u { break; } }
            var signed = 0u;
            for (var i = i32(a[2] + id); i < i32(a[3]); i += 8) { signed += 1u; if signed == 40u { break; } }
            o[id] = rounds * 100u + signed;
        }";
    let rounds = |from: u32, to: u32| {
        (0..8u32).map(move |id| {
            let mut i = from.wrapping_add(id);
            let mut rounds = 0;
            while i < to && rounds < 40 {
                (i, rounds) = (i.wrapping_add(8), rounds + 1);
            }
            rounds
        })
    };
    let signed = |from: u32, to: u32| rounds(from ^ 1 << 31, to ^ 1 << 31);
    let least = i32::MIN.cast_unsigned();
    for (from, to) in [(0, 0), (0, 1), (0, 6), (0, 64), (3, 29), (u32::MAX - 5, u32::MAX), (u32::MAX - 20, u32::MAX)] {
        for (low, high) in [(0, 9), (least, least + 1), (least, least + 3), (i32::MAX as u32 - 9, i32::MAX as u32)] {
            let want: Vec<u32> = rounds(from, to).zip(signed(low, high)).map(|(u, s)| u * 100 + s).collect();
            assert_eq!(words(source, 1, &[from, to, low, high], 8), want, "{from}..{to}, {low}..{high}");
        }
    }
}
