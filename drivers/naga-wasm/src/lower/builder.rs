//! Appends scalar code, folding what is constant.

use naga::Span;

use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{Address, Builtin, Cell, Inst, Label, Op, Operand, Reg, RegInfo, Stmt, Ty};
use crate::passes::inline::{MAX_NESTING, too_deep};

/// Instructions of one function before dead ones are removed. What remains has to fit the module's size limit; this
/// bounds the compiler's own memory.
const MAX_INSTS: usize = 250_000;

/// Scalar code under construction.
pub(crate) struct Builder {
    pub(crate) regs: Vec<RegInfo>,
    open: Vec<Vec<Stmt>>,
    labels: u32,
    insts: usize,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { regs: Vec::new(), open: vec![Vec::new()], labels: 0, insts: 0 }
    }

    /// The statements of the outermost list.
    pub(crate) fn finish(mut self) -> (Vec<RegInfo>, Vec<Stmt>) {
        let body = self.open.pop().unwrap_or_default();
        (self.regs, body)
    }

    fn new_reg(&mut self, ty: Ty, mutable: bool) -> Reg {
        let reg = Reg(u32::try_from(self.regs.len()).unwrap_or(u32::MAX));
        self.regs.push(RegInfo { ty, mutable });
        reg
    }

    /// A register that will have one definition.
    pub(crate) fn temp(&mut self, ty: Ty) -> Reg {
        self.new_reg(ty, false)
    }

    /// A register that may be written again.
    pub(crate) fn variable(&mut self, ty: Ty) -> Reg {
        self.new_reg(ty, true)
    }

    pub(crate) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    pub(crate) fn ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.regs.get(reg.0 as usize).map_or(Ty::I32, |info| info.ty),
            Operand::F32(_) => Ty::F32,
            Operand::Bool(_) | Operand::Builtin(Builtin::Active) => Ty::Bool,
            Operand::I32(_) | Operand::Builtin(_) => Ty::I32,
        }
    }

    pub(crate) fn push(&mut self, stmt: Stmt) {
        self.insts += 1;
        if let Some(list) = self.open.last_mut() {
            list.push(stmt);
        }
    }

    pub(crate) fn inst(&mut self, inst: Inst) {
        self.push(Stmt::Inst(inst));
    }

    /// Fails once the function has grown too large.
    pub(crate) fn check_size(&self, span: Span) -> Result<(), Diagnostic> {
        if self.insts <= MAX_INSTS {
            return Ok(());
        }
        let message = format!("the function is larger than {MAX_INSTS} scalar instructions");
        Err(Diagnostic::new(Kind::Limit, message, Some(span)))
    }

    /// Opens a list of statements; [`Self::close`] takes it off.
    pub(crate) fn open(&mut self, span: Span) -> Result<(), Diagnostic> {
        // Every level of naga's nesting opens at most three lists.
        if self.open.len() > 3 * MAX_NESTING as usize {
            return Err(too_deep(span));
        }
        self.open.push(Vec::new());
        Ok(())
    }

    pub(crate) fn close(&mut self) -> Vec<Stmt> {
        self.open.pop().unwrap_or_default()
    }

    /// The result of a pure operation.
    pub(crate) fn op(&mut self, op: Op, args: &[Operand]) -> Operand {
        if let Some(folded) = fold(op, args) {
            return folded;
        }
        let ty = match op {
            Op::Copy | Op::Select | Op::And | Op::Or | Op::Xor => args.first().map_or(Ty::I32, |&arg| self.ty(arg)),
            _ => result_ty(op),
        };
        let dst = self.temp(ty);
        self.inst(Inst::Op { dst, op, args: args.to_vec() });
        Operand::Reg(dst)
    }

    pub(crate) fn select(&mut self, condition: Operand, accept: Operand, reject: Operand) -> Operand {
        self.op(Op::Select, &[accept, reject, condition])
    }

    /// Sets a variable.
    pub(crate) fn copy(&mut self, dst: Reg, value: Operand) {
        self.inst(Inst::Op { dst, op: Op::Copy, args: vec![value] });
    }

    /// The present value of a variable.
    pub(crate) fn read(&mut self, variable: Reg) -> Operand {
        let dst = self.temp(self.ty(Operand::Reg(variable)));
        self.inst(Inst::Op { dst, op: Op::Copy, args: vec![Operand::Reg(variable)] });
        Operand::Reg(dst)
    }

    pub(crate) fn load(&mut self, cell: Cell, address: Address) -> Operand {
        let dst = self.temp(cell.ty());
        self.inst(Inst::Load { dst, cell, address });
        Operand::Reg(dst)
    }
}

/// The type of an operation's result, where it does not depend on its operands.
pub(crate) fn result_ty(op: Op) -> Ty {
    match op {
        Op::FAdd
        | Op::FSub
        | Op::FMul
        | Op::FDiv
        | Op::FMulAdd
        | Op::FMulSubFrom
        | Op::FNeg
        | Op::FAbs
        | Op::FSqrt
        | Op::FCeil
        | Op::FFloor
        | Op::FTrunc
        | Op::FNearest
        | Op::FMin
        | Op::FMax
        | Op::ConvertS
        | Op::ConvertU
        | Op::ToFloat => Ty::F32,
        Op::Eq
        | Op::Ne
        | Op::LtS
        | Op::LtU
        | Op::LeS
        | Op::LeU
        | Op::GtS
        | Op::GtU
        | Op::GeS
        | Op::GeU
        | Op::FEq
        | Op::FNe
        | Op::FLt
        | Op::FLe
        | Op::FGt
        | Op::FGe
        | Op::Not
        | Op::Any
        | Op::All
        | Op::AllLtU
        | Op::AllLtS => Ty::Bool,
        Op::Helper(helper) => helper.result(),
        _ => Ty::I32,
    }
}

/// Constant folding of integer code (addresses, mostly). Floats were folded by the front end.
pub(crate) fn fold(op: Op, args: &[Operand]) -> Option<Operand> {
    if op == Op::Select
        && let &[accept, reject, Operand::Bool(condition)] = args
    {
        return Some(if condition { accept } else { reject });
    }
    match *args {
        [Operand::I32(a), Operand::I32(b)] => fold_binary(op, a, b),
        [Operand::Bool(a), other] | [other, Operand::Bool(a)] if op == Op::And => {
            Some(if a { other } else { Operand::Bool(false) })
        }
        [Operand::Bool(a), other] | [other, Operand::Bool(a)] if op == Op::Or => {
            Some(if a { Operand::Bool(true) } else { other })
        }
        [a, Operand::I32(0)] if matches!(op, Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::ShrU | Op::ShrS) => {
            Some(a)
        }
        [Operand::I32(0), b] if matches!(op, Op::Add | Op::Or | Op::Xor) => Some(b),
        [_, Operand::I32(0)] | [Operand::I32(0), _] if matches!(op, Op::Mul | Op::And) => Some(Operand::I32(0)),
        [a, Operand::I32(1)] if matches!(op, Op::Mul | Op::DivU | Op::DivS) => Some(a),
        [Operand::I32(1), b] if op == Op::Mul => Some(b),
        [Operand::Bool(a)] if op == Op::Not => Some(Operand::Bool(!a)),
        [Operand::Bool(a)] if op == Op::ToNumber => Some(Operand::I32(u32::from(a))),
        [Operand::I32(a)] if op == Op::ToFloat => Some(Operand::F32(a)),
        [Operand::F32(a)] if op == Op::ToInt => Some(Operand::I32(a)),
        [a] if op == Op::Copy && !matches!(a, Operand::Reg(_)) => Some(a),
        _ => None,
    }
}

fn fold_binary(op: Op, a: u32, b: u32) -> Option<Operand> {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    let truth = match op {
        Op::Eq => Some(a == b),
        Op::Ne => Some(a != b),
        Op::LtU => Some(a < b),
        Op::LeU => Some(a <= b),
        Op::GtU => Some(a > b),
        Op::GeU => Some(a >= b),
        Op::LtS => Some(sa < sb),
        Op::LeS => Some(sa <= sb),
        Op::GtS => Some(sa > sb),
        Op::GeS => Some(sa >= sb),
        _ => None,
    };
    if let Some(truth) = truth {
        return Some(Operand::Bool(truth));
    }
    Some(Operand::I32(match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::DivU => a.checked_div(b)?,
        Op::RemU => a.checked_rem(b)?,
        Op::DivS => sa.checked_div(sb)?.cast_unsigned(),
        Op::RemS => sa.checked_rem(sb)?.cast_unsigned(),
        Op::MinU => a.min(b),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl => a.wrapping_shl(b),
        Op::ShrU => a.wrapping_shr(b),
        Op::ShrS => sa.wrapping_shr(b).cast_unsigned(),
        _ => return None,
    }))
}
