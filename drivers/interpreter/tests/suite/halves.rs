//! `f16`.

use crate::group;

fn words_of(halves: &[u16]) -> Vec<u32> {
    halves.chunks(2).map(|pair| u32::from(pair[0]) | u32::from(*pair.get(1).unwrap_or(&0)) << 16).collect()
}

fn halves_of(words: &[u32]) -> Vec<u16> {
    words.iter().flat_map(|word| [*word as u16, (*word >> 16) as u16]).collect()
}

/// The values of `f16` expressions over `a[0]`, `a[1]`, ...
fn halves(expressions: &[&str], a: &[u16]) -> Vec<u16> {
    let stores: String = expressions.iter().enumerate().map(|(at, text)| format!("o[{at}] = {text};\n")).collect();
    let source = format!(
        "enable f16;
        @group(0) @binding(0) var<storage> a: array<f16>;
        @group(0) @binding(1) var<storage, read_write> o: array<f16>;
        @compute @workgroup_size(1) fn main() {{ {stores} }}"
    );
    let mut got = halves_of(&group(&source, &[words_of(a), words_of(&vec![0; expressions.len()])]));
    got.truncate(expressions.len());
    got
}

const ONE: u16 = 0x3c00;
const INFINITE: u16 = 0x7c00;
const LARGEST: u16 = 0x7bff;
const SMALLEST: u16 = 1;

#[test]
fn results_are_the_nearest_of_two_the_even_one() {
    // 1, 2^-11, 2048, 2050, 65504, 16, the smallest, 0.5, 0.75, 3
    let a = [ONE, 0x1000, 0x6800, 0x6801, LARGEST, 0x4c00, SMALLEST, 0x3800, 0x3a00, 0x4200];
    let expressions = [
        "a[0] + a[1]",
        "a[0] + a[1] + a[1]",
        "a[0] + (a[1] + a[1])",
        "a[2] + a[0]",
        "a[3] + a[0]",
        "a[4] + a[5]",
        "a[4] + (a[5] - a[1] * a[5])",
        "a[6] * a[7]",
        "a[6] * a[8]",
        "a[0] / a[9]",
        "-a[4] - a[5]",
        "a[9] % (a[0] + a[0])",
    ];
    let want = [ONE, ONE, 0x3c01, 0x6800, 0x6802, INFINITE, LARGEST, 0, SMALLEST, 0x3555, INFINITE | 0x8000, ONE];
    assert_eq!(halves(&expressions, &a), want);
}

#[test]
fn functions_are_rounded_once() {
    // 1 + 2^-10, -(1 + 2^-9), 2, -2.75, 100
    let a = [0x3c01, 0xbc02, 0x4000, 0xc180, 0x5640];
    let expressions = [
        "fma(a[0], a[0], a[1])",
        "a[0] * a[0] + a[1]",
        "dot(vec2(a[0], a[2]), vec2(a[0], a[2]))",
        "sqrt(a[2])",
        "abs(a[3])",
        "floor(a[3])",
        "modf(a[3]).fract",
        "modf(a[3]).whole",
        "ldexp(a[0], 4)",
        "min(a[3], a[2])",
        "clamp(a[4], a[3], a[2])",
        "length(vec2(a[4] * 3, a[4] * 4))",
        "exp2(a[2])",
    ];
    // 2^-20 and 0; 5.0039 for a little more than 5.00195; 1.414; 2.75; -3; -0.75; -2; 16.0156; -2.75; 2; 500; 4
    let want = [0x10, 0, 0x4501, 0x3da8, 0x4180, 0xc200, 0xba00, 0xc000, 0x4c01, 0xc180, 0x4000, 0x5fd0, 0x4400];
    assert_eq!(halves(&expressions, &a), want);
}

#[test]
fn conversions() {
    let a = [INFINITE, 0xfc00, 0x7e00, 0xbe00, 0x2e66];
    let expressions = [
        "f16(i32(a[0]) - 65504i)",
        "f16(i32(a[1]) + 65504i)",
        "f16(u32(a[0]) - 65504u)",
        "f16(u32(a[1]))",
        "f16(i32(a[2]))",
        "f16(i32(a[3]))",
        "f16(bool(a[2]))",
        "f16(bool(a[3] - a[3]))",
        "f16(f32(a[4]) * 3f)",
        "f16(2049i + i32(a[3] - a[3]))",
        "f16(i64(a[0]) - 65504li)",
        "f16(u32(a[3] - a[3]) + 70000u)",
        "f16(a[3] < a[4])",
    ];
    // Three times 0.0999755859375 is as near to the number below as to the one above, which is odd.
    let want = [0, 0, 0, 0, 0, 0xbc00, ONE, 0, 0x34cc, 0x6800, 0, INFINITE, ONE];
    assert_eq!(halves(&expressions, &a), want);
}

#[test]
fn memory_is_of_two_bytes() {
    let source = "
        enable f16;
        struct S { a: f16, b: vec3<f16>, m: mat2x3<f16>, list: array<f16, 3>, n: u32 }
        @group(0) @binding(0) var<storage, read_write> s: S;
        var<workgroup> w: array<f16, 3>;
        var<private> p: vec4<f16> = vec4<f16>(1h, 2h, 3h, 4h);
        @compute @workgroup_size(3) fn main(@builtin(local_invocation_index) l: u32) {
            w[l] = s.list[l];
            workgroupBarrier();
            s.b[l] = w[2u - l] + p[l];
            if l == 1u { s.m[1].y = 0.5h; s.a = s.m[0].z; }
            workgroupBarrier();
            if l == 2u { s.list = array<f16, 3>(s.b.x, s.b.y, s.b.z); }
        }";
    let mut before = [0x7777u16; 24];
    (before[10], before[16], before[17], before[18]) = (0x5555, ONE, 0x4000, 0x4200);
    let mut after = before;
    (after[0], after[13]) = (0x5555, 0x3800);
    // 3 + 1, 2 + 2, 1 + 3
    after[4..7].fill(0x4400);
    after[16..19].fill(0x4400);
    assert_eq!(halves_of(&group(source, &[words_of(&before)])), after);
}
