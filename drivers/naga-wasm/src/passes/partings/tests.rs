use super::*;
use crate::ir::{Func, Inst, Op, Operand, RegInfo, Stmt, Ty};
use crate::passes::liveness;
use naga::Span;

const SPAN: Span = Span::UNDEFINED;

fn copy(dst: u32, from: u32) -> Stmt {
    Stmt::Inst(Inst::Op { dst: Reg(dst), op: Op::Copy, args: vec![Operand::Reg(Reg(from))] })
}

fn of(list: &[Parting]) -> Partings {
    let mut partings = Partings::default();
    list.iter().for_each(|&parting| partings.push(parting));
    partings
}

#[test]
fn a_variable_has_to_be_kept_if_lanes_that_wait_read_it() {
    let label = Label(1);
    // The second part reads 1, and what follows reads 2.
    let choice = Stmt::If {
        label,
        condition: Operand::Reg(Reg(0)),
        accept: vec![copy(1, 0), copy(2, 0)],
        reject: vec![copy(3, 1)],
        span: SPAN,
    };
    let regs = vec![RegInfo { ty: Ty::I32, mutable: true }; 5];
    let body = vec![choice, copy(4, 2)];
    let live = liveness::analyse(&Func { params: Vec::new(), results: Vec::new(), regs, body, span: SPAN });
    let needs = |parting| [1, 2, 3].map(|reg| of(&[parting]).need(&live, Reg(reg)));
    assert_eq!(needs(Parting::Accept(label)), [true, true, false]);
    assert_eq!(needs(Parting::Reject(label)), [false, true, false]);
    assert!(!Partings::default().need(&live, Reg(2)));
}

#[test]
fn lanes_are_together_again_where_what_parted_them_ends() {
    let (choice, block) = (Label(1), Label(2));
    let mut partings = of(&[Parting::Accept(choice), Parting::Jump(block), Parting::Jump(block)]);
    assert_eq!(partings.depth(), 2);
    partings.end_arm(choice);
    assert_eq!(partings.depth(), 1);
    partings.end_arm(block);
    assert_eq!(partings.depth(), 1);
    partings.end_block(block);
    assert_eq!(partings.depth(), 0);
}

#[test]
fn two_ways_part_as_both_do() {
    let [a, b, c] = [1, 2, 3].map(|label| Parting::Jump(Label(label)));
    let mut one = of(&[a, b]);
    one.merge(of(&[a, c]));
    assert_eq!(one.list, [a, b, c]);
}
