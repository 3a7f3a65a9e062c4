//! What a list of statements is like: how long, and where it leads.

use crate::ir::{Inst, Label, Op, Stmt, walk};

/// Whether a statement can be done without lanes: it only computes.
pub(super) fn is_harmless(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Inst(Inst::Op { op, .. }) | Stmt::Masked { inst: Inst::Op { op, .. }, .. } => {
            !matches!(op, Op::Helper(_))
        }
        Stmt::Jump { .. } => true,
        _ => false,
    }
}

/// Whether the end of a list is not reached.
pub(super) fn ends(body: &[Stmt]) -> bool {
    matches!(body.last(), Some(Stmt::Jump { .. } | Stmt::Return { .. }))
}

/// How many statements a list has, counted up to `most` or little more.
pub(super) fn count(body: &[Stmt], most: usize) -> usize {
    let mut statements = 0;
    for stmt in body {
        statements += 1;
        if statements >= most {
            break;
        }
        match stmt {
            Stmt::If { accept, reject, .. } => statements += count(accept, most) + count(reject, most),
            Stmt::Block { body, .. } | Stmt::Loop { body, .. } => statements += count(body, most),
            _ => {}
        }
    }
    statements
}

/// Whether a list has a jump to somewhere outside of it.
pub(super) fn jumps_out(body: &[Stmt]) -> bool {
    // Label 0 is never made.
    !targets_past(body, Label(0)).is_empty()
}

/// Where a list has jumps to, outside of it and not at the end of the block of a label.
pub(super) fn targets_past(body: &[Stmt], label: Label) -> Vec<Label> {
    let mut inside = vec![label];
    let mut targets = Vec::new();
    walk(body, &mut |stmt| match stmt {
        Stmt::Block { label, .. } | Stmt::Loop { label, .. } => inside.push(*label),
        Stmt::Jump { label, .. } => targets.push(*label),
        _ => {}
    });
    inside.sort_unstable();
    targets.retain(|target| inside.binary_search(target).is_err());
    targets
}

/// Whether a list has a jump out of it that is not its last statement.
pub(super) fn jumps_before_its_end(body: &[Stmt]) -> bool {
    match body.split_last() {
        Some((Stmt::Jump { .. }, before)) => jumps_out(before),
        _ => jumps_out(body),
    }
}

#[cfg(test)]
mod tests;
