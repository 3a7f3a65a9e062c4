//! The ways to make a value out of others: operators, built-in functions, conversions, constructors. Those whose result is the same
//! bits on every machine, if `+ - * /` are rounded once each; of a NaN only that it is one.

use crate::tree::{BOOL, F32, I32, Scalar, Type, U32, members};

/// Text with `$0`, `$1`, ... for operands; `%T` is the result's type, `%k` a number of that type, `%s` one below 32, `%d` one that
/// is not 0. Next the operands: `T` is the result's type, `B I U F` vectors as long (or scalars, as it is), also `L M` of 64-bit integers
/// without and with a sign and `H` of `f16`; `b i u f` scalars, `2 3 4` vectors of so many of the result's scalar.
type Row = (&'static str, &'static str);

const NUMBERS: &[Row] = &[
    ("($0 + $1)", "TT"),
    ("($0 - $1)", "TT"),
    ("($0 * $1)", "TT"),
    ("($0 / $1)", "TT"),
    ("($0 % $1)", "TT"),
    ("($0 + %k)", "T"),
    ("($0 - %k)", "T"),
    ("(%k - $0)", "T"),
    ("($0 * %k)", "T"),
    ("($0 / %d)", "T"),
    ("min($0, $1)", "TT"),
    ("max($0, $1)", "TT"),
    ("max($0, %k)", "T"),
    ("clamp($0, $1, $2)", "TTT"),
    ("abs($0)", "T"),
    ("%T($0)", "B"),
    ("%T($0)", "I"),
    ("%T($0)", "U"),
    ("%T($0)", "F"),
    ("%T($0)", "L"),
    ("%T($0)", "M"),
    ("%T($0)", "H"),
];

const ANY: &[Row] = &[("select($0, $1, $2)", "TTB"), ("select($0, $1, $2)", "TTb")];

const INTEGERS: &[Row] = &[
    ("($0 & $1)", "TT"),
    ("($0 | $1)", "TT"),
    ("($0 ^ $1)", "TT"),
    ("($0 & %k)", "T"),
    ("($0 % %d)", "T"),
    ("(~$0)", "T"),
    ("(($0) << $1)", "TU"),
    ("($0 >> $1)", "TU"),
    ("(($0) << %s)", "T"),
    ("($0 >> %s)", "T"),
    ("countOneBits($0)", "T"),
    ("reverseBits($0)", "T"),
    ("countLeadingZeros($0)", "T"),
    ("countTrailingZeros($0)", "T"),
    ("firstLeadingBit($0)", "T"),
    ("firstTrailingBit($0)", "T"),
    ("extractBits($0, $1, $2)", "Tuu"),
    ("insertBits($0, $1, $2, $3)", "TTuu"),
];

const SIGNED: &[Row] = &[("(-$0)", "T"), ("sign($0)", "T")];
const OF_WORDS: [&[Row]; 3] = [&[("bitcast<%T>($0)", "I")], &[("bitcast<%T>($0)", "U")], &[("bitcast<%T>($0)", "F")]];
const OF_WIDE: [&[Row]; 2] = [&[("bitcast<%T>($0)", "L")], &[("bitcast<%T>($0)", "M")]];

const SIGNED_SCALAR: &[Row] =
    &[("dot4I8Packed($0, $1)", "uu"), ("frexp($0).exp", "f"), ("bitcast<i32>(bits($0))", "f")];
const UNSIGNED_SCALAR: &[Row] = &[
    ("dot4U8Packed($0, $1)", "uu"),
    ("bits($0)", "f"),
    ("pack4xU8(unpack4xU8($0).wzyx)", "u"),
    ("pack4xI8Clamp(unpack4xI8($0) * 3)", "u"),
    ("table[$0]", "u"),
    ("table[$0 % 5u]", "u"),
];

const FLOATS: &[Row] = &[
    ("(-$0)", "T"),
    ("floor($0)", "T"),
    ("ceil($0)", "T"),
    ("trunc($0)", "T"),
    ("round($0)", "T"),
    ("fract($0)", "T"),
    ("sign($0)", "T"),
    ("saturate($0)", "T"),
    ("sqrt(abs($0))", "T"),
    ("fma($0, $1, $2)", "TTT"),
    ("step($0, $1)", "TT"),
    ("mix($0, $1, $2)", "TTT"),
    ("modf($0).whole", "T"),
    ("modf($0).fract", "T"),
];
/// Not of `f16`, for which naga's `frexp` makes integers of 16 bits.
const FLOATS_OF_WORDS: &[Row] = &[("quantizeToF16($0)", "T"), ("frexp($0).fract", "T")];

const BOOLS: &[Row] = &[
    ("(!$0)", "T"),
    ("($0 & $1)", "TT"),
    ("($0 | $1)", "TT"),
    ("($0 == $1)", "TT"),
    ("(($0) < $1)", "II"),
    ("($0 <= $1)", "UU"),
    ("($0 > $1)", "UU"),
    ("(($0) < $1)", "UU"),
    ("($0 >= $1)", "II"),
    ("($0 == $1)", "UU"),
    ("($0 != $1)", "II"),
    ("(($0) < $1)", "FF"),
    ("($0 >= $1)", "FF"),
    ("($0 != $1)", "FF"),
    ("%T($0)", "U"),
    ("%T($0)", "F"),
    ("(($0) < $1)", "LL"),
    ("($0 >= $1)", "MM"),
    ("($0 == $1)", "MM"),
    ("($0 != $1)", "LL"),
    ("($0 <= $1)", "HH"),
    ("($0 == $1)", "HH"),
    ("%T($0)", "L"),
    ("%T($0)", "H"),
];

const BOOL_SCALAR: &[Row] = &[
    ("($0 && $1)", "bb"),
    ("($0 || $1)", "bb"),
    ("any($0)", "3"),
    ("all($0)", "2"),
    ("all($0)", "4"),
    ("(($0) < %s)", "u"),
    ("($0 % 3u == 1u)", "u"),
];

/// A component of a vector, also by a computed index.
const SCALAR: &[Row] = &[("$0.y", "2"), ("$0.z", "3"), ("$0.w", "4"), ("$0[$1]", "4u"), ("$0[$1 % 3u]", "3u")];
const DOT: &[Row] = &[("dot($0, $1)", "22"), ("dot($0, $1)", "33"), ("dot($0, $1)", "44")];
const VECTOR: [&[Row]; 3] = [
    &[("$0.yx", "2"), ("$0.zx", "3"), ("$0.ww", "4"), ("%T($0, $1)", "ss"), ("%T($0)", "s")],
    &[("$0.xyx", "2"), ("$0.zxy", "3"), ("$0.wyz", "4"), ("%T($0, $1, $2)", "sss"), ("%T($0, $1)", "2s")],
    &[("$0.yyxx", "2"), ("$0.zxyy", "3"), ("$0.wzyx", "4"), ("%T($0, $1)", "22"), ("%T($0, $1, $2)", "s2s")],
];

/// A way to make a value.
pub struct Form {
    pub text: &'static str,
    pub operands: Vec<Type>,
}

fn operand(letter: char, ty: &Type) -> Type {
    let (size, scalar) = match ty {
        Type::Vector(size, scalar) => (*size, *scalar),
        Type::Scalar(scalar) => (1, *scalar),
        _ => (1, Scalar::F32),
    };
    let like = |scalar| if size == 1 { Type::Scalar(scalar) } else { Type::Vector(size, scalar) };
    match letter {
        'T' => ty.clone(),
        'B' => like(Scalar::Bool),
        'I' => like(Scalar::I32),
        'U' => like(Scalar::U32),
        'F' => like(Scalar::F32),
        'L' => like(Scalar::U64),
        'M' => like(Scalar::I64),
        'H' => like(Scalar::F16),
        'b' => BOOL,
        'i' => I32,
        'u' => U32,
        'f' => F32,
        's' => Type::Scalar(scalar),
        digit => Type::Vector(digit as u8 - b'0', scalar),
    }
}

/// The ways that scalars and vectors have alike.
fn numbers(scalar: Scalar) -> Vec<&'static [Row]> {
    let [from_i32, from_u32, from_f32] = OF_WORDS;
    let [from_u64, from_i64] = OF_WIDE;
    match scalar {
        Scalar::Bool => vec![BOOLS],
        Scalar::I32 => vec![NUMBERS, INTEGERS, SIGNED, from_u32, from_f32],
        Scalar::U32 => vec![NUMBERS, INTEGERS, from_i32, from_f32],
        Scalar::I64 => vec![NUMBERS, INTEGERS, SIGNED, from_u64],
        Scalar::U64 => vec![NUMBERS, INTEGERS, from_i64],
        Scalar::F16 => vec![NUMBERS, FLOATS],
        Scalar::F32 => vec![NUMBERS, FLOATS, FLOATS_OF_WORDS, from_u32],
    }
}

/// All ways to make a value of a type.
pub fn forms(ty: &Type) -> Vec<Form> {
    let rows: Vec<&[Row]> = match ty {
        Type::Scalar(scalar) => {
            let mut rows = vec![ANY, SCALAR];
            rows.extend(numbers(*scalar));
            rows.extend(match scalar {
                Scalar::Bool => vec![BOOL_SCALAR],
                Scalar::I32 => vec![SIGNED_SCALAR, DOT],
                Scalar::U32 => vec![UNSIGNED_SCALAR, DOT],
                Scalar::I64 | Scalar::U64 | Scalar::F16 | Scalar::F32 => vec![DOT],
            });
            rows
        }
        Type::Vector(size, scalar) => {
            let mut rows = vec![ANY, VECTOR[usize::from(*size) - 2]];
            rows.extend(numbers(*scalar));
            rows
        }
        Type::Matrix(..) | Type::Array(..) | Type::Item => Vec::new(),
    };
    let mut forms: Vec<Form> = rows
        .concat()
        .into_iter()
        .map(|(text, operands)| Form { text, operands: operands.chars().map(|letter| operand(letter, ty)).collect() })
        .collect();
    forms.extend(products(ty));
    forms
}

/// What is made of matrices, arrays and structures, and what they are made of.
fn products(ty: &Type) -> Vec<Form> {
    let form = |text, operands: &[Type]| Form { text, operands: operands.to_vec() };
    match *ty {
        Type::Vector(size, scalar) if scalar.is_float() => {
            let (matrix, vector) = (|c, r| Type::Matrix(c, r, scalar), |size| Type::Vector(size, scalar));
            vec![
                form("($0 * $1)", &[matrix(2, size), vector(2)]),
                form("($0 * $1)", &[vector(3), matrix(size, 3)]),
                form("($0 * $1)", &[Type::Scalar(scalar), vector(size)]),
                form("$0[$1]", &[matrix(3, size), U32]),
            ]
        }
        Type::Matrix(columns, rows, scalar) => {
            let matrix = |c, r| Type::Matrix(c, r, scalar);
            vec![
                form("($0 + $1)", &[ty.clone(), ty.clone()]),
                form("($0 * $1)", &[ty.clone(), Type::Scalar(scalar)]),
                form("transpose($0)", &[matrix(rows, columns)]),
                form("($0 * $1)", &[matrix(2, rows), matrix(columns, 2)]),
                form(
                    ["%T($0, $1)", "%T($0, $1, $2)", "%T($0, $1, $2, $3)"][usize::from(columns) - 2],
                    &vec![Type::Vector(rows, scalar); usize::from(columns)],
                ),
            ]
        }
        Type::Array(ref element, count @ 2..=4) => {
            let text = ["%T($0, $1)", "%T($0, $1, $2)", "%T($0, $1, $2, $3)"][usize::from(count) - 2];
            vec![form(text, &vec![(**element).clone(); usize::from(count)])]
        }
        Type::Item => vec![form("%T($0, $1, $2, $3, $4)", &members().map(|(_, member)| member))],
        Type::Scalar(scalar) if scalar.is_float() => {
            vec![form("determinant($0)", &[Type::Matrix(2, 2, scalar)]), form("length($0)", &[Type::Vector(2, scalar)])]
        }
        _ => Vec::new(),
    }
}
