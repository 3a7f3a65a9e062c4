//! `i64` and `u64`, against Rust's.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::{Run, bytes_f, bytes_u, run};

fn bytes_w(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn wides(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// Ends, words that carry, small numbers, and others.
fn interesting() -> Vec<u64> {
    let mut all = vec![0, 1, 2, 3, 7, 31, 32, 63, 64, 100, u64::from(u32::MAX), 1 << 32, (1 << 32) + 1, 1 << 63];
    all.extend([i64::MAX as u64, 0x8000_0000, 0x7fff_ffff, 0xffff_ffff_0000_0000, 1 << 40, 16_777_217 << 8]);
    all.extend((1..6u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    all.iter().flat_map(|&value| [value, value.wrapping_neg()]).collect()
}

/// `expression` of `x` and `y`, of `ty`, as a `result`, of all pairs.
fn pairs(ty: &str, result: &str, expression: &str, size: u32) -> Vec<(u64, u64, u64)> {
    let source = format!(
        "@group(0) @binding(0) var<storage> xs: array<{ty}>;
        @group(0) @binding(1) var<storage> ys: array<{ty}>;
        @group(0) @binding(2) var<storage, read_write> o: array<{result}>;
        @compute @workgroup_size({size}) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            if id.x >= arrayLength(&xs) {{ return; }}
            let x = xs[id.x]; let y = ys[id.x];
            o[id.x] = {expression};
            _ = y;
        }}"
    );
    let all = interesting();
    let pairs: Vec<(u64, u64)> = all.iter().flat_map(|&x| all.iter().map(move |&y| (x, y))).collect();
    let (a, b): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
    let groups = [(pairs.len() as u32).div_ceil(size), 1, 1];
    let each = if result.ends_with("64") { 8 } else { 4 };
    let buffers = vec![(0, bytes_w(&a)), (1, bytes_w(&b)), (2, vec![0; pairs.len() * each])];
    let out = run(&source, "main", Run { groups, buffers, ..Run::default() });
    let got = if each == 8 { wides(&out.buffers[2]) } else { out.words(2).into_iter().map(u64::from).collect() };
    pairs.into_iter().zip(got).map(|((x, y), got)| (x, y, got)).collect()
}

#[track_caller]
fn check(ty: &str, result: &str, expression: &str, reference: impl Fn(u64, u64) -> u64) {
    for size in [1, 64] {
        for (x, y, got) in pairs(ty, result, expression, size) {
            let want = reference(x, y);
            assert_eq!(got, want, "{expression} of {ty} at {x:#x}, {y:#x}: {got:#x}, not {want:#x}");
        }
    }
}

#[track_caller]
fn signed(expression: &str, reference: impl Fn(i64, i64) -> i64) {
    check("i64", "i64", expression, |x, y| reference(x as i64, y as i64) as u64);
}

#[track_caller]
fn unsigned(expression: &str, reference: impl Fn(u64, u64) -> u64) {
    check("u64", "u64", expression, reference);
}

#[test]
fn arithmetic() {
    unsigned("x + y", u64::wrapping_add);
    unsigned("x - y", u64::wrapping_sub);
    unsigned("x * y", u64::wrapping_mul);
    unsigned("x / y", |x, y| x.checked_div(y).unwrap_or(x));
    unsigned("x % y", |x, y| x.checked_rem(y).unwrap_or(0));
    signed("x * y", i64::wrapping_mul);
    signed("x / y", |x, y| if y == 0 { x } else { x.wrapping_div(y) });
    signed("x % y", |x, y| if y == 0 { 0 } else { x.wrapping_rem(y) });
    signed("-x", |x, _| x.wrapping_neg());
    unsigned("(x & y) ^ (~x | y)", |x, y| (x & y) ^ (!x | y));
    unsigned("x / 10lu + x % 10lu", |x, _| x / 10 + x % 10);
}

#[test]
fn shifts() {
    unsigned("x << u32(y)", |x, y| x.wrapping_shl(y as u32));
    unsigned("x >> u32(y)", |x, y| x.wrapping_shr(y as u32));
    signed("x >> u32(y)", |x, y| x.wrapping_shr(y as u32));
    unsigned("(x << 40u) + (x >> 3u) + (x << 32u) + (x >> 63u) + (x << 0u)", |x, _| {
        [x << 40, x >> 3, x << 32, x >> 63, x].into_iter().fold(0, u64::wrapping_add)
    });
}

#[test]
fn comparisons() {
    let bit = u64::from;
    check("i64", "u32", "u32(x < y) + u32(x <= y) * 2u + u32(x == y) * 4u", |x, y| {
        let (x, y) = (x as i64, y as i64);
        bit(x < y) + bit(x <= y) * 2 + bit(x == y) * 4
    });
    check("u64", "u32", "u32(x > y) + u32(x >= y) * 2u + u32(x != y) * 4u", |x, y| {
        bit(x > y) + bit(x >= y) * 2 + bit(x != y) * 4
    });
}

#[test]
fn functions() {
    signed("abs(x)", |x, _| x.wrapping_abs());
    signed("sign(x)", |x, _| x.signum());
    signed("min(x, y)", i64::min);
    signed("max(x, y)", i64::max);
    unsigned("min(x, y) ^ max(x, ~y)", |x, y| x.min(y) ^ x.max(!y));
    signed("clamp(x, -100li, 5000000000li)", |x, _| x.clamp(-100, 5_000_000_000));
    unsigned("countOneBits(x)", |x, _| u64::from(x.count_ones()));
    unsigned("reverseBits(x)", |x, _| x.reverse_bits());
    unsigned("countLeadingZeros(x) * 100lu + countTrailingZeros(x)", |x, _| {
        u64::from(x.leading_zeros() * 100 + x.trailing_zeros())
    });
    unsigned("firstLeadingBit(x)", |x, _| {
        u64::from(63u32.wrapping_sub(x.leading_zeros())) | if x == 0 { !0 } else { 0 }
    });
    unsigned("firstTrailingBit(x)", |x, _| if x == 0 { u64::MAX } else { u64::from(x.trailing_zeros()) });
    signed("firstLeadingBit(x)", |x, _| 63 - i64::from((x ^ x >> 63).leading_zeros()));
    signed("select(x, y, x < y)", |x, y| if x < y { y } else { x });
}

#[test]
fn fields() {
    let ones = |count: u32| if count == 64 { u64::MAX } else { (1 << count) - 1 };
    for (offset, count) in [(0, 64), (0, 0), (5, 20), (20, 30), (40, 10), (33, 31), (32, 40), (64, 3), (70, 1)] {
        let (at, bits) = (offset.min(64), count.min(64 - offset.min(64)));
        let mask = if bits == 0 { 0 } else { ones(bits) << at };
        unsigned(&format!("extractBits(x, {offset}u, {count}u)"), |x, _| if bits == 0 { 0 } else { (x & mask) >> at });
        signed(&format!("extractBits(x, {offset}u, {count}u)"), |x, _| {
            if bits == 0 { 0 } else { x << (64 - at - bits) >> (64 - bits) }
        });
        unsigned(&format!("insertBits(x, y, {offset}u, {count}u)"), |x, y| {
            if bits == 0 { x } else { x & !mask | y << at & mask }
        });
    }
}

#[test]
fn conversions() {
    check("u64", "u32", "u32(x)", |x, _| x & 0xffff_ffff);
    check("i64", "u32", "u32(i32(x)) + u32(bool(x))", |x, _| u64::from((x as u32).wrapping_add(u32::from(x != 0))));
    signed("i64(i32(x))", |x, _| i64::from(x as i32));
    signed("i64(u32(x))", |x, _| i64::from(x as u32));
    unsigned("u64(i32(x))", |x, _| i64::from(x as i32) as u64);
    unsigned("u64(bool(x)) + u64(i64(x))", |x, _| x.wrapping_add(u64::from(x != 0)));
    check("i64", "u32", "bitcast<u32>(f32(x))", |x, _| u64::from((x as i64 as f32).to_bits()));
    check("u64", "u32", "bitcast<u32>(f32(x))", |x, _| u64::from((x as f32).to_bits()));
    signed("i64(bitcast<f32>(u32(x)))", |x, _| common::i64_of(f32::from_bits(x as u32)));
    unsigned("u64(bitcast<f32>(u32(x)))", |x, _| common::u64_of(f32::from_bits(x as u32)));
    signed("i64(f32(x) * 1.5)", |x, _| common::i64_of(x as f32 * 1.5));
}

/// Every address space and shape, computed indices, calls, swizzles, constants.
#[test]
fn memory_of_all_kinds() {
    for size in [1u32, 3, 8] {
        memory_in_groups_of(size);
    }
}

fn memory_in_groups_of(size: u32) {
    let long = "sum = sum * 3lu + 1lu;".repeat(40);
    let source = format!(
        "struct S {{ a: u64, b: vec3<u64>, list: array<u64, 3>, n: u32 }}
        struct C {{ k: u64, v: vec2<u64> }}
        var<immediate> c: C;
        const TABLE = array<u64, 3>(5000000000lu, 6lu, 18446744073709551615lu);
        const PAIR = vec2<u64>(7lu, 9000000000lu).yx;
        @group(0) @binding(0) var<storage> i: array<S>;
        @group(0) @binding(1) var<storage, read_write> o: array<S>;
        var<workgroup> w: array<S, {size}>;
        var<private> p: array<u64, 4>;
        fn often(v: u64, k: vec2<u64>) -> u64 {{ var sum = v; {long} return sum + k.y; }}
        @compute @workgroup_size({size}) fn main(
            @builtin(local_invocation_index) l: u32, @builtin(global_invocation_id) id: vec3<u32>
        ) {{
            w[l] = i[id.x];
            workgroupBarrier();
            var mine = w[{size}u - 1u - l];
            p[l & 3u] = mine.b.zyx.x + TABLE[l % 3u];
            var v = mine.b;
            v[l % 3u] += c.v[l & 1u] * c.k;
            mine.list[l % 3u] = p[u64(l & 3u)] + PAIR.x + PAIR[l & 1u];
            mine.a = often(mine.a, vec2(5lu)) ^ often(3lu, vec2(u64(l)));
            mine.b = v.yxz * vec3(2lu) + select(vec3(1lu, 2lu, 3lu), v, v > vec3(20lu));
            if (l & 1u) == 0u {{ mine.n = u32(dot(v.xy, vec2(3lu, 1lu))); }}
            o[id.x] = mine;
        }}"
    );
    // a, 3 pads, b, list, n, pad
    let (groups, each) = (2, 12);
    let count = (size * groups) as usize;
    let input: Vec<u64> = (0..(each * count) as u64).map(|at| at * 0x2_0000_0001).collect();
    let start = vec![0; each * count];
    let constants = bytes_w(&[3, 0, 10, 1 << 33]);
    let buffers = vec![(0, bytes_w(&input)), (1, bytes_w(&start))];
    let out = run(&source, "main", Run { groups: [groups, 1, 1], constants, buffers, ..Run::default() });
    let got = wides(&out.buffers[1]);
    let table = [5_000_000_000, 6, u64::MAX];
    let often = |v: u64, k: u64| (0..40).fold(v, |sum, _| sum.wrapping_mul(3).wrapping_add(1)).wrapping_add(k);
    for id in 0..count {
        let l = id % size as usize;
        let other = id - l + (size as usize - 1 - l);
        let mine = &input[other * each..][..each];
        let mut v = [mine[4], mine[5], mine[6]];
        let p = v[2].wrapping_add(table[l % 3]);
        v[l % 3] = v[l % 3].wrapping_add([10, 1 << 33][l & 1] * 3);
        let mut list = [mine[7], mine[8], mine[9]];
        list[l % 3] = p.wrapping_add(9_000_000_000).wrapping_add([9_000_000_000, 7][l & 1]);
        let chosen = |at: usize| if v[at] > 20 { v[at] } else { at as u64 + 1 };
        let b = [v[1] * 2 + chosen(0), v[0] * 2 + chosen(1), v[2] * 2 + chosen(2)];
        let n = if l & 1 == 0 { v[0] * 3 + v[1] } else { mine[10] };
        let part = &got[id * each..][..each];
        assert_eq!(part[0], often(mine[0], 5) ^ often(3, l as u64), "{id} of {size}");
        assert_eq!((&part[4..7], &part[7..10]), (&b[..], &list[..]), "{id} of {size}");
        assert_eq!(part[10] as u32, n as u32, "{id} of {size}");
    }
}

#[test]
fn halves_and_subgroups() {
    let source = "enable f16;
        @group(0) @binding(0) var<storage> i: array<i64>;
        @group(0) @binding(1) var<storage, read_write> o: array<i64>;
        @group(0) @binding(2) var<storage, read_write> f: array<f32>;
        @compute @workgroup_size(6) fn main(@builtin(local_invocation_index) l: u32) {
            o[l] = subgroupAdd(i[l]); o[6u + l] = subgroupMin(i[l]); o[12u + l] = subgroupExclusiveMul(i[l]);
            o[18u + l] = subgroupShuffleXor(i[l], 1u); o[24u + l] = i64(f16(i[l]) * 2h);
            f[l] = f32(f16(i[l]));
        }";
    let data: [i64; 6] = [3, -5_000_000_000, 7, 1 << 40, -2, 60000];
    let input: Vec<u64> = data.iter().map(|value| value.cast_unsigned()).collect();
    let buffers = vec![(0, bytes_w(&input)), (1, bytes_w(&[0; 30])), (2, bytes_f(&[0.0; 6]))];
    let out = run(source, "main", Run { buffers, ..Run::default() });
    let got: Vec<i64> = wides(&out.buffers[1]).into_iter().map(u64::cast_signed).collect();
    for l in 0..6 {
        let gang = if l < 4 { &data[..4] } else { &data[4..] };
        assert_eq!(got[l], gang.iter().sum::<i64>());
        assert_eq!(got[6 + l], *gang.iter().min().unwrap());
        assert_eq!(got[12 + l], gang[..l % 4].iter().fold(1, |a: i64, &b| a.wrapping_mul(b)));
        assert_eq!(got[18 + l], data[l ^ 1]);
    }
    let halves = [3.0, f32::NEG_INFINITY, 7.0, f32::INFINITY, -2.0, 60000.0];
    assert_eq!(out.floats(2), halves);
    // No half is larger.
    assert_eq!(got[24..], [6, -65504, 14, 65504, -4, 65504]);
}

/// An index that does not fit a word is beyond the end.
#[test]
fn indices() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32, 4>;
        @group(0) @binding(1) var<storage> at: array<u64>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) { o[at[id.x]] += id.x + 1u; }";
    let at = [1, (1 << 32) + 1, u64::MAX, 0, 2];
    let buffers = vec![(0, bytes_u(&[0; 4])), (1, bytes_w(&at))];
    let out = run(source, "main", Run { groups: [5, 1, 1], buffers, ..Run::default() });
    assert_eq!(out.words(0), [4, 1, 5, 5]);
}
