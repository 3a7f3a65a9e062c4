//! Splits the entry point at its barriers.
//!
//! What lies between two barriers is a [`Region`]: each invocation of the workgroup runs it to its end before the next
//! region starts. Statements that have a barrier inside (and jumps that leave them) are done once for the whole
//! workgroup, so their conditions must be uniform. A jump that is not uniform is fine where nothing but the end of its
//! target follows: there it ends the region for its invocation.

use naga::Span;

use super::uniformity::Uniformity;
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{Label, Operand, Stmt, has_barrier, walk};

/// What a workgroup does.
#[derive(Debug)]
pub(crate) enum Node {
    Region(Region),
    If { condition: Operand, accept: Vec<Node>, reject: Vec<Node> },
    Block { label: Label, body: Vec<Node> },
    Loop { label: Label, body: Vec<Node> },
    Jump(Label),
}

/// What each invocation of a workgroup does between two barriers.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) body: Vec<Stmt>,
    /// Targets of jumps that end the region.
    pub(crate) ends: Vec<Label>,
}

/// Splits a function body.
pub(crate) fn split(body: Vec<Stmt>, uniformity: &Uniformity) -> Result<Vec<Node>, Diagnostic> {
    Splitter { uniformity, labels: Vec::new() }.list(body, &[])
}

/// Calls `f` for each region, in order.
pub(crate) fn each_region<'a>(nodes: &'a [Node], f: &mut impl FnMut(&'a Region)) {
    for node in nodes {
        match node {
            Node::Region(region) => f(region),
            Node::If { accept, reject, .. } => {
                each_region(accept, f);
                each_region(reject, f);
            }
            Node::Block { body, .. } | Node::Loop { body, .. } => each_region(body, f),
            Node::Jump(_) => {}
        }
    }
}

/// Calls `f` for each region, to change it.
pub(crate) fn each_region_mut(nodes: &mut [Node], f: &mut impl FnMut(&mut Region)) {
    for node in nodes {
        match node {
            Node::Region(region) => f(region),
            Node::If { accept, reject, .. } => {
                each_region_mut(accept, f);
                each_region_mut(reject, f);
            }
            Node::Block { body, .. } | Node::Loop { body, .. } => each_region_mut(body, f),
            Node::Jump(_) => {}
        }
    }
}

struct Splitter<'a> {
    uniformity: &'a Uniformity,
    /// Labels of statements that are done once for the workgroup and that enclose the present one.
    labels: Vec<Label>,
}

impl Splitter<'_> {
    /// `tail` are the labels whose end is the end of this list.
    fn list(&mut self, body: Vec<Stmt>, tail: &[Label]) -> Result<Vec<Node>, Diagnostic> {
        let shared = self.shared_statements(&body, tail);
        let count = body.len();
        let mut nodes = Vec::new();
        let mut run = Vec::new();
        for (at, (stmt, shared)) in body.into_iter().zip(shared).enumerate() {
            if !shared {
                run.push(stmt);
                continue;
            }
            push_region(&mut nodes, &mut run, &[]);
            let tail = if at + 1 == count { tail } else { &[] };
            self.shared(stmt, tail, &mut nodes)?;
        }
        push_region(&mut nodes, &mut run, tail);
        Ok(nodes)
    }

    /// Which statements are done once for the workgroup.
    fn shared_statements(&self, body: &[Stmt], tail: &[Label]) -> Vec<bool> {
        let mut tail = tail;
        let mut shared: Vec<bool> = body
            .iter()
            .rev()
            .map(|stmt| {
                let shared = self.is_shared(stmt, tail);
                if shared {
                    // What comes before is followed by more than the end.
                    tail = &[];
                }
                shared
            })
            .collect();
        shared.reverse();
        shared
    }

    fn is_shared(&self, stmt: &Stmt, tail: &[Label]) -> bool {
        let one = std::slice::from_ref(stmt);
        let mut leaves = has_barrier(one);
        walk(one, &mut |stmt| {
            if let Stmt::Jump { label, .. } = stmt {
                leaves |= self.labels.contains(label) && !tail.contains(label);
            }
        });
        leaves
    }

    fn shared(&mut self, stmt: Stmt, tail: &[Label], nodes: &mut Vec<Node>) -> Result<(), Diagnostic> {
        match stmt {
            Stmt::Barrier { .. } => {}
            Stmt::Jump { label, .. } => nodes.push(Node::Jump(label)),
            Stmt::If { condition, accept, reject, span, .. } => {
                if !self.uniformity.is_uniform(condition) {
                    return Err(parted(&accept, &reject, span));
                }
                let accept = self.list(accept, tail)?;
                let reject = self.list(reject, tail)?;
                nodes.push(Node::If { condition, accept, reject });
            }
            Stmt::Block { label, body } => {
                self.labels.push(label);
                let mut tail = tail.to_vec();
                tail.push(label);
                let body = self.list(body, &tail)?;
                self.labels.pop();
                nodes.push(Node::Block { label, body });
            }
            Stmt::Loop { label, body, .. } => {
                self.labels.push(label);
                let body = self.list(body, &[])?;
                self.labels.pop();
                nodes.push(Node::Loop { label, body });
            }
            Stmt::Inst(_) | Stmt::Masked { .. } | Stmt::Return { .. } => {}
        }
        Ok(())
    }
}

fn push_region(nodes: &mut Vec<Node>, run: &mut Vec<Stmt>, ends: &[Label]) {
    if !run.is_empty() {
        nodes.push(Node::Region(Region { body: std::mem::take(run), ends: ends.to_vec() }));
    }
}

/// The refusal of a condition that is not uniform and decides about a barrier.
fn parted(accept: &[Stmt], reject: &[Stmt], span: Span) -> Diagnostic {
    let mut place = None;
    let mut jump = None;
    for arm in [accept, reject] {
        walk(arm, &mut |stmt| match stmt {
            Stmt::Barrier { span } => place = place.or(Some(*span)),
            Stmt::Jump { span, .. } => jump = jump.or(Some(*span)),
            _ => {}
        });
    }
    let message = match place {
        Some(_) => {
            "a barrier in control flow that is not uniform: the condition around it may differ between invocations"
        }
        None => {
            "a jump past a barrier in control flow that is not uniform: the condition around it may differ between \
             invocations"
        }
    };
    Diagnostic::new(Kind::Invalid, message, Some(place.or(jump).unwrap_or(span)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builtin, Func, Inst, Op, Reg, RegInfo, Ty, Unit};
    use crate::passes::{liveness, uniformity};

    const SPAN: Span = Span::UNDEFINED;
    const LANE: Operand = Operand::Builtin(Builtin::LocalIndex);
    const GROUP: Operand = Operand::Builtin(Builtin::Group(0));

    fn work() -> Stmt {
        Stmt::Inst(Inst::Op { dst: Reg(0), op: Op::Copy, args: vec![LANE] })
    }

    fn barrier() -> Stmt {
        Stmt::Barrier { span: SPAN }
    }

    fn jump(label: Label) -> Stmt {
        Stmt::Jump { label, span: SPAN }
    }

    fn when(condition: Operand, accept: Vec<Stmt>) -> Stmt {
        Stmt::If { label: Label(99), condition, accept, reject: Vec::new(), span: SPAN }
    }

    fn split_body(body: Vec<Stmt>) -> Result<Vec<Node>, Diagnostic> {
        let regs = vec![RegInfo { ty: Ty::I32, mutable: true }];
        let mut unit = Unit {
            entry: Func { params: Vec::new(), results: Vec::new(), regs, body, span: SPAN },
            functions: Vec::new(),
            objects: Vec::new(),
            bindings: Vec::new(),
            workgroup_bytes: 0,
            workgroup_size: [4, 1, 1],
            constant_bytes: 0,
        };
        let uniformity = uniformity::analyse(&unit, &liveness::analyse(&unit.entry));
        split(std::mem::take(&mut unit.entry.body), &uniformity)
    }

    /// The shape of nodes: `r` for a region, `e` for one that jumps may end.
    fn shape(nodes: &[Node]) -> String {
        nodes
            .iter()
            .map(|node| match node {
                Node::Region(region) if region.ends.is_empty() => "r".to_owned(),
                Node::Region(_) => "e".to_owned(),
                Node::If { accept, reject, .. } => format!("?({}|{})", shape(accept), shape(reject)),
                Node::Block { body, .. } => format!("[{}]", shape(body)),
                Node::Loop { body, .. } => format!("({})", shape(body)),
                Node::Jump(_) => "j".to_owned(),
            })
            .collect()
    }

    #[test]
    fn without_a_barrier_there_is_one_region() {
        let nodes = split_body(vec![work(), when(LANE, vec![work()]), work()]).unwrap();
        assert_eq!(shape(&nodes), "r");
    }

    #[test]
    fn a_barrier_splits_and_so_does_what_holds_one() {
        let nodes = split_body(vec![work(), barrier(), work(), when(GROUP, vec![barrier(), work()]), work()]).unwrap();
        assert_eq!(shape(&nodes), "rr?(r|)r");
        assert!(split_body(vec![when(LANE, vec![barrier()])]).is_err());
    }

    #[test]
    fn a_jump_to_the_end_of_all_may_differ_where_no_barrier_follows() {
        let end = Label(1);
        let block = |body: Vec<Stmt>| split_body(vec![Stmt::Block { label: end, body }]);
        let late = block(vec![work(), barrier(), when(LANE, vec![jump(end)]), work()]).unwrap();
        assert_eq!(shape(&late), "[re]");
        let early = block(vec![when(LANE, vec![jump(end)]), work(), barrier(), work()]);
        assert!(early.is_err());
        let together = block(vec![when(GROUP, vec![work(), jump(end)]), work(), barrier(), work()]).unwrap();
        assert_eq!(shape(&together), "[?(rj|)re]");
    }

    #[test]
    fn a_loop_with_a_barrier_is_run_by_the_workgroup() {
        let (out, top) = (Label(1), Label(2));
        let body = vec![work(), when(GROUP, vec![jump(out)]), barrier(), work(), jump(top)];
        let nodes =
            split_body(vec![Stmt::Block { label: out, body: vec![Stmt::Loop { label: top, body, rare: false }] }])
                .unwrap();
        assert_eq!(shape(&nodes), "[(r?(j|)rj)]");
    }
}
