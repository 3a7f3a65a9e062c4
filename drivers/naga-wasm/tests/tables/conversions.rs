//! Conversions between kinds of numbers, and of bits.

use crate::common::{i32_of, u32_of};
use crate::table::{Kind, Table};
use crate::values::{bits, floats, random, word_edges};

#[track_caller]
fn exact(expression: &'static str, from: &'static [Kind], to: Kind, column: &[u32], want: fn(u32) -> u32) {
    let got = Table { expression, columns: from, result: to }.evaluate(&[column.to_vec()]);
    for (&x, got) in column.iter().zip(got) {
        let (want, float) = (want(x), f32::from_bits(x));
        let both_nan = to == Kind::F32 && [got, want].iter().all(|&bits| f32::from_bits(bits).is_nan());
        assert!(got == want || both_nan, "{expression} of {x:#x} ({float:e}): {got:#x}, not {want:#x}");
    }
}

#[test]
fn floats_become_the_nearest_integers_that_are_floats() {
    let column = bits(&floats());
    exact("%T(x)", &[Kind::F32], Kind::I32, &column, |x| i32_of(f32::from_bits(x)).cast_unsigned());
    exact("%T(x)", &[Kind::F32], Kind::U32, &column, |x| u32_of(f32::from_bits(x)));
    exact("%T(x)", &[Kind::F32], Kind::Bool, &column, |x| u32::from(f32::from_bits(x) != 0.0));
}

#[test]
fn integers_become_the_nearest_floats() {
    let column: Vec<u32> = word_edges().into_iter().chain(random(4000)).collect();
    exact("%T(x)", &[Kind::I32], Kind::F32, &column, |x| (x.cast_signed() as f32).to_bits());
    exact("%T(x)", &[Kind::U32], Kind::F32, &column, |x| (x as f32).to_bits());
    // Half way between two floats: to the even one.
    let ties: Vec<u32> = (0..64).flat_map(|n| [(1 << 24) + n, (1 << 31) + n * 128, (1 << 25) + n * 2 + 1]).collect();
    exact("%T(x)", &[Kind::U32], Kind::F32, &ties, |x| (x as f32).to_bits());
    exact("%T(x)", &[Kind::I32], Kind::F32, &ties, |x| (x.cast_signed() as f32).to_bits());
}

#[test]
fn the_same_bits_as_another_kind() {
    let column: Vec<u32> = word_edges().into_iter().chain(bits(&floats())).collect();
    exact("%T(x)", &[Kind::I32], Kind::U32, &column, |x| x);
    exact("%T(x)", &[Kind::U32], Kind::I32, &column, |x| x);
    exact("bitcast<%T>(x)", &[Kind::U32], Kind::F32, &column, |x| x);
    exact("bitcast<%T>(x)", &[Kind::I32], Kind::F32, &column, |x| x);
    let numbers: Vec<u32> = column.into_iter().filter(|&x| !f32::from_bits(x).is_nan()).collect();
    exact("bitcast<%T>(x)", &[Kind::F32], Kind::U32, &numbers, |x| x);
    exact("bitcast<%T>(x)", &[Kind::F32], Kind::I32, &numbers, |x| x);
}

#[test]
fn truth_values_are_zero_and_one() {
    let column: Vec<u32> = word_edges();
    exact("%T(x)", &[Kind::U32], Kind::Bool, &column, |x| u32::from(x != 0));
    exact("%T(x)", &[Kind::I32], Kind::Bool, &column, |x| u32::from(x != 0));
    exact("%T(x)", &[Kind::Bool], Kind::U32, &column, |x| u32::from(x != 0));
    exact("%T(x)", &[Kind::Bool], Kind::I32, &column, |x| u32::from(x != 0));
    exact("%T(x)", &[Kind::Bool], Kind::F32, &column, |x| f32::from(u8::from(x != 0)).to_bits());
}
