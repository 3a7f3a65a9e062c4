//! `f16`: every operator and built-in function, against `f32` ones rounded to `f16`, and every kind of memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::{Run, bytes_f, bytes_i, bytes_u, floats, run};

/// What an `f16` is.
fn value(half: u16) -> f32 {
    let (exponent, fraction) = (half >> 10 & 31, f32::from(half & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(i32::from(exponent) - 25),
    };
    if half & 0x8000 == 0 { size } else { -size }
}

/// The nearest `f16`, ties to even: by how many of its units a number has.
fn nearest(x: f64) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    if x.is_nan() {
        return sign | 0x7e00;
    }
    let size = x.abs();
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).clamp(-14, 16);
    let units = (size / 2f64.powi(exponent - 10)).round_ties_even();
    sign | (units + 1024.0 * f64::from(exponent + 14)).min(f64::from(0x7c00)) as u16
}

fn bytes_h(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn halves(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|half| u16::from_le_bytes(half.try_into().unwrap())).collect()
}

/// Zeros, denormals, ends, ties, and numbers in between.
fn interesting() -> Vec<u16> {
    let mut all =
        vec![0, 1, 2, 0x3ff, 0x400, 0x401, 0x7bff, 0x7c00, 0x7e00, 0x3c00, 0x3c01, 0x3555, 0x4248, 0x6800, 0x1400];
    all.extend((0..17u16).map(|at| 0x0123 + at * 0x0777));
    all.iter().flat_map(|&half| [half, half | 0x8000]).collect()
}

/// `expression` of `x` and `y`, of all pairs, in gangs of all kinds of workgroups.
fn pairs(expression: &str, xs: &[u16], ys: &[u16], size: u32) -> Vec<(u16, u16, u16)> {
    let source = format!(
        "enable f16;
        @group(0) @binding(0) var<storage> xs: array<f16>;
        @group(0) @binding(1) var<storage> ys: array<f16>;
        @group(0) @binding(2) var<storage, read_write> o: array<f16>;
        @compute @workgroup_size({size}) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            if id.x >= arrayLength(&xs) {{ return; }}
            let x = xs[id.x]; let y = ys[id.x];
            o[id.x] = {expression};
        }}"
    );
    let mut pairs: Vec<(u16, u16)> = xs.iter().flat_map(|&x| ys.iter().map(move |&y| (x, y))).collect();
    if pairs.len() % 2 == 1 {
        pairs.push(pairs[0]);
    }
    let (a, b): (Vec<u16>, Vec<u16>) = pairs.iter().copied().unzip();
    let groups = [(pairs.len() as u32).div_ceil(size), 1, 1];
    let buffers = vec![(0, bytes_h(&a)), (1, bytes_h(&b)), (2, bytes_h(&vec![0; pairs.len()]))];
    let out = halves(&run(&source, "main", Run { groups, buffers, ..Run::default() }).buffers[2]);
    pairs.into_iter().zip(out).map(|((x, y), got)| (x, y, got)).collect()
}

#[track_caller]
fn check(expression: &str, reference: impl Fn(f64, f64) -> f64) {
    let all = interesting();
    let ys: &[u16] = if expression.contains('y') { &all } else { &[0x3c00] };
    for size in [1, 6, 64] {
        for (x, y, got) in pairs(expression, &all, ys, size) {
            let want = nearest(reference(f64::from(value(x)), f64::from(value(y))));
            let nan = want & 0x7fff > 0x7c00 && got & 0x7fff > 0x7c00;
            let (a, b) = (value(x), value(y));
            assert!(nan || got == want, "{expression} at {a:e}, {b:e}: {:e}, not {:e}", value(got), value(want));
        }
    }
}

#[test]
fn operators_are_rounded_to_nearest() {
    check("x + y", |x, y| x + y);
    check("x - y", |x, y| x - y);
    check("x * y", |x, y| x * y);
    check("x / y", |x, y| x / y);
    check("-x", |x, _| -x);
    check("select(1h, 2h, x < y)", |x, y| if x < y { 2.0 } else { 1.0 });
    check("select(1h, 2h, x == y)", |x, y| if x == y { 2.0 } else { 1.0 });
    check("select(1h, 2h, x != y)", |x, y| if x != y { 2.0 } else { 1.0 });
    check("select(1h, 2h, x >= y)", |x, y| if x >= y { 2.0 } else { 1.0 });
}

/// A sum of two roundings differs from one of one.
#[test]
fn each_operator_rounds() {
    let (one, tiny) = (0x3c00, 0x1000);
    let got = pairs("x + y + y", &[one], &[tiny], 1)[0].2;
    assert_eq!(got, one);
    assert_ne!(nearest(f64::from(value(one)) + 2.0 * f64::from(value(tiny))), one);
}

#[test]
fn exact_functions() {
    let f = |g: fn(f64) -> f64| move |x: f64, _: f64| g(x);
    check("abs(x)", f(f64::abs));
    check("floor(x)", f(f64::floor));
    check("ceil(x)", f(f64::ceil));
    check("trunc(x)", f(f64::trunc));
    check("round(x)", f(f64::round_ties_even));
    check("fract(x)", f(|x| x - x.floor()));
    check("sqrt(x)", f(f64::sqrt));
    check("f16(f32(x))", f(|x| x));
    check("modf(x).whole", f(f64::trunc));
    check("min(x, y)", |x, y| if y < x { y } else { x });
    check("max(x, y)", |x, y| if x < y { y } else { x });
    check("step(x, y)", |x, y| if x <= y { 1.0 } else { 0.0 });
    check("ldexp(x, 3)", |x, _| x * 8.0);
}

/// Those of `f32`, rounded: within one unit in the last place.
#[test]
fn rounded_functions() {
    type Reference = fn(f64) -> f64;
    let all: [(&str, Reference); 16] = [
        ("exp(x)", f64::exp),
        ("exp2(x)", f64::exp2),
        ("log(abs(x))", |x| x.abs().ln()),
        ("log2(abs(x))", |x| x.abs().log2()),
        ("sin(x)", f64::sin),
        ("cos(x)", f64::cos),
        ("tanh(x)", f64::tanh),
        ("atan(x)", f64::atan),
        ("asinh(x)", f64::asinh),
        ("radians(x)", f64::to_radians),
        ("degrees(x)", f64::to_degrees),
        ("inverseSqrt(abs(x))", |x| 1.0 / x.abs().sqrt()),
        ("fma(x, x, x)", |x| x * x + x),
        ("mix(x, 2h, 0.25h)", |x| x * 0.75 + 0.5),
        ("length(vec3(x, x, 1h))", |x| (x * x * 2.0 + 1.0).sqrt()),
        ("dot(vec2(x, 2h), vec2(x, 3h))", |x| x * x + 6.0),
    ];
    for (expression, reference) in all {
        for (x, _, got) in pairs(expression, &interesting(), &[0x3c00], 64) {
            let want = nearest(reference(f64::from(value(x))));
            if want & 0x7fff > 0x7c00 || value(x).is_infinite() {
                continue;
            }
            let apart = i32::from(got).abs_diff(i32::from(want));
            assert!(apart <= 1, "{expression} at {:e}: {:e}, not {:e}", value(x), value(got), value(want));
        }
    }
}

#[test]
fn quantised_numbers_are_halves() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> d: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            d[id.x] = quantizeToF16(d[id.x]);
        }";
    let mut xs: Vec<f32> = Vec::new();
    for half in (0..0x7c00u16).step_by(7) {
        let middle = ((f64::from(value(half)) + f64::from(value(half + 1).min(65536.0))) / 2.0) as f32;
        xs.extend([middle.next_down(), middle, middle.next_up(), -middle]);
    }
    xs.extend([0.0, -0.0, 1e-30, -1e-45, 1e9, -1e38, f32::INFINITY, f32::NEG_INFINITY, 65519.99, 65520.0]);
    xs.resize(xs.len().next_multiple_of(64), 1.0);
    let groups = [xs.len() as u32 / 64, 1, 1];
    let got = run(source, "main", Run { groups, buffers: vec![(0, bytes_f(&xs))], ..Run::default() }).floats(0);
    for (x, got) in xs.into_iter().zip(got) {
        assert_eq!(got.to_bits(), value(nearest(f64::from(x))).to_bits(), "{x:e}");
    }
}

#[test]
fn conversions() {
    let source = "enable f16;
        @group(0) @binding(0) var<storage> f: array<f32>;
        @group(0) @binding(1) var<storage> s: array<i32>;
        @group(0) @binding(2) var<storage, read_write> h: array<f16>;
        @group(0) @binding(3) var<storage, read_write> back: array<i32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
            h[i] = f16(f[i]); h[8u + i] = f16(s[i]); h[16u + i] = f16(u32(s[i])); h[24u + i] = f16(s[i] > 0);
            back[i] = i32(h[i]); back[8u + i] = i32(u32(h[i])); back[16u + i] = i32(bool(h[i]));
            back[24u + i] = i32(f32(h[i] * 2h));
        }";
    let fs = [0.0, 1.5, -2.7, 65504.0, 1e9, -1e9, 0.1, 2049.0];
    let ss = [0, 1, -1, 2049, 65503, 70000, -2051, i32::MIN];
    let buffers = vec![(0, bytes_f(&fs)), (1, bytes_i(&ss)), (2, bytes_h(&[0; 32])), (3, bytes_i(&[0; 32]))];
    let out = run(source, "main", Run { buffers, ..Run::default() });
    let (got, back) = (halves(&out.buffers[2]), out.ints(3));
    for (i, (&f, &s)) in fs.iter().zip(&ss).enumerate() {
        let half = nearest(f64::from(f));
        assert_eq!(got[i], half);
        assert_eq!(got[8 + i], nearest(f64::from(s)), "{s}");
        assert_eq!(got[16 + i], nearest(f64::from(s.cast_unsigned())), "{s}");
        assert_eq!(got[24 + i], if s > 0 { 0x3c00 } else { 0 });
        let f = value(half);
        // No half is larger than this one.
        let whole = f.clamp(-65504.0, 65504.0);
        assert_eq!(back[i], whole as i32);
        assert_eq!(back[8 + i], (whole as u32).cast_signed());
        assert_eq!(back[16 + i], i32::from(f != 0.0));
        assert_eq!(back[24 + i], common::i32_of(value(nearest(f64::from(f) * 2.0))));
    }
}

/// Every address space and shape, with neighbours that must stay.
#[test]
fn memory_of_all_kinds() {
    for size in [1u32, 3, 4, 7, 32] {
        memory_in_groups_of(size);
    }
}

fn memory_in_groups_of(size: u32) {
    let source = format!(
        "enable f16;
        struct S {{ a: f16, b: vec3<f16>, m: mat2x3<f16>, list: array<f16, 3>, n: u32, last: f16 }}
        @group(0) @binding(0) var<storage> i: array<S>;
        @group(0) @binding(1) var<storage, read_write> o: array<S>;
        @group(0) @binding(2) var<storage, read_write> odd: array<f16>;
        var<workgroup> w: array<S, {size}>;
        var<workgroup> row: array<f16, {size}>;
        var<private> p: array<f16, 5>;
        @compute @workgroup_size({size}) fn main(
            @builtin(local_invocation_index) l: u32, @builtin(global_invocation_id) id: vec3<u32>
        ) {{
            w[l] = i[id.x];
            row[{size}u - 1u - l] = w[l].a;
            workgroupBarrier();
            var mine = w[{size}u - 1u - l];
            var stack: array<vec3<f16>, 4>;
            stack[l & 3u] = mine.b;
            stack[(l + 1u) & 3u].y = mine.a;
            p[l % 5u] = row[l] + stack[l & 3u].x;
            p[(l + 2u) % 5u] = stack[(l + 1u) & 3u].y;
            mine.list[l % 3u] += p[l % 5u] * 2h + p[(l + 2u) % 5u];
            mine.m[l & 1u][l % 3u] = p[(l + 4u) % 5u] - 1h;
            if (l & 1u) == 0u {{ mine.last = f16(mine.n) * 0.5h; odd[2u * id.x + 1u] = mine.last; }}
            o[id.x] = mine;
        }}"
    );
    let groups = 3;
    let count = (size * groups) as usize;
    // a, pad x3, b x3, pad, m 2 * (3 + pad), list x3, pad, n (a word), last, pads
    let each = 48 / 2;
    let mut input = vec![0u16; each * count];
    for (at, part) in input.chunks_exact_mut(each).enumerate() {
        for (offset, half) in part.iter_mut().enumerate() {
            *half = nearest((at * 3 + offset) as f64 / 4.0);
        }
        (part[20], part[21]) = (at as u16, 0);
    }
    let odd = vec![0x5555u16; 2 * count];
    let start = vec![0u16; input.len()];
    let buffers = vec![(0, bytes_h(&input)), (1, bytes_h(&start)), (2, bytes_h(&odd))];
    let out = run(&source, "main", Run { groups: [groups, 1, 1], buffers, ..Run::default() });
    let (got, odd) = (halves(&out.buffers[1]), halves(&out.buffers[2]));
    for id in 0..count {
        let l = id % size as usize;
        let other = id - l + (size as usize - 1 - l);
        let of = |part: usize| value(input[other * each + part]);
        let (a, b) = (of(0), [of(4), of(5), of(6)]);
        let mut mine: Vec<f32> = (0..each).map(of).collect();
        let mut stack = [[0f32; 3]; 4];
        stack[l & 3] = b;
        stack[(l + 1) & 3][1] = a;
        let mut p = [0f32; 5];
        let h = |x: f32| value(nearest(f64::from(x)));
        p[l % 5] = h(a + stack[l & 3][0]);
        p[(l + 2) % 5] = stack[(l + 1) & 3][1];
        mine[16 + l % 3] = h(mine[16 + l % 3] + h(h(p[l % 5] * 2.0) + p[(l + 2) % 5]));
        mine[8 + 4 * (l & 1) + l % 3] = h(p[(l + 4) % 5] - 1.0);
        if l & 1 == 0 {
            mine[22] = h(other as f32 * 0.5);
        }
        let want = if l & 1 == 0 { nearest(f64::from(mine[22])) } else { 0x5555 };
        assert_eq!((odd[2 * id], odd[2 * id + 1]), (0x5555, want), "{id} of {size}");
        let parts = [0, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 22];
        for part in parts {
            assert_eq!(value(got[id * each + part]), mine[part], "part {part} of {id} of {size}");
        }
        assert_eq!(usize::from(got[id * each + 20]), other);
    }
}

#[test]
fn constants_tables_and_uniforms() {
    let source = "enable f16;
        const TABLE = array<f16, 6>(0.1h, -1.5h, 65504h, 1h / 3h, 6e-8h, 2h);
        struct C { a: vec3<f16>, b: vec4<f16>, n: u32 }
        @group(0) @binding(1) var<uniform> c: C;
        @group(0) @binding(0) var<storage, read_write> o: array<f16>;
        fn swap(v: vec2<f16>) -> vec2<f16> { return v.yx; }
        @compute @workgroup_size(6) fn main(@builtin(local_invocation_index) l: u32) {
            o[l] = TABLE[l] + c.b[l];
            o[6u + l] = c.a[l % 3u] + f16(c.n) * swap(vec2(1h, 0.5h)).x;
            let v = vec4<f16>(1h, 2h, 3h, 4h);
            o[12u + l] = v[l & 3u] * c.a.y;
        }";
    let (a, b) = ([1.5, -2.0, 0.25], [1.0, 2.0, 3.0, 4.0]);
    let mut constants = bytes_h(&a.map(nearest));
    constants.extend([0, 0]);
    constants.extend(bytes_h(&b.map(nearest)));
    constants.extend(bytes_u(&[6]));
    constants.resize(24, 0);
    let run = Run { buffers: vec![(0, bytes_h(&[0; 18])), (1, constants)], ..Run::default() };
    let got = halves(&common::run(source, "main", run).buffers[0]);
    let table = [0.1, -1.5, 65504.0, 1.0 / 3.0, 6e-8, 2.0].map(nearest);
    for l in 0..6 {
        let sum = value(table[l]) + b[l.min(3)] as f32;
        assert_eq!(got[l], nearest(f64::from(sum)), "{l}");
        assert_eq!(got[6 + l], nearest(a[l % 3] + 3.0), "{l}");
        assert_eq!(got[12 + l], nearest(-2.0 * ((l & 3) + 1) as f64), "{l}");
    }
}

#[test]
fn matrices_and_packing() {
    let source = "enable f16;
        @group(0) @binding(0) var<storage, read_write> m: mat3x3<f16>;
        @group(0) @binding(1) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(1) fn main() {
            let v = m * vec3<f16>(1h, 2h, 3h);
            let w = vec3<f16>(1h, 2h, 3h) * m;
            o[0] = f32(v.x); o[1] = f32(v.y); o[2] = f32(v.z); o[3] = f32(w.x); o[4] = f32(w.y); o[5] = f32(w.z);
            o[6] = f32(determinant(m));
            m = transpose(m) * 2h;
            o[7] = unpack2x16float(pack2x16float(vec2<f32>(0.1, 3.0))).x;
        }";
    let columns = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]];
    let bytes: Vec<u16> = columns.iter().flat_map(|c| [c[0], c[1], c[2], 0.0].map(nearest)).collect();
    let out =
        run(source, "main", Run { buffers: vec![(0, bytes_h(&bytes)), (1, bytes_f(&[0.0; 8]))], ..Run::default() });
    let tenth = value(nearest(f64::from(0.1f32)));
    assert_eq!(floats(&out.buffers[1]), [30.0, 36.0, 45.0, 14.0, 32.0, 53.0, -3.0, tenth]);
    let doubled: Vec<f32> = halves(&out.buffers[0]).into_iter().map(value).collect();
    assert_eq!(doubled, [2.0, 8.0, 14.0, 0.0, 4.0, 10.0, 16.0, 0.0, 6.0, 12.0, 20.0, 0.0]);
}

/// A large value: copied as a whole, from and to places that are not whole words.
#[test]
fn large_values_move() {
    let source = "enable f16;
        struct Big { a: f16, list: array<f16, 201> }
        @group(0) @binding(0) var<storage> i: array<Big, 2>;
        @group(0) @binding(1) var<storage, read_write> o: array<Big, 2>;
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) l: u32) {
            var mine = i[l];
            mine.list[l * 3u + 7u] = mine.a;
            o[1u - l] = mine;
        }";
    let input: Vec<u16> = (0..404).map(|at| 0x3000 + at).collect();
    let out =
        run(source, "main", Run { buffers: vec![(0, bytes_h(&input)), (1, bytes_h(&[0; 404]))], ..Run::default() });
    let mut want = [&input[202..], &input[..202]].concat();
    want[202 + 8] = input[0];
    want[11] = input[202];
    assert_eq!(halves(&out.buffers[1]), want);
}
