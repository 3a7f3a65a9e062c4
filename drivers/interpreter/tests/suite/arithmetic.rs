//! Operators and conversions.

use crate::{floats, values};

const MIN: u32 = 0x8000_0000;
const MINUS_ONE: u32 = u32::MAX;

#[test]
fn unsigned_integers_wrap_and_divide_by_zero() {
    let expressions = [
        "a[0] + a[1]",
        "a[1] - a[0]",
        "a[0] * a[0]",
        "a[0] / a[1]",
        "a[0] / a[2]",
        "a[0] % a[1]",
        "a[0] % a[2]",
        "a[1] << a[3]",
        "a[0] >> a[3]",
        "(a[0] & 6u) | (a[1] ^ 1u)",
        "~a[2]",
    ];
    // 33 is 1 modulo 32.
    let got = values(&expressions, &[0xffff_fffe, 3, 0, 33]);
    assert_eq!(got, [1, 5, 4, 0x5555_5554, 0xffff_fffe, 2, 0, 6, 0x7fff_ffff, 6, u32::MAX]);
}

#[test]
fn signed_integers_wrap_and_divide_by_zero() {
    let expressions = [
        "s(i(0) / i(1))",
        "s(i(0) % i(1))",
        "s(i(0) / i(2))",
        "s(i(0) % i(2))",
        "s(-i(0))",
        "s(abs(i(0)))",
        "s(i(3) / i(4))",
        "s(i(3) % i(4))",
        "s(i(3) >> a[4])",
        "s(i(3) << a[4])",
        "s(i(0) + i(1))",
        "s(i(3) * i(3))",
        "u32(i(0) < i(1))",
        "u32(a[0] < a[1])",
    ];
    let minus_seven = (-7i32).cast_unsigned();
    let got = values(&expressions, &[MIN, MINUS_ONE, 0, minus_seven, 2]);
    let minus_three = (-3i32).cast_unsigned();
    let want = [
        MIN,
        0,
        MIN,
        0,
        MIN,
        MIN,
        minus_three,
        MINUS_ONE,
        (-2i32).cast_unsigned(),
        (-28i32).cast_unsigned(),
        0x7fff_ffff,
        49,
        1,
        1,
    ];
    assert_eq!(got, want);
}

#[test]
fn floats_are_rounded_once_for_each_operator() {
    let a = [1.0, 3.0, 16_777_216.0, 1.5e-3];
    let got = floats(&["f(0) / f(1)", "f(2) + f(0)", "f(3) * f(1) - f(3)", "-f(1)", "fma(f(3), f(1), -f(3))"], &a);
    assert_eq!(got, [1.0 / 3.0, 16_777_216.0, a[3] * 3.0 - a[3], -3.0, a[3] * 3.0 - a[3]]);
    // x - y * trunc(x / y), which is not always the exact remainder.
    assert_eq!(floats(&["f(0) % f(1)", "f(2) % f(1)"], &[5.5, 2.0, -5.5]), [1.5, -1.5]);
}

#[test]
fn comparisons_and_logic() {
    let got = values(
        &[
            "u32(a[0] == 1u && a[1] == 2u)",
            "u32(a[0] == 2u || a[1] == 2u)",
            "u32(!(a[0] >= a[1]))",
            "select(a[0], a[1], a[0] != a[1])",
            "u32(all(vec2(a[0], a[1]) == vec2(1u, 2u)))",
            "u32(any(vec2(a[0], a[1]) > vec2(1u, 2u)))",
            "select(vec2(a[0], a[1]), vec2(7u, 8u), vec2(true, false)).x",
            "select(vec2(a[0], a[1]), vec2(7u, 8u), vec2(a[0] == 1u, a[0] == 2u)).y",
            "u32((a[0] == 1u) & (a[1] == 1u))",
            "u32((a[0] == 1u) | (a[1] == 1u))",
            "u32((a[0] == 1u) != (a[1] == 1u))",
        ],
        &[1, 2],
    );
    assert_eq!(got, [1, 1, 1, 2, 1, 0, 7, 2, 0, 1, 1]);
}

#[test]
fn conversions_saturate() {
    let bits = |value: f32| value.to_bits();
    let a = [bits(1.9), bits(-1.9), bits(3e9), bits(-5e9), bits(f32::NAN), MINUS_ONE, bits(0.0)];
    let got = values(
        &[
            "u32(f(0))",
            "s(i32(f(1)))",
            "u32(f(1))",
            "u32(f(2))",
            "s(i32(f(3)))",
            "u32(f(4))",
            "r(f32(i(5)))",
            "r(f32(a[5]))",
            "u32(bool(f(0)))",
            "u32(bool(f(6)))",
            "u32(bool(a[5]))",
            "r(f32(a[6] == 0u))",
            "bitcast<u32>(bitcast<f32>(a[2]))",
            "r(f32(16777217u + a[6]))",
        ],
        &a,
    );
    let want = [
        1,
        MINUS_ONE,
        0,
        3_000_000_000,
        MIN,
        0,
        bits(-1.0),
        bits(4_294_967_296.0),
        1,
        0,
        1,
        bits(1.0),
        a[2],
        bits(16_777_216.0),
    ];
    assert_eq!(got, want);
}

#[test]
fn vectors_and_matrices() {
    let got = floats(
        &[
            "(vec3(f(0), f(1), f(2)) * 2.0).y",
            "(vec3(f(0), f(1), f(2)).zyx - vec3(f(0))).x",
            "dot(vec3(f(0), f(1), f(2)), vec3(f(2), f(1), f(0)))",
            // Columns (1 2 3) and (4 5 6).
            "(mat2x3(f(0), f(1), f(2), f(3), f(4), f(5)) * vec2(f(1), f(2))).z",
            "(vec3(f(0), f(1), f(2)) * mat2x3(f(0), f(1), f(2), f(3), f(4), f(5))).y",
            "(mat2x3(f(0), f(1), f(2), f(3), f(4), f(5)) * mat3x2(f(0), f(0), f(1), f(1), f(2), f(3)))[2].y",
            "transpose(mat2x3(f(0), f(1), f(2), f(3), f(4), f(5)))[2].y",
            "determinant(mat2x2(f(0), f(1), f(2), f(3)))",
            "determinant(mat3x3(f(1), 0.0, f(0), f(0), f(2), f(1), f(0), f(0), f(3)))",
            "(mat2x2(f(0), f(1), f(2), f(3)) + mat2x2(f(0), f(0), f(0), f(0)))[1].x",
            "(f(1) * mat2x2(f(0), f(1), f(2), f(3)))[1].y",
        ],
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    );
    assert_eq!(got, [4.0, 2.0, 10.0, 24.0, 32.0, 26.0 + 0.0, 6.0, -2.0, 18.0, 4.0, 8.0]);
}
