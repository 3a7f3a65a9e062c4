//! Operators and built-in functions, against Rust's.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::{Run, bytes_f, bytes_i, bytes_u, run, run_kernel, validate};

/// `f(x)` or `f(x, y)` of all pairs, in one dispatch.
fn floats(expression: &str, xs: &[f32], ys: &[f32]) -> Vec<(f32, f32, f32)> {
    let source = format!(
        "@group(0) @binding(0) var<storage> xs: array<f32>;
        @group(0) @binding(1) var<storage> ys: array<f32>;
        @group(0) @binding(2) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            let x = xs[id.x]; let y = ys[id.x];
            o[id.x] = {expression};
            _ = y;
        }}"
    );
    let pairs: Vec<(f32, f32)> = xs.iter().flat_map(|&x| ys.iter().map(move |&y| (x, y))).collect();
    let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
    let groups = [pairs.len() as u32, 1, 1];
    let buffers = vec![(0, bytes_f(&a)), (1, bytes_f(&b)), (2, bytes_f(&vec![0.0; pairs.len()]))];
    let out = run(&source, "main", Run { groups, buffers, ..Run::default() }).floats(2);
    pairs.into_iter().zip(out).map(|((x, y), got)| (x, y, got)).collect()
}

/// Compares with a reference: within `ulps` of it, or within `slack`.
#[track_caller]
fn close(expression: &str, xs: &[f32], ys: &[f32], reference: impl Fn(f64, f64) -> f64, ulps: f64, slack: f64) {
    for (x, y, got) in floats(expression, xs, ys) {
        let want = reference(f64::from(x), f64::from(y));
        let rounded = want as f32;
        if rounded.is_nan() && got.is_nan() || rounded == got {
            continue;
        }
        let ulp = f64::from(f32::from_bits((rounded.abs().to_bits()).max(0x0080_0000))) * 2f64.powi(-23);
        let off = (f64::from(got) - want).abs();
        assert!(off <= ulps * ulp || off <= slack, "{expression} at {x:e}, {y:e}: {got:e}, not {want:e}");
    }
}

fn sweep(from: f32, to: f32, count: usize) -> Vec<f32> {
    (0..=count).map(|at| from + (to - from) * at as f32 / count as f32).collect()
}

const ODD: [f32; 14] =
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-30, -1e-40, 1e-5, 1e30, -1e30, f32::MIN_POSITIVE, 3.0, -7.25];
const ENDS: [f32; 3] = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

#[test]
fn exponentials_and_logarithms() {
    let near = sweep(-20.0, 20.0, 400);
    let far = [-150.0, -149.5, -126.5, -104.0, -88.0, 88.5, 89.0, 127.9, 128.0, 1e10, -1e10];
    let all = [&near[..], &far, &ODD, &ENDS].concat();
    let one = [0.0];
    // Subnormal results may be zero.
    let least = f64::from(f32::MIN_POSITIVE);
    close("exp(x)", &all, &one, |x, _| x.exp(), 1.1, least);
    close("exp2(x)", &all, &one, |x, _| x.exp2(), 1.1, least);
    let positive =
        [&sweep(0.001, 3.0, 500)[..], &sweep(0.999, 1.001, 100), &[0.0, 1e-40, 1e-38, 1e38, f32::MAX, -1.0], &ENDS]
            .concat();
    close("log(x)", &positive, &one, |x, _| x.ln(), 1.0, 0.0);
    close("log2(x)", &positive, &one, |x, _| x.log2(), 1.0, 0.0);
    let bases = [0.0, 0.3, 0.9999, 1.0, 1.5, 2.0, 10.0, 1e10, 1e-10];
    let powers = [0.0, 0.5, 1.0, 2.0, 3.0, -1.0, -0.3, 20.0, 100.0];
    let pairs = |base: f64, power: f64| if base == 0.0 && power == 0.0 { 1.0 } else { base.powf(power) };
    close("pow(x, y)", &bases, &powers, pairs, 1.0, 0.0);
    close("sqrt(x)", &positive, &one, |x, _| x.sqrt(), 0.5, 0.0);
    close("inverseSqrt(x)", &[0.25, 2.0, 1e10, 3e-20], &one, |x, _| 1.0 / x.sqrt(), 2.0, 0.0);
}

#[test]
fn trigonometry() {
    let one = [0.0];
    let angles = [&sweep(-10.0, 10.0, 1000)[..], &ODD[..9], &[1000.0, -12345.5, 1e6, f32::NAN]].concat();
    close("sin(x)", &angles, &one, |x, _| x.sin(), 1.0, 1e-9);
    close("cos(x)", &angles, &one, |x, _| x.cos(), 1.0, 1e-9);
    close("tan(x)", &angles[..1000], &one, |x, _| x.tan(), 2.0, 1e-9);
    let unit = [&sweep(-1.0, 1.0, 500)[..], &[1e-20, 1.5, -2.0, 0.999_999_9]].concat();
    close("asin(x)", &unit, &one, |x, _| x.asin(), 1.0, 1e-9);
    close("acos(x)", &unit, &one, |x, _| x.acos(), 1.0, 1e-9);
    let any = [&sweep(-5.0, 5.0, 500)[..], &ODD, &ENDS].concat();
    close("atan(x)", &any, &one, |x, _| x.atan(), 1.0, 0.0);
    let sides = [-3.0, -1.0, -0.1, 0.1, 1.0, 2.5, 1e-20, -1e20];
    close("atan2(x, y)", &sides, &sides, |x, y| x.atan2(y), 1.0, 0.0);
    close("atan2(x, y)", &[0.0, -0.0], &[1.0, -1.0], |x, y| x.atan2(y), 1.0, 0.0);
    close("atan2(x, y)", &[1.0, -1.0], &[0.0], |x, y| x.atan2(y), 1.0, 0.0);
    // Huge angles are still sines.
    for (_, _, got) in floats("sin(x) * cos(x)", &[1e20, -1e30, f32::MAX, 1e15], &one) {
        assert!(got.abs() <= 1.0);
    }
}

#[test]
fn hyperbolics() {
    let one = [0.0];
    let any = [&sweep(-8.0, 8.0, 400)[..], &sweep(-0.001, 0.001, 100), &ODD[..9], &[100.0, -100.0], &ENDS].concat();
    close("sinh(x)", &any, &one, |x, _| x.sinh(), 1.0, 0.0);
    close("cosh(x)", &any, &one, |x, _| x.cosh(), 1.0, 0.0);
    close("tanh(x)", &any, &one, |x, _| x.tanh(), 6.0, 0.0);
    close("asinh(x)", &any, &one, |x, _| x.asinh(), 1.0, 0.0);
    close("acosh(x)", &sweep(1.0, 9.0, 200), &one, |x, _| x.acosh(), 1.0, 1e-12);
    close("atanh(x)", &sweep(-0.99, 0.99, 200), &one, |x, _| x.atanh(), 1.0, 0.0);
}

#[test]
fn rounding_and_simple_functions() {
    let xs = [&sweep(-3.0, 3.0, 48)[..], &ODD, &[1e9, -1e9]].concat();
    let ys = [0.0, 1.0, -2.5, 0.75];
    let one = [0.0];
    let f = |g: fn(f32) -> f32| move |x: f64, _: f64| f64::from(g(x as f32));
    close("abs(x)", &xs, &one, f(f32::abs), 0.0, 0.0);
    close("floor(x)", &xs, &one, f(f32::floor), 0.0, 0.0);
    close("ceil(x)", &xs, &one, f(f32::ceil), 0.0, 0.0);
    close("trunc(x)", &xs, &one, f(f32::trunc), 0.0, 0.0);
    close("round(x)", &xs, &one, f(f32::round_ties_even), 0.0, 0.0);
    close("fract(x)", &xs, &one, f(|x| x - x.floor()), 0.0, 0.0);
    close("sign(x)", &xs, &one, f(|x| if x == 0.0 { 0.0 } else { x.signum() }), 0.0, 0.0);
    close("saturate(x)", &xs, &one, f(|x| x.clamp(0.0, 1.0)), 0.0, 0.0);
    close("radians(x)", &xs, &one, |x, _| x.to_radians(), 2.0, 0.0);
    close("degrees(x)", &xs, &one, |x, _| x.to_degrees(), 2.0, 0.0);
    close("min(x, y)", &xs, &ys, f64::min, 0.0, 0.0);
    close("max(x, y)", &xs, &ys, f64::max, 0.0, 0.0);
    close("clamp(x, y, y + 1.0)", &xs, &ys, |x, y| x.clamp(y, y + 1.0), 0.0, 0.0);
    close("step(x, y)", &xs, &ys, |x, y| if x <= y { 1.0 } else { 0.0 }, 0.0, 0.0);
    close("mix(x, y, 0.25)", &[1.0, 2.0, -3.0], &ys, |x, y| x * 0.75 + y * 0.25, 1.0, 1e-7);
    let smooth = |x: f64, _: f64| {
        let t = ((x - 1.0) / 2.0).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    close("smoothstep(1.0, 3.0, x)", &xs, &one, smooth, 4.0, 1e-7);
    close("x % y", &[5.5, -5.5, 7.0, 1e5], &[2.0, -2.0, 0.3], |x, y| x - y * (x / y).trunc(), 4.0, 0.02);
    close("x / y", &[1.0, -3.0, 1e30], &[3.0, -7.0, 0.0, 1e-20], |x, y| x / y, 0.5, 0.0);
    close(
        "ldexp(x, i32(y))",
        &[1.0, -0.75, 1e-40, 3e38],
        &[0.0, 5.0, -3.0, 200.0, -300.0, 127.0],
        |x, y| x * y.exp2(),
        0.5,
        0.0,
    );
    close("modf(x).fract", &[1.5, -2.25, 3.0], &one, |x, _| x.fract(), 0.0, 0.0);
    close("modf(x).whole", &[1.5, -2.25, 3.0], &one, |x, _| x.trunc(), 0.0, 0.0);
    close("ldexp(frexp(x).fract, frexp(x).exp)", &xs, &one, |x, _| x, 0.0, 0.0);
    for (x, _, got) in floats("frexp(x).fract", &xs, &one) {
        assert!(x == 0.0 || (0.5..1.0).contains(&got.abs()), "{x} {got}");
    }
    close(
        "f32(frexp(x).exp)",
        &[1.0, 8.0, 0.3, 0.0],
        &one,
        |x, _| if x == 0.0 { 0.0 } else { x.log2().floor() + 1.0 },
        0.0,
        0.0,
    );
}

#[test]
fn vectors() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(1) fn main() {
            let a = vec3<f32>(1.0, 2.0, 3.0) + vec3<f32>(o[0]); let b = vec3<f32>(-2.0, 0.5, 4.0);
            o[0] = dot(a, b); o[1] = length(vec2<f32>(3.0, 4.0)); o[2] = distance(a, b);
            let c = cross(a, b); o[3] = c.x; o[4] = c.y; o[5] = c.z;
            let n = normalize(vec4<f32>(2.0, 0.0, 0.0, 0.0)); o[6] = n.x + n.y;
            let r = reflect(vec2<f32>(1.0, -1.0), vec2<f32>(0.0, 1.0)); o[7] = r.x; o[8] = r.y;
            let f = faceForward(a, b, b); o[9] = f.x;
            let t = refract(vec2<f32>(0.6, -0.8), vec2<f32>(0.0, 1.0), 0.5); o[10] = t.x; o[11] = t.y;
            o[12] = f32(dot(vec3<i32>(1, -2, 3), vec3<i32>(4, 5, 6)));
            let s = select(a, b, vec3<bool>(true, false, true)); o[13] = s.x; o[14] = s.y;
            let v = a.zyx; o[15] = v.x + f32(all(a < b.zzz)) + f32(any(a < b)) * 10.0;
            let total = refract(vec2<f32>(0.8, -0.6), vec2<f32>(0.0, 1.0), 2.0); o[16] = total.x;
            o[17] = abs(-length(o[4]));
        }";
    let out = run(source, "main", Run { buffers: vec![(0, bytes_f(&[0.0; 18]))], ..Run::default() }).floats(0);
    let root = (1.0f32 - 0.25 * (1.0 - 0.64)).sqrt();
    let want = [
        11.0,
        5.0,
        12.25f32.sqrt(),
        6.5,
        -10.0,
        4.5,
        1.0,
        1.0,
        1.0,
        -1.0,
        0.3,
        -0.4 - (0.5 * -0.8 + root),
        12.0,
        -2.0,
        2.0,
        14.0,
        0.0,
        10.0,
    ];
    for (at, (got, want)) in out.iter().zip(want).enumerate() {
        assert!((got - want).abs() < 1e-6, "{at}: {got} {want}");
    }
}

#[test]
fn matrices() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(1) fn main() {
            let z = o[0];
            let a = mat2x3<f32>(1.0, 2.0, 3.0, 4.0, 5.0, 6.0) * (1.0 + z);
            let b = mat3x2<f32>(1.0, -1.0, 2.0, 0.5, 3.0, 1.0);
            let p = a * b;
            let q = b * a;
            let v = a * vec2<f32>(2.0, 3.0);
            let w = vec3<f32>(1.0, 2.0, 3.0) * a;
            let t = transpose(a);
            let s = (a + a) - a * 0.5;
            let m = mat3x3<f32>(2.0, 0.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0, 4.0);
            let d = determinant(m) + determinant(mat2x2<f32>(1.0, 2.0, 3.0, 4.0)) * 100.0
                + determinant(mat4x4<f32>(vec4(2.0, 0.0, 0.0, 0.0), vec4(0.0, 0.0, 3.0, 0.0), vec4(0.0, 5.0, 0.0, 0.0), vec4(1.0, 1.0, 1.0, 1.0)));
            o[0] = p[2].y; o[1] = q[1].x; o[2] = v.z; o[3] = w.y; o[4] = t[2][1]; o[5] = s[1][2]; o[6] = d;
            o[7] = (2.0 * a)[0].y;
        }";
    let out = run(source, "main", Run { buffers: vec![(0, bytes_f(&[0.0; 8]))], ..Run::default() }).floats(0);
    // p[2] = a * (3, 1); q[1] = b * (4, 5, 6).
    assert_eq!(out, [2.0 * 3.0 + 5.0, 4.0 + 10.0 + 18.0, 24.0, 32.0, 6.0, 9.0, 18.0 - 200.0 - 30.0, 4.0]);
}

#[test]
fn integers() {
    let source = "
        @group(0) @binding(0) var<storage> a: array<i32>;
        @group(0) @binding(1) var<storage, read_write> o: array<i32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = a[id.x * 2u]; let y = a[id.x * 2u + 1u]; let u = bitcast<u32>(x); let w = bitcast<u32>(y);
            let b = id.x * 30u;
            o[b] = x / y; o[b + 1u] = x % y; o[b + 2u] = bitcast<i32>(u / w); o[b + 3u] = bitcast<i32>(u % w);
            o[b + 4u] = x + y; o[b + 5u] = x * y; o[b + 6u] = x << w; o[b + 7u] = x >> w; o[b + 8u] = bitcast<i32>(u >> w);
            o[b + 9u] = abs(x); o[b + 10u] = min(x, y); o[b + 11u] = bitcast<i32>(max(u, w)); o[b + 12u] = sign(x);
            o[b + 13u] = countLeadingZeros(x); o[b + 14u] = countTrailingZeros(x); o[b + 15u] = countOneBits(x);
            o[b + 16u] = reverseBits(x); o[b + 17u] = firstLeadingBit(x); o[b + 18u] = bitcast<i32>(firstLeadingBit(u));
            o[b + 19u] = firstTrailingBit(x); o[b + 20u] = extractBits(x, w, 5u); o[b + 21u] = bitcast<i32>(extractBits(u, 3u, w));
            o[b + 22u] = insertBits(x, y, 4u, 8u); o[b + 23u] = insertBits(x, y, w, 40u); o[b + 24u] = clamp(x, -5, 5);
            o[b + 25u] = x & y | ~x ^ y; o[b + 26u] = i32(x < y) + i32(u < w) * 2; o[b + 27u] = -x; o[b + 28u] = x - y;
            o[b + 29u] = i32(f32(x)) + i32(f32(u) > 1.0);
        }";
    let pairs = [
        [7, 2],
        [-7, 2],
        [7, 0],
        [-7, 0],
        [0, 0],
        [i32::MIN, -1],
        [i32::MIN, 0],
        [i32::MAX, 33],
        [1, 31],
        [-1, 32],
        [0x0f0f, 27],
        [-300, -4],
    ];
    let input: Vec<i32> = pairs.concat();
    let buffers = vec![(0, bytes_i(&input)), (1, bytes_i(&vec![0; pairs.len() * 30]))];
    let out = run(source, "main", Run { groups: [pairs.len() as u32, 1, 1], buffers, ..Run::default() }).ints(1);
    for ([x, y], got) in pairs.into_iter().zip(out.chunks(30)) {
        let (u, w) = (x as u32, y as u32);
        let field = |offset: u32, count: u32| {
            let offset = offset.min(32);
            (offset, count.min(32 - offset))
        };
        let extract = |v: i64, offset: u32, count: u32, signed: bool| {
            let (offset, count) = field(offset, count);
            if count == 0 {
                return 0;
            }
            let bits = ((v as u64) >> offset) & ((1u64 << count) - 1);
            if signed && bits >> (count - 1) & 1 == 1 { (bits | (!0u64 << count)) as i32 } else { bits as i32 }
        };
        let insert = |v: u32, n: u32, offset: u32, count: u32| {
            let (offset, count) = field(offset, count);
            let mask = (((1u64 << count) - 1) << offset) as u32;
            (v & !mask | ((u64::from(n) << offset) as u32 & mask)) as i32
        };
        let want = [
            if y == 0 { x } else { x.wrapping_div(y) },
            if y == 0 { 0 } else { x.wrapping_rem(y) },
            u.checked_div(w).unwrap_or(u) as i32,
            u.checked_rem(w).unwrap_or(0) as i32,
            x.wrapping_add(y),
            x.wrapping_mul(y),
            x.wrapping_shl(w),
            x.wrapping_shr(w),
            u.wrapping_shr(w) as i32,
            x.wrapping_abs(),
            x.min(y),
            u.max(w) as i32,
            x.signum(),
            x.leading_zeros() as i32,
            x.trailing_zeros() as i32,
            x.count_ones() as i32,
            x.reverse_bits(),
            31 - (if x < 0 { !x } else { x }).leading_zeros() as i32,
            31 - u.leading_zeros() as i32,
            if x == 0 { -1 } else { x.trailing_zeros() as i32 },
            extract(i64::from(u), w, 5, true),
            extract(i64::from(u), 3, w, false),
            insert(u, w, 4, 8),
            insert(u, w, w, 40),
            x.clamp(-5, 5),
            x & y | !x ^ y,
            i32::from(x < y) + i32::from(u < w) * 2,
            x.wrapping_neg(),
            x.wrapping_sub(y),
            common::i32_of(x as f32).wrapping_add(i32::from(u as f32 > 1.0)),
        ];
        for (at, (got, want)) in got.iter().zip(want).enumerate() {
            assert_eq!(*got, want, "{at} of {x}, {y}");
        }
    }
}

#[test]
fn conversions() {
    let source = "
        @group(0) @binding(0) var<storage> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> o: array<vec4<u32>>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = a[id.x];
            o[id.x] = vec4<u32>(bitcast<u32>(i32(x)), u32(x), u32(bool(x)), bitcast<u32>(f32(bitcast<i32>(x)) + f32(bitcast<u32>(x)) + f32(x > 0.0)));
        }";
    let input = [0.0, 1.9, -1.9, 3e9, -3e9, 5e9, f32::INFINITY, f32::NEG_INFINITY, 1e-40];
    let buffers = vec![(0, bytes_f(&input)), (1, bytes_u(&[0; 36]))];
    let out = run(source, "main", Run { groups: [9, 1, 1], buffers, ..Run::default() }).words(1);
    for (x, got) in input.into_iter().zip(out.chunks(4)) {
        // A front end may clamp to the largest float below 2^31 or 2^32 first.
        let near = |got: f64, want: f64| got == want || (want - got).abs() < 300.0 && want.abs() > 2e9;
        assert!(near(f64::from(got[0] as i32), f64::from(x as i32)), "{x}: {got:?}");
        assert!(near(f64::from(got[1]), f64::from(x as u32)), "{x}: {got:?}");
        assert_eq!(got[2], u32::from(x != 0.0));
        let bits = x.to_bits() as i32 as f32 + x.to_bits() as f32 + f32::from(u8::from(x > 0.0));
        assert_eq!(got[3], bits.to_bits());
    }
}

#[test]
fn packing() {
    let source = "
        @group(0) @binding(0) var<storage> a: array<vec4<f32>>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let v = a[id.x]; let b = id.x * 10u; let i = vec4<i32>(v * 300.0); let u = vec4<u32>(abs(v) * 300.0);
            o[b] = pack4x8snorm(v); o[b + 1u] = pack4x8unorm(v); o[b + 2u] = pack2x16snorm(v.xy); o[b + 3u] = pack2x16unorm(v.zw);
            o[b + 4u] = pack2x16float(v.xw); o[b + 5u] = pack4xI8(i); o[b + 6u] = pack4xU8(u); o[b + 7u] = pack4xI8Clamp(i);
            o[b + 8u] = pack4xU8Clamp(u); o[b + 9u] = bitcast<u32>(quantizeToF16(v.y));
        }";
    let vectors = [[0.0f32, 1.0, -1.0, 0.5], [2.0, -2.0, 0.1, -0.3], [0.003, 0.999, 1e-6, 100.0]];
    let buffers = vec![(0, bytes_f(&vectors.concat())), (1, bytes_u(&[0; 30]))];
    let out = run(source, "main", Run { groups: [3, 1, 1], buffers, ..Run::default() }).words(1);
    for (v, got) in vectors.into_iter().zip(out.chunks(10)) {
        let snorm = |x: f32, scale: f32| (0.5 + scale * x.clamp(-1.0, 1.0)).floor() as i32 as u32;
        let unorm = |x: f32, scale: f32| (0.5 + scale * x.clamp(0.0, 1.0)).floor() as u32;
        let join = |fields: &[u32], bits: u32| {
            fields.iter().rev().fold(0, |word: u32, field| word << bits | (field & ((1 << bits) - 1)))
        };
        let i = v.map(|x| (x * 300.0) as i32);
        let u = v.map(|x| (x.abs() * 300.0) as u32);
        assert_eq!(got[0], join(&v.map(|x| snorm(x, 127.0)), 8));
        assert_eq!(got[1], join(&v.map(|x| unorm(x, 255.0)), 8));
        assert_eq!(got[2], join(&[snorm(v[0], 32767.0), snorm(v[1], 32767.0)], 16));
        assert_eq!(got[3], join(&[unorm(v[2], 65535.0), unorm(v[3], 65535.0)], 16));
        assert_eq!(got[4], join(&[half(v[0]), half(v[3])], 16));
        assert_eq!(got[5], join(&i.map(|x| x as u32), 8));
        assert_eq!(got[6], join(&u, 8));
        assert_eq!(got[7], join(&i.map(|x| x.clamp(-128, 127) as u32), 8));
        assert_eq!(got[8], join(&u.map(|x| x.min(255)), 8));
        assert_eq!(f32::from_bits(got[9]), wide(half(v[1])));
    }
}

/// `f32` to `f16`, to nearest even, in another way than the compiler's: by trying the neighbours.
fn half(x: f32) -> u32 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let size = x.abs();
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    let at = (0..0x7c00u32).rev().find(|&bits| wide(bits) <= size).unwrap_or(0);
    let (low, high) = (wide(at), if at == 0x7bff { 65536.0 } else { wide(at + 1) });
    let up = size - low > high - size || (size - low == high - size && at & 1 == 1);
    sign | if up { at + 1 } else { at }
}

fn wide(bits: u32) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 31, (bits & 0x3ff) as f32);
    let size =
        if exponent == 0 { fraction * 2f32.powi(-24) } else { (1024.0 + fraction) * 2f32.powi(exponent as i32 - 25) };
    if sign == 1 { -size } else { size }
}

#[test]
fn halves() {
    let source = "
        @group(0) @binding(0) var<storage> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let v = unpack2x16float(a[id.x]);
            o[id.x * 2u] = pack2x16float(v);
            o[id.x * 2u + 1u] = pack2x16float(vec2<f32>(bitcast<f32>(a[id.x] * 2654435761u), v.x * 1.0003));
        }";
    let all: Vec<u32> = (0..0x7c00u32).step_by(7).flat_map(|bits| [bits, bits | 0x8000]).collect();
    let words: Vec<u32> = all.chunks_exact(2).map(|pair| pair[0] | pair[1] << 16).collect();
    let buffers = vec![(0, bytes_u(&words)), (1, bytes_u(&vec![0; words.len() * 2]))];
    let out = run(source, "main", Run { groups: [words.len() as u32, 1, 1], buffers, ..Run::default() }).words(1);
    for (&word, got) in words.iter().zip(out.chunks(2)) {
        assert_eq!(got[0], word);
        let odd = f32::from_bits(word.wrapping_mul(2_654_435_761));
        if !odd.is_nan() {
            assert_eq!(got[1] & 0xffff, half(odd), "{odd:e}");
        }
        assert_eq!(got[1] >> 16, half(wide(word & 0xffff) * 1.0003));
    }
}

#[test]
fn unpacking_and_packed_dots() {
    let source = "
        @group(0) @binding(0) var<storage> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<vec4<f32>>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let w = a[id.x]; let b = id.x * 7u;
            o[b] = unpack4x8snorm(w); o[b + 1u] = unpack4x8unorm(w); o[b + 2u] = vec4<f32>(unpack2x16snorm(w), unpack2x16unorm(w));
            o[b + 3u] = vec4<f32>(unpack4xI8(w)); o[b + 4u] = vec4<f32>(unpack4xU8(w));
            o[b + 5u] = vec4<f32>(f32(dot4I8Packed(w, a[0])), f32(dot4U8Packed(w, a[0])), 0.0, 0.0);
            o[b + 6u] = vec4<f32>(unpack2x16float(w), 0.0, 0.0);
        }";
    let words = [0x80ff_017fu32, 0x0000_0000, 0xffff_ffff, 0x3c00_8000];
    let buffers = vec![(0, bytes_u(&words)), (1, bytes_f(&[0.0; 4 * 28]))];
    let out = run(source, "main", Run { groups: [4, 1, 1], buffers, ..Run::default() }).floats(1);
    let signed = |word: u32| word.to_le_bytes().map(|byte| f32::from(byte as i8));
    let unsigned = |word: u32| word.to_le_bytes().map(f32::from);
    let dot = |a: [f32; 4], b: [f32; 4]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    for (word, got) in words.into_iter().zip(out.chunks(28)) {
        assert_eq!(got[..4], signed(word).map(|x| (x / 127.0).max(-1.0)));
        assert_eq!(got[4..8], unsigned(word).map(|x| x / 255.0));
        let (low, high) = (word as u16, (word >> 16) as u16);
        let s16 = |x: u16| (f32::from(x as i16) / 32767.0).max(-1.0);
        assert_eq!(got[8..12], [s16(low), s16(high), f32::from(low) / 65535.0, f32::from(high) / 65535.0]);
        assert_eq!(got[12..16], signed(word));
        assert_eq!(got[16..20], unsigned(word));
        assert_eq!(got[20], dot(signed(word), signed(words[0])));
        assert_eq!(got[21], dot(unsigned(word), unsigned(words[0])));
        if low & 0x7c00 != 0x7c00 && high & 0x7c00 != 0x7c00 {
            assert_eq!(got[24..26], [wide(u32::from(low)), wide(u32::from(high))]);
        }
    }
}

/// WGSL has no name for it, SPIR-V has: transpositions are made inverses.
#[test]
fn inverses_of_matrices() {
    let source = "
        struct M { a: mat2x2<f32>, b: mat3x3<f32>, c: mat4x4<f32> }
        @group(0) @binding(0) var<storage, read_write> m: M;
        @compute @workgroup_size(1) fn main() {
            let i = M(transpose(m.a), transpose(m.b), transpose(m.c));
            m = M(i.a * m.a, i.b * m.b, m.c * i.c);
        }";
    let mut module = naga::front::wgsl::parse_str(source).unwrap();
    let expressions = &mut module.entry_points[0].function.expressions;
    let handles: Vec<_> = expressions.iter().map(|(handle, _)| handle).collect();
    for handle in handles {
        if let naga::Expression::Math { fun, .. } = expressions.get_mut(handle) {
            *fun = naga::MathFunction::Inverse;
        }
    }
    let info = validate(&module).unwrap();
    let kernel = naga_wasm::compile(&module, &info, "main", &naga_wasm::Options::default()).unwrap();
    let (a, b) = ([2.0, 1.0, 5.0, -3.0], [1.0, 2.0, -1.0, 0.0, 0.0, 3.0, 1.0, 0.0, 4.0, 0.5, 2.0, 0.0]);
    let c = [4.0, 1.0, 0.0, 2.0, -1.0, 3.0, 2.0, 0.0, 0.5, 0.0, 2.0, 1.0, 1.0, -2.0, 0.0, 5.0];
    let buffers = vec![(0, bytes_f(&[&a[..], &b, &c].concat()))];
    let got = run_kernel(&kernel, Run { buffers, ..Run::default() }).floats(0);
    for (start, size, stride) in [(0, 2, 2), (4, 3, 4), (16, 4, 4)] {
        for at in 0..size * size {
            let (column, row) = (at / size, at % size);
            let value = got[start + column * stride + row];
            let want = if column == row { 1.0 } else { 0.0 };
            assert!((value - want).abs() < 1e-5, "{size}: {value} in column {column}, row {row}");
        }
    }
}
