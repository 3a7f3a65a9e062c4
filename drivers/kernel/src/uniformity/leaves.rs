//! The scalars that a value is made of, as bits of one word.
//!
//! What may differ between invocations is often one component of a vector or one member of a structure, so each scalar
//! has a bit of its own as long as there are no more than fit. The elements of a longer array share the bits of one
//! element, and the members of a larger structure share one bit.

use naga::proc::TypeResolution;
use naga::{ArraySize, Handle, Module, Type, TypeInner, VectorSize};

/// Scalars that have a bit of their own.
const MAX_LEAVES: u32 = u64::BITS;

/// How many bits each type of a module takes.
pub(super) struct Leaves<'a> {
    module: &'a Module,
    /// By type; from 1 to [`MAX_LEAVES`].
    widths: Vec<u32>,
    /// By type: where the bits of each member of a structure begin, if each has bits of its own. Structures may have tens of thousands of
    /// members, which must not be counted anew at each access.
    starts: Vec<Box<[u32]>>,
}

/// Some neighbouring bits.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Range {
    pub(super) first: u32,
    pub(super) width: u32,
}

impl<'a> Leaves<'a> {
    /// A type comes after its parts, so that each is looked at once, whatever contains it how often.
    pub(super) fn new(module: &'a Module) -> Self {
        let count = module.types.len();
        let mut leaves = Self { module, widths: Vec::with_capacity(count), starts: Vec::with_capacity(count) };
        for (_, ty) in module.types.iter() {
            let (width, starts) = match ty.inner {
                TypeInner::Struct { ref members, .. } => leaves.structure(members),
                ref inner => (leaves.simple(inner), Box::default()),
            };
            leaves.widths.push(width);
            leaves.starts.push(starts);
        }
        leaves
    }

    /// The bits of a structure, and where those of its members begin.
    fn structure(&self, members: &[naga::StructMember]) -> (u32, Box<[u32]>) {
        let mut sum = 0u32;
        let starts = members.iter().map(|member| {
            let start = sum;
            sum = sum.saturating_add(self.width_of(member.ty));
            start
        });
        let starts = starts.collect();
        if sum > MAX_LEAVES { (1, Box::default()) } else { (sum.max(1), starts) }
    }

    /// The bits of a value of this type, or of what it points to.
    pub(super) fn width(&self, ty: &TypeResolution) -> u32 {
        match *ty {
            TypeResolution::Handle(ty) => self.width_of(ty),
            TypeResolution::Value(ref inner) => self.simple(inner),
        }
    }

    /// The same of what is no structure, or, if it is, has no handle: all its members share one bit.
    fn simple(&self, inner: &TypeInner) -> u32 {
        match *inner {
            TypeInner::Vector { size, .. } | TypeInner::ValuePointer { size: Some(size), .. } => count(size),
            TypeInner::Matrix { columns, rows, .. } => count(columns).saturating_mul(count(rows)),
            TypeInner::Pointer { base, .. } => self.width_of(base),
            TypeInner::Array { base, size, .. } => self.array(base, size).unwrap_or_else(|| self.width_of(base)),
            _ => 1,
        }
    }

    /// The bits of a type.
    pub(super) fn width_of(&self, ty: Handle<Type>) -> u32 {
        self.widths.get(ty.index()).copied().unwrap_or(1)
    }

    /// Where the bits of a part are among those of the whole, which may be behind a pointer. Without an index it can be any part.
    pub(super) fn part(&self, whole: &TypeResolution, index: Option<u32>) -> Range {
        let all = Range { first: 0, width: self.width(whole) };
        let (whole, handle) = match *whole.inner_with(&self.module.types) {
            TypeInner::Pointer { base, .. } => (&self.module.types[base].inner, Some(base)),
            ref inner => (inner, whole.handle()),
        };
        let element = match *whole {
            TypeInner::Vector { .. } | TypeInner::ValuePointer { .. } => 1,
            TypeInner::Matrix { rows, .. } => count(rows),
            TypeInner::Array { base, size, .. } if self.array(base, size).is_some() => self.width_of(base),
            TypeInner::Struct { ref members, .. } => {
                let (Some(index), Some(handle)) = (index.map(|index| index as usize), handle) else { return all };
                let start = self.starts.get(handle.index()).and_then(|starts| starts.get(index));
                let (Some(&first), Some(member)) = (start, members.get(index)) else { return all };
                return Range { first, width: self.width_of(member.ty) };
            }
            _ => return all,
        };
        match index {
            Some(index) => Range { first: index.saturating_mul(element), width: element }.within(all),
            None => all,
        }
    }

    /// The bits of an array whose elements have bits of their own.
    fn array(&self, base: Handle<Type>, size: ArraySize) -> Option<u32> {
        let ArraySize::Constant(length) = size else { return None };
        let width = self.width_of(base).checked_mul(length.get())?;
        (width <= MAX_LEAVES).then_some(width)
    }
}

impl Range {
    /// All bits of a whole in which this part has no bits of its own.
    fn within(self, all: Range) -> Self {
        if self.first.saturating_add(self.width) <= all.width { self } else { all }
    }

    /// The bits of this range in `bits`, as those of a value that has `width` of them.
    pub(super) fn read(self, bits: u64, width: u32) -> u64 {
        fit(bits.checked_shr(self.first).unwrap_or(0) & all(self.width), self.width, width)
    }

    /// The bits of a value that has `width` of them, where this range is.
    pub(super) fn place(self, bits: u64, width: u32) -> u64 {
        fit(bits, width, self.width).checked_shl(self.first).unwrap_or(0)
    }
}

fn count(size: VectorSize) -> u32 {
    u32::from(size as u8)
}

/// All of `width` bits.
pub(super) fn all(width: u32) -> u64 {
    u64::MAX.checked_shr(MAX_LEAVES.saturating_sub(width)).unwrap_or(0)
}

/// The bits of `from` as `to` ones: the same, or, where they do not correspond, all if there is any.
pub(super) fn fit(bits: u64, from: u32, to: u32) -> u64 {
    match bits & all(from) {
        bits if from == to => bits,
        0 => 0,
        _ => all(to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_bits_of_their_own_while_there_are_enough() {
        let module = naga::front::wgsl::parse_str(
            "struct Pair { a: u32, b: vec3<f32>, c: array<vec2<f32>, 3> }
             struct Large { a: array<Pair, 8>, b: array<f32, 60>, c: f32 }
             var<private> a: Pair; var<private> b: array<Pair, 6>; var<private> c: array<Pair, 7>; var<private> d: Large;
             var<private> e: mat2x3<f32>; var<private> f: array<f32, 64>;",
        )
        .unwrap();
        let leaves = Leaves::new(&module);
        let of = |name: &str, index: Option<u32>| {
            let (_, variable) = module.global_variables.iter().find(|it| it.1.name.as_deref() == Some(name)).unwrap();
            let range = leaves.part(&TypeResolution::Handle(variable.ty), index);
            (leaves.width_of(variable.ty), range.first, range.width)
        };
        for (name, index, expected) in [
            ("a", Some(1), (10, 1, 3)),
            ("a", Some(2), (10, 4, 6)),
            ("a", None, (10, 0, 10)),
            ("b", Some(5), (60, 50, 10)),
            ("b", Some(6), (60, 0, 60)),
            ("c", Some(5), (10, 0, 10)),
            ("d", Some(1), (1, 0, 1)),
            ("d", None, (1, 0, 1)),
            ("e", Some(1), (6, 3, 3)),
            ("f", Some(63), (64, 63, 1)),
        ] {
            assert_eq!(of(name, index), expected, "{name} {index:?}");
        }
    }

    #[test]
    fn bits_that_do_not_correspond_spread() {
        assert_eq!((all(0), all(1), all(64)), (0, 1, u64::MAX));
        let range = Range { first: 2, width: 3 };
        assert_eq!(range.read(0b01_1000, 3), 0b110);
        assert_eq!(range.read(0b01_1000, 2), 0b11);
        assert_eq!(range.read(0b10_0011, 3), 0);
        assert_eq!(range.place(0b010, 3), 0b01000);
        assert_eq!(range.place(1, 1), 0b11100);
        assert_eq!(range.place(0, 1), 0);
    }
}
