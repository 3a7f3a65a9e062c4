//! Operators and functions of floats that have one right answer: they are rounded once, or made of such steps.

use crate::table::{Kind, Table};
use crate::values::{between, bits, float_edges, floats, pairs, triples};

/// Compares to the bit, but for what a NaN looks like and for the sign of a zero.
#[track_caller]
fn exact(table: &Table, columns: &[Vec<u32>], want: impl Fn(&[f32]) -> Option<f32>) {
    for (row, got) in table.evaluate(columns).into_iter().enumerate() {
        let operands: Vec<f32> = columns.iter().map(|column| f32::from_bits(column[row])).collect();
        let got = f32::from_bits(got);
        let Some(want) = want(&operands) else { continue };
        let same = got == want || got.is_nan() && want.is_nan();
        assert!(same, "{} of {operands:?}: {got:e}, not {want:e}", table.expression);
    }
}

#[track_caller]
fn unary(expression: &'static str, want: fn(f32) -> f32) {
    let table = Table { expression, columns: &[Kind::F32], result: Kind::F32 };
    exact(&table, &[bits(&floats())], |x| Some(want(x[0])));
}

#[track_caller]
fn binary(expression: &'static str, want: fn(f32, f32) -> f32) {
    let table = Table { expression, columns: &[Kind::F32; 2], result: Kind::F32 };
    let columns = pairs(&float_edges(), &float_edges()).map(|column| bits(&column));
    exact(&table, &columns, |x| Some(want(x[0], x[1])));
}

/// Where none of the operands is NaN: what one would do to them is not determined.
#[track_caller]
fn ternary_of_numbers(expression: &'static str, want: fn(f32, f32, f32) -> Option<f32>) {
    let table = Table { expression, columns: &[Kind::F32; 3], result: Kind::F32 };
    let some: Vec<f32> = float_edges().into_iter().filter(|x| !x.is_nan()).step_by(3).collect();
    let columns = triples(&some, &some, &some).map(|column| bits(&column));
    exact(&table, &columns, |x| want(x[0], x[1], x[2]));
}

#[test]
fn arithmetic() {
    binary("x + y", |x, y| x + y);
    binary("x - y", |x, y| x - y);
    binary("x * y", |x, y| x * y);
    binary("x / y", |x, y| x / y);
    binary("x % y", |x, y| x - y * (x / y).trunc());
    binary("x * y + x", |x, y| x * y + x);
    unary("-x", |x| -x);
    unary("sqrt(x)", f32::sqrt);
    unary("x * 0.5 - 3.0", |x| x * 0.5 - 3.0);
    unary("x / 3.0", |x| x / 3.0);
}

/// A sign is more than a number equal to it.
#[test]
fn signs_of_zeros() {
    let column = [bits(&[0.0, -0.0, 1e-45, -1e-45, -0.3, 0.3])];
    for (expression, want) in [
        ("-x", (|x| -x) as fn(f32) -> f32),
        ("abs(x)", f32::abs),
        ("trunc(x)", f32::trunc),
        ("ceil(x)", f32::ceil),
        ("floor(x)", f32::floor),
        ("round(x)", f32::round_ties_even),
        ("x * -1.0", |x| -x),
        ("0.0 - x", |x| 0.0 - x),
        ("sqrt(abs(x) * x * 0.0)", |x| (x.abs() * x * 0.0).sqrt()),
    ] {
        let got = Table { expression, columns: &[Kind::F32], result: Kind::F32 }.evaluate(&column);
        let want: Vec<u32> = column[0].iter().map(|&bits| want(f32::from_bits(bits)).to_bits()).collect();
        assert_eq!(got, want, "{expression}");
    }
}

#[test]
fn rounding() {
    unary("floor(x)", f32::floor);
    unary("ceil(x)", f32::ceil);
    unary("trunc(x)", f32::trunc);
    unary("round(x)", f32::round_ties_even);
    unary("fract(x)", |x| x - x.floor());
    unary("abs(x)", f32::abs);
    unary("modf(x).whole", f32::trunc);
    let finite: Vec<f32> = floats().into_iter().filter(|x| x.is_finite()).collect();
    let table = Table { expression: "modf(x).fract", columns: &[Kind::F32], result: Kind::F32 };
    exact(&table, &[bits(&finite)], |x| Some(x[0] - x[0].trunc()));
    let halves: Vec<f32> = (-200..200).map(|n| n as f32 + 0.5).collect();
    let table = Table { expression: "round(x)", ..table };
    exact(&table, &[bits(&halves)], |x| Some(x[0].round_ties_even()));
}

#[test]
fn choices() {
    let numbers: Vec<f32> = float_edges().into_iter().filter(|x| !x.is_nan()).collect();
    let columns = pairs(&numbers, &numbers).map(|column| bits(&column));
    for (expression, want) in [
        ("min(x, y)", f32::min as fn(f32, f32) -> f32),
        ("max(x, y)", f32::max),
        ("step(x, y)", |x, y| f32::from(u8::from(x <= y))),
        ("select(x, y, x > y)", f32::min),
        ("max(abs(x), abs(y))", |x, y| x.abs().max(y.abs())),
    ] {
        let table = Table { expression, columns: &[Kind::F32; 2], result: Kind::F32 };
        exact(&table, &columns, |x| Some(want(x[0], x[1])));
    }
    let column = [bits(&floats().into_iter().filter(|x| !x.is_nan()).collect::<Vec<_>>())];
    for (expression, want) in [
        ("sign(x)", (|x| if x == 0.0 { 0.0 } else { x.signum() }) as fn(f32) -> f32),
        ("saturate(x)", |x| x.clamp(0.0, 1.0)),
        ("clamp(x, %T(-2.0), %T(0.75))", |x| x.clamp(-2.0, 0.75)),
    ] {
        exact(&Table { expression, columns: &[Kind::F32], result: Kind::F32 }, &column, |x| Some(want(x[0])));
    }
    ternary_of_numbers("clamp(x, y, z)", |x, low, high| (low <= high).then(|| x.clamp(low, high)));
}

#[test]
fn comparisons() {
    let columns = pairs(&float_edges(), &float_edges()).map(|column| bits(&column));
    for (expression, want) in [
        ("x < y", (|x, y| x < y) as fn(f32, f32) -> bool),
        ("x <= y", |x, y| x <= y),
        ("x > y", |x, y| x > y),
        ("x >= y", |x, y| x >= y),
        ("x == y", |x, y| x == y),
        ("x != y", |x, y| x != y),
        ("!(x < y)", |x, y| !matches!(x.partial_cmp(&y), Some(std::cmp::Ordering::Less))),
    ] {
        let got = Table { expression, columns: &[Kind::F32; 2], result: Kind::Bool }.evaluate(&columns);
        for (row, got) in got.into_iter().enumerate() {
            let [x, y] = [0, 1].map(|at: usize| f32::from_bits(columns[at][row]));
            assert_eq!(got, u32::from(want(x, y)), "{expression} at {x:e}, {y:e}");
        }
    }
}

#[test]
fn several_steps() {
    ternary_of_numbers("fma(x, y, z)", |x, y, z| Some(x * y + z));
    ternary_of_numbers("mix(x, y, z)", |x, y, z| Some(x * (1.0 - z) + y * z));
    // Between equal edges it is not determined.
    ternary_of_numbers("smoothstep(x, y, z)", |low, high, x| {
        let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
        (low < high && !t.is_nan()).then_some(t * t * (3.0 - 2.0 * t))
    });
}

#[test]
fn fractions_and_exponents() {
    let finite: Vec<f32> = floats().into_iter().filter(|x| x.is_finite()).collect();
    let column = [bits(&finite)];
    let table = Table { expression: "frexp(x).fract", columns: &[Kind::F32], result: Kind::F32 };
    let fractions = table.evaluate(&column);
    let exponents = Table { expression: "frexp(x).exp", columns: &[Kind::F32], result: Kind::I32 }.evaluate(&column);
    for ((x, fraction), exponent) in finite.iter().zip(fractions).zip(exponents) {
        let (fraction, exponent) = (f32::from_bits(fraction), exponent.cast_signed());
        assert!(*x == 0.0 || (0.5..1.0).contains(&fraction.abs()), "{x:e}: {fraction:e}");
        assert_eq!(f64::from(fraction) * 2f64.powi(exponent), f64::from(*x), "{x:e}: {exponent}");
    }
    let [xs, exponents] = pairs(&(0..float_edges().len()).collect::<Vec<_>>(), &(0..600).collect::<Vec<_>>());
    let xs: Vec<f32> = xs.into_iter().map(|at| float_edges()[at]).collect();
    let exponents: Vec<i32> = exponents.into_iter().map(|at| at as i32 - 300).collect();
    let columns = [bits(&xs), exponents.iter().map(|e| e.cast_unsigned()).collect()];
    let table = Table { expression: "ldexp(x, y)", columns: &[Kind::F32, Kind::I32], result: Kind::F32 };
    exact(&table, &columns, |operands| {
        let exponent = operands[1].to_bits().cast_signed();
        Some((f64::from(operands[0]) * 2f64.powi(exponent)) as f32)
    });
}

#[test]
fn sums_of_products_go_from_the_first_to_the_last() {
    let values = between(-3.0, 3.0, 300);
    let column = [bits(&values)];
    let (n, at) = (values.len(), |row: usize| values[row % values.len()]);
    let expression = "dot(vec3<f32>(x, y, z), vec3<f32>(y, z, x))";
    let columns = [column[0].clone(), (0..n).map(|row| at(row + 7).to_bits()).collect(), column[0].clone()];
    let got = Table { expression, columns: &[Kind::F32; 3], result: Kind::F32 }.evaluate_scalars(&columns);
    for (row, got) in got.into_iter().enumerate() {
        let (x, y, z) = (at(row), at(row + 7), at(row));
        assert_eq!(f32::from_bits(got), x * y + y * z + z * x, "{expression} at {x:e}, {y:e}");
    }
}
