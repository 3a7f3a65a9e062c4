//! Values.

use crate::{
    error::{Result, defect, unsupported},
    half,
    integers::Kind,
    layout::Pointer,
};
use naga::{Literal, Module, ScalarKind, TypeInner};

/// A number or a truth value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Bool(bool),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    /// One that `f16` has.
    F16(f32),
    F32(f32),
}

/// What an expression can have as its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Scalar(Scalar),
    Vector(Vec<Scalar>),
    /// Column by column.
    Matrix(Vec<Vec<Scalar>>),
    /// An array or a structure.
    Composite(Vec<Value>),
    Pointer(Pointer),
}

impl Scalar {
    pub(crate) fn zero(scalar: naga::Scalar) -> Result<Self> {
        match scalar.kind {
            ScalarKind::Bool => Ok(Self::Bool(false)),
            _ => Self::from_bits(scalar, 0),
        }
    }

    /// The number of a type that has these bits, of which only as many count as the type has.
    #[allow(clippy::cast_possible_truncation, reason = "what is beyond the type's width does not count")]
    pub(crate) fn from_bits(scalar: naga::Scalar, bits: u64) -> Result<Self> {
        match (Kind::of(scalar), scalar.kind, scalar.width) {
            (Some(kind), ..) => Ok(kind.wrap(bits.into())),
            (None, ScalarKind::Float, 2) => Ok(Self::F16(half::from_bits(bits as u16))),
            (None, ScalarKind::Float, 4) => Ok(Self::F32(f32::from_bits(bits as u32))),
            _ => unsupported(&format!("a {:?} of {} bytes", scalar.kind, scalar.width)),
        }
    }

    pub(crate) fn literal(literal: Literal) -> Result<Self> {
        match literal {
            Literal::Bool(value) => Ok(Self::Bool(value)),
            Literal::I32(value) => Ok(Self::I32(value)),
            Literal::U32(value) => Ok(Self::U32(value)),
            Literal::I64(value) => Ok(Self::I64(value)),
            Literal::U64(value) => Ok(Self::U64(value)),
            Literal::F16(value) => Ok(Self::F16(value.to_f32())),
            Literal::F32(value) => Ok(Self::F32(value)),
            other => unsupported(&format!("the literal {other:?}")),
        }
    }

    pub(crate) fn bool(self) -> Result<bool> {
        match self {
            Self::Bool(value) => Ok(value),
            other => Err(defect(&format!("{other:?} is no bool"))),
        }
    }

    pub(crate) fn f32(self) -> Result<f32> {
        match self {
            Self::F32(value) => Ok(value),
            other => Err(defect(&format!("{other:?} is no f32"))),
        }
    }

    /// The bits of a number, lowest first, and how many bytes they are.
    pub(crate) fn bits(self) -> Result<(u64, usize)> {
        match self {
            Self::I32(value) => Ok((value.cast_unsigned().into(), 4)),
            Self::U32(value) => Ok((value.into(), 4)),
            Self::I64(value) => Ok((value.cast_unsigned(), 8)),
            Self::U64(value) => Ok((value, 8)),
            Self::F16(value) => Ok((half::to_bits(value).into(), 2)),
            Self::F32(value) => Ok((value.to_bits().into(), 4)),
            Self::Bool(_) => Err(defect("a bool has no bits")),
        }
    }

    /// The bits of a 32-bit number.
    pub(crate) fn word(self) -> Result<u32> {
        match self.bits()? {
            (bits, 4) => u32::try_from(bits).map_err(|_| defect("a word of more than 32 bits")),
            _ => Err(defect(&format!("{self:?} is no word"))),
        }
    }

    /// The number that an integer is, and its type.
    pub(crate) fn integer(self) -> Option<(Kind, i128)> {
        let (signed, bits, value) = match self {
            Self::I32(value) => (true, 32, value.into()),
            Self::U32(value) => (false, 32, value.into()),
            Self::I64(value) => (true, 64, value.into()),
            Self::U64(value) => (false, 64, value.into()),
            Self::Bool(_) | Self::F16(_) | Self::F32(_) => return None,
        };
        Some((Kind { signed, bits }, value))
    }

    /// A small number of the same type.
    pub(crate) fn like(self, value: u8) -> Result<Self> {
        match self {
            Self::Bool(_) => Err(defect("a bool is no number")),
            Self::F16(_) => Ok(Self::F16(value.into())),
            Self::F32(_) => Ok(Self::F32(value.into())),
            _ => self.integer().map(|(kind, _)| kind.wrap(value.into())).ok_or_else(|| defect("an integer is none")),
        }
    }
}

impl Value {
    pub(crate) const fn u32(value: u32) -> Self {
        Self::Scalar(Scalar::U32(value))
    }

    pub(crate) const fn bool(value: bool) -> Self {
        Self::Scalar(Scalar::Bool(value))
    }

    pub(crate) fn words(values: [u32; 3]) -> Self {
        Self::Vector(values.into_iter().map(Scalar::U32).collect())
    }

    /// The zero of a type.
    pub(crate) fn zero(module: &Module, inner: &TypeInner) -> Result<Self> {
        let part = |handle| Self::zero(module, &module.types[handle].inner);
        match inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => Scalar::zero(*scalar).map(Self::Scalar),
            TypeInner::Vector { size, scalar } => Ok(Self::Vector(vec![Scalar::zero(*scalar)?; *size as usize])),
            TypeInner::Matrix { columns, rows, scalar } => {
                Ok(Self::Matrix(vec![vec![Scalar::zero(*scalar)?; *rows as usize]; *columns as usize]))
            }
            TypeInner::Array { base, size: naga::ArraySize::Constant(count), .. } => {
                Ok(Self::Composite(vec![part(*base)?; count.get() as usize]))
            }
            TypeInner::Struct { members, .. } => {
                members.iter().map(|member| part(member.ty)).collect::<Result<_>>().map(Self::Composite)
            }
            other => unsupported(&format!("a value of the type {other:?}")),
        }
    }

    /// A value of a type from its parts, which for a vector may be vectors themselves.
    pub(crate) fn compose(inner: &TypeInner, parts: Vec<Self>) -> Result<Self> {
        match inner {
            TypeInner::Vector { .. } => {
                let mut scalars = Vec::new();
                for part in parts {
                    scalars.extend(part.scalars()?);
                }
                Ok(Self::Vector(scalars))
            }
            TypeInner::Matrix { .. } => parts.into_iter().map(Self::scalars).collect::<Result<_>>().map(Self::Matrix),
            TypeInner::Array { .. } | TypeInner::Struct { .. } => Ok(Self::Composite(parts)),
            other => Err(defect(&format!("the type {other:?} has no parts"))),
        }
    }

    pub(crate) fn scalar(&self) -> Result<Scalar> {
        match self {
            Self::Scalar(scalar) => Ok(*scalar),
            other => Err(defect(&format!("{other:?} is no scalar"))),
        }
    }

    pub(crate) fn pointer(&self) -> Result<Pointer> {
        match self {
            Self::Pointer(pointer) => Ok(*pointer),
            other => Err(defect(&format!("{other:?} is no pointer"))),
        }
    }

    /// The components of a scalar or a vector.
    pub(crate) fn scalars(self) -> Result<Vec<Scalar>> {
        match self {
            Self::Scalar(scalar) => Ok(vec![scalar]),
            Self::Vector(scalars) => Ok(scalars),
            other => Err(defect(&format!("{other:?} is neither scalar nor vector"))),
        }
    }

    pub(crate) fn floats(&self) -> Result<Vec<f32>> {
        self.clone().scalars()?.into_iter().map(Scalar::f32).collect()
    }

    /// An index, as the unsigned number that has its bits; one that does not fit is as good as the greatest.
    pub(crate) fn index(&self) -> Result<u32> {
        let scalar = self.scalar()?;
        if scalar.integer().is_none() {
            return Err(defect("an index is an integer"));
        }
        scalar.bits().map(|(bits, _)| u32::try_from(bits).unwrap_or(u32::MAX))
    }

    /// How many parts it has, and one of them. Out of range it is the last.
    pub(crate) fn part(&self, index: u32) -> Result<(u32, Self)> {
        let (count, part) = match self {
            Self::Vector(parts) => (parts.len(), nearest(parts, index).copied().map(Self::Scalar)),
            Self::Matrix(parts) => (parts.len(), nearest(parts, index).cloned().map(Self::Vector)),
            Self::Composite(parts) => (parts.len(), nearest(parts, index).cloned()),
            Self::Scalar(_) | Self::Pointer(_) => (0, None),
        };
        let part = part.ok_or_else(|| defect("a value without parts is indexed"))?;
        Ok((u32::try_from(count).unwrap_or(u32::MAX), part))
    }

    /// `f` of each scalar of a scalar, vector or matrix.
    pub(crate) fn each(&self, mut f: impl FnMut(Scalar) -> Result<Scalar>) -> Result<Self> {
        match self {
            Self::Scalar(scalar) => f(*scalar).map(Self::Scalar),
            Self::Vector(scalars) => scalars.iter().map(|scalar| f(*scalar)).collect::<Result<_>>().map(Self::Vector),
            Self::Matrix(columns) => {
                let mut all = Vec::with_capacity(columns.len());
                for column in columns {
                    all.push(column.iter().map(|scalar| f(*scalar)).collect::<Result<_>>()?);
                }
                Ok(Self::Matrix(all))
            }
            other => Err(defect(&format!("an operation on {other:?}"))),
        }
    }

    /// `f` of the scalars of both; a scalar goes with each of the other side's.
    pub(crate) fn both(&self, other: &Self, mut f: impl FnMut(Scalar, Scalar) -> Result<Scalar>) -> Result<Self> {
        match (self, other) {
            (Self::Scalar(a), _) => other.each(|b| f(*a, b)),
            (_, Self::Scalar(b)) => self.each(|a| f(a, *b)),
            (Self::Vector(a), Self::Vector(b)) if a.len() == b.len() => {
                a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect::<Result<_>>().map(Self::Vector)
            }
            (Self::Matrix(a), Self::Matrix(b)) if a.len() == b.len() => {
                let mut all = Vec::with_capacity(a.len());
                for (a, b) in a.iter().zip(b) {
                    all.push(a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect::<Result<_>>()?);
                }
                Ok(Self::Matrix(all))
            }
            _ => Err(defect(&format!("an operation on {self:?} and {other:?}"))),
        }
    }
}

/// The part at an index, or the last one.
fn nearest<T>(parts: &[T], index: u32) -> Option<&T> {
    parts.get(index as usize).or(parts.last())
}
