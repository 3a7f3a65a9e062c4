//! Memory: bounds, layouts, variables, pointers, atomics, constants.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::{Run, bytes_f, bytes_i, bytes_u, compile, run, run_kernel};

#[test]
fn an_index_out_of_range_stays_in_its_binding() {
    let source = "
        @group(0) @binding(0) var<storage, read> index: array<i32>;
        @group(0) @binding(1) var<storage, read_write> data: array<u32>;
        struct Fixed { head: u32, cells: array<vec2<u32>, 3>, tail: u32 }
        @group(0) @binding(2) var<storage, read_write> fixed: Fixed;
        struct Tail { count: u32, items: array<vec3<u32>> }
        @group(0) @binding(3) var<storage, read_write> tail: Tail;
        @group(0) @binding(4) var<storage, read_write> read_back: array<u32>;
        var<workgroup> w: array<u32, 5>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = index[id.x];
            data[i] = 77u;
            data[u32(i) + 3u] += 1u;
            fixed.cells[i].y = 5u;
            fixed.cells[1][i] = 6u;
            tail.items[i] = vec3<u32>(1u, 2u, 3u);
            tail.items[1000000][i] = 4u;
            var local = array<u32, 3>(1u, 2u, 3u);
            local[i] = 9u;
            w[i] = 1u;
            read_back[id.x] = data[i] + local[u32(i)] + tail.items[i].z + w[i] + index[i + 1] * 0u;
        }";
    let wrong = [-1, i32::MIN, i32::MAX, 3, 4, 5, 1_000_000, 0x4000_0000, 0x1000_0000, 0x0555_5556];
    let buffers = vec![
        (0, bytes_i(&wrong)),
        (1, bytes_u(&[0; 4])),
        (2, bytes_u(&[0; 10])),
        (3, bytes_u(&[0; 4 + 2 * 4 + 3])),
        (4, bytes_u(&[0; 10])),
    ];
    // The source above mixes `i32` and `u32`; the last operand is only there to read.
    let source = source.replace("index[i + 1] * 0u", "u32(index[i + 1]) * 0u");
    let out = run(&source, "main", Run { groups: [10, 1, 1], buffers, ..Run::default() });
    // The harness has checked what lies around. The first members were never indexed.
    assert_eq!((out.words(2)[0], out.words(2)[8]), (0, 0));
    assert_eq!(out.words(3)[0], 0);
}

/// What a condition says of an index holds for those that it lets through, as they are then, and in the arithmetic in which it was asked.
#[test]
fn conditions_do_not_say_too_much_of_an_index() {
    let run = |body: &str, numbers: [u32; 3]| {
        let source = format!(
            "@group(0) @binding(0) var<storage, read> n: array<u32>;
            @group(0) @binding(1) var<storage, read_write> o: array<u32>;
            var<workgroup> w: array<u32, 16>;
            @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32) {{
                w[l] = 10u * l;
                w[l + 8u] = 80u + 10u * l;
                workgroupBarrier();
                var r = 7u;
                {body}
                o[l] = r;
            }}"
        );
        let buffers = vec![(0, bytes_u(&numbers)), (1, bytes_u(&[0; 8]))];
        run(&source, "main", Run { buffers, ..Run::default() }).words(1)
    };
    let each = |value: fn(u32) -> u32| (0..8).map(value).collect::<Vec<u32>>();
    // A negative number is less than four, and no small index.
    let signed = run("let i = n[0]; if i32(i) < 4 { r = w[i + l]; }", [0xffff_fffd, 0, 0]);
    assert_eq!(signed, each(|l| 0xffff_fffd_u32.wrapping_add(l).min(15) * 10));
    // The sum is small because it went round; what it is a sum with is not.
    let round = run("let s = n[0] + 5u; if s < 8u { r = w[s]; }", [0xffff_fffe, 0, 0]);
    assert_eq!(round, [30; 8]);
    // A variable is something else after it was set.
    let later = "var i = n[0]; for (var k = 0u; k < n[2]; k++) { if i < 4u { i += n[1]; r = w[i]; } }";
    assert_eq!(run(later, [1, 0x1000_0000, 2]), [150; 8]);
    // Lanes that are let through by themselves say nothing of the others.
    let lanes = run("let k = l * 0x4000000u; if k < 4u { r = w[k]; }", [0; 3]);
    assert_eq!(lanes, each(|l| if l == 0 { 0 } else { 7 }));
}

/// A local array without an initial value is zero each time that it is come to.
#[test]
fn rounds_of_a_loop_keep_to_the_ends_of_bindings() {
    // Where all lanes and all indices are in range, a round has no clamps; the first that has one that is not, and what follows, does.
    let source = "
        @group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @group(0) @binding(2) var<storage, read_write> sums: array<u32>;
        var<immediate> range: vec2<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) id: u32) {
            var sum = 0u;
            for (var i = range.x + id; i < range.y; i += 8u) {
                sum = sum * 3u + a[2u * i] + a[2u * i + 1u] + a[2u * i - 3u];
                o[i - 5u] = sum;
            }
            sums[id] = sum;
        }";
    let kernel = compile(source, "main").unwrap();
    for (length, written) in [(1, 1), (7, 100), (16, 9), (40, 100), (64, 20), (200, 6), (200, 100)] {
        let a: Vec<u32> = (0..length).map(|x| x * x + 1).collect();
        for (from, to) in
            [(0, 8), (0, 30), (3, 64), (5, 21), (60, 99), (u32::MAX - 40, u32::MAX - 15), (1 << 31, (1 << 31) + 9)]
        {
            let (mut sums, mut left) = ([0u32; 8], vec![0; written as usize]);
            for i in from..to {
                let reads = [i.wrapping_mul(2), i.wrapping_mul(2) + 1, i.wrapping_mul(2).wrapping_sub(3)];
                let sum = &mut sums[(i - from) as usize % 8];
                let read = |sum: u32, index: u32| sum.wrapping_add(a[index.min(length - 1) as usize]);
                *sum = reads.into_iter().fold(sum.wrapping_mul(3), read);
                left[i.wrapping_sub(5).min(written - 1) as usize] = *sum;
            }
            let buffers = vec![(0, bytes_u(&a)), (1, vec![0; 4 * written as usize]), (2, vec![0; 32])];
            let outcome = run_kernel(&kernel, Run { constants: bytes_u(&[from, to]), buffers, ..Run::default() });
            let place = format!("{length} elements, {written} written, {from}..{to}");
            assert_eq!(outcome.words(2), sums, "{place}");
            // At the end of the binding invocations meet, and who comes last there is not told.
            let count = written as usize - 1;
            assert_eq!(outcome.words(1)[..count], left[..count], "{place}");
        }
    }
}

#[test]
fn variables_of_a_loop_begin_anew_in_each_round() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32) {
            let rounds = o[0];
            var sum = 0u;
            for (var round = 0u; round < rounds; round++) {
                var a: array<u32, 6>;
                for (var k = 0u; k < 6u; k++) { a[k] += round + k * l; }
                for (var k = 0u; k < 6u; k++) { sum += a[k] * (k + 1u); }
            }
            storageBarrier();
            o[l] = sum;
        }";
    let out = run(source, "main", Run { buffers: vec![(0, bytes_u(&[3; 8]))], ..Run::default() }).words(0);
    let once = |round: u32, l: u32| (0..6).map(|k| (round + k * l) * (k + 1)).sum::<u32>();
    assert_eq!(out, (0..8).map(|l| (0..3).map(|round| once(round, l)).sum()).collect::<Vec<u32>>());
}

#[test]
fn array_length_follows_the_binding() {
    let source = "
        struct Tail { head: vec4<u32>, items: array<vec3<f32>> }
        @group(0) @binding(0) var<storage> a: array<u32>;
        @group(0) @binding(1) var<storage> b: Tail;
        @group(0) @binding(2) var<storage, read_write> o: array<u32>;
        fn length_of() -> u32 { var n = 0u; for (var i = 0u; i < 1u; i++) { n += arrayLength(&b.items); } return n; }
        @compute @workgroup_size(1) fn main() { o[0] = arrayLength(&a); o[1] = length_of() + length_of() * 100u; o[2] = arrayLength(&o); }";
    for (words, tail) in [(1, 32), (7, 47), (8, 48), (9, 160)] {
        let buffers = vec![(0, bytes_u(&vec![0; words])), (1, vec![0; tail]), (2, bytes_u(&[0; 3]))];
        let out = run(source, "main", Run { buffers, ..Run::default() });
        let items = (tail as u32 - 16) / 16;
        assert_eq!(out.words(2), [words as u32, items * 101, 3]);
    }
}

#[test]
fn a_binding_that_is_too_short_is_refused() {
    let source = "
        struct S { a: vec4<u32>, b: array<u32> }
        @group(0) @binding(5) var<storage, read_write> s: S;
        @compute @workgroup_size(1) fn main() { s.b[0] = 1u; }";
    let kernel = compile(source, "main").unwrap();
    assert_eq!(kernel.abi.bindings[0].min_length, 32);
    let short = run_kernel(&kernel, Run { buffers: vec![(5, vec![0; 28])], ..Run::default() });
    assert_eq!(short.status, naga_wasm::abi::STATUS_BINDING_TOO_SHORT);
    assert_eq!(short.buffers[0], vec![0; 28]);
    let enough = run_kernel(&kernel, Run { buffers: vec![(5, vec![0; 32])], ..Run::default() });
    assert_eq!((enough.status, enough.words(0)[4]), (0, 1));
}

#[test]
fn structures_arrays_and_matrices_lie_as_wgsl_says() {
    let source = "
        struct Inner { a: f32, b: vec3<f32> }
        struct Outer { m3: mat3x3<f32>, m2: mat2x2<f32>, list: array<Inner, 2>, v: vec3<f32>, f: f32, m32: mat3x2<f32> }
        @group(0) @binding(0) var<storage> i: Outer;
        @group(0) @binding(1) var<storage, read_write> o: Outer;
        @group(0) @binding(2) var<storage, read_write> flat: array<f32>;
        @compute @workgroup_size(1) fn main() {
            o = i;
            var copy = i.list;
            copy[1].b.y = i.m3[2][1];
            let whole = copy;
            o.list = whole;
            flat[0] = i.m3[1].z; flat[1] = i.m2[1][0]; flat[2] = i.list[1].b.x; flat[3] = i.v.z; flat[4] = i.f;
            flat[5] = i.m32[2].y; flat[6] = whole[1].b.y; flat[7] = copy[0].a;
        }";
    // Offsets in words: m3 0, m2 12, list 16 (stride 8), v 32, f 35, m32 36.
    let words: Vec<f32> = (0..44).map(|at| at as f32).collect();
    let buffers = vec![(0, bytes_f(&words)), (1, bytes_f(&[-1.0; 44])), (2, bytes_f(&[0.0; 8]))];
    let out = run(source, "main", Run { buffers, ..Run::default() });
    assert_eq!(out.floats(2), [6.0, 14.0, 28.0, 34.0, 35.0, 41.0, 9.0, 16.0]);
    let copied = out.floats(1);
    for padding in [3, 7, 11] {
        assert_eq!(copied[padding], -1.0, "padding at {padding} was written");
    }
    assert_eq!((copied[0], copied[10], copied[29], copied[41]), (0.0, 10.0, 9.0, 41.0));
}

#[test]
fn private_and_local_arrays() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<private> seen: array<u32, 40>;
        var<private> pair: vec2<u32> = vec2<u32>(3u, 4u);
        fn note(i: u32) -> u32 { seen[i % 40u] += 1u; pair.x += 1u; var s = 0u; for (var k = 0u; k < 40u; k++) { s += seen[k]; } return s; }
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {
            var table = array<array<u32, 4>, 8>();
            for (var i = 0u; i < 8u; i++) { for (var j = 0u; j < 4u; j++) { table[i][j] = i * j + l; } }
            var sum = 0u;
            for (var i = 0u; i < 8u; i++) { let row = table[i]; sum += row[l] + row[(l + 1u) % 4u]; }
            let n = note(l) + note(l + 50u);
            o[l] = sum;
            o[4u + l] = n * 100u + pair.x * 10u + pair.y;
        }";
    let out = run(source, "main", Run { buffers: vec![(0, bytes_u(&[0; 8]))], ..Run::default() });
    for l in 0..4u32 {
        let sum: u32 = (0..8).map(|i| i * l + l + i * ((l + 1) % 4) + l).sum();
        assert_eq!(out.words(0)[l as usize], sum);
        assert_eq!(out.words(0)[4 + l as usize], 300 + 54);
    }
}

#[test]
fn function_calls_with_pointers() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        struct P { x: u32, y: array<u32, 4> }
        var<private> g: P;
        fn add(p: ptr<function, u32>, v: u32) -> u32 { let old = *p; *p = old + v; return old; }
        fn fill(p: ptr<function, array<u32, 4>>, n: u32) { for (var i = 0u; i < n; i++) { (*p)[i] += i * 10u; } }
        fn both(p: ptr<function, P>) -> u32 { fill(&(*p).y, 3u); return add(&(*p).x, (*p).y[2]); }
        fn in_private(p: ptr<private, P>) { (*p).x += 1u; (*p).y[(*p).x] = 8u; }
        fn swap(a: ptr<function, vec2<u32>>, b: ptr<function, vec2<u32>>) { let t = *a; *a = *b; *b = t; }
        @compute @workgroup_size(1) fn main() {
            var p = P(5u, array<u32, 4>(1u, 2u, 3u, 4u));
            o[0] = both(&p);
            o[1] = p.x; o[2] = p.y[0]; o[3] = p.y[1]; o[4] = p.y[2]; o[5] = p.y[3];
            in_private(&g); in_private(&g);
            o[6] = g.x; o[7] = g.y[1] + g.y[2] + g.y[3];
            var a = vec2<u32>(1u, 2u); var b = vec2<u32>(3u, 4u);
            swap(&a, &b);
            o[8] = a.x * 1000u + a.y * 100u + b.x * 10u + b.y;
            let q = &a; (*q).y = 6u; o[9] = a.y;
        }";
    let out = run(source, "main", Run { buffers: vec![(0, bytes_u(&[0; 10]))], ..Run::default() });
    assert_eq!(out.words(0), [5, 28, 1, 12, 23, 4, 2, 16, 3412, 6]);
}

#[test]
fn functions_that_are_called_often_stay_functions() {
    let long = "v = v * 1664525u + 1013904223u; v = v ^ (v >> 7u);".repeat(30);
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @group(0) @binding(1) var<storage> d: array<u32>;
        struct R {{ a: u32, b: vec2<f32>, c: bool }}
        var<private> calls: u32;
        fn big(s: u32, r: R) -> R {{
            calls += 1u;
            var v = s + d[s]; var list: array<u32, 4>; {long}
            for (var i = 0u; i < 4u; i++) {{ list[i] = v + i; }}
            return R(list[s & 3u], r.b.yx, !r.c);
        }}
        fn outer(s: u32) -> u32 {{ let r = big(s, big(s + 1u, R(0u, vec2<f32>(1.0, 2.0), true))); {} return select(0u, r.a, r.c) + u32(r.b.x); }}
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) l: u32) {{
            o[l] = outer(l) + outer(l); o[2u + l] = calls; workgroupBarrier(); o[4u + l] = big(l, R()).a + calls;
        }}",
        "_ = s;".repeat(70)
    );
    let big = |s: u32, d: &[u32]| {
        let mut v = s.wrapping_add(d[s as usize]);
        for _ in 0..30 {
            v = v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            v ^= v >> 7;
        }
        v.wrapping_add(s & 3)
    };
    let data = [11, 22, 33];
    let out = run(&source, "main", Run { buffers: vec![(0, bytes_u(&[0; 6])), (1, bytes_u(&data))], ..Run::default() });
    for l in 0..2u32 {
        let outer = big(l, &data).wrapping_add(1);
        let got = out.words(0);
        assert_eq!(got[l as usize], outer.wrapping_mul(2));
        assert_eq!(got[2 + l as usize], 4);
        assert_eq!(got[4 + l as usize], big(l, &data).wrapping_add(5));
    }
}

#[test]
fn constant_tables() {
    let numbers: Vec<String> = (0..200).map(|at| format!("{}u", at * at)).collect();
    let source = format!(
        "const SMALL = array<f32, 4>(1.5, 2.5, 3.5, 4.5);
        const LARGE = array<u32, 200>({});
        const PAIRS = array<vec2<i32>, 3>(vec2(1, -1), vec2(2, -2), vec2(3, -3));
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        fn at(i: u32) -> u32 {{ let t = LARGE; return t[i]; }}
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            let i = id.x;
            o[i] = u32(SMALL[i] * 2.0) + LARGE[i * 10u] * 100u + u32(PAIRS[i % 3u].x) + at(i);
        }}",
        numbers.join(",")
    );
    let out = run(&source, "main", Run { groups: [4, 1, 1], buffers: vec![(0, bytes_u(&[0; 4]))], ..Run::default() });
    let want: Vec<u32> = (0..4u32).map(|i| (i * 2 + 3) + i * i * 10_000 + i % 3 + 1 + i * i).collect();
    assert_eq!(out.words(0), want);
}

#[test]
fn large_values() {
    let source = "
        struct Big { a: array<u32, 200>, b: f32 }
        @group(0) @binding(0) var<storage> i: Big;
        @group(0) @binding(1) var<storage, read_write> o: Big;
        var<workgroup> w: Big;
        fn twice(b: Big) -> Big { var c = b; for (var k = 0u; k < 200u; k++) { c.a[k] *= 2u; } c.b += 0.5; return c; }
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) l: u32) {
            var mine = i;
            mine.a[3] = 99u;
            if l == 1u { w = mine; }
            workgroupBarrier();
            let other = w;
            if l == 0u { o = twice(other); o.a[0] = other.a[l + 3u] + mine.a[4]; }
            var empty: Big;
            if l == 0u { o.a[1] = empty.a[7] + Big().a[9]; }
        }";
    let mut input: Vec<u32> = (0..200).collect();
    input.push(1.0f32.to_bits());
    let out =
        run(source, "main", Run { buffers: vec![(0, bytes_u(&input)), (1, bytes_u(&[7; 201]))], ..Run::default() });
    let got = out.words(1);
    assert_eq!((got[0], got[1], got[3], got[199]), (103, 0, 198, 398));
    assert_eq!(f32::from_bits(got[200]), 1.5);
}

#[test]
fn computed_components_of_vectors_and_matrices() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.x;
            var v = vec4<f32>(1.0, 2.0, 3.0, 4.0);
            v[i] = 10.0;
            var m = mat2x3<f32>(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
            m[i & 1u][i % 3u] = 20.0;
            m[i & 1u] = m[i & 1u] * 2.0;
            let c = vec3<f32>(7.0, 8.0, 9.0);
            o[i] = v[0] + v[i] * 100.0 + m[0][0] + m[1].y + m[i & 1u][i % 3u] + c[i];
        }";
    let out = run(source, "main", Run { groups: [4, 1, 1], buffers: vec![(0, bytes_f(&[0.0; 4]))], ..Run::default() });
    let want: Vec<f32> = (0..4usize)
        .map(|i| {
            let mut v = [1.0, 2.0, 3.0, 4.0];
            v[i] = 10.0;
            let mut m = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
            m[i & 1][i % 3] = 20.0;
            m[i & 1].iter_mut().for_each(|x| *x *= 2.0);
            let c = [7.0, 8.0, 9.0];
            v[0] + v[i] * 100.0 + m[0][0] + m[1][1] + m[i & 1][i % 3] + c[i.min(2)]
        })
        .collect();
    assert_eq!(out.floats(0), want);
}

#[test]
fn storage_and_workgroup_atomics() {
    let source = "
        struct A { sum: atomic<u32>, low: atomic<i32>, high: atomic<i32>, bits: atomic<u32>, small: atomic<u32>, big: atomic<u32>, swap: atomic<u32>, taken: atomic<u32>, down: atomic<i32> }
        @group(0) @binding(0) var<storage, read_write> a: A;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        var<workgroup> w: A;
        var<workgroup> list: array<atomic<u32>, 4>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32, @builtin(global_invocation_id) id: vec3<u32>) {
            let s = i32(id.x) - 8;
            atomicAdd(&a.sum, id.x); atomicMin(&a.low, s); atomicMax(&a.high, s); atomicOr(&a.bits, 1u << id.x);
            atomicMin(&a.small, id.x + 3u); atomicMax(&a.big, id.x ^ 0x80000000u); atomicSub(&a.down, 2);
            let r = atomicCompareExchangeWeak(&a.taken, 0u, id.x + 1u);
            if r.exchanged { o[40] = r.old_value + 50u; }
            atomicAdd(&w.sum, l); atomicMin(&w.low, s); atomicMax(&w.high, s); atomicXor(&w.bits, 1u << l);
            atomicMax(&w.big, l ^ 0x80000000u); atomicAnd(&w.small, 0u); atomicSub(&w.down, 3);
            o[id.x] = atomicExchange(&w.swap, l + 1u);
            atomicAdd(&list[l & 3u], l);
            let t = atomicCompareExchangeWeak(&w.taken, 0u, l + 1u);
            workgroupBarrier();
            if l == 0u {
                atomicStore(&a.swap, atomicLoad(&a.sum));
                o[16] = atomicLoad(&w.sum); o[17] = u32(atomicLoad(&w.low)); o[18] = u32(atomicLoad(&w.high));
                o[19] = atomicLoad(&w.bits); o[20] = atomicLoad(&w.big); o[21] = atomicLoad(&w.taken);
                o[22] = atomicLoad(&list[2]); o[23] = u32(atomicLoad(&w.down));
            }
        }";
    let mut start = [0u32; 9];
    start[4] = u32::MAX;
    let buffers = vec![(0, bytes_u(&start)), (1, bytes_u(&[0; 41]))];
    let out = run(source, "main", Run { groups: [2, 1, 1], buffers, ..Run::default() });
    let a = out.words(0);
    assert_eq!(a, [120, (-8i32) as u32, 7, 0xffff, 3, 0x8000_000f, 120, 1, (-32i32) as u32]);
    let o = out.words(1);
    assert_eq!(o[..16], [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(o[16..24], [28, 0, 7, 0xff, 0x8000_0007, 1, 8, (-24i32) as u32]);
    assert_eq!(o[40], 50);
}

#[test]
fn constants_of_all_shapes() {
    let source = "
        struct C { f: f32, i: i32, v: vec2<f32>, m: mat2x2<f32>, w: vec4<u32>, u: u32 }
        var<immediate> c: C;
        @group(0) @binding(0) var<storage, read_write> o: array<f32>;
        fn column(i: u32) -> vec2<f32> { return c.m[i]; }
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.x;
            o[i * 4u] = c.f + f32(c.i) + c.v[i];
            o[i * 4u + 1u] = column(i).y;
            o[i * 4u + 2u] = c.m[1u - i][i];
            o[i * 4u + 3u] = f32(c.w[i + 2u] + c.w[i + 2000u] + c.u);
        }";
    let mut words = bytes_f(&[0.5]);
    words.extend(bytes_i(&[-7]));
    words.extend(bytes_f(&[10.0, 20.0, 1.0, 2.0, 3.0, 4.0]));
    words.extend(bytes_u(&[100, 200, 300, 400, 5, 0, 0, 0]));
    let buffers = vec![(0, bytes_f(&[0.0; 8]))];
    let out = run(source, "main", Run { groups: [2, 1, 1], buffers, constants: words, ..Run::default() });
    assert_eq!(out.floats(0), [3.5, 2.0, 3.0, 705.0, 13.5, 4.0, 2.0, 805.0]);
}

#[test]
fn booleans_in_memory() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        struct B { a: bool, b: vec2<bool>, c: array<bool, 3> }
        var<workgroup> w: array<B, 2>;
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) l: u32) {
            var flags: array<bool, 70>;
            flags[l + 5u] = true;
            flags[69u - l] = flags[5] || l == 1u;
            w[l] = B(l == 0u, vec2<bool>(true, l == 1u), array<bool, 3>(false, l == 0u, true));
            workgroupBarrier();
            let other = w[1u - l];
            var n = 0u;
            for (var i = 0u; i < 70u; i++) { if flags[i] { n += 1u; } }
            o[l] = n * 1000u + u32(other.a) * 100u + u32(all(other.b)) * 10u + u32(other.c[1]) + u32(other.c[l]);
        }";
    let out = run(source, "main", Run { buffers: vec![(0, bytes_u(&[0; 2]))], ..Run::default() });
    assert_eq!(out.words(0), [2010, 2102]);
}

#[test]
fn uniforms() {
    let source = "
        struct U { a: vec3<f32>, n: u32, list: array<vec4<f32>, 4> }
        @group(0) @binding(0) var<uniform> u: U;
        @group(0) @binding(1) var<storage, read_write> o: array<f32>;
        var<workgroup> w: array<f32, 4>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {
            var sum = u.a.z;
            for (var i = 0u; i < u.n; i++) { w[l] = u.list[i][l]; workgroupBarrier(); sum += w[3u - l]; workgroupBarrier(); }
            o[l] = sum;
        }";
    let mut words = bytes_f(&[1.0, 2.0, 3.0]);
    words.extend(bytes_u(&[3]));
    words.extend(bytes_f(&(0..16).map(|at| at as f32).collect::<Vec<_>>()));
    let buffers = vec![(0, words), (1, bytes_f(&[0.0; 4]))];
    let out = run(source, "main", Run { buffers, ..Run::default() });
    assert_eq!(out.floats(1), [24.0, 21.0, 18.0, 15.0]);
}

#[test]
fn float_atomics() {
    let source = "
        struct A { sum: atomic<f32>, down: atomic<f32>, swap: atomic<f32>, list: array<atomic<f32>, 3>, copy: atomic<f32> }
        @group(0) @binding(0) var<storage, read_write> a: A;
        @group(0) @binding(1) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(6) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = f32(id.x);
            o[id.x] = atomicAdd(&a.sum, x);
            if id.x % 2u == 0u { atomicSub(&a.down, x + 0.5); }
            o[12u + id.x] = atomicExchange(&a.swap, x);
            atomicAdd(&a.list[id.x % 3u], 1.0);
            if id.x == 11u { atomicStore(&a.copy, atomicLoad(&a.sum) * 2.0); }
        }";
    let start = [0.5, 100.0, -1.0, 0.0, 10.0, 0.0, 0.0];
    let buffers = vec![(0, bytes_f(&start)), (1, bytes_f(&[0.0; 24]))];
    let out = run(source, "main", Run { groups: [2, 1, 1], buffers, ..Run::default() });
    assert_eq!(out.floats(0), [66.5, 67.0, 11.0, 4.0, 14.0, 4.0, 133.0]);
    let o = out.floats(1);
    for at in 0..12 {
        assert_eq!((o[at], o[12 + at]), (0.5 + (at * at.saturating_sub(1) / 2) as f32, at as f32 - 1.0));
    }
}
