//! Fuses a multiplication with the addition that uses it, if the caller allows that: the product is then not rounded.
//!
//! Only where lanes differ: wasm can fuse vectors, but not scalars.

use std::collections::HashMap;

use super::variance::Variance;
use crate::ir::{Func, Inst, Op, Operand, Reg, Stmt, walk_insts};

/// Rewrites a function.
pub(crate) fn contract(func: &mut Func, variances: &[Variance]) {
    let mut uses: HashMap<Reg, u32> = HashMap::new();
    let mut products: HashMap<Reg, [Operand; 2]> = HashMap::new();
    let is_variable = |operand: Operand| matches!(operand, Operand::Reg(Reg(reg)) if func.regs.get(reg as usize).is_none_or(|info| info.mutable));
    walk_insts(&func.body, &mut |inst| {
        inst.uses(|reg| *uses.entry(reg).or_default() += 1);
        // What a variable holds may change until the addition.
        if let Inst::Op { dst, op: Op::FMul, args } = inst
            && let &[a, b] = args.as_slice()
            && ![a, b, Operand::Reg(*dst)].into_iter().any(is_variable)
        {
            products.insert(*dst, [a, b]);
        }
    });
    products.retain(|product, _| uses.get(product) == Some(&1));
    rewrite(&mut func.body, &products, variances);
}

fn rewrite(body: &mut [Stmt], products: &HashMap<Reg, [Operand; 2]>, variances: &[Variance]) {
    let product = |operand: Operand| match operand {
        Operand::Reg(reg) => products.get(&reg).copied(),
        _ => None,
    };
    for stmt in body {
        match stmt {
            Stmt::If { accept, reject, .. } => {
                rewrite(accept, products, variances);
                rewrite(reject, products, variances);
            }
            Stmt::Block { body, .. } | Stmt::Loop { body, .. } => rewrite(body, products, variances),
            Stmt::Inst(Inst::Op { dst, op, args }) if super::locals::is_vector(variances, *dst) => {
                let &[a, b] = args.as_slice() else { continue };
                let fused = match (*op, product(a), product(b)) {
                    (Op::FAdd, _, Some([x, y])) => Some((Op::FMulAdd, [x, y, a])),
                    (Op::FAdd, Some([x, y]), None) => Some((Op::FMulAdd, [x, y, b])),
                    (Op::FSub, _, Some([x, y])) => Some((Op::FMulSubFrom, [x, y, a])),
                    _ => None,
                };
                if let Some((fused, operands)) = fused {
                    (*op, *args) = (fused, operands.to_vec());
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{RegInfo, Ty};

    fn op(dst: u32, op: Op, args: &[u32]) -> Stmt {
        let args = args.iter().map(|&arg| Operand::Reg(Reg(arg))).collect();
        Stmt::Inst(Inst::Op { dst: Reg(dst), op, args })
    }

    /// What the operations become, given that register 3 is a variable and all registers differ, or none does.
    fn contracted(body: Vec<Stmt>, variance: Variance) -> Vec<Op> {
        let regs = (0..8).map(|reg| RegInfo { ty: Ty::F32, mutable: reg == 3 }).collect();
        let span = naga::Span::UNDEFINED;
        let mut func = Func { params: Vec::new(), results: Vec::new(), regs, body, span };
        contract(&mut func, &[variance; 8]);
        let mut ops = Vec::new();
        walk_insts(&func.body, &mut |inst| {
            if let Inst::Op { op, .. } = inst {
                ops.push(*op);
            }
        });
        ops
    }

    #[test]
    fn a_product_that_is_added_once_is_fused() {
        let sum = || vec![op(4, Op::FMul, &[0, 1]), op(5, Op::FAdd, &[2, 4])];
        assert_eq!(contracted(sum(), Variance::VARYING)[1], Op::FMulAdd);
        assert_eq!(contracted(sum(), Variance::GANG)[1], Op::FAdd);
        let difference = vec![op(4, Op::FMul, &[0, 1]), op(5, Op::FSub, &[2, 4])];
        assert_eq!(contracted(difference, Variance::VARYING)[1], Op::FMulSubFrom);
        let other = vec![op(4, Op::FMul, &[0, 1]), op(5, Op::FSub, &[4, 2])];
        assert_eq!(contracted(other, Variance::VARYING)[1], Op::FSub);
    }

    #[test]
    fn a_product_that_is_used_twice_or_of_a_variable_is_not() {
        let twice = vec![op(4, Op::FMul, &[0, 1]), op(5, Op::FAdd, &[2, 4]), op(6, Op::FAdd, &[5, 4])];
        assert_eq!(contracted(twice, Variance::VARYING), [Op::FMul, Op::FAdd, Op::FAdd]);
        let variable = vec![op(4, Op::FMul, &[0, 3]), op(5, Op::FAdd, &[2, 4])];
        assert_eq!(contracted(variable, Variance::VARYING), [Op::FMul, Op::FAdd]);
    }
}
