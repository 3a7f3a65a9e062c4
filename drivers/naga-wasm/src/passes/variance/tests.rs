use super::*;

const ROW: [u32; 3] = [64, 1, 1];

fn of(op: Op, args: &[Operand]) -> Variance {
    let known: Vec<_> = args.iter().map(|&arg| of_operand(&[Variance::VARYING, Variance::GANG], ROW, arg)).collect();
    result(op, args, &known)
}

const LANE: Operand = Operand::Builtin(Builtin::LocalIndex);
const GROUP: Operand = Operand::Builtin(Builtin::Group(0));
const ANY: Operand = Operand::Reg(Reg(0));
const SAME: Operand = Operand::Reg(Reg(1));

#[test]
fn strides_go_through_sums_and_products_with_constants() {
    assert_eq!(of(Op::Add, &[LANE, GROUP]).stride, Some(1));
    assert_eq!(of(Op::Add, &[LANE, LANE]).stride, Some(2));
    assert_eq!(of(Op::Sub, &[GROUP, LANE]).stride, Some(u32::MAX));
    assert_eq!(of(Op::Mul, &[LANE, Operand::I32(12)]).stride, Some(12));
    assert_eq!(of(Op::Shl, &[LANE, Operand::I32(3)]).stride, Some(8));
    assert_eq!(of(Op::Mul, &[LANE, GROUP]).stride, None);
    assert_eq!(of(Op::Mul, &[SAME, GROUP]), Variance::GANG);
    assert_eq!(of(Op::Add, &[ANY, GROUP]), Variance::VARYING);
}

#[test]
fn quotients_by_multiples_of_the_lanes_are_one_for_a_gang() {
    let by = |op: Op, number: u32| of(op, &[LANE, Operand::I32(number)]).stride;
    assert_eq!((by(Op::DivU, 16), by(Op::DivU, 6)), (Some(0), None));
    assert_eq!((by(Op::ShrU, 2), by(Op::ShrU, 1)), (Some(0), None));
    assert_eq!((by(Op::RemU, 16), by(Op::RemU, 6)), (Some(1), None));
    assert_eq!((by(Op::And, 15), by(Op::And, 14), by(Op::And, 1)), (Some(1), None, None));
    // It begins in the middle of a block.
    let shifted = of(Op::Add, &[LANE, Operand::I32(2)]);
    assert_eq!(result(Op::DivU, &[ANY, Operand::I32(16)], &[shifted, Variance::constant(16)]).stride, None);
}

#[test]
fn built_in_values_differ_along_the_axis_that_lanes_lie_on() {
    assert_eq!((lane_axis([64, 1, 1]), lane_axis([6, 1, 1]), lane_axis([6, 2, 1])), (Some(0), Some(0), None));
    assert_eq!((lane_axis([1, 8, 2]), lane_axis([1, 1, 5]), lane_axis([2, 2, 3])), (Some(1), Some(2), None));
    assert_eq!(builtin_variance(Builtin::Local(1), [4, 4, 1]), Variance::GANG);
    assert_eq!(builtin_variance(Builtin::Local(1), [2, 4, 1]), Variance::VARYING);
    assert_eq!(builtin_variance(Builtin::Local(1), [64, 1, 1]), Variance::WORKGROUP);
    // The second workgroup of six invocations does not begin at a multiple of four.
    assert_eq!(builtin_variance(Builtin::Global(0), [6, 1, 1]).zeros, 0);
    assert_eq!(builtin_variance(Builtin::Global(0), [8, 1, 1]).zeros, 2);
}

#[test]
fn what_a_subgroup_agrees_on_is_one_for_a_gang() {
    assert_eq!(subgroup(SubgroupOp::Ballot, &[Variance::VARYING]), Variance::GANG);
    assert_eq!(subgroup(SubgroupOp::Shuffle([0; 4]), &[Variance::VARYING]), Variance::GANG);
    assert_eq!(subgroup(SubgroupOp::Shuffle([1, 0, 3, 2]), &[Variance::VARYING]), Variance::VARYING);
    assert_eq!(subgroup(SubgroupOp::Pick, &[Variance::VARYING, Variance::WORKGROUP]), Variance::GANG);
    assert_eq!(subgroup(SubgroupOp::Pick, &[Variance::VARYING; 2]), Variance::VARYING);
}
