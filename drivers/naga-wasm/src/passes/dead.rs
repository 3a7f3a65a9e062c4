//! Removes computations whose result nobody reads, such as the other components of a vector that was loaded.

use crate::ir::{Func, Inst, Operand, Reg, Stmt, walk_insts};

/// Removes dead code from a function.
pub(crate) fn remove(func: &mut Func) {
    let mut used = vec![false; func.regs.len()];
    // A variable is alive if it is read anywhere: what reads it may come before, in a loop. A register with one
    // definition is read only after it, so that one walk backwards finds all dead ones.
    walk_insts(&func.body, &mut |inst| {
        inst.uses(|reg| {
            if func.regs.get(reg.0 as usize).is_some_and(|info| info.mutable) {
                mark(&mut used, reg);
            }
        });
    });
    let mut body = std::mem::take(&mut func.body);
    sweep(&mut body, &mut used);
    func.body = body;
}

fn mark(used: &mut [bool], reg: Reg) {
    if let Some(slot) = used.get_mut(reg.0 as usize) {
        *slot = true;
    }
}

fn mark_operand(used: &mut [bool], operand: Operand) {
    if let Operand::Reg(reg) = operand {
        mark(used, reg);
    }
}

fn sweep(body: &mut Vec<Stmt>, used: &mut [bool]) {
    let mut kept = Vec::with_capacity(body.len());
    for mut stmt in std::mem::take(body).into_iter().rev() {
        let keep = match &mut stmt {
            Stmt::Inst(inst) => keep_inst(inst, used),
            Stmt::Masked { mask, inst } => {
                let keep = keep_inst(inst, used);
                if keep {
                    mark_operand(used, *mask);
                }
                keep
            }
            Stmt::If { condition, accept, reject, .. } => {
                sweep(accept, used);
                sweep(reject, used);
                mark_operand(used, *condition);
                !(accept.is_empty() && reject.is_empty())
            }
            Stmt::Block { body, .. } => {
                sweep(body, used);
                !body.is_empty()
            }
            Stmt::Loop { body, .. } => {
                sweep(body, used);
                true
            }
            Stmt::Return { values } => {
                values.iter().for_each(|&value| mark_operand(used, value));
                true
            }
            Stmt::Jump { .. } | Stmt::Barrier { .. } => true,
        };
        if keep {
            kept.push(stmt);
        }
    }
    kept.reverse();
    *body = kept;
}

fn keep_inst(inst: &Inst, used: &mut [bool]) -> bool {
    let mut needed = !inst.is_pure();
    inst.defs(|reg| needed |= used.get(reg.0 as usize).copied().unwrap_or(true));
    if needed {
        inst.uses(|reg| mark(used, reg));
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Op, RegInfo, Ty};

    fn op(dst: u32, args: &[Operand]) -> Stmt {
        Stmt::Inst(Inst::Op { dst: Reg(dst), op: Op::Add, args: args.to_vec() })
    }

    #[test]
    fn a_chain_that_ends_in_nothing_goes_and_one_that_is_returned_stays() {
        let one = Operand::I32(1);
        let body = vec![
            op(0, &[one, one]),
            op(1, &[Operand::Reg(Reg(0)), one]),
            op(2, &[one, one]),
            Stmt::Return { values: vec![Operand::Reg(Reg(2))] },
        ];
        let regs = vec![RegInfo { ty: Ty::I32, mutable: false }; 3];
        let span = naga::Span::UNDEFINED;
        let mut func = Func { params: Vec::new(), results: vec![Ty::I32], regs, body, span };
        remove(&mut func);
        assert_eq!(func.body.len(), 2);
    }
}
