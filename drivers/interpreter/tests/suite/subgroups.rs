//! Subgroups: who takes part, and what each gets.

use crate::{group, try_run};
use hal_interpreter::{FindingKind, Options};

/// What `body` leaves in `o[l]` in six invocations, two of which are a subgroup alone; 77 where it leaves nothing.
fn left(body: &str) -> Vec<u32> {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        fn total(v: u32) -> u32 {{ if v == 3u {{ return subgroupAdd(v) + 1000u; }} return subgroupAdd(v); }}
        @compute @workgroup_size(6) fn main(@builtin(local_invocation_index) l: u32,
            @builtin(subgroup_size) size: u32, @builtin(num_subgroups) count: u32,
            @builtin(subgroup_id) id: u32, @builtin(subgroup_invocation_id) lane: u32) {{
            {body}
        }}"
    );
    group(&source, &[vec![77; 6]])
}

#[test]
fn built_in_values() {
    let body = "o[l] = size * 1000u + count * 100u + id * 10u + lane;";
    assert_eq!(left(body), [4200, 4201, 4202, 4203, 4210, 4211]);
}

#[test]
fn reductions() {
    assert_eq!(left("o[l] = subgroupAdd(l + 1u);"), [10, 10, 10, 10, 11, 11]);
    assert_eq!(left("o[l] = subgroupMul(l + 1u);"), [24, 24, 24, 24, 30, 30]);
    assert_eq!(left("o[l] = u32(subgroupMin(2 - i32(l)) + 10);"), [9, 9, 9, 9, 7, 7]);
    assert_eq!(left("o[l] = u32(subgroupMax(vec2(f32(l), 0.5)).x);"), [3, 3, 3, 3, 5, 5]);
    assert_eq!(left("o[l] = subgroupAnd(l | 4u);"), [4, 4, 4, 4, 4, 4]);
    assert_eq!(left("o[l] = subgroupOr(l);"), [3, 3, 3, 3, 5, 5]);
    assert_eq!(left("o[l] = subgroupXor(l + 2u);"), [0, 0, 0, 0, 1, 1]);
    assert_eq!(left("o[l] = u32(subgroupAll(l != 5u)) + 2u * u32(subgroupAny(l == 5u));"), [1, 1, 1, 1, 2, 2]);
}

#[test]
fn scans() {
    assert_eq!(left("o[l] = subgroupInclusiveAdd(l + 1u);"), [1, 3, 6, 10, 5, 11]);
    assert_eq!(left("o[l] = subgroupExclusiveAdd(l + 1u);"), [0, 1, 3, 6, 0, 5]);
    assert_eq!(left("o[l] = subgroupInclusiveMul(l + 1u);"), [1, 2, 6, 24, 5, 30]);
    assert_eq!(left("o[l] = u32(subgroupExclusiveMul(f32(l + 1u)));"), [1, 1, 2, 6, 1, 5]);
}

#[test]
fn exchanges() {
    assert_eq!(left("o[l] = subgroupBroadcast(l, 2u);"), [2, 2, 2, 2, 4, 5], "the third of the last two is not there");
    assert_eq!(left("o[l] = subgroupBroadcastFirst(l * 3u);"), [0, 0, 0, 0, 12, 12]);
    assert_eq!(left("o[l] = subgroupShuffle(l, 3u - lane);"), [3, 2, 1, 0, 4, 5]);
    assert_eq!(left("o[l] = subgroupShuffleXor(l, 1u);"), [1, 0, 3, 2, 5, 4]);
    assert_eq!(left("o[l] = subgroupShuffleUp(l, 1u);"), [0, 0, 1, 2, 4, 4]);
    assert_eq!(left("o[l] = subgroupShuffleDown(l, 2u);"), [2, 3, 2, 3, 4, 5]);
    assert_eq!(left("o[l] = quadBroadcast(l, 1u);"), [1, 1, 1, 1, 5, 5]);
    assert_eq!(left("o[l] = quadSwapX(l);"), [1, 0, 3, 2, 5, 4]);
    assert_eq!(left("o[l] = quadSwapY(vec2(l, 0u)).x;"), [2, 3, 0, 1, 4, 5]);
    assert_eq!(left("o[l] = quadSwapDiagonal(l);"), [3, 2, 1, 0, 4, 5]);
    assert_eq!(
        left("o[l] = subgroupBallot(l % 2u == 1u).x + subgroupBallot().x * 100u;"),
        [1510, 1510, 1510, 1510, 302, 302]
    );
}

#[test]
fn who_does_not_come_takes_no_part() {
    assert_eq!(left("if l % 3u != 1u { o[l] = subgroupAdd(l); }"), [5, 77, 5, 5, 77, 5]);
    assert_eq!(left("if l == 2u { return; } o[l] = subgroupAdd(l);"), [4, 4, 77, 4, 9, 9]);
    // Two places are not one.
    assert_eq!(left("if l < 2u { o[l] = subgroupAdd(l); } else { o[l] = subgroupAdd(l); }"), [1, 1, 5, 5, 9, 9]);
    let switches = "switch l % 3u { case 0u: { o[l] = subgroupAdd(10u); } default: { o[l] = subgroupAdd(1u); } }";
    assert_eq!(left(switches), [20, 2, 2, 20, 2, 2]);
    // Behind them all are together again.
    assert_eq!(left("if l < 2u { o[l] = subgroupAdd(l); } o[l] = subgroupAdd(1u);"), [4, 4, 4, 4, 2, 2]);
}

#[test]
fn rounds_of_loops_are_apart() {
    // In round n those with at least n rounds are there.
    let body = "var sum = 0u; for (var n = 0u; n <= l; n++) { sum = sum * 10u + subgroupAdd(1u); } o[l] = sum;";
    assert_eq!(left(body), [4, 43, 432, 4321, 22222, 222_221]);
    // One leaves the round early, and is back for the next one.
    let body = "var sum = 0u;
        for (var n = 0u; n < 3u; n++) { if n == l { continue; } sum = sum * 10u + subgroupAdd(1u); }
        o[l] = sum;";
    assert_eq!(left(body), [33, 33, 33, 333, 222, 222]);
    let body = "var n = 0u; loop { if n == l { break; } continuing { n++; break if subgroupAdd(1u) < 3u; } } o[l] = n;";
    // Of the first four, one is gone in the first round, and another one in the second, behind which two are left.
    assert_eq!(left(body), [0, 1, 2, 2, 1, 1]);
}

#[test]
fn calls_are_apart_by_where_they_are_made() {
    let body = "if l % 2u == 0u { o[l] = total(1u); } else { o[l] = total(2u); }";
    assert_eq!(left(body), [2, 4, 2, 4, 1, 2]);
    // The same call, and inside of it two places.
    assert_eq!(left("o[l] = total(l);"), [3, 3, 3, 1003, 9, 9]);
}

#[test]
fn halves_and_wide_integers() {
    let source = "
        enable f16;
        @group(0) @binding(0) var<storage, read_write> o: array<u64>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {
            o[l] = subgroupAdd(u64(l) << 32u) + u64(subgroupAdd(f16(l) * 1000h + 0.5h));
        }";
    // 0.5 and 1000.5; 2000 and 3000, which have no halves; then 1001, 3000 for 3001, and 6000.
    let sum = |words: Vec<u32>| (words[1], words[0]);
    assert_eq!(sum(group(source, &[vec![0; 8]])), (6, 6000));
}

/// Whether there are races in `body`.
fn races(body: &str) -> bool {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> w: array<u32, 8>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32) {{ {body} }}"
    );
    let options = Options { checks: true, ..Options::default() };
    let (_, report) = try_run(&source, [1, 1, 1], &[], &[vec![0; 8]], &options).unwrap();
    report.findings.iter().any(|finding| finding.kind == FindingKind::Race)
}

#[test]
fn a_barrier_of_a_subgroup_orders_what_the_subgroup_does() {
    assert!(races("w[l] = l; o[l] = w[l ^ 1u];"));
    assert!(!races("w[l] = l; subgroupBarrier(); o[l] = w[l ^ 1u];"));
    assert!(races("w[l] = l; subgroupBarrier(); o[l] = w[l ^ 4u];"));
    // No other operation is a barrier.
    assert!(races("w[l] = l; o[l] = subgroupAdd(1u) + w[l ^ 1u];"));
}
