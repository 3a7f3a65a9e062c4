//! Subgroup operations: a gang of four is a subgroup, and only lanes that are on take part.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::{Run, bytes_f, bytes_u, refuse, run};

/// Sizes of workgroups: one invocation, gangs that are not full, several gangs, rows that do not fill gangs.
const SIZES: [[u32; 3]; 7] = [[1, 1, 1], [2, 1, 1], [4, 1, 1], [6, 1, 1], [64, 1, 1], [3, 5, 1], [1, 4, 3]];

/// What `expression` of `v` and `l` gives in each invocation, under `condition`; elsewhere 77.
fn values(size: [u32; 3], condition: &str, expression: &str, input: &[u32]) -> Vec<u32> {
    let [x, y, z] = size;
    // naga has the lane's number in workgroups of one dimension only.
    let (arguments, named) = if y * z == 1 {
        (", @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) id: u32", "")
    } else {
        ("", "let lane = l & 3u; let id = l >> 2u;")
    };
    let source = format!(
        "@group(0) @binding(0) var<storage> i: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size({x}, {y}, {z}) fn main(
            @builtin(local_invocation_index) l: u32, @builtin(subgroup_size) size: u32,
            @builtin(num_subgroups) count: u32{arguments}
        ) {{
            {named}
            let v = i[l];
            o[l] = 77u;
            if {condition} {{ o[l] = {expression}; }}
            _ = lane + size + count + id;
        }}"
    );
    let count = (x * y * z) as usize;
    let buffers = vec![(0, bytes_u(&input[..count])), (1, bytes_u(&vec![0; count]))];
    run(&source, "main", Run { buffers, ..Run::default() }).words(1)
}

fn input() -> Vec<u32> {
    (0..64u32).map(|at| at.wrapping_mul(0x9e37_79b9) >> 9).collect()
}

type Condition = (&'static str, fn(u32) -> bool);

const CONDITIONS: [Condition; 4] = [
    ("true", |_| true),
    ("l % 3u != 1u", |l| l % 3 != 1),
    ("l % 4u == 2u", |l| l % 4 == 2),
    ("v % 2u == 0u", |l| (l.wrapping_mul(0x9e37_79b9) >> 9).is_multiple_of(2)),
];

/// Checks `expression` against what `reference` makes of the lanes that are on, each with its index and its value.
#[track_caller]
fn check(expression: &str, reference: impl Fn(&[(u32, u32)], u32) -> u32) {
    let input = input();
    for size in SIZES {
        for (text, condition) in CONDITIONS {
            let got = values(size, text, expression, &input);
            for (l, &got) in (0u32..).zip(&got) {
                let count = u32::try_from(input.len().min(size.iter().product::<u32>() as usize)).unwrap();
                let gang = l / 4 * 4..(l / 4 * 4 + 4).min(count);
                let on: Vec<_> = gang.filter(|&l| condition(l)).map(|l| (l, input[l as usize])).collect();
                let want = if condition(l) { reference(&on, l) } else { 77 };
                assert_eq!(got, want, "{expression} if {text}, invocation {l} of {size:?}");
            }
        }
    }
}

fn until(on: &[(u32, u32)], l: u32) -> impl Iterator<Item = u32> {
    on.iter().filter(move |&&(at, _)| at <= l).map(|&(_, value)| value)
}

fn before(on: &[(u32, u32)], l: u32) -> impl Iterator<Item = u32> {
    on.iter().filter(move |&&(at, _)| at < l).map(|&(_, value)| value)
}

#[test]
fn reductions() {
    let all = |on: &[(u32, u32)]| on.iter().map(|&(_, value)| value).collect::<Vec<_>>();
    check("subgroupAdd(v)", |on, _| all(on).into_iter().fold(0, u32::wrapping_add));
    check("subgroupMul(v)", |on, _| all(on).into_iter().fold(1, u32::wrapping_mul));
    check("subgroupMin(v)", |on, _| all(on).into_iter().min().unwrap());
    check("subgroupMax(v)", |on, _| all(on).into_iter().max().unwrap());
    check("subgroupAnd(v)", |on, _| all(on).into_iter().fold(u32::MAX, |a, b| a & b));
    check("subgroupOr(v)", |on, _| all(on).into_iter().fold(0, |a, b| a | b));
    check("subgroupXor(v)", |on, _| all(on).into_iter().fold(0, |a, b| a ^ b));
    let signed = |value: u32| (value as i32).wrapping_sub(1 << 22);
    check("u32(subgroupMin(i32(v) - 4194304i))", |on, _| {
        all(on).into_iter().map(signed).min().unwrap().cast_unsigned()
    });
    check("u32(subgroupMax(i32(v) - 4194304i))", |on, _| {
        all(on).into_iter().map(signed).max().unwrap().cast_unsigned()
    });
    check("u32(subgroupMin(f32(v)))", |on, _| all(on).into_iter().min().unwrap());
    check("u32(subgroupAdd(vec2<f32>(f32(v >> 8u), 1.0)).y)", |on, _| u32::try_from(on.len()).unwrap());
}

#[test]
fn scans() {
    check("subgroupInclusiveAdd(v)", |on, l| until(on, l).fold(0, u32::wrapping_add));
    check("subgroupInclusiveMul(v)", |on, l| until(on, l).fold(1, u32::wrapping_mul));
    check("subgroupExclusiveAdd(v)", |on, l| before(on, l).fold(0, u32::wrapping_add));
    check("subgroupExclusiveMul(v)", |on, l| before(on, l).fold(1, u32::wrapping_mul));
}

#[test]
fn votes() {
    let odd = |on: &[(u32, u32)], f: fn(&u32) -> bool| on.iter().filter(|(_, value)| f(value)).count();
    check("subgroupBallot(v % 5u < 3u).x", |on, _| {
        on.iter().filter(|(_, value)| value % 5 < 3).fold(0, |bits, (l, _)| bits | 1 << (l % 4))
    });
    check("subgroupBallot().x + subgroupBallot().y", |on, _| on.iter().fold(0, |bits, (l, _)| bits | 1 << (l % 4)));
    check("u32(subgroupAll(v % 5u < 4u))", |on, _| u32::from(odd(on, |v| v % 5 < 4) == on.len()));
    check("u32(subgroupAny(v % 5u == 4u))", |on, _| u32::from(odd(on, |v| v % 5 == 4) > 0));
}

/// A lane that is off has no value to give, so these keep to lanes that are on.
#[test]
fn exchanges() {
    check("subgroupBroadcastFirst(v)", |on, _| on[0].1);
    let of = |on: &[(u32, u32)], l: u32, other: u32| on.iter().find(|(at, _)| *at == other).map_or(l, |&(_, v)| v);
    let there = |on: &[(u32, u32)], l: u32, lane: u32| of(on, l, l / 4 * 4 + lane);
    // Where the other lane is off, the lane's index instead.
    let guarded =
        |other: &str, call: &str| format!("select(l, {call}, ((subgroupBallot().x >> (({other}) & 3u)) & 1u) == 1u)");
    for lane in 0..4u32 {
        check(&guarded(&format!("{lane}u"), &format!("subgroupBroadcast(v, {lane}u)")), move |on, l| {
            there(on, l, lane)
        });
    }
    check(&guarded("v", "subgroupShuffle(v, v & 3u)"), move |on, l| {
        let v = on.iter().find(|(at, _)| *at == l).unwrap().1;
        there(on, l, v & 3)
    });
    check(&guarded("lane ^ 3u", "subgroupShuffleXor(v, 3u)"), move |on, l| there(on, l, (l % 4) ^ 3));
    check(&guarded("lane + 1u", "subgroupShuffleDown(v, select(0u, 1u, lane < 3u))"), move |on, l| {
        let next = if l % 4 < 3 { l % 4 + 1 } else { 3 };
        if l % 4 == 3 && !on.iter().any(|(at, _)| at % 4 == 0) { l } else { there(on, l, next) }
    });
    check(&guarded("lane - 1u", "subgroupShuffleUp(v, 1u)"), move |on, l| there(on, l, (l + 3) % 4));
    check(&guarded("1u", "quadBroadcast(v, 1u)"), move |on, l| there(on, l, 1));
    check(&guarded("lane ^ 1u", "quadSwapX(v)"), move |on, l| there(on, l, (l % 4) ^ 1));
    check(&guarded("lane ^ 2u", "quadSwapY(v)"), move |on, l| there(on, l, (l % 4) ^ 2));
    check(&guarded("lane ^ 3u", "quadSwapDiagonal(v)"), move |on, l| there(on, l, (l % 4) ^ 3));
}

#[test]
fn built_in_values() {
    check("lane * 16u + size", |_, l| l % 4 * 16 + 4);
    check("id", |_, l| l / 4);
    for size in SIZES {
        let count = size.iter().product::<u32>().div_ceil(4);
        assert!(values(size, "true", "count", &input()).iter().all(|&got| got == count));
    }
}

/// Lanes that left a loop do not take part in its later rounds; functions with subgroup operations are like others.
#[test]
fn lanes_leave_loops() {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        fn total(v: u32) -> u32 {{ var sum = v; {} return subgroupAdd(sum); }}
        @compute @workgroup_size(6) fn main(@builtin(local_invocation_index) l: u32) {{
            var sum = 0u;
            for (var round = 0u; round <= l; round++) {{ sum += total(1u) * 10u + total(0u); subgroupBarrier(); }}
            o[l] = sum;
        }}",
        "sum += 0u * sum;".repeat(60)
    );
    let out = run(&source, "main", Run { buffers: vec![(0, bytes_u(&[0; 6]))], ..Run::default() });
    // Lanes 0 to 3 have 4, 3, 2, 1 lanes in their rounds; the other gang has two lanes, of 5 and 6 rounds.
    assert_eq!(out.words(0), [40, 70, 90, 100, 100, 110]);
}

#[test]
fn sums_of_floats_are_the_same_in_all_lanes() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> d: array<f32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32) { d[l] = subgroupAdd(d[l]); }";
    let data = [0.1f32, 1e8, -0.3, 7.0, 1e-3, 2.5, -1e7, 3.0];
    let out = run(source, "main", Run { buffers: vec![(0, bytes_f(&data))], ..Run::default() });
    let sum = |d: &[f32]| (d[0] + d[1]) + (d[2] + d[3]);
    let (first, second) = (sum(&data[..4]), sum(&data[4..]));
    assert_eq!(out.floats(0), [first, first, first, first, second, second, second, second]);
}

/// What all lanes of a gang have, other gangs need not.
#[test]
fn a_reduction_is_not_uniform() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32) {
            if subgroupAdd(l) > 3u { workgroupBarrier(); }
            o[l] = 1u;
        }";
    assert_eq!(refuse(source, "main").kind, naga_wasm::Kind::Invalid);
}
