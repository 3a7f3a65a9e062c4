//! How values differ between the invocations of a workgroup: what is known of one, and what follows for the result of an
//! operation. [`super::uniformity`] finds it for all registers of a function.

use crate::ir::{Builtin, LANES, Op, Operand, Reg, SubgroupOp, Term};

/// Low bits that are known to be 0 are counted up to here: enough for divisions by the sizes of tiles.
const MAX_ZEROS: u32 = 16;

/// How a value differs between invocations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Variance {
    /// It is the same in the whole workgroup.
    pub(crate) workgroup: bool,
    /// What it grows by from lane to lane of a gang; none if that is not known. 0: it is the same in all lanes.
    pub(crate) stride: Option<u32>,
    /// How many low bits are known to be 0, in lane 0.
    pub(super) zeros: u32,
}

impl Variance {
    /// The same in the whole workgroup.
    pub(crate) const WORKGROUP: Self = Self { workgroup: true, stride: Some(0), zeros: 0 };
    /// The same in a gang.
    pub(crate) const GANG: Self = Self { workgroup: false, stride: Some(0), zeros: 0 };
    pub(crate) const VARYING: Self = Self { workgroup: false, stride: None, zeros: 0 };

    pub(super) fn affine(stride: u32, zeros: u32) -> Self {
        Self { workgroup: false, stride: Some(stride), zeros: zeros.min(MAX_ZEROS) }
    }

    pub(super) fn constant(value: u32) -> Self {
        Self { zeros: value.trailing_zeros().min(MAX_ZEROS), ..Self::WORKGROUP }
    }

    /// The same in all lanes of a gang.
    pub(crate) fn is_gang(self) -> bool {
        self.stride == Some(0)
    }

    pub(super) fn join(self, other: Self) -> Self {
        Self {
            workgroup: self.workgroup && other.workgroup,
            stride: if self.stride == other.stride { self.stride } else { None },
            zeros: self.zeros.min(other.zeros),
        }
    }
}

/// How an operand differs, given how registers do.
pub(crate) fn of_operand(regs: &[Variance], workgroup_size: [u32; 3], operand: Operand) -> Variance {
    match operand {
        Operand::Reg(Reg(reg)) => regs.get(reg as usize).copied().unwrap_or(Variance::WORKGROUP),
        Operand::I32(value) => Variance::constant(value),
        Operand::Bool(_) | Operand::F32(_) => Variance::WORKGROUP,
        Operand::Builtin(builtin) => builtin_variance(builtin, workgroup_size),
    }
}

/// Lanes that are further apart, in numbers or in bytes, are treated as if they lay anywhere: sums stay far from the end of their type.
pub(crate) const MAX_STRIDE: u32 = 1 << 20;

/// Whether a term of an address is the same in all lanes.
pub(crate) fn is_same(regs: &[Variance], workgroup_size: [u32; 3], term: &Term) -> bool {
    let same = |operand| of_operand(regs, workgroup_size, operand).is_gang();
    same(term.index) && term.last.is_none_or(same)
}

/// The axis along which the lanes of a gang lie, if they lie along one.
pub(crate) fn lane_axis([x, y, z]: [u32; 3]) -> Option<u8> {
    let along = |size: u32, above: u32| size.is_multiple_of(LANES) || above == 1;
    match (x, y) {
        (1, 1) => Some(2),
        (1, _) => along(y, z).then_some(1),
        _ => along(x, y.saturating_mul(z)).then_some(0),
    }
}

pub(super) fn builtin_variance(builtin: Builtin, size: [u32; 3]) -> Variance {
    let zeros = LANES.trailing_zeros();
    let one = size == [1, 1, 1];
    match builtin {
        Builtin::Local(axis) | Builtin::Global(axis) => {
            let extent = size.get(usize::from(axis)).copied().unwrap_or(1);
            let global = matches!(builtin, Builtin::Global(_));
            match lane_axis(size) {
                _ if extent == 1 => Variance::WORKGROUP,
                // The first lane of a row is at a multiple of the lanes, and so is the workgroup if its size is one.
                Some(lanes) if lanes == axis => {
                    Variance::affine(1, if global && !extent.is_multiple_of(LANES) { 0 } else { zeros })
                }
                Some(_) => Variance::GANG,
                None => Variance::VARYING,
            }
        }
        Builtin::LocalIndex if one => Variance::WORKGROUP,
        Builtin::LocalIndex => Variance::affine(1, zeros),
        Builtin::Group(_) | Builtin::Groups(_) | Builtin::Last(_) | Builtin::Constant(_) => Variance::WORKGROUP,
        Builtin::Active => Variance::VARYING,
    }
}

/// The variance of an operation's result.
pub(crate) fn result(op: Op, args: &[Operand], known: &[Variance]) -> Variance {
    let all = known.iter().copied().reduce(Variance::join).unwrap_or(Variance::WORKGROUP);
    if matches!(op, Op::Any | Op::All | Op::AllLtU | Op::AllLtS) {
        return Variance { workgroup: all.workgroup, ..Variance::GANG };
    }
    if matches!(op, Op::FMulAdd | Op::FMulSubFrom) {
        return Variance::VARYING;
    }
    let base = Variance { workgroup: all.workgroup, stride: all.stride.filter(|&stride| stride == 0), zeros: 0 };
    match (op, known, args) {
        (Op::Copy, &[value], _) => value,
        (Op::Select, &[accept, reject, condition], _) if condition.is_gang() => {
            let either = accept.join(reject);
            Variance { workgroup: either.workgroup && condition.workgroup, ..either }
        }
        (Op::Add, &[a, b], _) => sum(a, b, u32::wrapping_add),
        (Op::Sub, &[a, b], _) => sum(a, b, u32::wrapping_sub),
        (Op::Mul, &[a, b], &[_, Operand::I32(factor)]) => scaled(a, b, factor),
        (Op::Mul, &[a, b], &[Operand::I32(factor), _]) => scaled(b, a, factor),
        (Op::Mul, &[a, b], _) => Variance { zeros: (a.zeros + b.zeros).min(MAX_ZEROS), ..base },
        (Op::Shl, &[a, _], &[_, Operand::I32(count)]) => {
            let count = count % 32;
            Variance { zeros: (a.zeros + count).min(MAX_ZEROS), ..scaled(a, Variance::WORKGROUP, 1 << count) }
        }
        (Op::DivU, &[a, _], &[_, Operand::I32(divisor)]) if stays_in_block(a, divisor) => block(a),
        (Op::ShrU, &[a, _], &[_, Operand::I32(count)]) if stays_in_block(a, 1 << (count % 32)) => {
            Variance { zeros: a.zeros.saturating_sub(count % 32), ..block(a) }
        }
        (Op::RemU, &[a, _], &[_, Operand::I32(divisor)]) if stays_in_block(a, divisor) => rest(a, divisor),
        (Op::And, &[a, _], &[_, Operand::I32(bits)] | &[Operand::I32(bits), _])
            if bits != u32::MAX && (bits + 1).is_power_of_two() && stays_in_block(a, bits + 1) =>
        {
            rest(a, bits + 1)
        }
        _ => base,
    }
}

/// The variance of what a subgroup operation gives.
pub(super) fn subgroup(op: SubgroupOp, args: &[Variance]) -> Variance {
    match (op, args) {
        (SubgroupOp::Ballot, _) => Variance::GANG,
        (SubgroupOp::Shuffle(_) | SubgroupOp::Pick, &[value, ..]) if value.is_gang() => value,
        (SubgroupOp::Shuffle([first, rest @ ..]), _) if rest == [first; 3] => Variance::GANG,
        (SubgroupOp::Pick, &[_, lane]) if lane.is_gang() => Variance::GANG,
        _ => Variance::VARYING,
    }
}

fn sum(a: Variance, b: Variance, op: impl Fn(u32, u32) -> u32) -> Variance {
    let stride = a.stride.zip(b.stride).map(|(a, b)| op(a, b));
    Variance { workgroup: a.workgroup && b.workgroup, stride, zeros: a.zeros.min(b.zeros) }
}

fn scaled(value: Variance, other: Variance, factor: u32) -> Variance {
    Variance {
        workgroup: value.workgroup && other.workgroup,
        stride: value.stride.map(|stride| stride.wrapping_mul(factor)),
        zeros: (value.zeros + factor.trailing_zeros()).min(MAX_ZEROS),
    }
}

/// Whether all lanes of a value have the same quotient by `divisor`: they count up from a multiple of their number, and
/// the divisor is a multiple of it too.
fn stays_in_block(value: Variance, divisor: u32) -> bool {
    value.stride == Some(1) && value.zeros >= LANES.trailing_zeros() && divisor != 0 && divisor.is_multiple_of(LANES)
}

fn block(value: Variance) -> Variance {
    Variance { workgroup: value.workgroup, ..Variance::GANG }
}

fn rest(value: Variance, divisor: u32) -> Variance {
    Variance { zeros: value.zeros.min(divisor.trailing_zeros()), ..value }
}

#[cfg(test)]
mod tests;
