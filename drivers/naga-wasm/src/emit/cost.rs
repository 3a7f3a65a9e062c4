//! What code costs, in work units: about one instruction each, of a scalar or of a vector.

use crate::ir::{Inst, Op, Stmt};

/// Most work units of one body. Functions that call each other double them at every level; this is days of work, and far
/// enough from the end of the type that what is added to it or multiplied by the invocations of a workgroup does not
/// overflow.
const MAX_COST: u64 = 1 << 48;

/// Work units of `body`, without the rounds of its loops, at most [`MAX_COST`]: what is charged before it runs.
pub(crate) fn cost(body: &[Stmt], callees: &[u64]) -> u64 {
    let mut sum = 0u64;
    for stmt in body {
        sum = sum.saturating_add(match stmt {
            Stmt::Inst(inst) | Stmt::Masked { inst, .. } => inst_cost(inst, callees),
            Stmt::If { accept, reject, .. } => 1 + cost(accept, callees).saturating_add(cost(reject, callees)),
            Stmt::Block { body, .. } => cost(body, callees),
            Stmt::Loop { .. } | Stmt::Jump { .. } | Stmt::Return { .. } | Stmt::Barrier { .. } => 1,
        });
    }
    sum.min(MAX_COST)
}

/// Bytes of a piece of memory that is charged for when it comes to it. A list of smaller ones is charged for at its start,
/// and is not long enough to matter.
const LARGE: u32 = 1024;

/// What a large piece of memory costs: that is not part of what the code around it costs.
pub(crate) fn large(inst: &Inst) -> Option<u64> {
    match inst {
        Inst::Fill { length, .. } | Inst::Move { length, .. } if *length > LARGE => Some(piece(*length)),
        _ => None,
    }
}

/// Four lanes, byte by byte at worst.
fn piece(length: u32) -> u64 {
    16 + 4 * u64::from(length)
}

fn inst_cost(inst: &Inst, callees: &[u64]) -> u64 {
    match inst {
        Inst::Op { op: Op::Helper(_), .. } => 40,
        Inst::Op { op: Op::DivS | Op::DivU | Op::RemS | Op::RemU | Op::FDiv | Op::FSqrt, .. } => 8,
        Inst::Op { .. } => 1,
        Inst::LoadRow { .. } => 12,
        Inst::Store { .. } | Inst::Load { .. } | Inst::UniformLoad { .. } => 2,
        Inst::Fill { length, .. } | Inst::Move { length, .. } => {
            if large(inst).is_some() {
                16
            } else {
                piece(*length)
            }
        }
        Inst::Atomic { .. } => 64,
        Inst::Subgroup { .. } => 4,
        Inst::Call { function, .. } => {
            16 + callees.get(*function as usize).copied().unwrap_or(0).saturating_mul(4).min(MAX_COST)
        }
    }
}
