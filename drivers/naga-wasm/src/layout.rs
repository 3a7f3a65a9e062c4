//! How types lie in memory, and which scalars they consist of.

use std::rc::Rc;

use naga::proc::{IndexableLength, Layouter};
use naga::{Handle, Module, Scalar, ScalarKind, Span, Type, TypeInner};

use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{Cell, Ty};

/// Values with more scalars than this live in memory; up to it they live in registers.
pub(crate) const MAX_FLAT_SCALARS: u32 = 128;

/// Types may be nested this deep. WGSL asks for 15; each level costs the compiler a stack frame in places.
pub(crate) const MAX_TYPE_DEPTH: u32 = 40;

/// A type as the compiler sees it. Small and cheap to copy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Scalar(Scalar),
    Vector { size: u32, scalar: Scalar },
    Matrix { columns: u32, rows: u32, scalar: Scalar },
    Atomic(Scalar),
    Array { base: Handle<Type>, count: Option<u32>, stride: u32 },
    Struct(Handle<Type>),
}

/// One scalar of a type: where it lies, and what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub(crate) offset: u32,
    pub(crate) scalar: Scalar,
}

/// Facts about one type of the arena.
#[derive(Clone, Copy, Debug)]
struct Facts {
    size: u32,
    align: u32,
    scalars: u32,
    depth: u32,
    /// Bytes of its smallest scalar.
    grain: u32,
}

/// Of types that are no data.
const NOTHING: Facts = Facts { size: 0, align: 1, scalars: 0, depth: 0, grain: 4 };

/// Facts about all types of a module.
pub(crate) struct Layouts<'a> {
    module: &'a Module,
    facts: Vec<Facts>,
}

impl<'a> Layouts<'a> {
    pub(crate) fn new(module: &'a Module) -> Result<Self, Diagnostic> {
        let mut layouter = Layouter::default();
        layouter
            .update(module.to_ctx())
            .map_err(|error| Diagnostic::new(Kind::Invalid, format!("a type cannot be laid out: {error}"), None))?;
        let mut layouts = Self { module, facts: Vec::with_capacity(module.types.len()) };
        for (handle, ty) in module.types.iter() {
            let layout = layouter[handle];
            let align = layout.alignment.round_up(1);
            let facts = layouts.facts_of(&ty.inner);
            layouts.facts.push(Facts { size: layout.size, align, ..facts });
        }
        Ok(layouts)
    }

    /// What follows from the parts of a type, whose facts are known.
    fn facts_of(&self, inner: &TypeInner) -> Facts {
        let leaf = |scalar: Scalar, count: u32| Facts {
            scalars: count * words(scalar),
            depth: 1,
            grain: cell_of(scalar).bytes(),
            ..NOTHING
        };
        match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => leaf(scalar, 1),
            TypeInner::Vector { size, scalar } => leaf(scalar, size as u32),
            TypeInner::Matrix { columns, rows, scalar } => leaf(scalar, columns as u32 * rows as u32),
            TypeInner::Array { base, size, .. } => {
                let part = self.facts(base);
                let count = match size.resolve(self.module.to_ctx()) {
                    Ok(IndexableLength::Known(count)) => count,
                    Ok(IndexableLength::Dynamic) | Err(_) => 1,
                };
                Facts { scalars: part.scalars.saturating_mul(count), depth: part.depth.saturating_add(1), ..part }
            }
            TypeInner::Struct { ref members, .. } => {
                members.iter().fold(Facts { depth: 1, ..NOTHING }, |all, member| {
                    let part = self.facts(member.ty);
                    Facts {
                        scalars: all.scalars.saturating_add(part.scalars),
                        depth: all.depth.max(part.depth.saturating_add(1)),
                        grain: all.grain.min(part.grain),
                        ..all
                    }
                })
            }
            _ => NOTHING,
        }
    }

    fn facts(&self, ty: Handle<Type>) -> Facts {
        self.facts.get(ty.index()).copied().unwrap_or(NOTHING)
    }

    /// The shape of a type of the arena.
    pub(crate) fn shape(&self, ty: Handle<Type>) -> Result<Shape, Diagnostic> {
        let span = self.module.types.get_span(ty);
        if self.facts(ty).depth > MAX_TYPE_DEPTH {
            let message = format!("types are nested more than {MAX_TYPE_DEPTH} deep");
            return Err(Diagnostic::new(Kind::Limit, message, Some(span)));
        }
        self.shape_of(&self.module.types[ty].inner, Some(ty), span)
    }

    /// The shape of a type that may not be in the arena.
    pub(crate) fn shape_of(
        &self,
        inner: &TypeInner,
        ty: Option<Handle<Type>>,
        span: Span,
    ) -> Result<Shape, Diagnostic> {
        let shape = match *inner {
            TypeInner::Scalar(scalar) => Shape::Scalar(scalar),
            TypeInner::Vector { size, scalar } => Shape::Vector { size: size as u32, scalar },
            TypeInner::Matrix { columns, rows, scalar } => {
                Shape::Matrix { columns: columns as u32, rows: rows as u32, scalar }
            }
            TypeInner::Atomic(scalar) => Shape::Atomic(scalar),
            TypeInner::Array { base, size, stride } => {
                let count = match size.resolve(self.module.to_ctx()) {
                    Ok(IndexableLength::Known(count)) => Some(count),
                    Ok(IndexableLength::Dynamic) => None,
                    Err(error) => {
                        let message = format!("an array's length is not known: {error}; resolve the overrides first");
                        return Err(Diagnostic::new(Kind::Invalid, message, Some(span)));
                    }
                };
                Shape::Array { base, count, stride }
            }
            TypeInner::Struct { .. } => match ty {
                Some(ty) => Shape::Struct(ty),
                None => return Err(unsupported("a structure without a name", span)),
            },
            _ => {
                return Err(unsupported("a type that is no data (a texture, a sampler, a pointer to a pointer)", span));
            }
        };
        match shape {
            Shape::Scalar(scalar) | Shape::Vector { scalar, .. } | Shape::Matrix { scalar, .. } => {
                check_scalar(scalar, span)?;
            }
            Shape::Atomic(scalar) if scalar.width != 4 => {
                return Err(unsupported("an atomic of 64 bits", span));
            }
            Shape::Atomic(_) | Shape::Array { .. } | Shape::Struct(_) => {}
        }
        Ok(shape)
    }

    /// Size and alignment in memory.
    pub(crate) fn size(&self, shape: Shape) -> (u32, u32) {
        match shape {
            Shape::Scalar(scalar) | Shape::Atomic(scalar) => (u32::from(scalar.width), u32::from(scalar.width)),
            Shape::Vector { size, scalar } => {
                let width = u32::from(scalar.width);
                (size * width, column_words(size) * width)
            }
            Shape::Matrix { columns, rows, scalar } => {
                let column = column_words(rows) * u32::from(scalar.width);
                (columns * column, column)
            }
            Shape::Array { base, count, stride } => (count.unwrap_or(1).saturating_mul(stride), self.facts(base).align),
            Shape::Struct(ty) => {
                let facts = self.facts(ty);
                (facts.size, facts.align)
            }
        }
    }

    /// Number of scalars; a runtime array counts as one element.
    pub(crate) fn scalars(&self, shape: Shape) -> u32 {
        match shape {
            Shape::Scalar(scalar) | Shape::Atomic(scalar) => words(scalar),
            Shape::Vector { size, scalar } => size * words(scalar),
            Shape::Matrix { columns, rows, .. } => columns * rows,
            Shape::Array { base, count, .. } => self.facts(base).scalars.saturating_mul(count.unwrap_or(1)),
            Shape::Struct(ty) => self.facts(ty).scalars,
        }
    }

    /// Bytes of the smallest scalar in a shape.
    pub(crate) fn grain(&self, shape: Shape) -> u32 {
        match shape {
            Shape::Scalar(scalar)
            | Shape::Atomic(scalar)
            | Shape::Vector { scalar, .. }
            | Shape::Matrix { scalar, .. } => cell_of(scalar).bytes(),
            Shape::Array { base: ty, .. } | Shape::Struct(ty) => self.facts(ty).grain,
        }
    }

    /// Whether values of this shape are kept in registers.
    pub(crate) fn is_flat(&self, shape: Shape) -> bool {
        self.scalars(shape) <= MAX_FLAT_SCALARS
    }

    /// The scalars of a shape, in order. Fails for shapes that are not flat.
    pub(crate) fn leaves(&self, shape: Shape) -> Result<Rc<[Leaf]>, Diagnostic> {
        if !self.is_flat(shape) {
            let message = format!("a value of more than {MAX_FLAT_SCALARS} scalars is used as a whole");
            return Err(Diagnostic::new(Kind::Limit, message, None));
        }
        let mut leaves = Vec::new();
        self.collect(shape, 0, &mut leaves)?;
        Ok(leaves.into())
    }

    fn collect(&self, shape: Shape, at: u32, leaves: &mut Vec<Leaf>) -> Result<(), Diagnostic> {
        match shape {
            Shape::Scalar(scalar) | Shape::Atomic(scalar) => leaves.extend(leaves_of(at, 1, scalar)),
            Shape::Vector { size, scalar } => leaves.extend(leaves_of(at, size, scalar)),
            Shape::Matrix { columns, rows, scalar } => {
                let width = u32::from(scalar.width);
                let stride = column_words(rows) * width;
                for column in 0..columns {
                    leaves.extend((0..rows).map(|row| Leaf { offset: at + column * stride + row * width, scalar }));
                }
            }
            Shape::Array { base, count, stride } => {
                let element = self.shape(base)?;
                for index in 0..count.unwrap_or(1) {
                    self.collect(element, at + index * stride, leaves)?;
                }
            }
            Shape::Struct(ty) => {
                if let TypeInner::Struct { ref members, .. } = self.module.types[ty].inner {
                    for member in members {
                        self.collect(self.shape(member.ty)?, at + member.offset, leaves)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Part `index` of a shape: its own shape, its byte offset and the number of scalars before it.
    pub(crate) fn part(&self, shape: Shape, index: u32) -> Result<Part, Diagnostic> {
        match shape {
            Shape::Vector { size, scalar } if index < size => {
                let (offset, before) = (index * u32::from(scalar.width), index * words(scalar));
                Ok(Part { shape: Shape::Scalar(scalar), offset, before })
            }
            Shape::Matrix { columns, rows, scalar } if index < columns => Ok(Part {
                shape: Shape::Vector { size: rows, scalar },
                offset: index * column_words(rows) * u32::from(scalar.width),
                before: index * rows,
            }),
            Shape::Array { base, count, stride } if count.is_none_or(|count| index < count) => Ok(Part {
                shape: self.shape(base)?,
                offset: index.saturating_mul(stride),
                before: self.facts(base).scalars.saturating_mul(index),
            }),
            Shape::Struct(ty) => self.member(ty, index),
            _ => Err(Diagnostic::new(Kind::Invalid, format!("there is no part {index} of this value"), None)),
        }
    }

    fn member(&self, ty: Handle<Type>, index: u32) -> Result<Part, Diagnostic> {
        let mut before = 0u32;
        if let TypeInner::Struct { ref members, .. } = self.module.types[ty].inner {
            for (at, member) in members.iter().enumerate() {
                if at == index as usize {
                    return Ok(Part { shape: self.shape(member.ty)?, offset: member.offset, before });
                }
                before = before.saturating_add(self.facts(member.ty).scalars);
            }
        }
        Err(Diagnostic::new(Kind::Invalid, format!("there is no member {index}"), None))
    }

    /// The runtime array at the end of a shape: its offset and stride.
    pub(crate) fn runtime_array(&self, shape: Shape) -> Result<Option<(u32, u32)>, Diagnostic> {
        match shape {
            Shape::Array { count: None, stride, .. } => Ok(Some((0, stride))),
            Shape::Struct(ty) => {
                let TypeInner::Struct { ref members, .. } = self.module.types[ty].inner else { return Ok(None) };
                let Some(last) = members.last() else { return Ok(None) };
                match self.module.types[last.ty].inner {
                    TypeInner::Array { size: naga::ArraySize::Dynamic, stride, .. } => Ok(Some((last.offset, stride))),
                    _ => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }
}

/// A part of a composite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) shape: Shape,
    pub(crate) offset: u32,
    pub(crate) before: u32,
}

/// Words from one column of a matrix to the next, and the alignment of a vector in words.
pub(crate) fn column_words(rows: u32) -> u32 {
    if rows == 2 { 2 } else { 4 }
}

/// Registers of a scalar: 64 bits are two words, the low one first.
pub(crate) fn words(scalar: Scalar) -> u32 {
    if scalar.width == 8 { 2 } else { 1 }
}

/// The leaves of a row of scalars.
fn leaves_of(at: u32, count: u32, scalar: Scalar) -> impl Iterator<Item = Leaf> {
    let words = words(scalar);
    let part = if words == 1 { scalar } else { Scalar::U32 };
    (0..count * words).map(move |index| Leaf { offset: at + index * u32::from(part.width), scalar: part })
}

/// Whether a scalar is an `f16`. Its register holds it as an `f32`.
pub(crate) fn is_half(scalar: Scalar) -> bool {
    scalar.kind == ScalarKind::Float && scalar.width == 2
}

/// The register type of a scalar.
pub(crate) fn ty_of(scalar: Scalar) -> Ty {
    match scalar.kind {
        ScalarKind::Float => Ty::F32,
        ScalarKind::Bool => Ty::Bool,
        _ => Ty::I32,
    }
}

/// How a scalar lies in memory.
pub(crate) fn cell_of(scalar: Scalar) -> Cell {
    match scalar.kind {
        ScalarKind::Float if scalar.width == 2 => Cell::Half,
        ScalarKind::Float => Cell::F32,
        ScalarKind::Bool => Cell::Byte,
        _ => Cell::I32,
    }
}

/// Refuses scalars that the compiler has no code for.
pub(crate) fn check_scalar(scalar: Scalar, span: Span) -> Result<(), Diagnostic> {
    let known = match scalar.kind {
        ScalarKind::Bool => true,
        ScalarKind::Sint | ScalarKind::Uint => scalar.width == 4 || scalar.width == 8,
        ScalarKind::Float => scalar.width == 2 || scalar.width == 4,
        ScalarKind::AbstractInt | ScalarKind::AbstractFloat => false,
    };
    if known {
        return Ok(());
    }
    let bits = u32::from(scalar.width) * 8;
    Err(unsupported(&format!("a scalar of {bits} bits (`f64` and integers of 16 bits are not compiled)"), span))
}

/// Something that is legal but that this compiler has no code for.
pub(crate) fn unsupported(what: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Kind::Unimplemented, format!("not implemented: {what}"), Some(span))
}
