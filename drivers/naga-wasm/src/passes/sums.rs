//! Which computed indices are the same, but for a constant.

use std::collections::HashMap;

use crate::ir::{Builtin, Op, Operand, Reg};

/// A computed index as a sum of something and a constant.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Sum {
    pub(super) something: u32,
    pub(super) constant: u32,
}

/// Which registers hold the same, but for a constant. Each is one of a list of things; what is computed alike is the same.
#[derive(Default)]
pub(super) struct Sums {
    of: HashMap<Reg, Sum>,
    things: HashMap<(Op, Vec<Sum>), u32>,
    leaves: HashMap<Leaf, u32>,
    count: u32,
}

/// What is not computed from anything, as far as this pass sees.
#[derive(Eq, Hash, PartialEq)]
enum Leaf {
    Reg(Reg),
    Builtin(Builtin),
    /// A number, which is a sum of nothing.
    Nothing,
}

impl Sums {
    /// What an operand is; none of what is no number.
    pub(super) fn of(&mut self, operand: Operand) -> Option<Sum> {
        let leaf = match operand {
            Operand::Reg(reg) => match self.of.get(&reg) {
                Some(&sum) => return Some(sum),
                None => Leaf::Reg(reg),
            },
            Operand::Builtin(builtin) => Leaf::Builtin(builtin),
            Operand::I32(constant) => return Some(Sum { something: self.leaf(Leaf::Nothing), constant }),
            Operand::Bool(_) | Operand::F32(_) => return None,
        };
        Some(Sum { something: self.leaf(leaf), constant: 0 })
    }

    fn leaf(&mut self, leaf: Leaf) -> u32 {
        let next = self.count;
        let thing = *self.leaves.entry(leaf).or_insert(next);
        self.count += u32::from(thing == next);
        thing
    }

    /// Takes note of an operation on registers that do not change.
    pub(super) fn note(&mut self, dst: Reg, op: Op, args: &[Operand]) {
        let sums: Option<Vec<Sum>> = args.iter().map(|&arg| self.of(arg)).collect();
        let Some(sums) = sums else { return };
        let sum = match (op, args, &sums[..]) {
            (Op::Add, &[_, Operand::I32(by)], &[sum, _]) | (Op::Add, &[Operand::I32(by), _], &[_, sum]) => {
                Sum { constant: sum.constant.wrapping_add(by), ..sum }
            }
            (Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::ShrU | Op::And | Op::DivU | Op::RemU, ..) => {
                let next = self.count;
                let something = *self.things.entry((op, sums)).or_insert(next);
                self.count += u32::from(something == next);
                Sum { something, constant: 0 }
            }
            _ => return,
        };
        self.of.insert(dst, sum);
    }
}
