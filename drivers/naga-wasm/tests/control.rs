//! Control flow: branches, loops, switches, returns, barriers, and the budget.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::{Run, bytes_u, compile, front, refuse, run, run_kernel};
use naga_wasm::{
    Kind,
    abi::{STATUS_DONE, STATUS_STOPPED},
};

/// Runs `main` of one invocation over a buffer `o` of words.
fn words(body: &str, input: &[u32]) -> Vec<u32> {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main() {{ {body} }}"
    );
    run(&source, "main", Run { buffers: vec![(0, bytes_u(input))], ..Run::default() }).words(0)
}

#[test]
fn nested_divergence() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.x;
            var v = 0u;
            if i % 2u == 0u {
                if i % 3u == 0u { v = 1u; } else { for (var k = 0u; k < i; k++) { if k == 5u { break; } v += k; } }
            } else if i > 4u {
                loop { v += 10u; if v > 35u { break; } continuing { v += 1u; } }
            } else { v = 7u; }
            o[i] = v;
        }";
    let out = run(source, "main", Run { groups: [2, 1, 1], buffers: vec![(0, bytes_u(&[0; 16]))], ..Run::default() });
    let want: Vec<u32> = (0..16u32)
        .map(|i| match i {
            _ if i % 2 == 0 && i % 3 == 0 => 1,
            _ if i % 2 == 0 => (0..i.min(5)).sum(),
            _ if i > 4 => 43,
            _ => 7,
        })
        .collect();
    assert_eq!(out.words(0), want);
}

/// Whether all lanes go round is asked once, of the first or the last of them: with each comparison, from either side.
#[test]
fn loops_whose_lanes_leave_one_after_the_other() {
    type Case = (&'static str, fn(u32) -> u32);
    let cases: [Case; 10] = [
        ("var k = l; k < n; k++", |l| 5u32.saturating_sub(l)),
        ("var k = l; k <= n; k++", |l| 6u32.saturating_sub(l)),
        ("var k = l; n > k; k++", |l| 5u32.saturating_sub(l)),
        ("var k = l; n >= k; k++", |l| 6u32.saturating_sub(l)),
        ("var k = l + 1u; k > n; k--", |l| (l + 1).saturating_sub(5)),
        ("var k = l + 1u; k >= n; k--", |l| (l + 2).saturating_sub(5)),
        ("var k = i32(l) - 4; k > -3; k--", |l| (l.cast_signed() - 4 + 3).max(0).cast_unsigned()),
        ("var k = i32(l) - 4; k >= -i32(n) + 2; k--", |l| (l.cast_signed() - 4 + 4).max(0).cast_unsigned()),
        ("var k = i32(l) - 4; k <= i32(n) - 6; k++", |l| (4 - l.cast_signed()).max(0).cast_unsigned()),
        ("var k = i32(l) - 4; i32(n) - 6 > k; k++", |l| (3 - l.cast_signed()).max(0).cast_unsigned()),
    ];
    for (head, rounds) in cases {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
            @group(0) @binding(1) var<storage, read> given: array<u32>;
            @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32) {{
                let n = given[0];
                for ({head}) {{ o[l] += 1u; }}
            }}"
        );
        let buffers = vec![(0, bytes_u(&[0; 8])), (1, bytes_u(&[5]))];
        let out = run(&source, "main", Run { buffers, ..Run::default() }).words(0);
        assert_eq!(out, (0..8).map(rounds).collect::<Vec<_>>(), "{head}");
    }
}

#[test]
fn switches() {
    let body = "
        for (var i = 0u; i < 8u; i++) {
            var v = 100u;
            switch i {
                case 0u: { v = 1u; }
                case 1u, 2u: { v = 2u; if i == 2u { break; } v = 3u; }
                default: { v = 9u; }
                case 5u: { continue; }
                case 6u, 7u: { o[i] = 66u; if i == 7u { return; } v = 6u; }
            }
            o[i] = v;
        }";
    assert_eq!(words(body, &[0; 8]), [1, 3, 2, 9, 9, 0, 6, 66]);
    let signed = "switch i32(o[0]) { case -1: { o[0] = 5u; } default: { o[0] = 6u; } }";
    assert_eq!(words(signed, &[u32::MAX]), [5]);
    assert_eq!(words(signed, &[1]), [6]);
}

#[test]
fn loops_with_continuing_and_break_if() {
    let body = "
        var i = 0u;
        loop {
            if i == 2u { continue; }
            o[i] = i + 1u;
            continuing { let old = i; i = i + 1u; break if old >= 4u; }
        }
        o[5] = i;";
    assert_eq!(words(body, &[0; 6]), [1, 2, 0, 4, 5, 5]);
    let nested = "
        for (var i = 0u; i < 3u; i++) {
            for (var j = 0u; j < 3u; j++) {
                if j > i { break; }
                if i == 1u && j == 0u { continue; }
                o[i * 3u + j] = 1u;
            }
            while o[9] < i * 2u { o[9]++; }
        }";
    assert_eq!(words(nested, &[0; 10]), [1, 0, 0, 0, 1, 0, 1, 1, 1, 4]);
}

#[test]
fn variables_start_anew_in_each_round_and_each_call() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<private> count: u32 = 5u;
        fn fresh(n: u32) -> u32 {
            var sum: u32;
            var list: array<u32, 4>;
            for (var i = 0u; i < n; i++) { sum += 1u; list[i] += sum; }
            return sum + list[n & 3u];
        }
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {
            for (var i = 0u; i < 3u; i++) { var x: u32; x += 1u; var y = 1u; y *= 2u; o[l] += x * y; }
            count += 1u;
            o[4u + l] = count;
            o[8u + l] = fresh(2u) + fresh(3u) * 10u;
        }";
    let out = run(source, "main", Run { buffers: vec![(0, bytes_u(&[0; 12]))], ..Run::default() });
    assert_eq!(out.words(0), [6, 6, 6, 6, 6, 6, 6, 6, 32, 32, 32, 32]);
}

#[test]
fn early_returns() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<i32>;
        fn classify(x: i32) -> i32 {
            if x < 0 { return -1; }
            for (var i = 0; i < 10; i++) { if i * i == x { return i; } }
            switch x { case 2: { return 200; } case 3, 5: { return 300; } default: {} }
            return 999;
        }
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x >= arrayLength(&o) { return; }
            o[id.x] = classify(o[id.x]);
        }";
    let input = common::bytes_i(&[-5, 0, 49, 2, 3, 5, 6]);
    let out = run(source, "main", Run { groups: [2, 1, 1], buffers: vec![(0, input)], ..Run::default() });
    assert_eq!(out.ints(0), [-1, 0, 7, 200, 300, 300, 999]);
}

#[test]
fn barriers_in_uniform_loops_and_branches() {
    let source = "
        var<immediate> rounds: u32;
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> a: array<u32, 8>;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) g: vec3<u32>) {
            var mine = l + g.x * 100u;
            a[l] = mine;
            for (var i = 0u; i < rounds; i++) {
                workgroupBarrier();
                let next = a[(l + 1u) % 8u];
                workgroupBarrier();
                mine += next;
                a[l] = next;
                if rounds > 2u {
                    workgroupBarrier();
                    if i == 1u { mine += 1000u; continue; }
                    let other = a[7u - l];
                    workgroupBarrier();
                    if i == 3u { break; }
                    mine += other * 0u;
                } else { mine += 7u; }
            }
            o[g.x * 8u + l] = mine;
        }";
    for rounds in [0, 1, 2, 3, 6] {
        let buffers = vec![(0, bytes_u(&[0; 16]))];
        let constants = bytes_u(&[rounds]);
        let out = run(source, "main", Run { groups: [2, 1, 1], buffers, constants, ..Run::default() });
        for g in 0..2 {
            let mut a: Vec<u32> = (0..8).map(|l| l + g * 100).collect();
            let mut mine = a.clone();
            for i in 0..rounds {
                let next: Vec<u32> = (0..8).map(|l| a[(l + 1) % 8]).collect();
                for l in 0..8 {
                    mine[l] += next[l];
                }
                a = next;
                if rounds > 2 {
                    if i == 1 {
                        mine.iter_mut().for_each(|m| *m += 1000);
                        continue;
                    }
                    if i == 3 {
                        break;
                    }
                } else {
                    mine.iter_mut().for_each(|m| *m += 7);
                }
            }
            assert_eq!(out.words(0)[g as usize * 8..][..8], mine, "rounds {rounds} group {g}");
        }
    }
}

#[test]
fn what_crosses_a_barrier_is_kept_for_each_invocation() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> w: array<u32, 6>;
        var<private> p: u32;
        struct S { a: u32, b: vec2<u32> }
        fn publish(l: u32, v: u32) -> u32 { w[l] = v; workgroupBarrier(); let r = w[(l + 2u) % 6u]; workgroupBarrier(); return r; }
        @compute @workgroup_size(3, 2)
        fn main(@builtin(local_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
            var s = S(l, vec2<u32>(id.x, id.y));
            var list: array<u32, 5>;
            for (var i = 0u; i < 5u; i++) { list[i] = l * 10u + i; }
            let before = l * l;
            p = l + 1u;
            var flag = (l & 1u) == 1u;
            let got = publish(l, s.a);
            s.b.y += got;
            if flag { list[l % 5u] += 100u; }
            let again = publish(l, list[l % 5u] + before);
            o[l * 4u] = s.a * 100u + s.b.x * 10u + s.b.y;
            o[l * 4u + 1u] = again;
            o[l * 4u + 2u] = list[4] + p;
            o[l * 4u + 3u] = u32(flag) + before;
        }";
    let out = run(source, "main", Run { buffers: vec![(0, bytes_u(&[0; 24]))], ..Run::default() }).words(0);
    let second = |l: u32| l * 10 + l % 5 + if l & 1 == 1 { 100 } else { 0 } + l * l;
    for l in 0..6u32 {
        let at = l as usize * 4;
        let last = l * 10 + 4 + if l & 1 == 1 && l % 5 == 4 { 100 } else { 0 };
        assert_eq!(out[at], l * 100 + (l % 3) * 10 + l / 3 + (l + 2) % 6);
        assert_eq!(out[at + 1], second((l + 2) % 6));
        assert_eq!(out[at + 2], last + l + 1);
        assert_eq!(out[at + 3], (l & 1) + l * l);
    }
}

#[test]
fn return_before_the_end_of_the_last_region() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> w: array<u32, 4>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {
            w[l] = l + 1u;
            workgroupBarrier();
            if l == 1u { return; }
            for (var i = 0u; i < 4u; i++) { if w[i] == 3u && l == 2u { return; } o[l] += w[i]; }
            o[l] += 100u;
        }";
    let out = run(source, "main", Run { buffers: vec![(0, bytes_u(&[0; 4]))], ..Run::default() });
    assert_eq!(out.words(0), [110, 0, 3, 110]);
}

#[test]
fn workgroup_memory_is_zero_in_each_group() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> w: array<u32, 100>;
        var<workgroup> flag: bool;
        @compute @workgroup_size(2)
        fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(local_invocation_index) l: u32) {
            if l == 0u { o[g.x] = w[99] + u32(flag); }
            workgroupBarrier();
            w[99] = 5u;
            flag = true;
        }";
    let out = run(source, "main", Run { groups: [3, 1, 1], buffers: vec![(0, bytes_u(&[9; 3]))], ..Run::default() });
    assert_eq!(out.words(0), [0, 0, 0]);
}

#[test]
fn workgroup_uniform_load_decides_about_barriers() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> left: u32;
        var<workgroup> sum: u32;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {
            if l == 3u { left = 5u; }
            var rounds = 0u;
            loop {
                let n = workgroupUniformLoad(&left);
                if n == 0u { break; }
                if l == 1u { sum += n; }
                workgroupBarrier();
                if l == 0u { left = n - 1u; }
                rounds++;
            }
            o[l] = rounds * 1000u + sum;
        }";
    let out = run(source, "main", Run { buffers: vec![(0, bytes_u(&[0; 4]))], ..Run::default() });
    assert_eq!(out.words(0), [5015; 4]);
}

#[test]
fn a_barrier_in_control_flow_that_is_not_uniform_is_refused_with_its_place() {
    let with = |body: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
            @group(0) @binding(1) var<storage, read> r: array<u32>;
            var<workgroup> w: u32;
            @compute @workgroup_size(4)
            fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) g: vec3<u32>) {{ o[l] = w; {body} }}"
        )
    };
    for body in [
        "if l == 0u { workgroupBarrier(); }",
        "if o[0] == 0u { workgroupBarrier(); }",
        "for (var i = 0u; i < l; i++) { workgroupBarrier(); }",
        "if l == 2u { return; } workgroupBarrier();",
        "var n = 0u; if l == 1u { n = 1u; } if n == 0u { workgroupBarrier(); }",
        "loop { if w == 1u { break; } storageBarrier(); }",
        "switch l { case 1u: { workgroupBarrier(); } default: {} }",
        "var i = 0u; loop { if i > o[0] { break; } i++; } if i > 3u { workgroupBarrier(); }",
        "for (var i = 0u; i < 4u; i++) { if l == i { continue; } workgroupBarrier(); }",
    ] {
        let source = with(body);
        let error = refuse(&source, "main");
        assert_eq!(error.kind, Kind::Invalid, "{body}: {error}");
        assert!(error.span.is_some(), "{body}: {error}");
    }
    for body in [
        "if g.x == 0u { workgroupBarrier(); }",
        "if r[g.x] == 0u { workgroupBarrier(); }",
        "for (var i = 0u; i < r[0]; i++) { if i == 3u { continue; } workgroupBarrier(); }",
        "var n = 0u; if g.x == 1u && r[1] == 0u { n = 1u; } if n == 0u { workgroupBarrier(); }",
        "switch r[2] { case 1u: { workgroupBarrier(); } case 2u: { if g.y == 0u { break; } storageBarrier(); } default: {} }",
        "if g.x == 7u { return; } workgroupBarrier();",
        "if l == 1u { o[1] = 3u; } workgroupBarrier();",
        "let u = workgroupUniformLoad(&w); if u == 0u { workgroupBarrier(); }",
    ] {
        if let Err(error) = compile(&with(body), "main") {
            panic!("{body}: {error}");
        }
    }
}

#[test]
fn an_endless_kernel_is_stopped_out_of_any_depth() {
    let bodies = [
        "loop {}",
        "loop { if o[0] == 12345u { break; } }",
        "for (var i = 0u; true; i++) { loop { o[1] = i; if i == o[0] + 7u { continue; } } }",
        "o[1] = spin(3u);",
        "loop { workgroupBarrier(); }",
        "while true { let x = workgroupUniformLoad(&w); loop { if x != 0u { break; } } }",
        "var x = 0u; loop { x = wide(x); }",
    ];
    for body in bodies {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
            var<workgroup> w: u32;
            fn wide(a: u32) -> u32 {{ var v = a; {} return v; }}
            fn forever(n: u32) -> u32 {{ var v = n; loop {{ v = v + wide(v); if v == 0u {{ break; }} v = v | 1u; }} return wide(v); }}
            fn spin(n: u32) -> u32 {{ var s = 0u; for (var i = 0u; i < n; i++) {{ s += forever(i) + forever(s); }} return s; }}
            @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) l: u32) {{ {body} }}",
            "v = v * 3u + 1u;".repeat(40)
        );
        let kernel = compile(&source, "main").unwrap_or_else(|error| panic!("{body}: {error}"));
        assert!(kernel.features.loops);
        let buffers = vec![(0, bytes_u(&[0, 0]))];
        let outcome = run_kernel(&kernel, Run { buffers, refills: 3, budget: 100_000, ..Run::default() });
        assert_eq!(outcome.status, STATUS_STOPPED, "{body}");
        assert_eq!(outcome.refills, 4, "{body}");
    }
}

#[test]
fn groups_without_loops_are_charged_for() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(64) fn main() { o[0] += 1u; }";
    let kernel = compile(source, "main").unwrap();
    let buffers = vec![(0, bytes_u(&[0]))];
    let groups = [65535, 65535, 65535];
    let outcome = run_kernel(&kernel, Run { groups, buffers, refills: 5, budget: 100_000, ..Run::default() });
    assert_eq!(outcome.status, STATUS_STOPPED);
}

#[test]
fn kernels_cost_about_what_they_do() {
    // Ten times the work is about ten times the refills.
    let source = "
        var<immediate> n: u32;
        @group(0) @binding(0) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(1) fn main() { for (var i = 0u; i < n; i++) { o[0] += exp(f32(i)); } }";
    let kernel = compile(source, "main").unwrap();
    let refills = |n: u32| {
        let (buffers, constants) = (vec![(0, bytes_u(&[0]))], bytes_u(&[n]));
        run_kernel(&kernel, Run { buffers, constants, budget: 1000, ..Run::default() }).refills
    };
    let (few, many) = (refills(1000), refills(10_000));
    assert!(few > 10 && (many - 10 * few).abs() < 20, "{few} {many}");
}

#[test]
fn what_is_not_counted_is_the_same_but_for_the_budget() {
    // A loop around a call of a function that has loops, one that crosses barriers, and a large piece of memory.
    let source = "
        var<workgroup> shared_word: u32;
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        fn steps(n: u32) -> u32 {
            var x = n;
            var count = 0u;
            loop { if x <= 1u { return count; } x = select(x / 2u, 3u * x + 1u, x % 2u == 1u); count++; }
            return 0u;
        }
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32) {
            var large: array<u32, 1024>;
            for (var i = 0u; i < 20u; i++) { large[(l + i) % 1024u] += steps(l + i) + steps(i); }
            for (var i = 0u; i < 5u; i++) {
                if l == i { shared_word = large[i]; }
                workgroupBarrier();
                o[l] += shared_word + large[l];
                workgroupBarrier();
            }
        }";
    let (module, info) = front(source);
    let run = |counted: bool, budget: i64| {
        let options = naga_wasm::Options { counted, ..naga_wasm::Options::default() };
        let kernel = naga_wasm::compile(&module, &info, "main", &options).unwrap();
        run_kernel(&kernel, Run { buffers: vec![(0, bytes_u(&[0; 64]))], budget, ..Run::default() })
    };
    let (counted, uncounted) = (run(true, 1000), run(false, 0));
    assert!(counted.refills > 10, "{}", counted.refills);
    assert_eq!((uncounted.status, uncounted.refills), (STATUS_DONE, 0));
    assert_eq!(counted.words(0), uncounted.words(0));
    assert_ne!(counted.words(0), [0; 64]);
}

#[test]
fn partial_groups_in_two_dimensions() {
    let source = "
        var<immediate> size: vec2<u32>;
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(3, 5, 2)
        fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>,
                @builtin(local_invocation_index) index: u32, @builtin(workgroup_id) g: vec3<u32>) {
            if any(id.xy >= size) { return; }
            let ok = index == l.x + 3u * (l.y + 5u * l.z) && all(id == g * vec3<u32>(3u, 5u, 2u) + l);
            o[(id.z * size.y + id.y) * size.x + id.x] += select(1000u, 1u, ok);
        }";
    let buffers = vec![(0, bytes_u(&[0; 7 * 11 * 4]))];
    let constants = bytes_u(&[7, 11]);
    let out = run(source, "main", Run { groups: [3, 3, 2], buffers, constants, ..Run::default() });
    assert!(out.words(0).iter().all(|&count| count == 1), "{:?}", out.words(0));
}

#[test]
fn a_condition_from_before_a_barrier_masks_what_follows_it() {
    // All that uses the condition behind the barrier is the mask of one assignment.
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32) {
            var x = 1u;
            let c = o[l] > 3u;
            workgroupBarrier();
            if c { x = 5u; }
            o[l] = x;
        }";
    let input = bytes_u(&[9, 0, 9, 9, 0, 0, 9, 0]);
    let out = run(source, "main", Run { buffers: vec![(0, input)], ..Run::default() });
    assert_eq!(out.words(0), [5, 1, 5, 5, 1, 1, 5, 1]);
}

#[test]
fn large_pieces_of_memory_are_paid_for_when_they_come() {
    // 1 MiB for each of four lanes, a hundred times, without a loop.
    let fills = "if l > o[0] { a = array<u32, 262144>(); a[l] = l; }".repeat(100);
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {{
            var a: array<u32, 262144>; {fills} o[l] = a[o[l]];
        }}"
    );
    let kernel = compile(&source, "main").unwrap();
    let task = || Run { buffers: vec![(0, bytes_u(&[0; 4]))], budget: 100_000, ..Run::default() };
    let stopped = run_kernel(&kernel, Run { refills: 100, ..task() });
    assert_eq!((stopped.status, stopped.refills), (STATUS_STOPPED, 101));
    let done = run_kernel(&kernel, task());
    assert!(done.status == STATUS_DONE && done.refills > 1000, "{}", done.refills);
}
