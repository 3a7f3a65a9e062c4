//! Integers of 64 bits.

use crate::group;

fn words_of(values: &[u64]) -> Vec<u32> {
    values.iter().flat_map(|value| [*value as u32, (*value >> 32) as u32]).collect()
}

/// The values of `u64` expressions over `a[0]`, `a[1]`, ... and over the same numbers as `i64`, `i(0)`, `i(1)`, ...
fn wides(expressions: &[&str], a: &[u64]) -> Vec<u64> {
    let stores: String = expressions.iter().enumerate().map(|(at, text)| format!("o[{at}] = {text};\n")).collect();
    let source = format!(
        "@group(0) @binding(0) var<storage> a: array<u64>;
        @group(0) @binding(1) var<storage, read_write> o: array<u64>;
        fn i(at: u32) -> i64 {{ return bitcast<i64>(a[at]); }}
        @compute @workgroup_size(1) fn main() {{ {stores} }}"
    );
    let got = group(&source, &[words_of(a), words_of(&vec![0; expressions.len()])]);
    got.chunks_exact(2).map(|words| u64::from(words[1]) << 32 | u64::from(words[0])).collect()
}

const LOWEST: u64 = 1 << 63;

#[test]
fn they_wrap_and_divide_by_zero() {
    let expressions = [
        "a[0] + a[1]",
        "a[2] - a[1]",
        "a[0] * a[0]",
        "a[0] / a[2]",
        "a[0] % a[2]",
        "a[0] / 10lu",
        "u64(i(3) / i(0))",
        "u64(i(3) % i(0))",
        "u64(i(0) / 2li)",
        "u64(-i(3))",
        "u64(i(0) % 2li)",
    ];
    let want = [4, u64::MAX - 4, 1, u64::MAX, 0, u64::MAX / 10, LOWEST, 0, 0, LOWEST, u64::MAX];
    assert_eq!(wides(&expressions, &[u64::MAX, 5, 0, LOWEST]), want);
}

#[test]
fn bits_and_comparisons() {
    let a = [0x8000_0001_0000_0010, 36, 100, u64::MAX - 1];
    let expressions = [
        "a[0] << u32(a[1])",
        "a[0] >> u32(a[1])",
        "u64(i(0) >> u32(a[1]))",
        // 100 is 36 modulo 64.
        "a[0] >> u32(a[2])",
        "(a[0] & a[3]) ^ ~a[1]",
        "u64(i(0) < i(1)) + 10lu * u64(a[0] < a[1]) + 100lu * u64(a[1] <= a[2]) + 1000lu * u64(i(0) != i(3))",
        "countOneBits(a[0])",
        "countLeadingZeros(a[1])",
        "countTrailingZeros(a[0])",
        "reverseBits(a[0])",
        "firstLeadingBit(a[0])",
        "u64(firstLeadingBit(i(3)))",
        "firstTrailingBit(a[0] - a[0])",
        "extractBits(a[0], 30u, 10u)",
        "u64(extractBits(i(0), 60u, 10u))",
        "insertBits(a[0], a[2], 60u, 10u)",
        "u64(abs(i(3)))",
        "u64(sign(i(0)))",
        "max(a[0], a[3])",
        "u64(max(i(0), i(1)))",
        "dot(vec2(a[1], a[2]), vec2(a[1], 2lu))",
    ];
    let want = [
        1 << 40,
        0x0800_0000,
        0xffff_ffff_f800_0000,
        0x0800_0000,
        (a[0] & a[3]) ^ !36,
        1101,
        3,
        58,
        4,
        a[0].reverse_bits(),
        63,
        0,
        u64::MAX,
        4,
        u64::MAX - 7,
        0x4000_0001_0000_0010,
        2,
        u64::MAX,
        a[3],
        36,
        36 * 36 + 200,
    ];
    assert_eq!(wides(&expressions, &a), want);
}

#[test]
fn conversions() {
    let a = [u64::MAX, 0xffff_ffff_8000_0000, 16_777_217 << 20];
    let expressions = [
        "u64(u32(a[1]))",
        "u64(i32(a[1]))",
        "u64(bool(a[0] - a[0])) + u64(bool(a[0]))",
        "u64(f32(a[2]))",
        "u64(f32(a[0]))",
        "u64(f32(i(0)))",
        "u64(i64(f32(a[0])))",
        "u64(i64(-f32(a[0])))",
        "u64(bitcast<f32>(0x7fc00000u + u32(a[0] - a[0])))",
    ];
    // The greatest floats below 2^64 and 2^63.
    let want = [
        0x8000_0000,
        0xffff_ffff_8000_0000,
        1,
        16_777_216 << 20,
        0xffff_ff00_0000_0000,
        0,
        0x7fff_ff80_0000_0000,
        LOWEST,
        0,
    ];
    assert_eq!(wides(&expressions, &a), want);
}

#[test]
fn an_index_that_fits_no_word_is_beyond_the_end() {
    let source = "
        @group(0) @binding(0) var<storage> at: array<u64>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32, 4>;
        @compute @workgroup_size(5) fn main(@builtin(local_invocation_index) l: u32) { o[at[l]] += l + 1u; }";
    assert_eq!(group(source, &[words_of(&[1, (1 << 32) + 1, u64::MAX, 0, 2]), vec![0; 4]]), [4, 1, 5, 5]);
}

#[test]
fn atomics() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> sum: atomic<u64>;
        @group(0) @binding(1) var<storage, read_write> o: array<u64>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {
            o[l] = atomicAdd(&sum, 0xfffffffflu);
        }";
    let got = group(source, &[words_of(&[7]), words_of(&[0; 4])]);
    assert_eq!(got, words_of(&[7, 0x1_0000_0006, 0x2_0000_0005, 0x3_0000_0004]));
}
