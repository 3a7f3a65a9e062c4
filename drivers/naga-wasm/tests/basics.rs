//! The kernels of the examples and of the conformance suite.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::{Run, bytes_f, bytes_u, run};

#[test]
fn abs() {
    let source = "
        @group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> b: array<f32>;
        @compute @workgroup_size(1) fn abs_all(@builtin(global_invocation_id) id: vec3<u32>) {
            b[id.x] = abs(a[id.x]);
        }";
    let input = [-1.0, 2.0, -3.5, 0.0];
    let buffers = vec![(0, bytes_f(&input)), (1, bytes_f(&[9.0; 4]))];
    let out = run(source, "abs_all", Run { groups: [4, 1, 1], buffers, ..Run::default() });
    assert_eq!(out.floats(1), [1.0, 2.0, 3.5, 0.0]);
}

#[test]
fn scale_and_offset_with_two_constants() {
    let source = "
        struct Constants { scale: f32, offset: f32 }
        var<immediate> c: Constants;
        @group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> b: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < arrayLength(&a) { b[id.x] = a[id.x] * c.scale + c.offset; }
        }";
    let input: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let buffers = vec![(0, bytes_f(&input)), (1, bytes_f(&[0.0; 100]))];
    let constants = bytes_f(&[2.0, 0.5]);
    let out = run(source, "main", Run { groups: [2, 1, 1], buffers, constants, ..Run::default() });
    let want: Vec<f32> = input.iter().map(|value| value * 2.0 + 0.5).collect();
    assert_eq!(out.floats(1), want);
}

#[test]
fn write_four_constants() {
    let source = "
        var<immediate> c: vec4<u32>;
        @group(0) @binding(3) var<storage, read_write> b: array<u32>;
        @compute @workgroup_size(1) fn main() { for (var i = 0u; i < 4u; i++) { b[i] = c[i]; } }";
    let buffers = vec![(3, bytes_u(&[0; 4]))];
    let out = run(source, "main", Run { buffers, constants: bytes_u(&[7, 8, 9, 10]), ..Run::default() });
    assert_eq!(out.words(0), [7, 8, 9, 10]);
}

#[test]
fn two_entry_points_in_one_module() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> b: array<i32>;
        @compute @workgroup_size(1) fn negate(@builtin(global_invocation_id) id: vec3<u32>) { b[id.x] = -b[id.x]; }
        @compute @workgroup_size(1) fn double(@builtin(global_invocation_id) id: vec3<u32>) { b[id.x] *= 2; }";
    let buffers = || vec![(0, common::bytes_i(&[1, -2, i32::MIN]))];
    let out = run(source, "negate", Run { groups: [3, 1, 1], buffers: buffers(), ..Run::default() });
    assert_eq!(out.ints(0), [-1, 2, i32::MIN]);
    let out = run(source, "double", Run { groups: [3, 1, 1], buffers: buffers(), ..Run::default() });
    assert_eq!(out.ints(0), [2, -4, 0]);
}

#[test]
fn workgroup_ids_of_a_part_of_the_groups() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> b: array<vec4<u32>>;
        @compute @workgroup_size(1)
        fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {
            b[id.x + n.x * (id.y + n.y * id.z)] = vec4<u32>(id, n.z);
        }";
    let buffers = vec![(0, bytes_u(&[99; 4 * 24]))];
    let out = run(source, "main", Run { groups: [2, 3, 4], buffers, range: Some((5, 20)), ..Run::default() });
    for (at, chunk) in out.words(0).chunks(4).enumerate() {
        let at = at as u32;
        let want = if (5..20).contains(&at) { [at % 2, at / 2 % 3, at / 6, 4] } else { [99; 4] };
        assert_eq!(chunk, want);
    }
}

#[test]
fn indirect_counts() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> counts: vec3<u32>;
        @compute @workgroup_size(1) fn main() { counts = vec3<u32>(3u, 2u, 1u); }";
    let buffers = vec![(0, bytes_u(&[0; 4]))];
    let out = run(source, "main", Run { buffers, ..Run::default() });
    assert_eq!(out.words(0), [3, 2, 1, 0]);
}

fn matrix(rows: usize, columns: usize, seed: f32) -> Vec<f32> {
    (0..rows * columns).map(|i| ((i as f32) * seed).sin()).collect()
}

fn product(a: &[f32], b: &[f32], m: usize, k: usize, n: usize) -> Vec<f32> {
    let mut out = vec![0.0f32; m * n];
    for row in 0..m {
        for column in 0..n {
            for at in 0..k {
                out[row * n + column] += a[row * k + at] * b[at * n + column];
            }
        }
    }
    out
}

const MATMUL: &str = "
    struct Size { m: u32, k: u32, n: u32 }
    var<immediate> size: Size;
    @group(0) @binding(0) var<storage, read> a: array<f32>;
    @group(0) @binding(1) var<storage, read> b: array<f32>;
    @group(0) @binding(2) var<storage, read_write> c: array<f32>;
    @compute @workgroup_size(8, 8) fn naive(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x >= size.n || id.y >= size.m { return; }
        var sum = 0.0;
        for (var i = 0u; i < size.k; i++) { sum += a[id.y * size.k + i] * b[i * size.n + id.x]; }
        c[id.y * size.n + id.x] = sum;
    }
    var<workgroup> ta: array<array<f32, 16>, 16>;
    var<workgroup> tb: array<array<f32, 16>, 16>;
    @compute @workgroup_size(16, 16)
    fn tiled(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>) {
        var sum = 0.0;
        let tiles = (size.k + 15u) / 16u;
        for (var t = 0u; t < tiles; t++) {
            let ax = t * 16u + l.x;
            let by = t * 16u + l.y;
            ta[l.y][l.x] = select(0.0, a[id.y * size.k + ax], id.y < size.m && ax < size.k);
            tb[l.y][l.x] = select(0.0, b[by * size.n + id.x], by < size.k && id.x < size.n);
            workgroupBarrier();
            for (var i = 0u; i < 16u; i++) { sum += ta[l.y][i] * tb[i][l.x]; }
            workgroupBarrier();
        }
        if id.x < size.n && id.y < size.m { c[id.y * size.n + id.x] = sum; }
    }";

#[test]
fn matmul_naive_and_tiled() {
    let (m, k, n) = (20, 37, 29);
    let (a, b) = (matrix(m, k, 0.3), matrix(k, n, 0.7));
    let want = product(&a, &b, m, k, n);
    for (entry, tile) in [("naive", 8), ("tiled", 16)] {
        let buffers = vec![(0, bytes_f(&a)), (1, bytes_f(&b)), (2, bytes_f(&vec![0.0; m * n]))];
        let groups = [n.div_ceil(tile) as u32, m.div_ceil(tile) as u32, 1];
        let constants = bytes_u(&[m as u32, k as u32, n as u32]);
        let out = run(MATMUL, entry, Run { groups, buffers, constants, ..Run::default() });
        for (got, want) in out.floats(2).iter().zip(&want) {
            assert!((got - want).abs() < 1e-5, "{entry}: {got} {want}");
        }
    }
}

#[test]
fn bias_and_relu() {
    let source = "
        @group(0) @binding(0) var<storage, read> bias: array<f32, 10>;
        @group(0) @binding(1) var<storage, read_write> x: array<f32>;
        @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.x;
            if (i >= arrayLength(&x)) { return; }
            x[i] = max(x[i] + bias[i % 10u], 0.0);
        }";
    let bias: Vec<f32> = (0..10).map(|i| i as f32 - 5.0).collect();
    let x: Vec<f32> = (0..45).map(|i| (i as f32 * 0.9).sin() * 4.0).collect();
    let buffers = vec![(0, bytes_f(&bias)), (1, bytes_f(&x))];
    let out = run(source, "main", Run { groups: [2, 1, 1], buffers, ..Run::default() });
    let want: Vec<f32> = x.iter().enumerate().map(|(i, x)| (x + bias[i % 10]).max(0.0)).collect();
    assert_eq!(out.floats(1), want);
}

#[test]
fn row_softmax_with_tree_reduction() {
    let source = "
        var<immediate> columns: u32;
        @group(0) @binding(0) var<storage, read_write> x: array<f32>;
        var<workgroup> part: array<f32, 64>;
        fn reduce(lid: u32) {
            for (var step = 32u; step > 0u; step = step >> 1u) {
                workgroupBarrier();
                if lid < step { part[lid] = part[lid] + part[lid + step]; }
            }
            workgroupBarrier();
        }
        @compute @workgroup_size(64)
        fn main(@builtin(workgroup_id) row: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
            let base = row.x * columns;
            var largest = -3.4e38;
            for (var i = lid; i < columns; i += 64u) { largest = max(largest, x[base + i]); }
            part[lid] = largest;
            for (var step = 32u; step > 0u; step = step >> 1u) {
                workgroupBarrier();
                if lid < step { part[lid] = max(part[lid], part[lid + step]); }
            }
            workgroupBarrier();
            largest = part[0];
            workgroupBarrier();
            var sum = 0.0;
            for (var i = lid; i < columns; i += 64u) {
                let e = exp(x[base + i] - largest);
                x[base + i] = e;
                sum += e;
            }
            part[lid] = sum;
            reduce(lid);
            let total = part[0];
            for (var i = lid; i < columns; i += 64u) { x[base + i] = x[base + i] / total; }
        }";
    let (rows, columns) = (3, 100);
    let x = matrix(rows, columns, 0.37);
    let buffers = vec![(0, bytes_f(&x))];
    let constants = bytes_u(&[columns as u32]);
    let out = run(source, "main", Run { groups: [rows as u32, 1, 1], buffers, constants, ..Run::default() });
    let got = out.floats(0);
    for row in 0..rows {
        let values = &x[row * columns..(row + 1) * columns];
        let sum: f64 = values.iter().map(|&v| f64::from(v).exp()).sum();
        for (at, &value) in values.iter().enumerate() {
            let want = f64::from(value).exp() / sum;
            assert!((f64::from(got[row * columns + at]) - want).abs() < 1e-7);
        }
    }
}

#[test]
fn saxpy() {
    let source = "
        var<immediate> a: f32;
        @group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
        @group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < arrayLength(&x) { y[id.x] = fma(vec4<f32>(a), x[id.x], y[id.x]); }
        }";
    let x: Vec<f32> = (0..400).map(|i| i as f32).collect();
    let buffers = vec![(0, bytes_f(&x)), (1, bytes_f(&[1.0; 400]))];
    let out = run(source, "main", Run { groups: [2, 1, 1], buffers, constants: bytes_f(&[3.0]), ..Run::default() });
    let want: Vec<f32> = x.iter().map(|x| 3.0 * x + 1.0).collect();
    assert_eq!(out.floats(1), want);
}
