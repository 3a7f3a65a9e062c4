//! Types as bytes: where parts lie, and how values are read and written. Every memory, of whatever address space, is bytes laid out
//! as WGSL says for storage buffers; a bool, which buffers cannot hold, takes one.

use crate::{
    error::{Result, defect},
    value::{Scalar, Value},
};
use naga::proc::IndexableLength;
use naga::{GlobalVariable, Handle, LocalVariable, Module, ScalarKind, Type, TypeInner, VectorSize};
use std::borrow::Cow;

/// The type of what a pointer points to. Parts of vectors and matrices have types that the module need not list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    Type(Handle<Type>),
    Vector(VectorSize, naga::Scalar),
    Scalar(naga::Scalar),
}

/// The variable that a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Root {
    Global(Handle<GlobalVariable>),
    Local {
        /// Depth on the stack of calls.
        frame: usize,
        variable: Handle<LocalVariable>,
    },
}

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pointer {
    pub(crate) root: Root,
    /// Bytes from the start of the variable.
    pub(crate) offset: usize,
    pub(crate) target: Target,
    /// Whether an index on the way was out of range, so that it is not the place that the kernel means.
    pub(crate) clamped: bool,
}

/// The parts of a type that can be indexed.
pub(crate) struct Parts {
    /// None: as many as the memory has.
    pub(crate) count: Option<u32>,
    pub(crate) stride: usize,
    pub(crate) target: Target,
}

impl Target {
    pub(crate) fn inner(self, module: &Module) -> Cow<'_, TypeInner> {
        match self {
            Self::Type(handle) => Cow::Borrowed(&module.types[handle].inner),
            Self::Vector(size, scalar) => Cow::Owned(TypeInner::Vector { size, scalar }),
            Self::Scalar(scalar) => Cow::Owned(TypeInner::Scalar(scalar)),
        }
    }

    /// Its size in bytes; a runtime-sized array counts as one element.
    pub(crate) fn size(self, module: &Module) -> Result<usize> {
        let size = self.inner(module).try_size(module.to_ctx());
        size.map(|size| size as usize).ok_or_else(|| defect("a type without size in memory"))
    }

    /// The parts of a vector, matrix or array.
    pub(crate) fn parts(self, module: &Module) -> Result<Parts> {
        match *self.inner(module) {
            TypeInner::Vector { size, scalar } => {
                Ok(Parts { count: Some(size as u32), stride: usize::from(scalar.width), target: Self::Scalar(scalar) })
            }
            TypeInner::Matrix { columns, rows, scalar } => Ok(Parts {
                count: Some(columns as u32),
                stride: column_stride(rows, scalar),
                target: Self::Vector(rows, scalar),
            }),
            TypeInner::Array { base, size, stride } => {
                // Overrides have values by now, but sizes are still given by their names.
                let count = match size.resolve(module.to_ctx()) {
                    Ok(IndexableLength::Known(count)) => Some(count),
                    Ok(IndexableLength::Dynamic) => None,
                    Err(_) => return Err(defect("an array of unknown size")),
                };
                Ok(Parts { count, stride: stride as usize, target: Self::Type(base) })
            }
            ref other => Err(defect(&format!("the type {other:?} cannot be indexed"))),
        }
    }

    /// A member of a structure: its offset and type.
    pub(crate) fn member(self, module: &Module, index: u32) -> Option<(usize, Self)> {
        match &*self.inner(module) {
            TypeInner::Struct { members, .. } => {
                let member = members.get(index as usize)?;
                Some((member.offset as usize, Self::Type(member.ty)))
            }
            _ => None,
        }
    }

    /// Reads a value from the start of `bytes`.
    pub(crate) fn read(self, module: &Module, bytes: &[u8]) -> Result<Value> {
        match &*self.inner(module) {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => read_scalar(*scalar, bytes).map(Value::Scalar),
            TypeInner::Struct { members, .. } => {
                let read = |member: &naga::StructMember| {
                    Self::Type(member.ty).read(module, after(bytes, member.offset as usize)?)
                };
                members.iter().map(read).collect::<Result<_>>().map(Value::Composite)
            }
            inner => {
                let Parts { count, stride, target } = self.parts(module)?;
                let Some(count) = count else { return Err(defect("a runtime-sized array is read as a whole")) };
                let mut parts = Vec::with_capacity(count as usize);
                for index in 0..count as usize {
                    parts.push(target.read(module, after(bytes, index * stride)?)?);
                }
                Value::compose(inner, parts)
            }
        }
    }

    /// Writes a value to the start of `bytes`. Padding is left as it is.
    pub(crate) fn write(self, module: &Module, bytes: &mut [u8], value: &Value) -> Result<()> {
        match (&*self.inner(module), value) {
            (TypeInner::Scalar(_) | TypeInner::Atomic(_), Value::Scalar(scalar)) => write_scalar(bytes, *scalar),
            (TypeInner::Struct { members, .. }, Value::Composite(values)) => {
                for (member, value) in members.iter().zip(values) {
                    let place = after_mut(bytes, member.offset as usize)?;
                    Self::Type(member.ty).write(module, place, value)?;
                }
                Ok(())
            }
            _ => {
                let Parts { stride, target, .. } = self.parts(module)?;
                for (index, part) in parts_of(value)?.iter().enumerate() {
                    target.write(module, after_mut(bytes, index * stride)?, part)?;
                }
                Ok(())
            }
        }
    }

    /// Calls `f` with the start and length of every run of bytes that reading or writing touches.
    pub(crate) fn leaves(self, module: &Module, offset: usize, f: &mut dyn FnMut(usize, usize)) -> Result<()> {
        match &*self.inner(module) {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => f(offset, usize::from(scalar.width)),
            TypeInner::Struct { members, .. } => {
                for member in members {
                    Self::Type(member.ty).leaves(module, offset + member.offset as usize, f)?;
                }
            }
            _ => {
                let Parts { count, stride, target } = self.parts(module)?;
                for index in 0..count.unwrap_or(0) as usize {
                    target.leaves(module, offset + index * stride, f)?;
                }
            }
        }
        Ok(())
    }
}

fn parts_of(value: &Value) -> Result<Cow<'_, [Value]>> {
    match value {
        Value::Vector(scalars) => Ok(scalars.iter().map(|scalar| Value::Scalar(*scalar)).collect()),
        Value::Matrix(columns) => Ok(columns.iter().map(|column| Value::Vector(column.clone())).collect()),
        Value::Composite(parts) => Ok(Cow::Borrowed(parts)),
        Value::Scalar(_) | Value::Pointer(_) => Err(defect("a value does not have the type of its place")),
    }
}

/// A column of three takes as much as one of four.
fn column_stride(rows: VectorSize, scalar: naga::Scalar) -> usize {
    let rows = if rows == VectorSize::Tri { 4 } else { rows as usize };
    rows * usize::from(scalar.width)
}

fn after(bytes: &[u8], offset: usize) -> Result<&[u8]> {
    bytes.get(offset..).ok_or_else(|| defect("a read past the end of a variable"))
}

fn after_mut(bytes: &mut [u8], offset: usize) -> Result<&mut [u8]> {
    bytes.get_mut(offset..).ok_or_else(|| defect("a write past the end of a variable"))
}

fn read_scalar(scalar: naga::Scalar, bytes: &[u8]) -> Result<Scalar> {
    let short = || defect("a read past the end of a variable");
    if scalar.kind == ScalarKind::Bool {
        return bytes.first().map(|byte| Scalar::Bool(*byte != 0)).ok_or_else(short);
    }
    let bytes = bytes.get(..usize::from(scalar.width)).ok_or_else(short)?;
    Scalar::from_bits(scalar, bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
}

fn write_scalar(bytes: &mut [u8], scalar: Scalar) -> Result<()> {
    let short = || defect("a write past the end of a variable");
    if let Scalar::Bool(value) = scalar {
        *bytes.first_mut().ok_or_else(short)? = u8::from(value);
        return Ok(());
    }
    let (bits, width) = scalar.bits()?;
    bytes.get_mut(..width).ok_or_else(short)?.iter_mut().zip(bits.to_le_bytes()).for_each(|(to, byte)| *to = byte);
    Ok(())
}
