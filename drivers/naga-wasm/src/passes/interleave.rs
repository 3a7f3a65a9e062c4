//! Finds loads of cells that lie one after the other, while the lanes lie further apart: the components of a `vec4`, or an
//! unrolled `a[4 * i]`, `a[4 * i + 1]`, .... Four of them become one instruction, which loads a vector for each lane and
//! transposes, instead of sixteen loads of a word.
//!
//! The instruction stands where the first of the four stood, so nothing between them may write what they read.

use super::regions::{self, Node};
use super::sums::{Sum, Sums};
use super::variance::{self, MAX_STRIDE, Variance};
use crate::ir::{Address, Base, Cell, Inst, LANES, Operand, Reg, RegInfo, Stmt, Term, Unit};

/// Most rows that wait for their other loads; more than a kernel's code has between the first and the last load of one.
const MAX_OPEN: usize = 32;

/// Makes rows of the loads in the regions of `nodes`.
pub(crate) fn interleave(unit: &Unit, nodes: &mut [Node], variances: &[Variance]) {
    if unit.is_single() {
        return;
    }
    regions::each_region_mut(nodes, &mut |region| {
        let mut pass = Pass { regs: &unit.entry.regs, variances, size: unit.workgroup_size, sums: Sums::default() };
        pass.list(&mut region.body);
    });
}

/// Loads that begin a row.
struct Row {
    cell: Cell,
    address: Address,
    /// The sum that is the index of a term, and which term. Without, the cells differ by their offset.
    index: Option<(usize, Sum)>,
    /// Place in the list and destination of each load.
    loads: [Option<(usize, Reg)>; 4],
}

struct Pass<'a> {
    regs: &'a [RegInfo],
    variances: &'a [Variance],
    size: [u32; 3],
    sums: Sums,
}

impl Pass<'_> {
    fn list(&mut self, list: &mut Vec<Stmt>) {
        let mut open: Vec<Row> = Vec::new();
        let mut whole: Vec<Row> = Vec::new();
        for (place, stmt) in list.iter_mut().enumerate() {
            match stmt {
                Stmt::Inst(Inst::Op { dst, op, args }) => {
                    if self.stays(*dst) && args.iter().all(|arg| self.is_fixed(*arg)) {
                        self.sums.note(*dst, *op, args);
                    }
                }
                Stmt::Inst(Inst::Load { dst, cell, address }) => {
                    self.load(place, *dst, *cell, address, &mut open, &mut whole)
                }
                Stmt::Inst(inst) | Stmt::Masked { inst, .. } => forget(inst, &mut open),
                Stmt::If { accept, reject, .. } => {
                    open.clear();
                    self.list(accept);
                    self.list(reject);
                }
                Stmt::Block { body, .. } | Stmt::Loop { body, .. } => {
                    open.clear();
                    self.list(body);
                }
                Stmt::Jump { .. } | Stmt::Return { .. } | Stmt::Barrier { .. } => open.clear(),
            }
        }
        replace(list, whole);
    }

    fn stays(&self, Reg(reg): Reg) -> bool {
        self.regs.get(reg as usize).is_some_and(|info| !info.mutable)
    }

    fn is_fixed(&self, operand: Operand) -> bool {
        if let Operand::Reg(reg) = operand { self.stays(reg) } else { true }
    }

    fn variance(&self, operand: Operand) -> Variance {
        variance::of_operand(self.variances, self.size, operand)
    }

    /// Adds a load to the first row that waits for it, or begins one with it.
    fn load(
        &mut self,
        place: usize,
        dst: Reg,
        cell: Cell,
        address: &Address,
        open: &mut Vec<Row>,
        whole: &mut Vec<Row>,
    ) {
        let vector = self.variances.get(dst.0 as usize).is_some_and(|variance| variance.stride.is_none());
        let fixed = address
            .terms
            .iter()
            .all(|term| self.is_fixed(term.index) && term.last.is_none_or(|last| self.is_fixed(last)));
        let apart = self.apart(&address.terms);
        let (Some(apart), true) = (apart, vector && fixed && self.stays(dst) && matches!(cell, Cell::I32 | Cell::F32))
        else {
            return;
        };
        let index = match apart {
            Apart::Cells => None,
            Apart::Index(term) => match address.terms.get(term).and_then(|term| self.sums.of(term.index)) {
                Some(sum) => Some((term, sum)),
                None => return,
            },
        };
        if matches!(address.base, Base::Object(_)) {
            return;
        }
        for at in 0..open.len() {
            let Some(row) = open.get_mut(at) else { break };
            let Some(slot) = row.cell_of(cell, address, index).and_then(|cell| row.loads.get_mut(cell)) else {
                continue;
            };
            if slot.is_some() {
                continue;
            }
            *slot = Some((place, dst));
            if row.loads.iter().all(Option::is_some) {
                whole.push(open.remove(at));
            }
            return;
        }
        if open.len() == MAX_OPEN {
            open.remove(0);
        }
        let loads = [Some((place, dst)), None, None, None];
        open.push(Row { cell, address: address.clone(), index, loads });
    }

    /// How the cells of a row would differ, if the lanes are as far apart as a row is long.
    fn apart(&self, terms: &[Term]) -> Option<Apart> {
        let same = |term: &Term| variance::is_same(self.variances, self.size, term);
        let mut differing = terms.iter().enumerate().filter(|(_, term)| !same(term));
        let (place, term) = differing.next()?;
        let one = differing.next().is_none();
        let row = 4 * LANES;
        if term.stride == 4 {
            let stride = self.variance(term.index).stride?;
            return (one && (LANES..=MAX_STRIDE / 4).contains(&stride)).then_some(Apart::Index(place));
        }
        (term.stride >= row && terms.iter().all(|term| term.stride >= row)).then_some(Apart::Cells)
    }
}

enum Apart {
    /// By their offset.
    Cells,
    /// By the index of a term.
    Index(usize),
}

impl Row {
    /// Which cell of this row a load is of.
    fn cell_of(&self, cell: Cell, address: &Address, index: Option<(usize, Sum)>) -> Option<usize> {
        if cell != self.cell || address.base != self.address.base || address.terms.len() != self.address.terms.len() {
            return None;
        }
        let distance = match (self.index, index) {
            (None, None) if address.terms == self.address.terms => {
                let bytes = address.offset.wrapping_sub(self.address.offset);
                bytes.is_multiple_of(4).then_some(bytes / 4)?
            }
            (Some((term, first)), Some((other, sum)))
                if term == other && first.something == sum.something && address.offset == self.address.offset =>
            {
                let alike =
                    (0..).zip(self.address.terms.iter().zip(&address.terms)).all(|(place, (a, b)): (usize, _)| {
                        a.last == b.last && a.stride == b.stride && (place == term || a.index == b.index)
                    });
                alike.then_some(sum.constant.wrapping_sub(first.constant))?
            }
            _ => return None,
        };
        usize::try_from(distance).ok()
    }
}

/// Forgets the rows that an instruction may write to.
fn forget(inst: &Inst, open: &mut Vec<Row>) {
    let writes = match inst {
        Inst::Store { address, .. } | Inst::Fill { address, .. } | Inst::Atomic { address, .. } => address.base,
        Inst::Move { to, .. } => to.base,
        Inst::Call { .. } => {
            open.clear();
            return;
        }
        Inst::Op { .. }
        | Inst::Load { .. }
        | Inst::UniformLoad { .. }
        | Inst::LoadRow { .. }
        | Inst::Subgroup { .. } => return,
    };
    // Of two bindings nothing is assumed.
    let is_binding = |base: Base| matches!(base, Base::Binding(_));
    open.retain(|row| is_binding(row.address.base) != is_binding(writes));
}

/// Puts rows in the place of their first loads.
fn replace(list: &mut Vec<Stmt>, rows: Vec<Row>) {
    let mut gone = vec![false; list.len()];
    for row in rows {
        let loads = row.loads.map(|load| load.unwrap_or((usize::MAX, Reg(u32::MAX))));
        for (place, _) in loads {
            if let Some(gone) = gone.get_mut(place) {
                *gone = true;
            }
        }
        let [(first, _), ..] = loads;
        let inst = Inst::LoadRow {
            dsts: loads.map(|(_, dst)| dst),
            cell: row.cell,
            address: row.address,
            by_index: row.index.map(|(term, _)| term),
        };
        if let (Some(stmt), Some(gone)) = (list.get_mut(first), gone.get_mut(first)) {
            (*stmt, *gone) = (Stmt::Inst(inst), false);
        }
    }
    let mut gone = gone.into_iter();
    list.retain(|_| !gone.next().unwrap_or(false));
}

#[cfg(test)]
mod tests;
