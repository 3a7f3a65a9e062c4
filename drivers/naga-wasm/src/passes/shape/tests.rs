use super::*;
use crate::ir::{Operand, Reg};
use naga::Span;

const SPAN: Span = Span::UNDEFINED;

fn op(op: Op) -> Stmt {
    Stmt::Inst(Inst::Op { dst: Reg(0), op, args: Vec::new() })
}

fn jump(label: u32) -> Stmt {
    Stmt::Jump { label: Label(label), span: SPAN }
}

fn block(label: u32, body: Vec<Stmt>) -> Stmt {
    Stmt::Block { label: Label(label), body }
}

fn when(accept: Vec<Stmt>) -> Stmt {
    Stmt::If { label: Label(9), condition: Operand::Bool(true), accept, reject: Vec::new(), span: SPAN }
}

#[test]
fn statements_are_counted_with_what_is_in_them_and_not_further_than_asked() {
    let body = vec![op(Op::Add), block(1, vec![op(Op::Add), when(vec![op(Op::Add), op(Op::Add)])])];
    assert_eq!(count(&body, 100), 6);
    let many: Vec<_> = (0..50).map(|_| op(Op::Add)).collect();
    assert_eq!(count(&many, 10), 10);
}

#[test]
fn jumps_inside_do_not_lead_out() {
    assert!(!jumps_out(&[block(1, vec![when(vec![jump(1)])])]));
    assert!(jumps_out(&[block(1, vec![when(vec![jump(2)])])]));
    let body = [block(1, vec![when(vec![jump(1)]), jump(3)]), jump(2)];
    assert_eq!(targets_past(&body, Label(2)), [Label(3)]);
}

#[test]
fn a_jump_at_the_end_is_no_jump_before_it() {
    assert!(!jumps_before_its_end(&[op(Op::Add), jump(2)]));
    assert!(jumps_before_its_end(&[when(vec![jump(2)]), jump(2)]));
    assert!(jumps_before_its_end(&[when(vec![jump(2)]), op(Op::Add)]));
}

#[test]
fn what_only_computes_is_harmless() {
    assert!(is_harmless(&op(Op::Add)) && is_harmless(&jump(1)));
    assert!(!is_harmless(&Stmt::Barrier { span: SPAN }) && !is_harmless(&when(Vec::new())));
}
