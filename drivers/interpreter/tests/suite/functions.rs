//! Built-in functions.

use crate::{floats, values};

#[test]
fn numbers() {
    let a = [2.5, -2.5, 3.5, -0.25, 9.0, 0.0];
    let got = floats(
        &[
            "round(f(0))",
            "round(f(1))",
            "round(f(2))",
            "floor(f(3))",
            "ceil(f(3))",
            "trunc(f(1))",
            "fract(f(3))",
            "sqrt(f(4))",
            "inverseSqrt(f(4))",
            "sign(f(3))",
            "sign(f(5))",
            "abs(f(1))",
            "min(f(0), f(1))",
            "max(f(0), f(1))",
            "clamp(f(4), f(1), f(0))",
            "saturate(f(3))",
            "step(f(0), f(2))",
            "step(f(2), f(0))",
            "mix(f(0), f(2), 0.5)",
            "smoothstep(2.0, 4.0, f(2))",
            "degrees(f(5))",
            "ldexp(f(0), 3)",
            "frexp(f(0)).fract",
            "f32(frexp(f(0)).exp)",
            "modf(f(1)).fract",
            "modf(f(1)).whole",
            "pow(f(4), 0.5)",
            "exp2(f(2) - 0.5)",
            "log2(f(4) - 1.0)",
            "quantizeToF16(f(3) / 3.0 + 1.0)",
        ],
        &a,
    );
    let want = [
        2.0,
        -2.0,
        4.0,
        -1.0,
        -0.0,
        -2.0,
        0.75,
        3.0,
        1.0 / 3.0,
        -1.0,
        0.0,
        2.5,
        -2.5,
        2.5,
        2.5,
        0.0,
        1.0,
        0.0,
        3.0,
        // t = 0.75: 0.75 * 0.75 * (3 - 1.5)
        0.843_75,
        0.0,
        20.0,
        0.625,
        2.0,
        -0.5,
        -2.0,
        3.0,
        8.0,
        3.0,
        // 11/12 to eleven bits.
        0.916_503_9,
    ];
    assert_eq!(got, want);
}

#[test]
fn transcendental_functions_are_near() {
    let x = 0.7f32;
    let got = floats(
        &[
            "exp(f(0))",
            "log(f(0))",
            "sin(f(0))",
            "cos(f(0))",
            "tan(f(0))",
            "asin(f(0))",
            "acos(f(0))",
            "atan(f(0))",
            "sinh(f(0))",
            "cosh(f(0))",
            "tanh(f(0))",
            "asinh(f(0))",
            "acosh(f(0) + 1.0)",
            "atanh(f(0))",
            "atan2(f(0), -f(0))",
            "radians(f(0))",
        ],
        &[x],
    );
    let w = f64::from(x);
    let want = [
        w.exp(),
        w.ln(),
        w.sin(),
        w.cos(),
        w.tan(),
        w.asin(),
        w.acos(),
        w.atan(),
        w.sinh(),
        w.cosh(),
        w.tanh(),
        w.asinh(),
        (w + 1.0).acosh(),
        w.atanh(),
        w.atan2(-w),
        w.to_radians(),
    ];
    for (at, (got, want)) in got.into_iter().zip(want).enumerate() {
        assert!((f64::from(got) - want).abs() < 2e-7, "{at}: {got} {want}");
    }
}

#[test]
fn geometry() {
    let got = floats(
        &[
            "length(vec2(f(0), f(1)))",
            "distance(vec2(f(0), f(1)), vec2(0.0, f(1)))",
            "normalize(vec2(f(0), f(1))).y",
            "cross(vec3(f(0), f(1), 0.0), vec3(0.0, f(0), f(1))).y",
            "reflect(vec2(f(0), f(1)), vec2(0.0, 1.0)).y",
            "faceForward(vec2(f(0), f(1)), vec2(f(0), 0.0), vec2(f(0), 0.0)).x",
            // k = 1 - 4 * (1 - 0.36) < 0: nothing goes through.
            "refract(vec2(0.8 * f(2), -0.6), vec2(0.0, 1.0), 2.0).x",
            "refract(vec2(0.0, -f(2)), vec2(0.0, 1.0), 0.5).y",
            "length(-f(0))",
        ],
        &[3.0, 4.0, 1.0],
    );
    assert_eq!(got, [5.0, 3.0, 0.8, -12.0, -4.0, -3.0, 0.0, -1.0, 3.0]);
}

#[test]
fn bits() {
    let got = values(
        &[
            "countLeadingZeros(a[0])",
            "countTrailingZeros(a[0])",
            "countOneBits(a[0])",
            "reverseBits(a[0])",
            "firstLeadingBit(a[0])",
            "firstTrailingBit(a[0])",
            "firstLeadingBit(a[1])",
            "firstTrailingBit(a[1])",
            "s(firstLeadingBit(i(2)))",
            "s(firstLeadingBit(i(3)))",
            "extractBits(a[0], 4u, 8u)",
            "s(extractBits(i(0), 4u, 4u))",
            "extractBits(a[2], 28u, a[2])",
            "extractBits(a[0], 40u, 3u)",
            "insertBits(a[1], a[2], 4u, 8u)",
            "insertBits(a[0], a[2], a[2], 4u)",
            "insertBits(a[0], a[2], 8u, 0u)",
            "s(sign(i(3)))",
            "min(a[0], a[2])",
            "s(min(i(0), i(2)))",
            "s(clamp(i(3), -1, 5))",
            "countLeadingZeros(a[1])",
        ],
        &[0x00f0, 0, u32::MAX, (-9i32).cast_unsigned()],
    );
    let minus_one = u32::MAX;
    let want = [
        24,
        4,
        4,
        0x0f00_0000,
        7,
        4,
        minus_one,
        minus_one,
        minus_one,
        3,
        15,
        minus_one,
        15,
        0,
        0x0ff0,
        0x00f0,
        0x00f0,
        minus_one,
        0xf0,
        minus_one,
        minus_one,
        32,
    ];
    assert_eq!(got, want);
}

#[test]
fn packing() {
    let bits = |value: f32| value.to_bits();
    let a = [bits(1.0), bits(-1.0), bits(0.5), bits(-2.0), 0x80ff_017f, (-200i32).cast_unsigned(), 300, 0x3c00_8000];
    let got = values(
        &[
            "pack4x8snorm(vec4(f(0), f(1), f(2), f(3)))",
            "pack4x8unorm(vec4(f(0), f(1), f(2), f(3)))",
            "pack2x16snorm(vec2(f(2), f(1)))",
            "pack2x16unorm(vec2(f(2), f(0)))",
            "pack2x16float(vec2(f(0), f(3)))",
            "pack4xI8(vec4(i(5), i(6), 1, -1))",
            "pack4xU8(vec4(a[5], a[6], 1u, 2u))",
            "pack4xI8Clamp(vec4(i(5), i(6), 1, -1))",
            "pack4xU8Clamp(vec4(a[6], 1u, 2u, 3u))",
            "s(unpack4xI8(a[4]).w)",
            "unpack4xU8(a[4]).w",
            "r(unpack4x8snorm(a[4]).w)",
            "r(unpack4x8snorm(a[4]).x)",
            "r(unpack4x8unorm(a[4]).z)",
            "r(unpack2x16snorm(a[7]).x)",
            "r(unpack2x16unorm(a[4] | 0xffffu).x)",
            "r(unpack2x16float(a[7]).y)",
            "r(unpack2x16float(a[7]).x)",
            "s(dot4I8Packed(a[4], a[4]))",
            "dot4U8Packed(a[4], a[4])",
        ],
        &a,
    );
    let want = [
        0x8140_817f,
        0x0080_00ff,
        0x8001_4000,
        0xffff_8000,
        0xc000_3c00,
        0xff01_2c38,
        0x0201_2c38,
        0xff01_7f80,
        0x0302_01ff,
        (-128i32).cast_unsigned(),
        0x80,
        bits(-1.0),
        bits(1.0),
        bits(1.0),
        bits(-1.0),
        bits(1.0),
        bits(1.0),
        bits(-0.0),
        127 * 127 + 1 + 1 + 128 * 128,
        127 * 127 + 1 + 255 * 255 + 128 * 128,
    ];
    for (at, (got, want)) in got.into_iter().zip(want).enumerate() {
        assert_eq!(got, want, "{at}: {got:x} {want:x}");
    }
}

#[test]
fn half_precision_is_to_nearest_even() {
    let cases = [
        (1.0 + 1.0 / 2048.0, 0x3c00u32),
        (1.0 + 3.0 / 2048.0, 0x3c02),
        (65519.0, 0x7bff),
        (65520.0, 0x7c00),
        (2f32.powi(-24), 1),
        (2f32.powi(-25), 0),
        (1.5 * 2f32.powi(-25), 1),
        (-0.0, 0x8000),
        (2f32.powi(-14) - 2f32.powi(-26), 0x0400),
    ];
    for (value, want) in cases {
        assert_eq!(values(&["pack2x16float(vec2(f(0), 0.0))"], &[value.to_bits()]), [want], "{value:e}");
    }
}
