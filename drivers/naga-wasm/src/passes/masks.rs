//! Turns control flow in which the lanes of a gang part into instructions that only some of them do.
//!
//! Afterwards every condition is the same in all lanes of a gang, and whatever is reached is reached by at least one
//! lane. Both parts of an `if` are done one after the other, each with its mask and only if a lane is in it. Lanes that
//! jump where others do not are left out until the end of the block that they jump to, which has a variable for them.
//! A loop goes on until no lane is left in it.
//!
//! Where lanes may have left, as behind the condition of a loop or of an early return, what follows is there twice if it
//! is not long: without masks, for when all lanes are still there, and with them. A register may have a definition in
//! each, then.

use super::coherence::{Crowd, Makings};
use super::liveness::Liveness;
use super::partings::{Parting, Partings};
use super::regions::{Node, Region};
use super::shape::{count, is_harmless, jumps_before_its_end, jumps_out, targets_past};
use super::uniformity::Uniformity;
use super::variance::Variance;
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{AtomicOp, Builtin, Inst, LANES, Label, Op, Operand, Reg, RegInfo, Stmt, SubgroupOp, Ty, Unit, walk};

/// A part of an `if` with so few and so simple instructions is done without asking whether a lane is in it.
const SHORT_ARM: usize = 6;

/// What may be there twice has at least and at most so many statements.
const MIN_DOUBLED: usize = 4;
const MAX_DOUBLED: usize = 96;

/// Lowers the regions of `nodes`; makes registers in the entry point of `unit` and adds their variance.
pub(crate) fn lower(
    unit: &mut Unit,
    nodes: &mut [Node],
    uniformity: &Uniformity,
    liveness: &Liveness,
    variances: &mut Vec<Variance>,
) -> Result<(), Diagnostic> {
    let whole = unit.invocations().is_multiple_of(LANES);
    let labels = next_label(nodes);
    let regs = &mut unit.entry.regs;
    let mut masks = Masks {
        regs,
        variances,
        workgroup_size: unit.workgroup_size,
        uniformity,
        liveness,
        partings: Partings::default(),
        makings: Makings::default(),
        open: Vec::new(),
        tested: Vec::new(),
        doubled: false,
        labels,
    };
    let one = unit.workgroup_size == [1, 1, 1];
    let mask = if whole || one { Mask::All } else { Mask::Some(Operand::Builtin(Builtin::Active)) };
    masks.nodes(nodes, mask)
}

/// A label that no statement has.
fn next_label(nodes: &[Node]) -> u32 {
    let mut greatest = 0;
    super::regions::each_region(nodes, &mut |region| {
        walk(&region.body, &mut |stmt| {
            if let Stmt::If { label, .. } | Stmt::Block { label, .. } | Stmt::Loop { label, .. } = stmt {
                greatest = greatest.max(label.0);
            }
        });
        greatest = region.ends.iter().fold(greatest, |greatest, label| greatest.max(label.0));
    });
    greatest + 1
}

/// The lanes that do something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mask {
    All,
    Some(Operand),
}

impl Mask {
    pub(super) fn operand(self) -> Operand {
        match self {
            Self::All => Operand::Bool(true),
            Self::Some(operand) => operand,
        }
    }
}

/// Who goes on after a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flow {
    On(Mask),
    /// Control goes on, but without lanes.
    Empty,
    /// Control does not get here.
    Gone,
}

/// A block or loop around the present place.
struct Open {
    label: Label,
    /// How deep the lanes had parted at its start.
    depth: usize,
    /// How many parts of `if`s with masks were around its start.
    arms: usize,
    kind: OpenKind,
    jumped: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum OpenKind {
    /// All lanes leave it together, or nothing follows it.
    Plain,
    /// A block in which lanes part, and the variable for those that have come to its end, if not all do.
    Block(Option<Reg>),
    /// A loop that lanes leave one by one.
    Loop(Crowd),
}

pub(super) struct Masks<'a> {
    pub(super) regs: &'a mut Vec<RegInfo>,
    pub(super) variances: &'a mut Vec<Variance>,
    pub(super) workgroup_size: [u32; 3],
    uniformity: &'a Uniformity,
    liveness: &'a Liveness,
    partings: Partings,
    pub(super) makings: Makings,
    open: Vec<Open>,
    /// Masks of which a lane is known to be on, wherever they are at hand.
    tested: Vec<Mask>,
    /// Inside of what is there twice.
    doubled: bool,
    labels: u32,
}

impl Masks<'_> {
    fn nodes(&mut self, nodes: &mut [Node], mask: Mask) -> Result<(), Diagnostic> {
        for node in nodes {
            match node {
                Node::Region(region) => self.region(region, mask)?,
                Node::If { accept, reject, .. } => {
                    self.nodes(accept, mask)?;
                    self.nodes(reject, mask)?;
                }
                Node::Block { body, .. } | Node::Loop { body, .. } => self.nodes(body, mask)?,
                Node::Jump(_) => {}
            }
        }
        Ok(())
    }

    fn region(&mut self, region: &mut Region, mask: Mask) -> Result<(), Diagnostic> {
        self.partings = Partings::default();
        self.open.clear();
        self.tested.clear();
        for &label in &region.ends {
            self.open.push(Open { label, depth: 0, arms: 0, kind: OpenKind::Plain, jumped: false });
        }
        let mut out = Vec::new();
        self.list(std::mem::take(&mut region.body), mask, 0, &mut out)?;
        region.body = out;
        Ok(())
    }

    pub(super) fn new_reg(&mut self, ty: Ty, mutable: bool, variance: Variance) -> Reg {
        let reg = Reg(u32::try_from(self.regs.len()).unwrap_or(u32::MAX));
        self.regs.push(RegInfo { ty, mutable });
        self.variances.push(variance);
        reg
    }

    /// A variable for lanes.
    pub(super) fn lanes(&mut self) -> Reg {
        self.new_reg(Ty::Bool, true, Variance::VARYING)
    }

    /// An operation with masks, and what it gives.
    fn op(&mut self, op: Op, args: &[Operand], out: &mut Vec<Stmt>) -> Operand {
        let variance = if op == Op::Any { Variance::GANG } else { Variance::VARYING };
        self.op_of(op, args, variance, out)
    }

    pub(super) fn op_of(&mut self, op: Op, args: &[Operand], variance: Variance, out: &mut Vec<Stmt>) -> Operand {
        if let Some(folded) = crate::lower::builder::fold(op, args) {
            return folded;
        }
        let dst = self.new_reg(Ty::Bool, false, variance);
        self.makings.note(self.regs, dst, op, args);
        out.push(Stmt::Inst(Inst::Op { dst, op, args: args.to_vec() }));
        Operand::Reg(dst)
    }

    /// Adds lanes to a variable.
    fn add(&mut self, lanes: Reg, mask: Mask, out: &mut Vec<Stmt>) {
        let all = self.op(Op::Or, &[Operand::Reg(lanes), mask.operand()], out);
        out.push(copy(lanes, all));
    }

    /// Lowers a list; `arms` parts of `if`s with masks are around it.
    fn list(&mut self, body: Vec<Stmt>, mask: Mask, arms: usize, out: &mut Vec<Stmt>) -> Result<Flow, Diagnostic> {
        let mut mask = mask;
        let mut rest = body.into_iter();
        while let Some(stmt) = rest.next() {
            match self.stmt(stmt, mask, arms, out)? {
                Flow::On(now) if now == mask => {}
                Flow::On(now) => {
                    mask = now;
                    if self.may_double(mask, rest.as_slice()) {
                        return self.both_ways(rest.collect(), mask, arms, out);
                    }
                    if !rest.as_slice().iter().all(is_harmless) {
                        self.leave_if_empty(mask, arms, out)?;
                    }
                }
                flow => return Ok(flow),
            }
        }
        Ok(Flow::On(mask))
    }

    /// Whether statements are worth being there twice, and not yet inside of such.
    fn may_double(&self, mask: Mask, rest: &[Stmt]) -> bool {
        if self.doubled || mask == Mask::All {
            return false;
        }
        // Counted no further than that, as it is asked at each parting.
        let most = MAX_DOUBLED + 1;
        (MIN_DOUBLED..most).contains(&count(rest, most))
    }

    /// The rest of a list without masks if all lanes are on, and with them otherwise.
    fn both_ways(&mut self, rest: Vec<Stmt>, mask: Mask, arms: usize, out: &mut Vec<Stmt>) -> Result<Flow, Diagnostic> {
        self.doubled = true;
        let all = self.all(mask, out);
        let tested = self.tested.len();
        let before = self.partings.clone();
        let mut first = Vec::new();
        let together = self.list(rest.clone(), Mask::All, arms, &mut first)?;
        let parted = std::mem::replace(&mut self.partings, before);
        let mut second = Vec::new();
        self.leave_if_empty(mask, arms, &mut second)?;
        let masked = self.list(rest, mask, arms, &mut second)?;
        self.partings.merge(parted);
        self.tested.truncate(tested);
        self.doubled = false;
        let flow = self.joined([(together, &mut first), (masked, &mut second)]);
        let choice = self.choice_of(all, first, second);
        out.push(choice);
        Ok(flow)
    }

    /// Who goes on after one of two ways, each with its end.
    fn joined(&mut self, ways: [(Flow, &mut Vec<Stmt>); 2]) -> Flow {
        match [ways[0].0, ways[1].0] {
            [Flow::Gone, flow] | [flow, Flow::Gone] => flow,
            [a, b] if a == b => a,
            _ => {
                let lanes = self.lanes();
                for (flow, out) in ways {
                    let arrived = if let Flow::On(mask) = flow { mask.operand() } else { Operand::Bool(false) };
                    out.push(copy(lanes, arrived));
                }
                Flow::On(Mask::Some(Operand::Reg(lanes)))
            }
        }
    }

    /// Jumps to the end of the innermost block if no lane is left. There is one: the lanes have jumped somewhere.
    fn leave_if_empty(&mut self, mask: Mask, arms: usize, out: &mut Vec<Stmt>) -> Result<(), Diagnostic> {
        let target = self.open.iter_mut().rev().find(|open| {
            let is_block = matches!(open.kind, OpenKind::Block(_)) || (open.kind == OpenKind::Plain && open.depth == 0);
            is_block && open.arms == arms
        });
        let Some(target) = target else { return Err(defect("lanes that left for nowhere")) };
        target.jumped = true;
        let jump = Stmt::Jump { label: target.label, span: naga::Span::UNDEFINED };
        let any = self.op(Op::Any, &[mask.operand()], out);
        out.push(self.choice_of(any, Vec::new(), vec![jump]));
        self.tested.push(mask);
        Ok(())
    }

    /// Whether a lane is known to be on. Variables do not count: they change.
    fn is_tested(&self, mask: Mask) -> bool {
        let fixed = match mask {
            Mask::Some(Operand::Reg(reg)) => self.is_fixed(reg),
            Mask::Some(_) | Mask::All => true,
        };
        mask == Mask::All || fixed && self.tested.contains(&mask)
    }

    pub(super) fn choice_of(&mut self, condition: Operand, accept: Vec<Stmt>, reject: Vec<Stmt>) -> Stmt {
        Stmt::If { label: self.label(), condition, accept, reject, span: naga::Span::UNDEFINED }
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn stmt(&mut self, stmt: Stmt, mask: Mask, arms: usize, out: &mut Vec<Stmt>) -> Result<Flow, Diagnostic> {
        match stmt {
            Stmt::Inst(inst) => {
                let stmt = self.inst(inst, mask);
                out.push(stmt);
                Ok(Flow::On(mask))
            }
            Stmt::If { label, condition, accept, reject, span } => {
                if self.uniformity.variance(condition).is_gang() {
                    let (accept, reject, flow) = self.together(accept, reject, mask, arms)?;
                    out.push(Stmt::If { label, condition, accept, reject, span });
                    return Ok(flow);
                }
                self.apart(label, condition, [accept, reject], mask, arms, out)
            }
            Stmt::Block { label, body } => self.block(label, body, mask, arms, out),
            Stmt::Loop { label, body, .. } => self.repeat(label, body, mask, arms, out),
            Stmt::Jump { label, span } => self.jump(label, span, mask, out),
            Stmt::Masked { .. } | Stmt::Return { .. } | Stmt::Barrier { .. } => {
                Err(defect("a statement that masks cannot meet"))
            }
        }
    }

    fn inst(&mut self, inst: Inst, mask: Mask) -> Stmt {
        if let Inst::Op { dst, op, args } = &inst {
            self.makings.note(self.regs, *dst, *op, args);
        }
        let some = match &inst {
            Inst::Store { .. } | Inst::Fill { .. } | Inst::Move { .. } | Inst::Call { .. } => true,
            // Reading does no harm, as every address is brought into range.
            Inst::Atomic { op, .. } => *op != AtomicOp::Load,
            Inst::Subgroup { op, .. } => matches!(op, SubgroupOp::Active | SubgroupOp::Ballot),
            Inst::Op { dst, op: Op::Copy, .. } => self.partings.need(self.liveness, *dst),
            Inst::Op { .. } | Inst::Load { .. } | Inst::LoadRow { .. } | Inst::UniformLoad { .. } => false,
        };
        match mask {
            Mask::Some(mask) if some => Stmt::Masked { mask, inst },
            Mask::Some(_) | Mask::All => Stmt::Inst(inst),
        }
    }

    /// An `if` whose condition is the same in all lanes.
    fn together(
        &mut self,
        accept: Vec<Stmt>,
        reject: Vec<Stmt>,
        mask: Mask,
        arms: usize,
    ) -> Result<(Vec<Stmt>, Vec<Stmt>, Flow), Diagnostic> {
        let before = self.partings.clone();
        let mut first = Vec::new();
        let accepted = self.list(accept, mask, arms, &mut first)?;
        let parted = std::mem::replace(&mut self.partings, before);
        let mut second = Vec::new();
        let rejected = self.list(reject, mask, arms, &mut second)?;
        self.partings.merge(parted);
        let flow = self.joined([(accepted, &mut first), (rejected, &mut second)]);
        Ok((first, second, flow))
    }

    /// An `if` whose lanes part.
    fn apart(
        &mut self,
        label: Label,
        condition: Operand,
        [accept, reject]: [Vec<Stmt>; 2],
        mask: Mask,
        arms: usize,
        out: &mut Vec<Stmt>,
    ) -> Result<Flow, Diagnostic> {
        let accept_mask = Mask::Some(self.op(Op::And, &[mask.operand(), condition], out));
        self.partings.push(Parting::Accept(label));
        let accepted = self.arm(accept, accept_mask, arms + 1, out)?;
        // Lanes that jumped out of the first part wait while the others do the second.
        self.partings.end_arm(label);
        if reject.is_empty() && accepted == Flow::On(accept_mask) {
            return Ok(Flow::On(mask));
        }
        let not = self.op(Op::Not, &[condition], out);
        let reject_mask = Mask::Some(self.op(Op::And, &[mask.operand(), not], out));
        self.partings.push(Parting::Reject(label));
        let rejected = self.arm(reject, reject_mask, arms + 1, out)?;
        self.partings.end_arm(label);
        Ok(match (accepted, rejected) {
            (Flow::On(a), Flow::On(b)) if a == accept_mask && b == reject_mask => Flow::On(mask),
            (Flow::On(a), Flow::On(b)) => Flow::On(Mask::Some(self.op(Op::Or, &[a.operand(), b.operand()], out))),
            (Flow::On(one), _) | (_, Flow::On(one)) => Flow::On(one),
            _ => Flow::Empty,
        })
    }

    /// One part of an `if` whose lanes part. What it answers also holds if the part is skipped.
    fn arm(&mut self, body: Vec<Stmt>, mask: Mask, arms: usize, out: &mut Vec<Stmt>) -> Result<Flow, Diagnostic> {
        if body.is_empty() {
            return Ok(Flow::On(mask));
        }
        let mut inside = Vec::new();
        let flow = if jumps_before_its_end(&body) {
            // Where all lanes have left, the rest of the part is skipped by a jump to its end.
            let label = self.label();
            let lanes = self.lanes();
            out.push(copy(lanes, Operand::Bool(false)));
            let depth = self.partings.depth();
            self.open.push(Open { label, depth, arms, kind: OpenKind::Block(Some(lanes)), jumped: false });
            let mut body_out = Vec::new();
            if let Flow::On(mask) = self.list(body, mask, arms, &mut body_out)? {
                self.add(lanes, mask, &mut body_out);
            }
            self.open.pop();
            inside.push(Stmt::Block { label, body: body_out });
            Flow::On(Mask::Some(Operand::Reg(lanes)))
        } else {
            self.list(body, mask, arms, &mut inside)?
        };
        if inside.len() <= SHORT_ARM && inside.iter().all(is_harmless) {
            out.extend(inside);
        } else {
            let any = self.op(Op::Any, &[mask.operand()], out);
            let stmt = self.choice_of(any, inside, Vec::new());
            out.push(stmt);
        }
        Ok(flow)
    }

    fn block(
        &mut self,
        label: Label,
        body: Vec<Stmt>,
        mask: Mask,
        arms: usize,
        out: &mut Vec<Stmt>,
    ) -> Result<Flow, Diagnostic> {
        let depth = self.partings.depth();
        let past = targets_past(&body, label);
        // Lanes go further while others wait elsewhere, so that control comes to the end of the block without them.
        let masked = past.iter().any(|target| {
            self.open.iter().rev().find(|open| open.label == *target).is_none_or(|open| depth > open.depth)
        });
        let kind = if masked || self.parts(&body) {
            OpenKind::Block((!past.is_empty()).then(|| self.lanes()))
        } else {
            OpenKind::Plain
        };
        self.open.push(Open { label, depth, arms, kind, jumped: false });
        let mut inside = Vec::new();
        let flow = self.list(body, mask, arms, &mut inside)?;
        let jumped = self.open.pop().is_some_and(|open| open.jumped);
        self.partings.end_block(label);
        let flow = match (kind, flow) {
            _ if !jumped => flow,
            (OpenKind::Block(Some(lanes)), flow) => {
                if let Flow::On(mask) = flow {
                    self.add(lanes, mask, &mut inside);
                }
                out.push(copy(lanes, Operand::Bool(false)));
                Flow::On(Mask::Some(Operand::Reg(lanes)))
            }
            _ => Flow::On(mask),
        };
        out.push(Stmt::Block { label, body: inside });
        Ok(flow)
    }

    fn repeat(
        &mut self,
        label: Label,
        body: Vec<Stmt>,
        mask: Mask,
        arms: usize,
        out: &mut Vec<Stmt>,
    ) -> Result<Flow, Diagnostic> {
        let escapes = self.uniformity.escapes(label).to_vec();
        let (kind, mask) = if escapes.is_empty() {
            (OpenKind::Plain, mask)
        } else {
            let crowd = self.crowd();
            self.gather(crowd, mask, out);
            (OpenKind::Loop(crowd), Mask::Some(Operand::Reg(crowd.lanes)))
        };
        for escape in escapes {
            self.partings.push(Parting::Jump(escape));
        }
        let depth = self.partings.depth();
        self.open.push(Open { label, depth, arms: usize::MAX, kind, jumped: false });
        let mut inside = Vec::new();
        let flow = self.list(body, mask, arms, &mut inside)?;
        self.open.pop();
        self.partings.end_block(label);
        match kind {
            OpenKind::Loop(crowd) => self.put_loop(label, crowd, inside, out)?,
            _ => out.push(Stmt::Loop { label, body: inside, rare: false }),
        }
        Ok(flow)
    }

    fn jump(&mut self, label: Label, span: naga::Span, mask: Mask, out: &mut Vec<Stmt>) -> Result<Flow, Diagnostic> {
        let depth = self.partings.depth();
        let Some(open) = self.open.iter_mut().rev().find(|open| open.label == label) else {
            return Err(defect("a jump to nowhere"));
        };
        open.jumped = true;
        let (kind, parted) = (open.kind, depth > open.depth);
        match kind {
            OpenKind::Loop(crowd) => {
                if parted {
                    return Err(defect("a jump to the start of a loop that not all lanes take"));
                }
                self.gather(crowd, mask, out);
                if self.is_tested(mask) {
                    out.push(Stmt::Jump { label, span });
                    return Ok(Flow::Gone);
                }
                let any = self.op(Op::Any, &[mask.operand()], out);
                let stmt = self.choice_of(any, vec![Stmt::Jump { label, span }], Vec::new());
                out.push(stmt);
                return Ok(Flow::Empty);
            }
            OpenKind::Block(Some(lanes)) => self.add(lanes, mask, out),
            OpenKind::Block(None) | OpenKind::Plain => {}
        }
        if parted {
            self.partings.push(Parting::Jump(label));
            return Ok(Flow::Empty);
        }
        out.push(Stmt::Jump { label, span });
        Ok(Flow::Gone)
    }

    /// Whether lanes part in `body` for good: an `if` that parts them has a jump out of it.
    fn parts(&self, body: &[Stmt]) -> bool {
        let mut parts = false;
        walk(body, &mut |stmt| {
            if let Stmt::If { condition, accept, reject, .. } = stmt
                && !parts
                && !self.uniformity.variance(*condition).is_gang()
            {
                parts = jumps_out(accept) || jumps_out(reject);
            }
        });
        parts
    }
}

pub(super) fn copy(dst: Reg, value: Operand) -> Stmt {
    Stmt::Inst(Inst::Op { dst, op: Op::Copy, args: vec![value] })
}

pub(super) fn defect(what: &str) -> Diagnostic {
    Diagnostic::new(Kind::Invalid, format!("{what}: this is a defect of the compiler"), None)
}

#[cfg(test)]
mod tests;
