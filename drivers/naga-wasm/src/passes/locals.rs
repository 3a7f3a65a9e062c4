//! Decides which wasm local holds which register. Registers that are not alive at the same time share one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use wasm_encoder::ValType;

use super::regions::Node;
use super::slots::{Layout, traffic};
use super::variance::Variance;
use crate::ir::{Func, Inst, Operand, Reg, RegInfo, Stmt, Ty};

/// Registers that are alive at the same time in wasm locals; further ones lie in scratch memory. Code generators allot
/// machine registers in more than linear time: 4,000 values that are alive together took one 20 s.
pub(crate) const MAX_LIVE: usize = 200;

/// Where a register lies.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Store {
    Local(u32),
    /// Number of a vector of the function's spill area; a scalar takes one too.
    Spill(u32),
}

/// The place of each register, and the types of the locals after the parameters.
#[derive(Debug, Default)]
pub(crate) struct Locals {
    of: Vec<Store>,
    pub(crate) types: Vec<ValType>,
    /// Vectors of the spill area.
    pub(crate) spills: u32,
    params: u32,
}

/// Whether a register holds a value for each lane. The others hold that of the first, from which those of the others
/// follow.
pub(crate) fn is_vector(variances: &[Variance], Reg(reg): Reg) -> bool {
    variances.get(reg as usize).is_some_and(|variance| variance.stride.is_none())
}

/// The type of a scalar's local.
pub(crate) fn scalar_type(ty: Ty) -> ValType {
    match ty {
        Ty::Bool | Ty::I32 => ValType::I32,
        Ty::F32 => ValType::F32,
    }
}

/// The type of a register's local.
pub(crate) fn local_type(regs: &[RegInfo], variances: &[Variance], reg: Reg) -> ValType {
    if is_vector(variances, reg) {
        return ValType::V128;
    }
    scalar_type(regs.get(reg.0 as usize).map_or(Ty::I32, |info| info.ty))
}

impl Locals {
    pub(crate) fn of(&self, reg: Reg) -> Store {
        self.of.get(reg.0 as usize).copied().unwrap_or(Store::Local(0))
    }

    /// A new place for registers of a type.
    fn another(&mut self, ty: ValType) -> Store {
        if self.types.len() < MAX_LIVE {
            self.types.push(ty);
            return Store::Local(self.count() - 1);
        }
        self.spills += 1;
        Store::Spill(self.spills - 1)
    }

    /// Number of locals, parameters included.
    pub(crate) fn count(&self) -> u32 {
        self.params + u32::try_from(self.types.len()).unwrap_or(u32::MAX)
    }
}

/// Assigns the locals of a function that is not the entry point.
pub(crate) fn of_function(func: &Func) -> Locals {
    let mut lives = Lives::new(func);
    for &param in &func.params {
        lives.touch(param);
    }
    lives.list(&func.body);
    assign(func, &[], &lives, u32::try_from(func.params.len()).unwrap_or(u32::MAX))
}

/// Assigns the locals of the entry point, after the `params` parameters of `run`.
pub(crate) fn of_nodes(func: &Func, nodes: &[Node], layout: &Layout, variances: &[Variance], params: u32) -> Locals {
    let mut lives = Lives::new(func);
    lives.nodes(func, nodes, layout);
    assign(func, variances, &lives, params)
}

/// A loop, as a range of positions.
#[derive(Clone, Copy)]
struct Span {
    parent: usize,
    depth: u32,
    start: u32,
    end: u32,
}

/// From where to where a register is mentioned, and the innermost loop around all of it.
#[derive(Clone, Copy)]
struct Life {
    first: (u32, usize),
    last: (u32, usize),
    around: usize,
}

/// Positions of all mentions of registers.
struct Lives {
    at: u32,
    current: usize,
    loops: Vec<Span>,
    lives: Vec<Option<Life>>,
}

impl Lives {
    fn new(func: &Func) -> Self {
        let all = Span { parent: 0, depth: 0, start: 0, end: u32::MAX };
        Self { at: 0, current: 0, loops: vec![all], lives: vec![None; func.regs.len()] }
    }

    fn get(&self, loop_: usize) -> Span {
        self.loops.get(loop_).copied().unwrap_or(Span { parent: 0, depth: 0, start: 0, end: u32::MAX })
    }

    fn touch(&mut self, reg: Reg) {
        let here = (self.at, self.current);
        let life = match self.lives.get(reg.0 as usize).copied().flatten() {
            None => Life { first: here, last: here, around: self.current },
            Some(life) => Life { last: here, around: self.common(life.around, self.current), ..life },
        };
        if let Some(slot) = self.lives.get_mut(reg.0 as usize) {
            *slot = Some(life);
        }
    }

    fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.get(a).depth >= self.get(b).depth {
                a = self.get(a).parent;
            } else {
                b = self.get(b).parent;
            }
        }
        a
    }

    fn operand(&mut self, operand: Operand) {
        if let Operand::Reg(reg) = operand {
            self.touch(reg);
        }
    }

    fn enter(&mut self) -> usize {
        let depth = self.get(self.current).depth + 1;
        self.at += 1;
        self.loops.push(Span { parent: self.current, depth, start: self.at, end: self.at });
        std::mem::replace(&mut self.current, self.loops.len() - 1)
    }

    fn leave(&mut self, outer: usize) {
        self.at += 1;
        let at = self.at;
        if let Some(span) = self.loops.get_mut(self.current) {
            span.end = at;
        }
        self.current = outer;
    }

    fn list(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.at += 1;
            match stmt {
                Stmt::Inst(inst) | Stmt::Masked { inst, .. } => {
                    if let Stmt::Masked { mask, .. } = stmt {
                        self.operand(*mask);
                    }
                    if let Inst::Call { results, .. } = inst {
                        // The results of one lane are written before the arguments of the next are read.
                        results.iter().for_each(|&result| self.touch(result));
                        self.at += 1;
                    }
                    let mut regs = Vec::new();
                    inst.uses(|reg| regs.push(reg));
                    inst.defs(|reg| regs.push(reg));
                    regs.into_iter().for_each(|reg| self.touch(reg));
                }
                Stmt::If { condition, accept, reject, .. } => {
                    self.operand(*condition);
                    self.list(accept);
                    self.list(reject);
                }
                Stmt::Block { body, .. } => self.list(body),
                Stmt::Loop { body, .. } => {
                    let outer = self.enter();
                    self.list(body);
                    self.leave(outer);
                }
                Stmt::Return { values } => values.iter().for_each(|&value| self.operand(value)),
                Stmt::Jump { .. } | Stmt::Barrier { .. } => {}
            }
        }
    }

    fn nodes(&mut self, func: &Func, nodes: &[Node], layout: &Layout) {
        for node in nodes {
            self.at += 1;
            match node {
                Node::Region(region) => {
                    let traffic = traffic(func, region, layout);
                    // The loop over the invocations.
                    let outer = self.enter();
                    traffic.loads.iter().for_each(|&reg| self.touch(reg));
                    self.list(&region.body);
                    self.at += 1;
                    traffic.stores.iter().for_each(|&reg| self.touch(reg));
                    self.leave(outer);
                }
                Node::If { condition, accept, reject } => {
                    self.operand(*condition);
                    self.nodes(func, accept, layout);
                    self.nodes(func, reject, layout);
                }
                Node::Block { body, .. } => self.nodes(func, body, layout),
                Node::Loop { body, .. } => {
                    let outer = self.enter();
                    self.nodes(func, body, layout);
                    self.leave(outer);
                }
                Node::Jump(_) => {}
            }
        }
    }

    /// The range of positions in which a register keeps its local: whole loops that it is mentioned in and outside of.
    fn range(&self, life: Life) -> (u32, u32) {
        let (mut first, mut last) = (life.first.0, life.last.0);
        let mut at = life.first.1;
        while at != life.around {
            first = self.get(at).start;
            at = self.get(at).parent;
        }
        let mut at = life.last.1;
        while at != life.around {
            last = self.get(at).end;
            at = self.get(at).parent;
        }
        (first, last)
    }
}

fn assign(func: &Func, variances: &[Variance], lives: &Lives, params: u32) -> Locals {
    let mut locals = Locals { of: vec![Store::Local(0); func.regs.len()], types: Vec::new(), spills: 0, params };
    let mut order: Vec<(u32, u32, Reg)> = Vec::new();
    for (reg, life) in (0u32..).map(Reg).zip(&lives.lives) {
        if let Some(position) = func.params.iter().position(|&param| param == reg) {
            if let Some(slot) = locals.of.get_mut(reg.0 as usize) {
                *slot = Store::Local(u32::try_from(position).unwrap_or(u32::MAX));
            }
        } else if let Some(life) = life {
            let (first, last) = lives.range(*life);
            order.push((first, last, reg));
        }
    }
    order.sort_unstable();
    let mut pools: HashMap<ValType, Pool> = HashMap::new();
    for (first, last, reg) in order {
        let ty = local_type(&func.regs, variances, reg);
        let pool = pools.entry(ty).or_default();
        while let Some(&Reverse((end, local))) = pool.busy.peek() {
            // An instruction reads before it writes, so its result may take the place of an operand.
            if end > first {
                break;
            }
            pool.busy.pop();
            pool.free.push(local);
        }
        let local = pool.free.pop().unwrap_or_else(|| locals.another(ty));
        pool.busy.push(Reverse((last, local)));
        if let Some(slot) = locals.of.get_mut(reg.0 as usize) {
            *slot = local;
        }
    }
    locals
}

/// Locals of one type: those in use, by the position at which they become free, and free ones.
#[derive(Default)]
struct Pool {
    busy: BinaryHeap<Reverse<(u32, Store)>>,
    free: Vec<Store>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Label, Op};
    use naga::Span;

    fn op(dst: u32, arg: u32) -> Stmt {
        Stmt::Inst(Inst::Op { dst: Reg(dst), op: Op::Clz, args: vec![Operand::Reg(Reg(arg))] })
    }

    fn func(body: Vec<Stmt>, regs: usize) -> Func {
        let regs = vec![RegInfo { ty: Ty::I32, mutable: false }; regs];
        Func { params: vec![Reg(0)], results: Vec::new(), regs, body, span: Span::UNDEFINED }
    }

    #[test]
    fn a_chain_needs_one_local() {
        let locals = of_function(&func(vec![op(1, 0), op(2, 1), op(3, 2), op(4, 3)], 5));
        assert_eq!(locals.types.len(), 1);
        assert_eq!(locals.of(Reg(0)), Store::Local(0));
    }

    #[test]
    fn what_is_alive_together_is_apart() {
        let locals = of_function(&func(vec![op(1, 0), op(2, 0), op(3, 1), op(4, 2)], 5));
        assert_ne!(locals.of(Reg(1)), locals.of(Reg(2)));
        assert_ne!(locals.of(Reg(3)), locals.of(Reg(2)));
    }

    #[test]
    fn what_comes_into_a_loop_lasts_through_it() {
        // Register 1 is read at the start of each round: nothing in the loop may take its local.
        let body = vec![op(2, 1), op(3, 2), op(4, 3)];
        let all = vec![op(1, 0), Stmt::Loop { label: Label(1), body, rare: false }];
        let locals = of_function(&func(all, 5));
        for inside in [2, 3, 4] {
            assert_ne!(locals.of(Reg(inside)), locals.of(Reg(1)));
        }
    }
}
