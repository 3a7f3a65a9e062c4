//! Where lanes of a gang have parted, as [`super::uniformity`] and [`super::masks`] walk through a function alike.

use super::liveness::Liveness;
use crate::ir::{Label, Reg};

/// A part of an `if`, or a jump, that lanes of a gang went to while others did not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Parting {
    /// The others do the second part of the `if` later.
    Accept(Label),
    /// The others wait at the end of the `if`.
    Reject(Label),
    /// The others wait at a label.
    Jump(Label),
}

/// Where lanes of a gang have parted, at some place of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partings {
    list: Vec<Parting>,
}

impl Partings {
    pub(crate) fn depth(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn push(&mut self, parting: Parting) {
        if !self.list.contains(&parting) {
            self.list.push(parting);
        }
    }

    /// Adds those of another way to the present place.
    pub(crate) fn merge(&mut self, other: Self) {
        // They begin alike: both ways start at one place, and what was open there stays open.
        let same = self.list.iter().zip(&other.list).take_while(|(a, b)| a == b).count();
        other.list.into_iter().skip(same).for_each(|parting| self.push(parting));
    }

    /// The parts of an `if` end.
    pub(crate) fn end_arm(&mut self, label: Label) {
        self.list.retain(|parting| !matches!(parting, Parting::Accept(l) | Parting::Reject(l) if *l == label));
    }

    /// The lanes at a label go on.
    pub(crate) fn end_block(&mut self, label: Label) {
        self.list.retain(|parting| *parting != Parting::Jump(label));
    }

    /// Whether a variable that is set here must keep its value in the lanes that are not here.
    pub(crate) fn need(&self, liveness: &Liveness, reg: Reg) -> bool {
        self.list.iter().any(|parting| match *parting {
            Parting::Accept(label) => liveness.is_live_in_reject(label, reg) || liveness.is_live_after(label, reg),
            Parting::Reject(label) | Parting::Jump(label) => liveness.is_live_after(label, reg),
        })
    }
}

#[cfg(test)]
mod tests;
