//! What lies where in a binding: for tools that show or compare what a kernel leaves.

use crate::Program;
use naga::common::wgsl::TypeContext;
use naga::{AddressSpace, ArraySize, Handle, Module, ScalarKind, Type, TypeInner, VectorSize};

/// The scalars that a binding can hold.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Element {
    /// `f16`.
    F16,
    /// `f32`.
    F32,
    /// `i32`.
    I32,
    /// `u32`.
    U32,
    /// `i64`.
    I64,
    /// `u64`.
    U64,
}

impl Element {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::F16, Self::F32, Self::I32, Self::U32, Self::I64, Self::U64];

    /// The scalar of this name in WGSL.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|element| element.name() == name)
    }

    /// Bytes that it takes.
    pub fn bytes(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    /// Its name in WGSL.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
        }
    }

    fn of(scalar: naga::Scalar) -> Option<Self> {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Float, 2) => Some(Self::F16),
            (ScalarKind::Float, 4) => Some(Self::F32),
            (ScalarKind::Sint, 4) => Some(Self::I32),
            (ScalarKind::Uint, 4) => Some(Self::U32),
            (ScalarKind::Sint, 8) => Some(Self::I64),
            (ScalarKind::Uint, 8) => Some(Self::U64),
            _ => None,
        }
    }
}

/// How the bytes of one binding of a function are laid out.
#[derive(Clone, Copy)]
pub struct Layout<'a>(Kind<'a>);

#[derive(Clone, Copy)]
enum Kind<'a> {
    /// As a type of a module.
    Type { module: &'a Module, ty: Handle<Type> },
    /// As one scalar after the other, for as long as the binding is.
    Array(Element),
}

/// A part of a function's constants.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Constant {
    /// The member's name, or the variable's if it is no structure; empty where the source has none.
    pub name: String,
    /// The type as WGSL writes it.
    pub type_name: String,
    /// Bytes before it.
    pub offset: u32,
    /// Bytes that it takes.
    pub bytes: u32,
}

impl Program {
    /// The constants of a function, ascending; none if there is no such function, or it takes none.
    pub fn constant_layout(&self, function: &str) -> Vec<Constant> {
        let module = self.module();
        let Some(index) = module.entry_points.iter().position(|point| point.name == function) else {
            return Vec::new();
        };
        let uses = self.info().get_entry_point(index);
        let used = module
            .global_variables
            .iter()
            .find(|(handle, variable)| variable.space == AddressSpace::Immediate && !uses[*handle].is_empty());
        let Some((_, variable)) = used else { return Vec::new() };
        let constant = |name: &Option<String>, ty: Handle<Type>, offset: u32| Constant {
            name: name.clone().unwrap_or_default(),
            type_name: module.to_ctx().type_to_string(ty),
            offset,
            bytes: module.types[ty].inner.try_size(module.to_ctx()).unwrap_or(0),
        };
        match &module.types[variable.ty].inner {
            TypeInner::Struct { members, .. } => {
                members.iter().map(|member| constant(&member.name, member.ty, member.offset)).collect()
            }
            _ => vec![constant(&variable.name, variable.ty, 0)],
        }
    }

    /// How a binding that a function uses is laid out; none if it uses no such binding.
    pub fn layout(&self, function: &str, binding: u32) -> Option<Layout<'_>> {
        let (_, variable) = self.bound(function, binding)?;
        let module = self.module();
        Some(Layout(Kind::Type { module, ty: variable.ty }))
    }
}

impl Layout<'static> {
    /// One scalar after the other: for what a kernel keeps in words of another type.
    pub fn array_of(element: Element) -> Self {
        Self(Kind::Array(element))
    }
}

impl Layout<'_> {
    /// The type as WGSL writes it.
    pub fn type_name(&self) -> String {
        match self.0 {
            Kind::Type { module, ty } => module.to_ctx().type_to_string(ty),
            Kind::Array(element) => format!("array<{}>", element.name()),
        }
    }

    /// Bytes of it; none if it ends in a runtime-sized array, which goes on for as long as the binding does.
    pub fn bytes(&self) -> Option<u64> {
        let Kind::Type { module, ty } = self.0 else { return None };
        let dynamic =
            |ty: Handle<Type>| matches!(module.types[ty].inner, TypeInner::Array { size: ArraySize::Dynamic, .. });
        let open = match &module.types[ty].inner {
            TypeInner::Struct { members, .. } => members.last().is_some_and(|member| dynamic(member.ty)),
            _ => dynamic(ty),
        };
        let size = module.types[ty].inner.try_size(module.to_ctx()).map(u64::from);
        size.filter(|_| !open)
    }

    /// The scalar that the byte at `offset` belongs to, and the offset of its first byte. None for padding, and past the end of a type that is
    /// not runtime-sized.
    pub fn element(&self, offset: u64) -> Option<(u64, Element)> {
        match self.0 {
            Kind::Type { module, ty } => within(module, ty, offset),
            Kind::Array(element) => {
                let (_, rest) = divided(offset, element.bytes() as u64)?;
                Some((offset - rest, element))
            }
        }
    }
}

/// [`Layout::element`] in a value of some type, whose first byte is at 0.
fn within(module: &Module, ty: Handle<Type>, offset: u64) -> Option<(u64, Element)> {
    match module.types[ty].inner {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => in_vector(1, scalar, offset),
        TypeInner::Vector { size, scalar } => in_vector(size as u64, scalar, offset),
        TypeInner::Matrix { columns, rows, scalar } => {
            // A column of three takes as much as one of four.
            let lanes = if rows == VectorSize::Tri { 4 } else { rows as u64 };
            let (column, rest) = divided(offset, lanes * u64::from(scalar.width))?;
            let (start, element) = in_vector(rows as u64, scalar, rest)?;
            (column < columns as u64).then_some((offset - rest + start, element))
        }
        TypeInner::Array { base, size, stride } => {
            let (index, rest) = divided(offset, u64::from(stride))?;
            let inside = match size {
                ArraySize::Constant(count) => index < u64::from(count.get()),
                ArraySize::Dynamic => true,
                ArraySize::Pending(_) => false,
            };
            let (start, element) = within(module, base, rest).filter(|_| inside)?;
            Some((offset - rest + start, element))
        }
        TypeInner::Struct { ref members, .. } => {
            // A structure may have a thousand members, and be looked at for each of a million offsets.
            let after = members.partition_point(|member| u64::from(member.offset) <= offset);
            let member = members.get(after.checked_sub(1)?)?;
            let from = u64::from(member.offset);
            let (start, element) = within(module, member.ty, offset - from)?;
            Some((from + start, element))
        }
        _ => None,
    }
}

fn in_vector(lanes: u64, scalar: naga::Scalar, offset: u64) -> Option<(u64, Element)> {
    let (lane, rest) = divided(offset, u64::from(scalar.width))?;
    Element::of(scalar).filter(|_| lane < lanes).map(|element| (offset - rest, element))
}

fn divided(offset: u64, by: u64) -> Option<(u64, u64)> {
    Some((offset.checked_div(by)?, offset.checked_rem(by)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, SourceLimits, load};

    #[test]
    fn elements_lie_where_wgsl_says() {
        let source = "
            struct S { a: u32, m: mat3x3<f32>, v: vec3<i32>, b: atomic<u32>, c: array<vec2<f32>, 2>, }
            struct T { n: u32, s: array<S>, }
            @group(0) @binding(2) var<storage, read_write> t: T;
            @group(0) @binding(2) var<storage, read_write> other: array<f32, 3>;
            @compute @workgroup_size(1) fn one() { t.s[t.n].a = 1u; }
            @compute @workgroup_size(1) fn two() { other[1] = 1.0; }";
        let program = load(Format::Wgsl, source.as_bytes(), &SourceLimits::default()).unwrap();
        let layout = program.layout("one", 2).unwrap();
        assert_eq!(layout.type_name(), "T");
        // The structure S has 96 bytes and begins at 16.
        for second in [0, 96] {
            for (offset, want) in [
                (16, Some((16, Element::U32))),
                (20, None),
                (32 + 11, Some((40, Element::F32))),
                (32 + 12, None),
                (32 + 16, Some((48, Element::F32))),
                (80, Some((80, Element::I32))),
                (92, Some((92, Element::U32))),
                (96 + 4, Some((100, Element::F32))),
                (111, Some((108, Element::F32))),
            ] {
                let want = want.map(|(start, element)| (start + second, element));
                assert_eq!(layout.element(offset + second), want, "{offset} + {second}");
            }
        }
        assert_eq!((layout.element(3), layout.element(4)), (Some((0, Element::U32)), None));
        let layout = program.layout("two", 2).unwrap();
        assert_eq!(layout.type_name(), "array<f32, 3>");
        assert_eq!((layout.element(11), layout.element(12)), (Some((8, Element::F32)), None));
        assert_eq!((layout.bytes(), program.layout("one", 2).unwrap().bytes()), (Some(12), None));
        assert!(program.layout("two", 1).is_none() && program.layout("three", 2).is_none());
    }

    #[test]
    fn scalars_in_a_row_lie_one_after_the_other() {
        let layout = Layout::array_of(Element::F16);
        assert_eq!((layout.type_name(), layout.bytes()), ("array<f16>".to_owned(), None));
        assert_eq!((layout.element(2), layout.element(7)), (Some((2, Element::F16)), Some((6, Element::F16))));
        for element in Element::ALL {
            assert_eq!(Element::from_name(element.name()), Some(element));
        }
        assert_eq!(Element::from_name("f64"), None);
    }

    #[test]
    fn constants_lie_where_wgsl_says() {
        let source = "
            struct C { a: u32, v: vec3<f32>, n: i32, }
            var<immediate> c: C;
            @group(0) @binding(0) var<storage, read_write> o: array<f32>;
            @compute @workgroup_size(1) fn one() { o[c.a] = c.v.x; }
            @compute @workgroup_size(1) fn two() { o[0] = 1.0; }";
        let program = load(Format::Wgsl, source.as_bytes(), &SourceLimits::default()).unwrap();
        let found = program.constant_layout("one");
        let found: Vec<_> = found.iter().map(|it| (&*it.name, &*it.type_name, it.offset, it.bytes)).collect();
        assert_eq!(found, [("a", "u32", 0, 4), ("v", "vec3<f32>", 16, 12), ("n", "i32", 28, 4)]);
        assert!(program.constant_layout("two").is_empty() && program.constant_layout("three").is_empty());
        let source = "var<immediate> k: f32; @group(0) @binding(0) var<storage, read_write> o: array<f32>;
            @compute @workgroup_size(1) fn one() { o[0] = k; }";
        let program = load(Format::Wgsl, source.as_bytes(), &SourceLimits::default()).unwrap();
        assert_eq!(program.constant_layout("one")[0].name, "k");
    }
}
