//! What two runs of a kernel left in one binding, compared.

use crate::{Element, Layout};
use std::fmt;

/// One scalar of a binding, in which two runs differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Bytes before it.
    pub offset: u64,
    /// What it is; none for a byte behind all that the kernel's type names.
    pub element: Option<Element>,
    left: u64,
    right: u64,
}

/// How what two runs left differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// How many scalars differ.
    pub count: u64,
    /// The first of them.
    pub first: Part,
    /// The one with the largest difference of values.
    pub largest: Part,
    /// The largest distance of two floats, counted in floats between them; none if some differ in more than that: integers, bytes, and a NaN
    /// against a number.
    pub ulps: Option<u64>,
}

/// Compares the bytes of a binding, scalar by scalar. None if all are bit-equal, or NaN in both: which NaN it is, WGSL leaves open, as it does
/// what lies in padding. Bytes that only one of them has differ.
pub fn compare(layout: Layout<'_>, left: &[u8], right: &[u8]) -> Option<Difference> {
    if left == right {
        return None;
    }
    let end = left.len().max(right.len());
    let mut difference: Option<Difference> = None;
    let mut at = 0;
    while at < end {
        let part = part(layout, left, right, at);
        at = at.saturating_add(part.bytes());
        if part.differs() && !part.is_padding(layout) {
            add(&mut difference, part);
        }
    }
    difference
}

fn add(difference: &mut Option<Difference>, part: Part) {
    let Some(all) = difference else {
        *difference = Some(Difference { count: 1, first: part, largest: part, ulps: part.ulps() });
        return;
    };
    all.count = all.count.saturating_add(1);
    // A NaN is no distance, and further off than any.
    let further = |part: &Part| part.absolute().unwrap_or(f64::INFINITY);
    if further(&part) > further(&all.largest) {
        all.largest = part;
    }
    all.ulps = all.ulps.zip(part.ulps()).map(|(most, ulps)| most.max(ulps));
}

/// What lies at an offset. Where both are as long as the scalar there it is that, else a byte.
fn part(layout: Layout<'_>, left: &[u8], right: &[u8], at: usize) -> Part {
    let found = layout.element(at as u64).filter(|(start, _)| *start == at as u64);
    let scalar = found.and_then(|(_, element)| {
        let end = at.checked_add(element.bytes())?;
        let (left, right) = (word(left.get(at..end)?), word(right.get(at..end)?));
        Some(Part { offset: at as u64, element: Some(element), left, right })
    });
    // One more than a byte can be stands for one that is not there.
    let byte = |bytes: &[u8]| bytes.get(at).map_or(0x100, |byte| u64::from(*byte));
    scalar.unwrap_or_else(|| Part { offset: at as u64, element: None, left: byte(left), right: byte(right) })
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

impl Part {
    /// The distance of the two values; none if one of them is a NaN, or one is a byte that is not there.
    pub fn absolute(&self) -> Option<f64> {
        match self.element {
            None => Some(self.left.abs_diff(self.right) as f64).filter(|_| self.left.max(self.right) < 0x100),
            Some(Element::I32) => Some(self.signed(|bits| i64::from((bits as u32).cast_signed()))),
            Some(Element::I64) => Some(self.signed(u64::cast_signed)),
            Some(Element::U32 | Element::U64) => Some(self.left.abs_diff(self.right) as f64),
            Some(Element::F16 | Element::F32) => {
                let [left, right] = [self.left, self.right].map(|bits| self.float(bits));
                // Infinity is as far from itself as anything is.
                let distance = if left == right { 0.0 } else { (left - right).abs() };
                Some(distance).filter(|distance| !distance.is_nan())
            }
        }
    }

    /// The two values, as WGSL would write them.
    pub fn values(&self) -> [String; 2] {
        [self.left, self.right].map(|bits| match self.element {
            None if bits > 0xff => "nothing".to_owned(),
            None => format!("byte {bits:#04x}"),
            Some(Element::I32) => (bits as u32).cast_signed().to_string(),
            Some(Element::I64) => bits.cast_signed().to_string(),
            Some(Element::U32 | Element::U64) => bits.to_string(),
            Some(Element::F16 | Element::F32) => format!("{:?}", self.float(bits) as f32),
        })
    }

    fn bytes(&self) -> usize {
        self.element.map_or(1, Element::bytes)
    }

    fn differs(&self) -> bool {
        let nan = |bits| self.is_float() && self.float(bits).is_nan();
        self.left != self.right && !(nan(self.left) && nan(self.right))
    }

    /// Whether it is a byte between two scalars of the type, and of neither.
    fn is_padding(&self, layout: Layout<'_>) -> bool {
        let inside = layout.bytes().is_none_or(|bytes| self.offset < bytes);
        let partial = layout.element(self.offset).is_some();
        self.element.is_none() && inside && !partial && self.left.max(self.right) < 0x100
    }

    fn is_float(&self) -> bool {
        matches!(self.element, Some(Element::F16 | Element::F32))
    }

    fn signed(&self, value: impl Fn(u64) -> i64) -> f64 {
        value(self.left).abs_diff(value(self.right)) as f64
    }

    fn float(&self, bits: u64) -> f64 {
        match self.element {
            Some(Element::F16) => half(bits as u16),
            _ => f64::from(f32::from_bits(bits as u32)),
        }
    }

    /// How many floats the two are apart; none for what is no float, and for a NaN against a number. Both zeros are one place.
    fn ulps(&self) -> Option<u64> {
        let sign = match self.element {
            Some(Element::F16) => 1u64 << 15,
            Some(Element::F32) => 1 << 31,
            _ => return None,
        };
        // Floats of one sign are ordered as their bits are.
        let place = |bits: u64| {
            let steps = (bits & (sign - 1)).cast_signed();
            if bits & sign == 0 { steps } else { -steps }
        };
        let numbers = !self.float(self.left).is_nan() && !self.float(self.right).is_nan();
        numbers.then(|| place(self.left).abs_diff(place(self.right)))
    }
}

/// The value of a 16-bit float.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

impl fmt::Display for Part {
    /// `f32 at byte 8: 0.5 against 0.25`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, right] = self.values();
        match self.element {
            Some(element) => write!(f, "{} at byte {}: {left} against {right}", element.name(), self.offset),
            None => write!(f, "at byte {}: {left} against {right}", self.offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Program, SourceLimits, load};

    fn program(ty: &str) -> Program {
        let source = format!(
            "enable f16; struct S {{ v: vec3<f32>, @align(16) n: i32, }}
            @group(0) @binding(0) var<storage, read_write> o: {ty};
            @compute @workgroup_size(1) fn main() {{ let old = o; o = old; }}"
        );
        load(Format::Wgsl, source.as_bytes(), &SourceLimits::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn compared(ty: &str, left: &[u8], right: &[u8]) -> Option<Difference> {
        compare(program(ty).layout("main", 0).unwrap(), left, right)
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn floats_have_ulps() {
        let near = f32::from_bits(1f32.to_bits() + 3);
        let found =
            compared("array<f32, 4>", &floats(&[2.0, 1.0, 0.0, -1.0]), &floats(&[2.0, near, -0.0, -1.5])).unwrap();
        assert_eq!((found.count, found.first.offset, found.largest.offset), (3, 4, 12));
        assert_eq!((found.largest.absolute(), found.ulps), (Some(0.5), Some(1 << 22)));
        assert_eq!(found.largest.to_string(), "f32 at byte 12: -1.0 against -1.5");
        let across = compared("f32", &1u32.to_le_bytes(), &0x8000_0002u32.to_le_bytes()).unwrap();
        assert_eq!(across.ulps, Some(3), "denormals on both sides of zero");
        let half = compared("f16", &[0, 0x3c, 0, 0], &[1, 0x3c, 0, 0]).unwrap();
        assert_eq!((half.ulps, half.largest.absolute()), (Some(1), Some(1.0 / 1024.0)));
    }

    #[test]
    fn a_nan_is_far_from_numbers_and_not_from_another() {
        let other = f32::from_bits(f32::NAN.to_bits() + 1);
        assert_eq!(compared("array<f32, 2>", &floats(&[f32::NAN, 1.0]), &floats(&[other, 1.0])), None);
        let found = compared("array<f32, 2>", &floats(&[1.0, f32::NAN]), &floats(&[9.0, 1.0])).unwrap();
        assert_eq!((found.count, found.ulps, found.largest.offset, found.largest.absolute()), (2, None, 4, None));
        let infinite = compared("f32", &floats(&[f32::INFINITY]), &floats(&[f32::MAX])).unwrap();
        assert_eq!((infinite.ulps, infinite.largest.absolute()), (Some(1), Some(f64::INFINITY)));
    }

    #[test]
    fn integers_differ_by_their_values() {
        let found = compared("i32", &(-1i32).to_le_bytes(), &1i32.to_le_bytes()).unwrap();
        assert_eq!((found.largest.absolute(), found.ulps), (Some(2.0), None));
        assert_eq!(found.first.values(), ["-1", "1"]);
        let found = compared("u32", &u32::MAX.to_le_bytes(), &[0; 4]).unwrap();
        assert_eq!(found.first.to_string(), "u32 at byte 0: 4294967295 against 0");
    }

    #[test]
    fn padding_is_nobodys_and_what_lies_behind_the_type_is() {
        let (zeros, mut other) = ([0; 36], [0; 36]);
        other[13] = 1;
        assert_eq!(compared("S", &zeros, &other), None);
        other[33] = 7;
        let found = compared("S", &zeros, &other).unwrap();
        assert_eq!((found.count, found.first.to_string()), (1, "at byte 33: byte 0x00 against byte 0x07".to_owned()));
        let short = compared("u32", &zeros[..4], &zeros[..3]).unwrap();
        assert_eq!((short.count, short.first.to_string()), (1, "at byte 3: byte 0x00 against nothing".to_owned()));
    }
}
