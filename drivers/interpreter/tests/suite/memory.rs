//! Address spaces, layouts, arrays and pointers.

use crate::{bytes, group, try_run};
use hal_interpreter::Options;

#[test]
fn structures_lie_where_wgsl_says() {
    let source = "
        struct Inner { a: u32, v: vec3<u32> }
        struct Outer { x: u32, inner: Inner, m: mat3x3<f32>, list: array<vec2<u32>, 2>, rest: array<Inner> }
        @group(0) @binding(0) var<storage, read_write> s: Outer;
        @compute @workgroup_size(1) fn main() {
            s.x = 1u; s.inner.a = 2u; s.inner.v = vec3(3u, 4u, 5u); s.m[2][1] = 1.0; s.list[1].y = 6u;
            s.rest[1].v.z = arrayLength(&s.rest);
            s.rest[0] = Inner(8u, s.inner.v.zyx);
        }";
    // x at 0, inner at 16 (a at 0, v at 16, 32 in all), m at 48 with columns of 16, list at 96, rest at 112.
    let got = group(source, &[vec![0x77; 28 + 2 * 8 + 7]]);
    let mut want = vec![0x77; 28 + 2 * 8 + 7];
    for (at, value) in [(0, 1), (4, 2), (8, 3), (9, 4), (10, 5), (12 + 8 + 1, 1.0f32.to_bits()), (24 + 3, 6)] {
        want[at] = value;
    }
    for (at, value) in [(28, 8), (32, 5), (33, 4), (34, 3), (28 + 8 + 4 + 2, 2)] {
        want[at] = value;
    }
    assert_eq!(got, want);
}

#[test]
fn whole_values_are_copied_without_padding() {
    let source = "
        struct S { a: u32, v: vec3<u32> }
        @group(0) @binding(0) var<storage> source: array<S, 2>;
        @group(0) @binding(1) var<storage, read_write> to: array<S, 2>;
        @compute @workgroup_size(1) fn main() { let all = source; to = all; }";
    let from: Vec<u32> = (1..=16).collect();
    let got = group(source, &[from, vec![0; 16]]);
    assert_eq!(got, [1, 0, 0, 0, 5, 6, 7, 0, 9, 0, 0, 0, 13, 14, 15, 0]);
}

#[test]
fn private_and_function_memory_start_as_they_say() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<private> zero: array<vec2<u32>, 2>;
        var<private> mine: u32 = 9u;
        struct B { flags: vec3<bool>, n: i32 }
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) l: u32) {
            var b: B; var c = B(vec3(true, false, true), -1); var list = array<bool, 3>(false, true, false);
            mine += l; zero[l].y += 3u; b.flags[l] = true;
            o[l * 5u] = mine; o[l * 5u + 1u] = zero[0].y * 10u + zero[1].y;
            o[l * 5u + 2u] = u32(b.flags.x) + 2u * u32(b.flags.y); o[l * 5u + 3u] = u32(c.flags.z) + u32(c.n == -1);
            o[l * 5u + 4u] = u32(list[l]);
        }";
    assert_eq!(group(source, &[vec![7; 10]]), [9, 30, 1, 2, 0, 10, 3, 2, 2, 1]);
}

#[test]
fn uniforms_and_constants() {
    let source = "
        struct C { a: u32, v: vec4<u32> }
        var<immediate> c: C;
        @group(0) @binding(0) var<uniform> u: array<vec4<u32>, 2>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main() { o[0] = c.a + u[1].z; o[1] = c.v[o[2]]; }";
    let constants = bytes(&[100, 0, 0, 0, 1, 2, 3, 4]);
    let buffers = [(0..8).collect(), vec![0, 0, 2]];
    let (got, _) = try_run(source, [1, 1, 1], &constants, &buffers, &Options::default()).unwrap();
    assert_eq!(got[1], [106, 3, 2]);
}

#[test]
fn an_index_out_of_range_is_the_last() {
    let source = "
        @group(0) @binding(0) var<storage> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main() {
            var v = vec3(1u, 2u, 3u); var m = mat2x2(1.0, 2.0, 3.0, 4.0); var list = array(4u, 5u); let n = a[0];
            o[0] = a[n]; o[1] = v[n]; o[2] = u32(m[n].x); o[3] = list[n]; o[4] = list[bitcast<i32>(n) - 100];
            list[n] = 6u; o[5] = list[1]; o[6] = vec2(7u, 8u)[n]; o[n] = 9u;
        }";
    assert_eq!(group(source, &[vec![50, 1, 2], vec![0; 8]]), [2, 3, 3, 5, 5, 6, 8, 9]);
}

#[test]
fn a_runtime_array_has_as_many_elements_as_fit() {
    let source = "
        struct S { n: u32, list: array<vec2<u32>> }
        @group(0) @binding(0) var<storage, read_write> s: S;
        @compute @workgroup_size(1) fn main() { s.n = arrayLength(&s.list); s.list[9] = vec2(1u, 2u); }";
    // 8 bytes before the list, and then two elements and a half.
    assert_eq!(group(source, &[vec![0; 7]]), [2, 0, 0, 0, 1, 2, 0]);
}

#[test]
fn pointers_into_buffers_and_variables() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<array<u32, 2>>;
        var<workgroup> w: array<vec2<u32>, 3>;
        var<private> mine: array<vec2<u32>, 3>;
        fn add(p: ptr<private, array<vec2<u32>, 3>>, at: u32) { (*p)[at].y += 4u; }
        @compute @workgroup_size(1) fn main() {
            let p = &o[1]; (*p)[0] = 5u; let q = &(*p)[1]; *q = 6u;
            add(&mine, 2u); add(&mine, 2u); let r = &w[1]; (*r).y = mine[2].y; o[0][1] = w[1].y;
        }";
    assert_eq!(group(source, &[vec![0; 4]]), [0, 8, 5, 6]);
}

#[test]
fn atomics() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: array<atomic<u32>>;
        @group(0) @binding(1) var<storage, read_write> i: atomic<i32>;
        @group(0) @binding(2) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main() {
            o[0] = atomicAdd(&a[0], 5u); o[1] = atomicSub(&a[0], 1u); o[2] = atomicMax(&a[1], 7u); o[3] = atomicMin(&a[1], 6u);
            o[4] = atomicAnd(&a[2], 6u); o[5] = atomicOr(&a[2], 1u); o[6] = atomicXor(&a[2], 15u); o[7] = atomicExchange(&a[3], 9u);
            let right = atomicCompareExchangeWeak(&a[3], 9u, 10u); let wrong = atomicCompareExchangeWeak(&a[3], 9u, 11u);
            o[8] = right.old_value + u32(right.exchanged) * 100u; o[9] = wrong.old_value + u32(wrong.exchanged) * 100u;
            o[10] = atomicLoad(&a[3]); atomicStore(&a[4], 3u);
            o[11] = bitcast<u32>(atomicMin(&i, -4)); o[12] = bitcast<u32>(atomicMax(&i, -2));
        }";
    let (got, _) =
        try_run(source, [1, 1, 1], &[], &[vec![1, 5, 12, 8, 0], vec![u32::MAX], vec![0; 13]], &Options::default())
            .unwrap();
    assert_eq!(got[0], [5, 6, 10, 10, 3]);
    assert_eq!(got[1], [(-2i32).cast_unsigned()]);
    let minus = |x: i32| (-x).cast_unsigned();
    assert_eq!(got[2], [1, 6, 5, 7, 12, 4, 5, 8, 109, 10, 10, minus(1), minus(4)]);
}

#[test]
fn an_array_may_be_as_long_as_an_override_says() {
    let source = "
        override count: u32 = 3u;
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> w: array<u32, count>;
        @compute @workgroup_size(count) fn main(@builtin(local_invocation_index) l: u32) {
            w[l] = 5u + l;
            workgroupBarrier();
            o[l] = w[count - 1u - l] * 10u + w[9];
        }";
    assert_eq!(group(source, &[vec![0; 3]]), [77, 67, 57]);
}
