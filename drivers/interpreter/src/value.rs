//! Values.

use crate::{
    error::{Result, defect, unsupported},
    layout::Pointer,
};
use naga::{Literal, Module, ScalarKind, TypeInner};

/// A number or a truth value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Bool(bool),
    I32(i32),
    U32(u32),
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
        match (scalar.kind, scalar.width) {
            (ScalarKind::Bool, _) => Ok(Self::Bool(false)),
            (ScalarKind::Sint, 4) => Ok(Self::I32(0)),
            (ScalarKind::Uint, 4) => Ok(Self::U32(0)),
            (ScalarKind::Float, 4) => Ok(Self::F32(0.0)),
            _ => unsupported(&format!("a {:?} of {} bytes", scalar.kind, scalar.width)),
        }
    }

    pub(crate) fn literal(literal: Literal) -> Result<Self> {
        match literal {
            Literal::Bool(value) => Ok(Self::Bool(value)),
            Literal::I32(value) => Ok(Self::I32(value)),
            Literal::U32(value) => Ok(Self::U32(value)),
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

    /// The bits of a 32-bit number.
    pub(crate) fn bits(self) -> Result<u32> {
        match self {
            Self::I32(value) => Ok(value.cast_unsigned()),
            Self::U32(value) => Ok(value),
            Self::F32(value) => Ok(value.to_bits()),
            Self::Bool(_) => Err(defect("a bool has no bits")),
        }
    }
}

impl Value {
    pub(crate) const fn u32(value: u32) -> Self {
        Self::Scalar(Scalar::U32(value))
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

    /// An index, as the unsigned number that has its bits.
    pub(crate) fn index(&self) -> Result<u32> {
        match self.scalar()? {
            Scalar::F32(_) | Scalar::Bool(_) => Err(defect("an index is an integer")),
            scalar => scalar.bits(),
        }
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
