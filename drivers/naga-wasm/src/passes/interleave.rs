//! Finds loads of cells that lie one after the other, while the lanes lie further apart: the components of a `vec4`, or an
//! unrolled `a[4 * i]`, `a[4 * i + 1]`, .... Four of them become one instruction, which loads a vector for each lane and
//! transposes, instead of sixteen loads of a word. If the lanes lie at one place, it loads one vector, and each lane's is made of a
//! word of it.
//!
//! The instruction stands where the first of the four stood, so nothing between them may write what they read.

use std::collections::HashSet;

use super::regions::{self, Node};
use super::sums::{Sum, Sums};
use super::variance::{self, MAX_STRIDE, Variance};
use crate::ir::{Address, Base, Cell, Inst, LANES, Operand, Reg, RegInfo, Stmt, Term, Unit, walk_insts};

/// Most rows that wait for their other loads; more than a kernel's code has between the first and the last load of one.
const MAX_OPEN: usize = 32;

/// Makes rows of the loads in the regions of `nodes`.
pub(crate) fn interleave(unit: &Unit, nodes: &mut [Node], variances: &mut [Variance]) {
    if unit.is_single() {
        return;
    }
    let spread = spread(nodes, variances);
    let mut now_vectors = Vec::new();
    regions::each_region_mut(nodes, &mut |region| {
        let (sums, size) = (Sums::default(), unit.workgroup_size);
        let mut pass = Pass { regs: &unit.entry.regs, variances, size, sums, spread: &spread, now_vectors: Vec::new() };
        pass.list(&mut region.body);
        now_vectors.append(&mut pass.now_vectors);
    });
    for Reg(reg) in now_vectors {
        if let Some(variance) = variances.get_mut(reg as usize) {
            *variance = Variance::VARYING;
        }
    }
}

/// What is loaded from one place for all lanes, and only used in operations on vectors.
fn spread(nodes: &[Node], variances: &[Variance]) -> HashSet<Reg> {
    let is_vector = |reg: Reg| variances.get(reg.0 as usize).is_some_and(|variance| variance.stride.is_none());
    let (mut loaded, mut else_used) = (HashSet::new(), HashSet::new());
    regions::each_region(nodes, &mut |region| {
        walk_insts(&region.body, &mut |inst| match inst {
            Inst::Load { dst, cell: Cell::F32, .. } if !is_vector(*dst) => {
                loaded.insert(*dst);
            }
            Inst::Op { dst, .. } if is_vector(*dst) => {}
            inst => inst.uses(|reg| {
                else_used.insert(reg);
            }),
        });
    });
    &loaded - &else_used
}

/// Loads that begin a row.
struct Row {
    cell: Cell,
    address: Address,
    /// The sum that is the index of a term, and which term. Without, the cells differ by their offset.
    index: Option<(usize, Sum)>,
    /// All lanes load the same.
    one_place: bool,
    /// Place in the list and destination of each load.
    loads: [Option<(usize, Reg)>; 4],
}

struct Pass<'a> {
    regs: &'a [RegInfo],
    variances: &'a [Variance],
    size: [u32; 3],
    sums: Sums,
    spread: &'a HashSet<Reg>,
    now_vectors: Vec<Reg>,
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
        for row in whole.iter().filter(|row| row.one_place) {
            self.now_vectors.extend(row.loads.iter().flatten().map(|(_, dst)| *dst));
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
        let Some(apart) = self.apart(&address.terms) else { return };
        let one_place = matches!(apart, Apart::OnePlace);
        let suits = if one_place { self.spread.contains(&dst) } else { vector };
        if !suits || !fixed || !self.stays(dst) || !matches!(cell, Cell::I32 | Cell::F32) {
            return;
        }
        let index = match apart {
            Apart::Cells | Apart::OnePlace => None,
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
        open.push(Row { cell, address: address.clone(), index, one_place, loads });
    }

    /// How the cells of a row would differ, if the lanes are as far apart as a row is long.
    fn apart(&self, terms: &[Term]) -> Option<Apart> {
        let same = |term: &Term| variance::is_same(self.variances, self.size, term);
        let mut differing = terms.iter().enumerate().filter(|(_, term)| !same(term));
        let Some((place, term)) = differing.next() else { return Some(Apart::OnePlace) };
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
    /// By their offset, and all lanes are at one place.
    OnePlace,
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
            (Some((term, first)), Some((other, sum))) if term == other && first.something == sum.something => {
                let mut limited = false;
                let alike =
                    (0..).zip(self.address.terms.iter().zip(&address.terms)).all(|(place, (a, b)): (usize, _)| {
                        limited |= place == term && a.last.is_some();
                        a.last == b.last && a.stride == b.stride && (place == term || a.index == b.index)
                    });
                let bytes = address.offset.wrapping_sub(self.address.offset);
                // Cells behind the limit of an index are not those of greater indices.
                if !alike || !bytes.is_multiple_of(4) || limited && bytes != 0 {
                    return None;
                }
                sum.constant.wrapping_sub(first.constant).wrapping_add(bytes / 4)
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
