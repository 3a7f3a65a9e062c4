//! Turns objects into variables, where every access names its place by a constant.
//!
//! Loops that were unrolled leave such objects: the sums of a tile of a matrix, for one. An object stays in memory if it
//! outlives the invocation's code, is moved as a whole, or has places that overlap.

use std::collections::BTreeMap;

use crate::ir::{Address, Base, Cell, Func, Inst, ObjectId, Op, Operand, Reg, RegInfo, Stmt, Unit, walk_insts};

/// Objects with more cells stay in memory: registers are few.
const MAX_CELLS: usize = 64;

/// What is known of an object's accesses.
enum Use {
    /// The cells that are accessed, by offset.
    Cells(BTreeMap<u32, Cell>),
    /// It has to stay in memory.
    Memory,
}

/// Rewrites the entry point of a unit.
pub(crate) fn promote(unit: &mut Unit) {
    let mut uses: Vec<Use> = unit
        .objects
        .iter()
        .map(|object| {
            let stays = object.shared || object.table.is_some();
            if stays { Use::Memory } else { Use::Cells(BTreeMap::new()) }
        })
        .collect();
    for function in &unit.functions {
        walk_insts(&function.body, &mut |inst| inst.objects(|object| stay(&mut uses, object)));
    }
    walk_insts(&unit.entry.body, &mut |inst| survey(inst, &mut uses));
    let cells = uses.into_iter().map(|cells| match cells {
        Use::Cells(cells) if cells.len() <= MAX_CELLS && !overlap(&cells) => Some(variables(&mut unit.entry, &cells)),
        Use::Cells(_) | Use::Memory => None,
    });
    let cells: Vec<_> = cells.collect();
    let mut body = std::mem::take(&mut unit.entry.body);
    rewrite(&mut body, &cells);
    unit.entry.body = body;
}

/// The variable of each cell, by offset.
type Cells = BTreeMap<u32, (Reg, Cell)>;

fn variables(func: &mut Func, cells: &BTreeMap<u32, Cell>) -> Cells {
    let mut variable = |cell: Cell| {
        func.regs.push(RegInfo { ty: cell.ty(), mutable: true });
        Reg(u32::try_from(func.regs.len() - 1).unwrap_or(u32::MAX))
    };
    cells.iter().map(|(&offset, &cell)| (offset, (variable(cell), cell))).collect()
}

fn stay(uses: &mut [Use], ObjectId(object): ObjectId) {
    if let Some(slot) = uses.get_mut(object as usize) {
        *slot = Use::Memory;
    }
}

fn survey(inst: &Inst, uses: &mut [Use]) {
    match inst {
        Inst::Load { cell, address, .. } | Inst::Store { cell, address, .. } => {
            let Base::Object(object) = address.base else { return };
            let Some(slot) = uses.get_mut(object.0 as usize) else { return };
            let Use::Cells(cells) = slot else { return };
            let same = *cells.entry(address.offset).or_insert(*cell) == *cell;
            if !same || !address.terms.is_empty() || cells.len() > MAX_CELLS {
                *slot = Use::Memory;
            }
        }
        Inst::Fill { address, .. } if address.terms.is_empty() => {}
        _ => inst.objects(|object| stay(uses, object)),
    }
}

fn overlap(cells: &BTreeMap<u32, Cell>) -> bool {
    let mut end = 0u64;
    cells.iter().any(|(&offset, cell)| {
        let overlaps = u64::from(offset) < end;
        end = u64::from(offset) + u64::from(cell.bytes());
        overlaps
    })
}

fn rewrite(body: &mut Vec<Stmt>, objects: &[Option<Cells>]) {
    let of = |address: &Address| match address.base {
        Base::Object(ObjectId(object)) => objects.get(object as usize).and_then(Option::as_ref),
        Base::Binding(_) | Base::Workgroup => None,
    };
    let mut out = Vec::with_capacity(body.len());
    for mut stmt in std::mem::take(body) {
        match &mut stmt {
            Stmt::If { accept, reject, .. } => {
                rewrite(accept, objects);
                rewrite(reject, objects);
            }
            Stmt::Block { body, .. } | Stmt::Loop { body, .. } => rewrite(body, objects),
            Stmt::Inst(Inst::Load { dst, address, .. }) => {
                if let Some(&(variable, _)) = of(address).and_then(|cells| cells.get(&address.offset)) {
                    stmt = copy(*dst, Operand::Reg(variable));
                }
            }
            Stmt::Inst(Inst::Store { address, value, .. }) => {
                if let Some(&(variable, _)) = of(address).and_then(|cells| cells.get(&address.offset)) {
                    stmt = copy(variable, *value);
                }
            }
            Stmt::Inst(Inst::Fill { address, length }) => {
                if let Some(cells) = of(address) {
                    let filled = cells.range(address.offset..address.offset.saturating_add(*length));
                    out.extend(filled.map(|(_, &(variable, cell))| copy(variable, zero(cell))));
                    continue;
                }
            }
            _ => {}
        }
        out.push(stmt);
    }
    *body = out;
}

fn copy(dst: Reg, value: Operand) -> Stmt {
    Stmt::Inst(Inst::Op { dst, op: Op::Copy, args: vec![value] })
}

fn zero(cell: Cell) -> Operand {
    match cell {
        Cell::I32 | Cell::Half => Operand::I32(0),
        Cell::F32 => Operand::F32(0),
        Cell::Byte => Operand::Bool(false),
    }
}

#[cfg(test)]
mod tests;
