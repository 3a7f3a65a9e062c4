//! Numbers in bytes and halves of a word, and half-precision floats.

use crate::table::{Kind, Table};
use crate::values::{bits, float_edges, floats, pairs, random, word_edges};

/// A value of a half-precision float.
fn wide(half: u16) -> f64 {
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction != 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if half >> 15 == 1 { -size } else { size }
}

/// The nearest half: by how many of its units a number has.
fn half(x: f32) -> u16 {
    let sign = (x.to_bits() >> 16) as u16 & 0x8000;
    let size = f64::from(x.abs());
    let exponent = (((x.to_bits() >> 23) & 0xff) as i32 - 127).clamp(-14, 16);
    let units = (size / 2f64.powi(exponent - 10)).round_ties_even();
    sign | (units + 1024.0 * f64::from(exponent + 14)).min(f64::from(0x7c00)) as u16
}

/// The parts of a word, the lowest first.
fn bytes(word: u32) -> [i64; 4] {
    word.to_le_bytes().map(i64::from)
}

fn signed_bytes(word: u32) -> [i64; 4] {
    word.to_le_bytes().map(|byte| i64::from(byte.cast_signed()))
}

fn halves(word: u32) -> [u16; 2] {
    [word as u16, (word >> 16) as u16]
}

#[track_caller]
fn exact(table: &Table, columns: &[Vec<u32>], want: impl Fn(&[u32]) -> u32) {
    for (row, got) in table.evaluate_scalars(columns).into_iter().enumerate() {
        let operands: Vec<u32> = columns.iter().map(|column| column[row]).collect();
        let want = want(&operands);
        let both_nan = table.result == Kind::F32 && [got, want].iter().all(|&word| f32::from_bits(word).is_nan());
        assert!(got == want || both_nan, "{} of {operands:x?}: {got:#x}, not {want:#x}", table.expression);
    }
}

/// Each component of what a word is unpacked to.
#[track_caller]
fn unpacks(expressions: &[&'static str], result: Kind, want: impl Fn(u32, usize) -> u32) {
    let column = [word_edges().into_iter().chain(random(4000)).collect::<Vec<_>>()];
    for (at, expression) in expressions.iter().enumerate() {
        exact(&Table { expression, columns: &[Kind::U32], result }, &column, |word| want(word[0], at));
    }
}

#[test]
fn products_of_bytes() {
    let edges = [0, 0x7f80_017f, 0x8080_8080, 0x7f7f_7f7f, 0xffff_ffff, 0x0102_0304, 0x80ff_0001];
    let words: Vec<u32> = edges.into_iter().chain(random(60)).collect();
    let columns = pairs(&words, &words);
    let sum = |parts: fn(u32) -> [i64; 4]| {
        move |x: &[u32]| parts(x[0]).iter().zip(parts(x[1])).map(|(a, b)| a * b).sum::<i64>() as u32
    };
    let table = Table { expression: "dot4U8Packed(x, y)", columns: &[Kind::U32; 2], result: Kind::U32 };
    exact(&table, &columns, sum(bytes));
    let table = Table { expression: "dot4I8Packed(x, y)", columns: &[Kind::U32; 2], result: Kind::I32 };
    exact(&table, &columns, sum(signed_bytes));
}

#[test]
fn integers_in_bytes() {
    unpacks(&["unpack4xU8(x).x", "unpack4xU8(x).y", "unpack4xU8(x).z", "unpack4xU8(x).w"], Kind::U32, |word, at| {
        bytes(word)[at] as u32
    });
    unpacks(&["unpack4xI8(x).x", "unpack4xI8(x).y", "unpack4xI8(x).z", "unpack4xI8(x).w"], Kind::I32, |word, at| {
        signed_bytes(word)[at] as u32
    });
    let columns = pairs(&word_edges(), &word_edges());
    let join = |parts: [u32; 4]| parts.iter().rev().fold(0, |word: u32, part| word << 8 | part & 0xff);
    let table = Table { expression: "pack4xU8(vec4<u32>(x, y, y, x))", columns: &[Kind::U32; 2], result: Kind::U32 };
    exact(&table, &columns, |x| join([x[0], x[1], x[1], x[0]]));
    let table = Table { expression: "pack4xU8Clamp(vec4<u32>(x, y, y, x))", ..table };
    exact(&table, &columns, |x| join([x[0], x[1], x[1], x[0]].map(|part| part.min(255))));
    let signed = &[Kind::I32; 2];
    let table = Table { expression: "pack4xI8(vec4<i32>(x, y, x, y))", columns: signed, result: Kind::U32 };
    exact(&table, &columns, |x| join([x[0], x[1], x[0], x[1]]));
    let clamped = |part: u32| part.cast_signed().clamp(-128, 127).cast_unsigned();
    let table = Table { expression: "pack4xI8Clamp(vec4<i32>(x, y, x, y))", ..table };
    exact(&table, &columns, |x| join([x[0], x[1], x[0], x[1]].map(clamped)));
}

#[test]
fn fractions_in_bytes_and_halves() {
    let fraction = |value: i64, scale: f32| (value as f32 / scale).max(-1.0).to_bits();
    let four = ["unpack4x8unorm(x).x", "unpack4x8unorm(x).y", "unpack4x8unorm(x).z", "unpack4x8unorm(x).w"];
    unpacks(&four, Kind::F32, |word, at| fraction(bytes(word)[at], 255.0));
    let four = ["unpack4x8snorm(x).x", "unpack4x8snorm(x).y", "unpack4x8snorm(x).z", "unpack4x8snorm(x).w"];
    unpacks(&four, Kind::F32, |word, at| fraction(signed_bytes(word)[at], 127.0));
    unpacks(&["unpack2x16unorm(x).x", "unpack2x16unorm(x).y"], Kind::F32, |word, at| {
        fraction(halves(word)[at].into(), 65535.0)
    });
    unpacks(&["unpack2x16snorm(x).x", "unpack2x16snorm(x).y"], Kind::F32, |word, at| {
        fraction(halves(word)[at].cast_signed().into(), 32767.0)
    });
    let numbers: Vec<f32> = floats().into_iter().filter(|x| !x.is_nan()).collect();
    let turned: Vec<f32> = (0..numbers.len()).map(|at| numbers[(at + 11) % numbers.len()]).collect();
    let columns = [bits(&numbers), bits(&turned)];
    let field = |x: u32, low: f32, scale: f32| (0.5 + scale * f32::from_bits(x).clamp(low, 1.0)).floor() as i32 as u32;
    for (expression, low, scale, shift) in [
        ("pack4x8snorm(vec4<f32>(x, y, x, y))", -1.0, 127.0, 8),
        ("pack4x8unorm(vec4<f32>(x, y, x, y))", 0.0, 255.0, 8),
        ("pack2x16snorm(vec2<f32>(x, y))", -1.0, 32767.0, 16),
        ("pack2x16unorm(vec2<f32>(x, y))", 0.0, 65535.0, 16),
    ] {
        let table = Table { expression, columns: &[Kind::F32; 2], result: Kind::U32 };
        exact(&table, &columns, |x| {
            let mask = (1u32 << shift) - 1;
            let pair = field(x[0], low, scale) & mask | (field(x[1], low, scale) & mask) << shift;
            if shift == 8 { pair | pair << 16 } else { pair }
        });
    }
}

#[test]
fn half_precision() {
    unpacks(&["unpack2x16float(x).x", "unpack2x16float(x).y"], Kind::F32, |word, at| {
        (wide(halves(word)[at]) as f32).to_bits()
    });
    // All ties and their neighbours.
    let ties = (0..0x7bffu16).step_by(5).flat_map(|bits| {
        let middle = ((wide(bits) + wide(bits + 1)) / 2.0) as f32;
        [middle.next_down(), middle, -middle.next_up()]
    });
    let numbers: Vec<f32> = ties.chain(floats()).chain(float_edges()).filter(|x| !x.is_nan()).collect();
    let column = [bits(&numbers)];
    let table = Table { expression: "pack2x16float(vec2<f32>(x, -x))", columns: &[Kind::F32], result: Kind::U32 };
    exact(&table, &column, |x| {
        let half = u32::from(half(f32::from_bits(x[0])));
        half | (half ^ 0x8000) << 16
    });
    let table = Table { expression: "quantizeToF16(x)", columns: &[Kind::F32], result: Kind::F32 };
    let want = |x: u32| (wide(half(f32::from_bits(x))) as f32).to_bits();
    for (&x, got) in column[0].iter().zip(table.evaluate(&column)) {
        assert_eq!(got, want(x), "quantizeToF16({:e})", f32::from_bits(x));
    }
}
