//! Kernels as trees: types, expressions, statements, and how they are written in WGSL.

use std::fmt::{self, Display};

/// What a number is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scalar {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
}

/// What a value is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Type {
    Scalar(Scalar),
    /// So many components.
    Vector(u8, Scalar),
    /// So many columns of so many rows, of floats.
    Matrix(u8, u8, Scalar),
    Array(Box<Type>, u8),
    /// The structure that every kernel declares.
    Item,
}

pub const BOOL: Type = Type::Scalar(Scalar::Bool);
pub const I32: Type = Type::Scalar(Scalar::I32);
pub const U32: Type = Type::Scalar(Scalar::U32);
pub const I64: Type = Type::Scalar(Scalar::I64);
pub const U64: Type = Type::Scalar(Scalar::U64);
pub const F16: Type = Type::Scalar(Scalar::F16);
pub const F32: Type = Type::Scalar(Scalar::F32);

/// The members of [`Type::Item`].
pub fn members() -> [(&'static str, Type); 5] {
    [
        ("n", I32),
        ("v", Type::Vector(3, Scalar::F32)),
        ("list", Type::Array(Box::new(U32), 3)),
        ("m", Type::Matrix(2, 3, Scalar::F32)),
        ("p", Type::Vector(2, Scalar::U32)),
    ]
}

impl Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::F32 => "f32",
        })
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => scalar.fmt(f),
            Self::Vector(size, scalar) => write!(f, "vec{size}<{scalar}>"),
            Self::Matrix(columns, rows, scalar) => write!(f, "mat{columns}x{rows}<{scalar}>"),
            Self::Array(element, count) => write!(f, "array<{element}, {count}>"),
            Self::Item => f.write_str("Item"),
        }
    }
}

impl Scalar {
    /// What numbers of it end with.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Bool => "",
            Self::I32 => "i",
            Self::U32 => "u",
            Self::I64 => "li",
            Self::U64 => "lu",
            Self::F16 => "h",
            Self::F32 => "f",
        }
    }

    /// Whether it is a kind of float.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32)
    }
}

impl Type {
    /// What its numbers are; none if they are of several kinds.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) | Self::Vector(_, scalar) | Self::Matrix(_, _, scalar) => Some(*scalar),
            Self::Array(element, _) => element.scalar(),
            Self::Item => None,
        }
    }

    /// The numbers in a value at `path`: where each is, and what it is.
    pub fn leaves(&self, path: &str) -> Vec<(String, Scalar)> {
        let parts = |count: u8, part: &Self| {
            (0..count).flat_map(|at| part.leaves(&format!("{path}[{at}]"))).collect::<Vec<_>>()
        };
        match self {
            Self::Scalar(scalar) => vec![(path.to_owned(), *scalar)],
            Self::Vector(size, scalar) => parts(*size, &Self::Scalar(*scalar)),
            Self::Matrix(columns, rows, scalar) => parts(*columns, &Self::Vector(*rows, *scalar)),
            Self::Array(element, count) => parts(*count, element),
            Self::Item => {
                members().iter().flat_map(|(name, member)| member.leaves(&format!("{path}.{name}"))).collect()
            }
        }
    }
}

/// Text in which `$0`, `$1`, ... stand for expressions.
#[derive(Clone, Debug)]
pub struct Text {
    pub text: String,
    pub parts: Vec<Expr>,
}

/// A value.
#[derive(Clone, Debug)]
pub struct Expr {
    pub ty: Type,
    pub form: Text,
}

/// What is done.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// A declaration, an assignment, a jump, a call.
    Line(Text),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Each case with its labels.
    Switch(Expr, Vec<(String, Vec<Stmt>)>),
    /// Statements between what must stay around them: a loop with its counter, an exchange with its barriers.
    Around {
        open: Text,
        body: Vec<Stmt>,
        continuing: Option<Vec<Stmt>>,
        close: Text,
    },
}

impl Text {
    pub fn new(text: impl Into<String>, parts: Vec<Expr>) -> Self {
        Self { text: text.into(), parts }
    }

    /// Text without expressions.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Vec::new())
    }
}

impl Expr {
    pub fn new(ty: Type, text: impl Into<String>, parts: Vec<Self>) -> Self {
        Self { ty, form: Text::new(text, parts) }
    }

    /// A name or a number.
    pub fn leaf(ty: Type, text: impl Into<String>) -> Self {
        Self::new(ty, text, Vec::new())
    }
}

impl Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.text.as_str();
        while let Some((before, after)) = rest.split_once('$') {
            f.write_str(before)?;
            let at = usize::from(after.as_bytes()[0] - b'0');
            write!(f, "{}", self.parts[at].form)?;
            rest = &after[1..];
        }
        f.write_str(rest)
    }
}

fn block(f: &mut fmt::Formatter<'_>, body: &[Stmt]) -> fmt::Result {
    body.iter().try_for_each(|stmt| writeln!(f, "{stmt}"))
}

impl Display for Stmt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(text) => text.fmt(f),
            Self::If(condition, accept, reject) => {
                writeln!(f, "if {} {{", condition.form)?;
                block(f, accept)?;
                if !reject.is_empty() {
                    writeln!(f, "}} else {{")?;
                    block(f, reject)?;
                }
                f.write_str("}")
            }
            Self::Switch(selector, cases) => {
                writeln!(f, "switch {} {{", selector.form)?;
                for (labels, body) in cases {
                    writeln!(f, "{labels}: {{")?;
                    block(f, body)?;
                    writeln!(f, "}}")?;
                }
                f.write_str("}")
            }
            Self::Around { open, body, continuing, close } => {
                writeln!(f, "{open}")?;
                block(f, body)?;
                if let Some(continuing) = continuing {
                    writeln!(f, "continuing {{")?;
                    block(f, continuing)?;
                }
                close.fmt(f)
            }
        }
    }
}
