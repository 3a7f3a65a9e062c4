//! Integers, to the bit.

use crate::table::{Kind, Table};
use crate::values::{pairs, random, triples, word_edges};

#[track_caller]
fn exact(table: &Table, columns: &[Vec<u32>], scalars_only: bool, want: impl Fn(&[u32]) -> u32) {
    let got = if scalars_only { table.evaluate_scalars(columns) } else { table.evaluate(columns) };
    for (row, got) in got.into_iter().enumerate() {
        let operands: Vec<u32> = columns.iter().map(|column| column[row]).collect();
        let want = want(&operands);
        assert_eq!(got, want, "{} of {operands:x?}: {got:#x}, not {want:#x}", table.expression);
    }
}

/// `expression` of one operand, on `i32` and on `u32`.
#[track_caller]
fn unary(expression: &'static str, signed: fn(i32) -> i32, unsigned: Option<fn(u32) -> u32>) {
    let column = [word_edges().into_iter().chain(random(4000)).collect()];
    let table = Table { expression, columns: &[Kind::I32], result: Kind::I32 };
    exact(&table, &column, false, |x| signed(x[0].cast_signed()).cast_unsigned());
    if let Some(unsigned) = unsigned {
        let table = Table { expression, columns: &[Kind::U32], result: Kind::U32 };
        exact(&table, &column, false, |x| unsigned(x[0]));
    }
}

/// `expression` of all pairs, on `i32` and on `u32`.
#[track_caller]
fn binary(expression: &'static str, signed: fn(i32, i32) -> i32, unsigned: fn(u32, u32) -> u32) {
    let columns = pairs(&word_edges(), &word_edges());
    let table = Table { expression, columns: &[Kind::I32; 2], result: Kind::I32 };
    exact(&table, &columns, false, |x| signed(x[0].cast_signed(), x[1].cast_signed()).cast_unsigned());
    let table = Table { expression, columns: &[Kind::U32; 2], result: Kind::U32 };
    exact(&table, &columns, false, |x| unsigned(x[0], x[1]));
}

#[track_caller]
fn comparison(expression: &'static str, signed: fn(i32, i32) -> bool, unsigned: fn(u32, u32) -> bool) {
    let columns = pairs(&word_edges(), &word_edges());
    let table = Table { expression, columns: &[Kind::I32; 2], result: Kind::Bool };
    exact(&table, &columns, false, |x| signed(x[0].cast_signed(), x[1].cast_signed()).into());
    let table = Table { expression, columns: &[Kind::U32; 2], result: Kind::Bool };
    exact(&table, &columns, false, |x| unsigned(x[0], x[1]).into());
}

#[test]
fn arithmetic() {
    binary("x + y", i32::wrapping_add, u32::wrapping_add);
    binary("x - y", i32::wrapping_sub, u32::wrapping_sub);
    binary("x * y", i32::wrapping_mul, u32::wrapping_mul);
    binary("x / y", |x, y| if y == 0 { x } else { x.wrapping_div(y) }, |x, y| x.checked_div(y).unwrap_or(x));
    binary("x % y", |x, y| if y == 0 { 0 } else { x.wrapping_rem(y) }, |x, y| x.checked_rem(y).unwrap_or(0));
    unary("-x", i32::wrapping_neg, None);
    unary("x / 3", |x| x / 3, Some(|x| x / 3));
    unary("x % 7", |x| x % 7, Some(|x| x % 7));
    unary("x / 8", |x| x / 8, Some(|x| x / 8));
    unary("x % 8", |x| x % 8, Some(|x| x % 8));
    unary("x / -1i", i32::wrapping_neg, None);
    unary("x * 12 - 5", |x| x.wrapping_mul(12).wrapping_sub(5), Some(|x| x.wrapping_mul(12).wrapping_sub(5)));
}

/// By constants, which are divided by in other ways: multiples, and what is next to them.
#[test]
fn division_by_constants() {
    let few = [2, 3, 5, 6, 7, 9, 10, 12, 25, 60, 64, 100, 641, 1000, 4096, 65_535, 65_537, 1_000_000];
    for divisor in few.into_iter().chain([0x2aaa_aaab, 0x4000_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff])
    {
        let factors = random(500).flat_map(|word| [word % (u32::MAX / divisor).max(1), u32::MAX / divisor]);
        let multiples = factors.map(|factor| factor.wrapping_mul(divisor));
        let near =
            multiples.flat_map(|x| [x.wrapping_sub(1), x, x.wrapping_add(1), x.wrapping_neg(), (!x).wrapping_sub(1)]);
        let column = [word_edges().into_iter().chain(near).collect()];
        for (name, unsigned) in [("/", u32::wrapping_div as fn(u32, u32) -> u32), ("%", u32::wrapping_rem)] {
            let expression = format!("x {name} {divisor}u").leak();
            let table = Table { expression, columns: &[Kind::U32], result: Kind::U32 };
            exact(&table, &column, false, |x| unsigned(x[0], divisor));
        }
        let Ok(divisor) = i32::try_from(divisor) else { continue };
        for (name, signed) in [("/", i32::wrapping_div as fn(i32, i32) -> i32), ("%", i32::wrapping_rem)] {
            let expression = format!("x {name} {divisor}").leak();
            let table = Table { expression, columns: &[Kind::I32], result: Kind::I32 };
            exact(&table, &column, false, |x| signed(x[0].cast_signed(), divisor).cast_unsigned());
        }
    }
}

#[test]
fn bits() {
    binary("x & y", |x, y| x & y, |x, y| x & y);
    binary("x | y", |x, y| x | y, |x, y| x | y);
    binary("x ^ y", |x, y| x ^ y, |x, y| x ^ y);
    unary("~x", |x| !x, Some(|x| !x));
    unary("countOneBits(x)", |x| x.count_ones() as i32, Some(u32::count_ones));
    unary("reverseBits(x)", i32::reverse_bits, Some(u32::reverse_bits));
    unary("countLeadingZeros(x)", |x| x.leading_zeros() as i32, Some(u32::leading_zeros));
    unary("countTrailingZeros(x)", |x| x.trailing_zeros() as i32, Some(u32::trailing_zeros));
    let lowest = |x: u32| if x == 0 { u32::MAX } else { x.trailing_zeros() };
    unary("firstTrailingBit(x)", |x| if x == 0 { -1 } else { x.trailing_zeros() as i32 }, Some(lowest));
    let highest = |x: i32| 31 - (if x < 0 { !x } else { x }).leading_zeros() as i32;
    unary("firstLeadingBit(x)", highest, Some(|x| 31u32.wrapping_sub(x.leading_zeros())));
    unary("(x << %U(5u)) ^ (x >> %U(27u))", |x| x << 5 ^ x >> 27, Some(|x| x << 5 ^ x >> 27));
}

#[test]
fn shifts_by_each_lanes_own_count() {
    let columns = pairs(&word_edges(), &word_edges());
    for (expression, kind, want) in [
        ("x << y", Kind::I32, (|x, y| x.wrapping_shl(y)) as fn(u32, u32) -> u32),
        ("x << y", Kind::U32, |x, y| x.wrapping_shl(y)),
        ("x >> y", Kind::I32, |x, y| x.cast_signed().wrapping_shr(y).cast_unsigned()),
        ("x >> y", Kind::U32, |x, y| x.wrapping_shr(y)),
    ] {
        let kinds: &'static [Kind] = if kind == Kind::I32 { &[Kind::I32, Kind::U32] } else { &[Kind::U32; 2] };
        exact(&Table { expression, columns: kinds, result: kind }, &columns, false, |x| want(x[0], x[1]));
    }
}

#[test]
fn comparisons_and_choices() {
    comparison("x < y", |x, y| x < y, |x, y| x < y);
    comparison("x <= y", |x, y| x <= y, |x, y| x <= y);
    comparison("x > y", |x, y| x > y, |x, y| x > y);
    comparison("x >= y", |x, y| x >= y, |x, y| x >= y);
    comparison("x == y", |x, y| x == y, |x, y| x == y);
    comparison("x != y", |x, y| x != y, |x, y| x != y);
    binary("min(x, y)", i32::min, u32::min);
    binary("max(x, y)", i32::max, u32::max);
    binary("select(x, y, x > y)", i32::min, u32::min);
    unary("abs(x)", i32::wrapping_abs, Some(|x| x));
    unary("sign(x)", i32::signum, None);
    let columns = triples(&word_edges(), &word_edges()[..24], &word_edges()[8..32]);
    let table = Table { expression: "clamp(x, y, z)", columns: &[Kind::I32; 3], result: Kind::I32 };
    let [x, y, z] = columns.clone();
    let ordered = |low: u32, high: u32| low.cast_signed() <= high.cast_signed();
    let rows: Vec<usize> = (0..x.len()).filter(|&row| ordered(y[row], z[row])).collect();
    let columns = [x, y, z].map(|column| rows.iter().map(|&row| column[row]).collect::<Vec<_>>());
    exact(&table, &columns, false, |x| {
        x[0].cast_signed().clamp(x[1].cast_signed(), x[2].cast_signed()).cast_unsigned()
    });
}

#[test]
fn truth_values() {
    let columns = pairs(&[0, 1], &[0, 1]).map(|column| column.repeat(9));
    for (expression, want) in [
        ("x & y", (|x, y| x & y) as fn(u32, u32) -> u32),
        ("x | y", |x, y| x | y),
        ("x == y", |x, y| u32::from(x == y)),
        ("x != y", |x, y| x ^ y),
        ("!x", |x, _| 1 - x),
        ("select(x, y, x)", |x, y| if x == 1 { y } else { x }),
        ("select(x, y, !y)", |x, y| if y == 0 { y } else { x }),
    ] {
        let table = Table { expression, columns: &[Kind::Bool; 2], result: Kind::Bool };
        exact(&table, &columns, false, |x| want(x[0], x[1]));
    }
    for (expression, want) in [("x && y", (|x, y| x & y) as fn(u32, u32) -> u32), ("x || y", |x, y| x | y)] {
        let table = Table { expression, columns: &[Kind::Bool; 2], result: Kind::Bool };
        exact(&table, &columns, true, |x| want(x[0], x[1]));
    }
}

/// The bits of a field, and how many there are after what does not fit is left away.
fn field(offset: u32, count: u32) -> (u32, u32) {
    let offset = offset.min(32);
    (offset, count.min(32 - offset))
}

#[test]
fn fields_of_bits() {
    let places = [0, 1, 5, 16, 31, 32, 33, 40, u32::MAX];
    let columns = triples(&word_edges(), &places, &places);
    let extracted = |x: &[u32]| {
        let (offset, count) = field(x[1], x[2]);
        (u64::from(x[0]) >> offset & ((1 << count) - 1), count)
    };
    let expression = "extractBits(x, y, z)";
    let table = Table { expression, columns: &[Kind::U32; 3], result: Kind::U32 };
    exact(&table, &columns, true, |x| extracted(x).0 as u32);
    let table = Table { expression, columns: &[Kind::I32, Kind::U32, Kind::U32], result: Kind::I32 };
    exact(&table, &columns, true, |x| {
        let (bits, count) = extracted(x);
        let negative = count > 0 && bits >> (count - 1) & 1 == 1;
        if negative { (bits | u64::MAX << count) as u32 } else { bits as u32 }
    });
    let inserted = |x: u32, new: u32, offset: u32, count: u32| {
        let (offset, count) = field(offset, count);
        let mask = ((1u64 << count) - 1) << offset;
        (u64::from(x) & !mask | u64::from(new) << offset & mask) as u32
    };
    let table = Table { expression: "insertBits(x, ~x * 3u, y, z)", columns: &[Kind::U32; 3], result: Kind::U32 };
    exact(&table, &columns, true, |x| inserted(x[0], (!x[0]).wrapping_mul(3), x[1], x[2]));
    // The field is the same for all components.
    let table = Table {
        expression: "insertBits(x, y, 7u, 9u) ^ extractBits(y, 3u, 20u)",
        columns: &[Kind::U32; 2],
        result: Kind::U32,
    };
    exact(&table, &pairs(&word_edges(), &word_edges()), false, |x| inserted(x[0], x[1], 7, 9) ^ x[1] >> 3 & 0xf_ffff);
}
