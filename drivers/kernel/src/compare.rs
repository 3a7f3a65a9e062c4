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

/// How far apart two scalars may be and still agree: it is enough to be within one of the two. The default asks for the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Of two floats: how many floats one is from the other.
    pub ulps: u64,
    /// The distance of the two values, whatever their type.
    pub absolute: f64,
}

/// How what two runs left differs. [`first`](Self::first), [`largest`](Self::largest) and [`most_ulps`](Self::most_ulps) are among those beyond
/// the tolerance if there are any, and else among those within it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// How many scalars differ by more than is tolerated.
    pub beyond: u64,
    /// How many others differ.
    pub within: u64,
    /// The first.
    pub first: Part,
    /// The one with the largest distance of values. A NaN is further from a number than any.
    pub largest: Part,
    /// The pair of floats with the most floats between them; none if there is no such pair: integers, bytes, and a NaN against a number.
    pub most_ulps: Option<Part>,
}

/// Compares the bytes of a binding, scalar by scalar. None if all are bit-equal, or NaN in both: which NaN it is, WGSL leaves open, as it does
/// what lies in padding. Bytes that only one of them has differ.
pub fn compare(layout: Layout<'_>, left: &[u8], right: &[u8], tolerance: &Tolerance) -> Option<Difference> {
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
            add(&mut difference, part, part.is_within(tolerance));
        }
    }
    difference
}

fn add(difference: &mut Option<Difference>, part: Part, within: bool) {
    let alone = Difference { beyond: 0, within: 0, first: part, largest: part, most_ulps: part.ulps().map(|_| part) };
    let all = difference.get_or_insert(alone);
    if !within && all.beyond == 0 {
        *all = Difference { within: all.within, ..alone };
    } else if within == (all.beyond == 0) {
        all.take(part);
    }
    let count = if within { &mut all.within } else { &mut all.beyond };
    *count = count.saturating_add(1);
}

impl Difference {
    /// Looks whether a further part is more of an example.
    fn take(&mut self, part: Part) {
        let distance = |part: &Part| part.absolute().unwrap_or(f64::INFINITY);
        if distance(&part) > distance(&self.largest) {
            self.largest = part;
        }
        // None is less than any number.
        if part.ulps() > self.most_ulps.and_then(|most| most.ulps()) {
            self.most_ulps = Some(part);
        }
    }
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

    /// Whether the two agree all the same. With a tolerance of 0 only what is bit-equal does, which the two zeros are not.
    fn is_within(&self, tolerance: &Tolerance) -> bool {
        let is = |most: f64| self.absolute().is_some_and(|distance| distance <= most);
        (tolerance.ulps > 0 && self.ulps().is_some_and(|ulps| ulps <= tolerance.ulps))
            || (tolerance.absolute > 0.0 && self.element.is_some() && is(tolerance.absolute))
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
    pub fn ulps(&self) -> Option<u64> {
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
        compare(program(ty).layout("main", 0).unwrap(), left, right, &Tolerance::default())
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn floats_have_ulps() {
        let near = f32::from_bits(1f32.to_bits() + 3);
        let found =
            compared("array<f32, 4>", &floats(&[2.0, 1.0, 0.0, -1.0]), &floats(&[2.0, near, -0.0, -1.5])).unwrap();
        assert_eq!((found.beyond, found.first.offset, found.largest.offset), (3, 4, 12));
        assert_eq!((found.largest.absolute(), found.largest.ulps()), (Some(0.5), Some(1 << 22)));
        assert_eq!(found.largest.to_string(), "f32 at byte 12: -1.0 against -1.5");
        let across = compared("f32", &1u32.to_le_bytes(), &0x8000_0002u32.to_le_bytes()).unwrap();
        assert_eq!(across.largest.ulps(), Some(3), "denormals on both sides of zero");
        let half = compared("f16", &[0, 0x3c, 0, 0], &[1, 0x3c, 0, 0]).unwrap();
        assert_eq!((half.largest.ulps(), half.largest.absolute()), (Some(1), Some(1.0 / 1024.0)));
    }

    #[test]
    fn a_nan_is_far_from_numbers_and_not_from_another() {
        let other = f32::from_bits(f32::NAN.to_bits() + 1);
        assert_eq!(compared("array<f32, 2>", &floats(&[f32::NAN, 1.0]), &floats(&[other, 1.0])), None);
        let found = compared("array<f32, 2>", &floats(&[1.0, f32::NAN]), &floats(&[9.0, 1.0])).unwrap();
        assert_eq!((found.beyond, found.largest.offset, found.largest.absolute()), (2, 4, None));
        assert_eq!(found.most_ulps.map(|part| part.offset), Some(0), "the numbers are told of as well");
        let infinite = compared("f32", &floats(&[f32::INFINITY]), &floats(&[f32::MAX])).unwrap();
        assert_eq!((infinite.largest.ulps(), infinite.largest.absolute()), (Some(1), Some(f64::INFINITY)));
    }

    #[test]
    fn the_largest_distance_and_the_most_ulps_are_in_different_places() {
        // One ulp of 2^20 is 0.125; from 0 to 1e-30 there are hundreds of millions.
        let left = floats(&[1.0, 1_048_576.0, 0.0]);
        let right = floats(&[1.0, 1_048_576.1, 1e-30]);
        let found = compared("array<f32, 3>", &left, &right).unwrap();
        assert_eq!((found.largest.offset, found.most_ulps.unwrap().offset), (4, 8));
        assert_eq!(found.largest.ulps(), Some(1));
    }

    #[test]
    fn within_either_tolerance_is_enough() {
        let program = program("array<f32, 4>");
        let left = floats(&[1_048_576.0, 0.0, 5.0, f32::NAN]);
        let right = floats(&[1_048_576.1, 1e-30, 6.0, 1.0]);
        let of = |ulps, absolute| {
            let tolerance = Tolerance { ulps, absolute };
            let found = compare(program.layout("main", 0).unwrap(), &left, &right, &tolerance).unwrap();
            (found.beyond, found.within, found.first.offset, found.most_ulps.map(|part| part.offset))
        };
        assert_eq!(of(0, 0.0), (4, 0, 0, Some(4)));
        assert_eq!(of(1, 0.0), (3, 1, 4, Some(4)));
        assert_eq!(of(0, 1e-6), (3, 1, 0, Some(8)), "1 is a million ulps from 2, and more than 1e-6");
        assert_eq!(of(1, 1e-6), (2, 2, 8, Some(8)));
        assert_eq!(of(u64::MAX, f64::MAX), (1, 3, 12, None), "a NaN agrees with no number");
        let only = compare(
            program.layout("main", 0).unwrap(),
            &left[..12],
            &right[..12],
            &Tolerance { ulps: u64::MAX, absolute: 0.0 },
        );
        let only = only.unwrap();
        assert_eq!((only.beyond, only.within, only.largest.offset), (0, 3, 8));
    }

    #[test]
    fn what_has_no_value_is_beyond_every_tolerance() {
        let all = Tolerance { ulps: u64::MAX, absolute: f64::MAX };
        let program = program("u32");
        let layout = program.layout("main", 0).unwrap();
        let near = compare(layout, &[1, 0, 0, 0], &[3, 0, 0, 0], &Tolerance { ulps: 9, absolute: 2.0 }).unwrap();
        assert_eq!((near.beyond, near.within), (0, 1), "integers have values, and no ulps");
        let behind = compare(layout, &[0, 0, 0, 0, 1], &[0, 0, 0, 0, 2], &all).unwrap();
        assert_eq!((behind.beyond, behind.within), (1, 0));
        let missing = compare(layout, &[0; 4], &[0; 3], &all).unwrap();
        assert_eq!((missing.beyond, missing.within), (1, 0));
    }

    #[test]
    fn a_type_can_be_named_for_what_a_kernel_calls_words() {
        // 1 and 1.0009765625 as f16, in the upper half of a word.
        let (left, right) = ([0, 0, 0, 0x3c], [0, 0, 1, 0x3c]);
        let halves = compare(Layout::array_of(Element::F16), &left, &right, &Tolerance::default()).unwrap();
        assert_eq!(halves.first.to_string(), "f16 at byte 2: 1.0 against 1.0009766");
        assert_eq!(halves.first.ulps(), Some(1));
        assert_eq!(compared("u32", &left, &right).unwrap().first.absolute(), Some(65536.0));
    }

    #[test]
    fn integers_differ_by_their_values() {
        let found = compared("i32", &(-1i32).to_le_bytes(), &1i32.to_le_bytes()).unwrap();
        assert_eq!((found.largest.absolute(), found.most_ulps), (Some(2.0), None));
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
        assert_eq!((found.beyond, found.first.to_string()), (1, "at byte 33: byte 0x00 against byte 0x07".to_owned()));
        let short = compared("u32", &zeros[..4], &zeros[..3]).unwrap();
        assert_eq!((short.beyond, short.first.to_string()), (1, "at byte 3: byte 0x00 against nothing".to_owned()));
    }
}
