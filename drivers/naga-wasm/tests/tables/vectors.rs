//! Functions of whole vectors and matrices. Sums are compared with `f64`: WGSL does not say in which order they are made.

use crate::table::{Kind, Table};
use crate::values::{bits, float_edges, pairs, random, word_edges};

/// Four columns of numbers that are neither huge nor tiny.
fn columns() -> Vec<Vec<f32>> {
    let numbers: Vec<f32> = random(6100).map(|word| (word >> 8) as f32 / 1_048_576.0 - 8.0).collect();
    (0..4).map(|at| numbers.iter().copied().skip(at * 1000 + 1).take(3001).collect()).collect()
}

/// `expression` of `x`, `y`, `z` and `w`. The reference also answers the sum of the sizes of what it adds up.
#[track_caller]
fn near(expression: &'static str, want: impl Fn([f64; 4]) -> (f64, f64)) {
    let columns = columns();
    let table = Table { expression, columns: &[Kind::F32; 4], result: Kind::F32 };
    let words: Vec<Vec<u32>> = columns.iter().map(|column| bits(column)).collect();
    for (row, got) in table.evaluate_scalars(&words).into_iter().enumerate() {
        let operands = [0, 1, 2, 3].map(|at: usize| f64::from(columns[at][row]));
        let (want, size) = want(operands);
        let (got, error) = (f64::from(f32::from_bits(got)), 8.0 * size * 2f64.powi(-24));
        assert!((got - want).abs() <= error, "{expression} of {operands:?}: {got}, not {want}");
    }
}

/// A sum, and that of the sizes.
fn sum<const N: usize>(terms: [f64; N]) -> (f64, f64) {
    (terms.iter().sum(), terms.iter().map(|term| term.abs()).sum())
}

#[test]
fn products_of_vectors() {
    near("dot(vec2<f32>(x, y), vec2<f32>(z, w))", |[x, y, z, w]| sum([x * z, y * w]));
    near("dot(vec3<f32>(x, y, z), vec3<f32>(w, z, x))", |[x, y, z, w]| sum([x * w, y * z, z * x]));
    near("dot(vec4<f32>(x, y, z, w), vec4<f32>(w, w, y, x))", |[x, y, z, w]| sum([x * w, y * w, z * y, w * x]));
    near("cross(vec3<f32>(x, y, z), vec3<f32>(w, x, y)).x", |[x, y, z, _]| sum([y * y, -z * x]));
    near("cross(vec3<f32>(x, y, z), vec3<f32>(w, x, y)).y", |[x, y, z, w]| sum([z * w, -x * y]));
    near("cross(vec3<f32>(x, y, z), vec3<f32>(w, x, y)).z", |[x, y, _, w]| sum([x * x, -y * w]));
}

#[test]
fn reflections() {
    near("reflect(vec2<f32>(x, y), vec2<f32>(z, w)).y", |[x, y, z, w]| sum([y, -2.0 * w * z * x, -2.0 * w * w * y]));
    near("faceForward(vec2<f32>(x, y), vec2<f32>(y, z), vec2<f32>(w, z)).x", |[x, y, z, w]| {
        let ahead = y * w + z * z;
        // Where the sum is about nothing, its sign is not determined.
        if ahead.abs() < 1e-3 { (0.0, f64::INFINITY) } else { (if ahead < 0.0 { x } else { -x }, 0.0) }
    });
    // Unit vectors at an angle; from half the speed to the whole, and so with nothing reflected.
    near("refract(vec2<f32>(sin(x), -cos(x)), vec2<f32>(0.0, 1.0), 0.5).x", |[x, ..]| (0.5 * x.sin(), 2.0));
    near("refract(vec2<f32>(sin(x), -cos(x)), vec2<f32>(0.0, 1.0), 0.5).y", |[x, ..]| {
        let (dot, k) = (-x.cos(), 1.0 - 0.25 * x.sin().powi(2));
        (-0.5 * x.cos() - (0.5 * dot + k.sqrt()), 4.0)
    });
    near("refract(vec2<f32>(0.8, -0.6), vec2<f32>(0.0, 1.0), 2.0 + x * x).x", |_| (0.0, 0.0));
}

#[test]
fn matrices() {
    near("determinant(mat2x2<f32>(x, y, z, w))", |[x, y, z, w]| sum([x * w, -y * z]));
    near("determinant(mat3x3<f32>(x, y, z, w, x, y, z, w, x))", |[x, y, z, w]| {
        sum([x * x * x, -x * y * w, -y * w * x, y * y * z, z * w * w, -z * x * z])
    });
    near("determinant(mat4x4<f32>(x, y, 0, 0, z, w, 0, 0, 0, 0, w, x, 0, 0, y, z))", |[x, y, z, w]| {
        let (a, b) = (sum([x * w, -y * z]), sum([w * z, -x * y]));
        (a.0 * b.0, a.1 * b.1)
    });
    near("(mat2x3<f32>(x, y, z, w, x, y) * vec2<f32>(z, w)).z", |[_, y, z, w]| sum([z * z, y * w]));
    near("(vec3<f32>(x, y, z) * mat2x3<f32>(x, y, z, w, x, y)).y", |[x, y, z, w]| sum([x * w, y * x, z * y]));
    near("(mat2x2<f32>(x, y, z, w) * mat3x2<f32>(y, z, w, x, z, y))[2].y", |[_, y, z, w]| sum([y * z, w * y]));
    near("transpose(mat3x2<f32>(x, y, z, w, y, x))[1][2]", |[x, ..]| (x, 0.0));
    near("(mat2x2<f32>(x, y, z, w) * x - mat2x2<f32>(w, z, y, x))[0].y", |[x, y, z, _]| sum([y * x, -z]));
}

#[test]
fn products_of_integers_and_choices_of_truth() {
    let columns = pairs(&word_edges(), &word_edges());
    for (expression, kind, result, want) in [
        (
            "dot(vec3<u32>(x, y, 7u), vec3<u32>(y, x, x))",
            Kind::U32,
            Kind::U32,
            (|x, y| x.wrapping_mul(y).wrapping_mul(2).wrapping_add(x.wrapping_mul(7))) as fn(u32, u32) -> u32,
        ),
        ("dot(vec2<i32>(x, y), vec2<i32>(y, -3i))", Kind::I32, Kind::I32, |x, y| {
            x.wrapping_mul(y).wrapping_sub(y.wrapping_mul(3))
        }),
        ("all(vec3<u32>(x, y, 5u) < vec3<u32>(100u, 40u, x))", Kind::U32, Kind::Bool, |x, y| {
            u32::from(x < 100 && y < 40 && 5 < x)
        }),
        ("any(vec4<i32>(x, y, x, y) == vec4<i32>(y, 3i, -1i, 0i))", Kind::I32, Kind::Bool, |x, y| {
            u32::from(x == y || y == 3 || x == u32::MAX || y == 0)
        }),
    ] {
        let kinds: &'static [Kind] = if kind == Kind::I32 { &[Kind::I32; 2] } else { &[Kind::U32; 2] };
        let got = Table { expression, columns: kinds, result }.evaluate_scalars(&columns);
        for (row, got) in got.into_iter().enumerate() {
            let [x, y] = [columns[0][row], columns[1][row]];
            assert_eq!(got, want(x, y), "{expression} of {x:#x}, {y:#x}");
        }
    }
}

#[test]
fn computed_components() {
    let indices: Vec<u32> = vec![0, 1, 2, 3, 4, 7, u32::MAX, 0x8000_0000];
    let edges: Vec<u32> = bits(&float_edges());
    let [values, indices] = pairs(&edges, &indices);
    // Out of range it is the last one.
    for (expression, count) in [
        ("vec4<u32>(x, x + 1u, x + 2u, x + 3u)[y]", 4),
        ("vec3<u32>(x, x + 1u, x + 2u)[y]", 3),
        ("vec2<u32>(x, x + 1u)[y]", 2),
        ("array<u32, 3>(x, x + 1u, x + 2u)[y]", 3),
    ] {
        let table = Table { expression, columns: &[Kind::U32; 2], result: Kind::U32 };
        let got = table.evaluate_scalars(&[values.clone(), indices.clone()]);
        for ((&x, &index), got) in values.iter().zip(&indices).zip(got) {
            assert_eq!(got, x.wrapping_add(index.min(count - 1)), "{expression} of {x:#x}, {index}");
        }
    }
}
