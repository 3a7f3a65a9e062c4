//! Statements and instructions.

use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, MemArgTarget, ValType};

use super::module::{Emitter, val};
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{
    Address, AtomicOp, Base, Builtin, Cell, Func, Inst, Label, Op, Operand, Reg, RegInfo, Stmt, Ty, walk_insts,
};
use crate::passes::locals::{self, Locals, Store};
use crate::passes::slots::Home;

/// Which function a body is of: they leave in different ways.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Target {
    Run,
    Other,
}

/// An enclosing wasm construct, for the depth of branches.
#[derive(Clone, Debug)]
enum Scope {
    /// Its labels are its end, or its start if it is a loop.
    Labels(Vec<Label>),
    /// An `if`, or a loop of the compiler's own.
    Plain,
}

/// A function body under construction.
pub(crate) struct Body {
    bytes: Vec<u8>,
    params: u32,
    extra: Vec<ValType>,
    pub(crate) locals: Locals,
    scopes: Vec<Scope>,
    pub(crate) target: Target,
    pub(crate) builtins: super::run::Builtins,
    results: Vec<ValType>,
    /// Local that holds the budget, if the function spends.
    pub(crate) budget: Option<u32>,
    regs: Vec<RegInfo>,
    spills: Option<Spills>,
}

/// Where registers lie that have no local.
#[derive(Clone, Copy, Debug)]
struct Spills {
    /// Offset in scratch memory.
    at: u32,
    int: u32,
    float: u32,
}

impl Body {
    /// A body with parameters and further locals, for code that is written by hand.
    pub(crate) fn new(params: &[ValType], extra: &[ValType], target: Target) -> Self {
        Self {
            bytes: Vec::new(),
            params: u32::try_from(params.len()).unwrap_or(u32::MAX),
            extra: extra.to_vec(),
            locals: Locals::default(),
            scopes: Vec::new(),
            target,
            builtins: super::run::Builtins::default(),
            results: Vec::new(),
            budget: None,
            regs: Vec::new(),
            spills: None,
        }
    }

    pub(crate) fn code(&mut self) -> InstructionSink<'_> {
        InstructionSink::new(&mut self.bytes)
    }

    /// A further local.
    pub(crate) fn local(&mut self, ty: ValType) -> u32 {
        self.extra.push(ty);
        self.params + u32::try_from(self.extra.len() - 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn local_count(&self) -> u32 {
        self.params.saturating_add(u32::try_from(self.extra.len()).unwrap_or(u32::MAX))
    }

    pub(crate) fn into_function(self) -> Function {
        let mut function = Function::new_with_locals_types(self.extra);
        function.raw(self.bytes);
        function
    }

    pub(crate) fn open_labels(&mut self, labels: Vec<Label>) {
        self.scopes.push(Scope::Labels(labels));
    }

    pub(crate) fn open_plain(&mut self) {
        self.scopes.push(Scope::Plain);
    }

    pub(crate) fn close(&mut self) {
        self.scopes.pop();
        self.code().end();
    }

    /// Branches to a label.
    pub(crate) fn branch(&mut self, label: Label) -> Result<(), Diagnostic> {
        let depth = self.scopes.iter().rev().position(|scope| match scope {
            Scope::Labels(labels) => labels.contains(&label),
            Scope::Plain => false,
        });
        let depth = depth.and_then(|depth| u32::try_from(depth).ok());
        self.code().br(depth.ok_or_else(|| defect("a jump to nowhere"))?);
        Ok(())
    }
}

pub(crate) fn defect(what: &str) -> Diagnostic {
    Diagnostic::new(Kind::Invalid, format!("{what}: this is a defect of the compiler"), None)
}

/// Most work units of one body. Functions that call each other double them at every level; this is days of work, and far enough from the end of
/// the type that what is added to it or multiplied by the invocations of a workgroup does not overflow.
const MAX_COST: u64 = 1 << 48;

/// Work units of `body`, without the rounds of its loops, at most [`MAX_COST`]: what is charged before it runs.
pub(crate) fn cost(body: &[Stmt], callees: &[u64]) -> u64 {
    let mut sum = 0u64;
    for stmt in body {
        sum = sum.saturating_add(match stmt {
            Stmt::Inst(inst) => inst_cost(inst, callees),
            Stmt::If { accept, reject, .. } => 1 + cost(accept, callees).saturating_add(cost(reject, callees)),
            Stmt::Block { body, .. } => cost(body, callees),
            Stmt::Loop { .. } | Stmt::Jump { .. } | Stmt::Return { .. } | Stmt::Barrier { .. } => 1,
        });
    }
    sum.min(MAX_COST)
}

fn inst_cost(inst: &Inst, callees: &[u64]) -> u64 {
    match inst {
        Inst::Op { op: Op::Helper(_), .. } => 20,
        Inst::Op { op: Op::DivS | Op::DivU | Op::RemS | Op::RemU | Op::FDiv | Op::FSqrt, .. } => 8,
        Inst::Op { .. } | Inst::Store { .. } | Inst::Load { .. } | Inst::UniformLoad { .. } => 1,
        Inst::Fill { length, .. } | Inst::Move { length, .. } => 8 + u64::from(length / 16),
        Inst::Atomic { .. } => 16,
        Inst::Call { function, .. } => 4 + callees.get(*function as usize).copied().unwrap_or(0),
    }
}

/// The body of a function that is not `run`.
pub(crate) fn function_body(emitter: &mut Emitter, func: &Func) -> Result<Function, Diagnostic> {
    let locals = locals::of_function(func);
    let params = vec![ValType::I32; func.params.len()];
    let extra: Vec<_> = locals.types.iter().map(|&ty| val(ty)).collect();
    let mut body = Body::new(&params, &extra, Target::Other);
    body.locals = locals;
    body.results = func.results.iter().map(|&ty| val(ty)).collect();
    if emitter.spends.last() == Some(&true) {
        let budget = body.local(ValType::I64);
        body.budget = Some(budget);
        body.code().global_get(emitter.globals.budget).local_set(budget);
    }
    body.declare_spills(emitter, &func.regs)?;
    check_locals(emitter, &body)?;
    body.list(emitter, &func.body)?;
    body.leave_with_zeros(emitter);
    body.code().end();
    Ok(body.into_function())
}

pub(crate) fn check_locals(emitter: &Emitter, body: &Body) -> Result<(), Diagnostic> {
    let (count, limit) = (body.local_count(), emitter.options.max_locals);
    if count <= limit {
        return Ok(());
    }
    let message = format!("a function needs {count} wasm locals, more than {limit}; it holds too many values at once");
    Err(Diagnostic::new(Kind::Limit, message, None))
}

impl Body {
    /// Keeps the budget for the caller and leaves with results that nobody will look at.
    fn leave_with_zeros(&mut self, emitter: &Emitter) {
        self.save_budget(emitter);
        if self.target == Target::Run {
            self.code().i32_const(crate::abi::STATUS_STOPPED);
        }
        for result in self.results.clone() {
            match result {
                ValType::F32 => self.code().f32_const(0.0.into()),
                _ => self.code().i32_const(0),
            };
        }
        self.code().return_();
    }

    pub(crate) fn save_budget(&mut self, emitter: &Emitter) {
        if let Some(budget) = self.budget {
            self.code().local_get(budget).global_set(emitter.globals.budget);
        }
    }

    /// Takes `units` off the budget; leaves the function if there is no more to be had.
    pub(crate) fn charge(&mut self, emitter: &Emitter, units: u64) {
        let Some(budget) = self.budget else { return };
        let units = i64::try_from(units).unwrap_or(i64::MAX >> 8);
        self.code().local_get(budget).i64_const(units).i64_sub().local_tee(budget).i64_const(0).i64_lt_s();
        self.code().if_(BlockType::Empty);
        self.code().local_get(budget).call(emitter.spend).local_set(budget);
        self.leave_if_stopped(emitter);
        self.code().end();
    }

    fn leave_if_stopped(&mut self, emitter: &Emitter) {
        self.code().global_get(emitter.globals.stopped).if_(BlockType::Empty);
        self.leave_with_zeros(emitter);
        self.code().end();
    }

    pub(crate) fn list(&mut self, emitter: &mut Emitter, body: &[Stmt]) -> Result<(), Diagnostic> {
        for stmt in body {
            match stmt {
                Stmt::Inst(inst) => self.inst(emitter, inst)?,
                Stmt::If { condition, accept, reject, .. } => {
                    self.operand(emitter, *condition)?;
                    self.code().if_(BlockType::Empty);
                    self.open_plain();
                    self.list(emitter, accept)?;
                    if !reject.is_empty() {
                        self.code().else_();
                        self.list(emitter, reject)?;
                    }
                    self.close();
                }
                Stmt::Block { label, body } => {
                    self.code().block(BlockType::Empty);
                    self.open_labels(vec![*label]);
                    self.list(emitter, body)?;
                    self.close();
                }
                Stmt::Loop { label, body } => {
                    self.code().loop_(BlockType::Empty);
                    self.open_labels(vec![*label]);
                    self.charge(emitter, cost(body, &emitter.costs) + 1);
                    self.list(emitter, body)?;
                    self.close();
                }
                Stmt::Jump { label, .. } => self.branch(*label)?,
                Stmt::Return { values } => {
                    self.save_budget(emitter);
                    for &value in values {
                        self.operand(emitter, value)?;
                    }
                    self.code().return_();
                }
                Stmt::Barrier { .. } => return Err(defect("a barrier inside a region")),
            }
        }
        Ok(())
    }

    /// Makes what registers in memory need: an area, and locals to turn a value and its address around.
    pub(super) fn declare_spills(&mut self, emitter: &mut Emitter, regs: &[RegInfo]) -> Result<(), Diagnostic> {
        self.regs = regs.to_vec();
        if self.locals.words > 0 {
            let (int, float) = (self.local(ValType::I32), self.local(ValType::F32));
            self.spills = Some(Spills { at: emitter.add_spills(self.locals.words)?, int, float });
        }
        Ok(())
    }

    fn reg_ty(&self, reg: Reg) -> Ty {
        self.regs.get(reg.0 as usize).map_or(Ty::I32, |info| info.ty)
    }

    /// Pushes a register's value.
    pub(super) fn get(&mut self, emitter: &Emitter, reg: Reg) {
        match (self.locals.of(reg), self.spills) {
            (Store::Word(word), Some(spills)) => {
                let cell = if self.reg_ty(reg) == Ty::F32 { Cell::F32 } else { Cell::I32 };
                self.local_or_global(self.builtins.scratch(), emitter.globals.scratch);
                self.load(cell, spills.at + 4 * word);
            }
            (Store::Local(local) | Store::Word(local), _) => {
                self.code().local_get(local);
            }
        }
    }

    /// Pops a register's value.
    pub(super) fn set(&mut self, emitter: &Emitter, reg: Reg) {
        match (self.locals.of(reg), self.spills) {
            (Store::Word(word), Some(spills)) => {
                let (cell, turn) = match self.reg_ty(reg) {
                    Ty::F32 => (Cell::F32, spills.float),
                    Ty::I32 => (Cell::I32, spills.int),
                };
                self.code().local_set(turn);
                self.local_or_global(self.builtins.scratch(), emitter.globals.scratch);
                self.code().local_get(turn);
                self.store(cell, spills.at + 4 * word);
            }
            (Store::Local(local) | Store::Word(local), _) => {
                self.code().local_set(local);
            }
        }
    }

    /// Pushes a value.
    pub(crate) fn operand(&mut self, emitter: &Emitter, operand: Operand) -> Result<(), Diagnostic> {
        match operand {
            Operand::Reg(reg) => self.get(emitter, reg),
            Operand::I32(bits) => {
                self.code().i32_const(bits.cast_signed());
            }
            Operand::F32(bits) => {
                self.code().f32_const(f32::from_bits(bits).into());
            }
            Operand::Builtin(builtin) => self.builtin(emitter, builtin)?,
        }
        Ok(())
    }

    fn builtin(&mut self, emitter: &Emitter, builtin: Builtin) -> Result<(), Diagnostic> {
        if self.target == Target::Run
            && let Some(local) = self.builtins.local_of(builtin)
        {
            self.code().local_get(local);
            return Ok(());
        }
        let globals = emitter.globals;
        match builtin {
            Builtin::Last(binding) => self.code().global_get(globals.last(binding)),
            Builtin::Constant(word) => self.code().global_get(globals.constant(word)),
            // An axis of one invocation.
            Builtin::Local(_) if self.target == Target::Run => self.code().i32_const(0),
            _ => return Err(defect("a built-in value outside of the entry point")),
        };
        Ok(())
    }

    /// Pushes the address without its offset; returns the offset.
    pub(super) fn address(&mut self, emitter: &Emitter, address: Address) -> Result<u32, Diagnostic> {
        let mut offset = address.offset;
        let globals = emitter.globals;
        match address.base {
            Base::Binding(binding) => self.local_or_global(self.builtins.base_of(binding), globals.base(binding)),
            Base::Workgroup => self.local_or_global(self.builtins.scratch(), globals.scratch),
            Base::Object(object) => match emitter.layout.home(object) {
                Some(Home::Scratch(at)) => {
                    offset += at;
                    self.local_or_global(self.builtins.scratch(), globals.scratch);
                }
                Some(Home::Context(at)) => {
                    offset += at;
                    self.local_or_global(self.builtins.context(), globals.context);
                }
                None => return Err(defect("an object without a place")),
            },
        }
        if let Some(index) = address.index {
            self.operand(emitter, index)?;
            self.code().i32_add();
        }
        Ok(offset)
    }

    fn local_or_global(&mut self, local: Option<u32>, global: u32) {
        match local {
            Some(local) => self.code().local_get(local),
            None => self.code().global_get(global),
        };
    }

    fn inst(&mut self, emitter: &mut Emitter, inst: &Inst) -> Result<(), Diagnostic> {
        match inst {
            Inst::Op { dst, op, args } => {
                for &arg in args {
                    self.operand(emitter, arg)?;
                }
                self.op(emitter, *op, args)?;
                self.set(emitter, *dst);
            }
            Inst::Load { dst, cell, address } | Inst::UniformLoad { dst, cell, address } => {
                let offset = self.address(emitter, *address)?;
                self.load(*cell, offset);
                self.set(emitter, *dst);
            }
            Inst::Store { cell, address, value } => {
                let offset = self.address(emitter, *address)?;
                self.operand(emitter, *value)?;
                self.store(*cell, offset);
            }
            Inst::Fill { address, length } => {
                self.whole_address(emitter, *address)?;
                self.code().i32_const(0).i32_const(length.cast_signed()).memory_fill(0);
            }
            Inst::Move { to, from, length } => {
                self.whole_address(emitter, *to)?;
                self.whole_address(emitter, *from)?;
                self.code().i32_const(length.cast_signed()).memory_copy(0, 0);
            }
            Inst::Atomic { dst, op, address, value, compare } => {
                self.atomic(emitter, *op, *address, *value, *compare)?;
                match dst {
                    Some(dst) => {
                        self.set(emitter, *dst);
                    }
                    None if *op != AtomicOp::Store => {
                        self.code().drop();
                    }
                    None => {}
                }
            }
            Inst::Call { function, args, results } => self.call(emitter, *function, args, results)?,
        }
        Ok(())
    }

    pub(super) fn whole_address(&mut self, emitter: &Emitter, address: Address) -> Result<(), Diagnostic> {
        let offset = self.address(emitter, address)?;
        if offset != 0 {
            self.code().i32_const(offset.cast_signed()).i32_add();
        }
        Ok(())
    }

    pub(crate) fn load(&mut self, cell: Cell, offset: u32) {
        let memarg = memarg(cell, offset);
        match cell {
            Cell::I32 => self.code().i32_load(memarg),
            Cell::F32 => self.code().f32_load(memarg),
            Cell::Byte => self.code().i32_load8_u(memarg),
        };
    }

    pub(crate) fn store(&mut self, cell: Cell, offset: u32) {
        let memarg = memarg(cell, offset);
        match cell {
            Cell::I32 => self.code().i32_store(memarg),
            Cell::F32 => self.code().f32_store(memarg),
            Cell::Byte => self.code().i32_store8(memarg),
        };
    }

    fn call(
        &mut self,
        emitter: &mut Emitter,
        function: u32,
        args: &[Operand],
        results: &[Reg],
    ) -> Result<(), Diagnostic> {
        let spends = emitter.spends.get(function as usize).copied().unwrap_or(true);
        let index = emitter.kept.get(function as usize).copied().ok_or_else(|| defect("a call of no function"))?;
        if spends {
            self.save_budget(emitter);
        }
        for &arg in args {
            self.operand(emitter, arg)?;
        }
        self.code().call(index);
        for &result in results.iter().rev() {
            self.set(emitter, result);
        }
        if spends {
            if let Some(budget) = self.budget {
                self.code().global_get(emitter.globals.budget).local_set(budget);
            }
            self.leave_if_stopped(emitter);
        }
        Ok(())
    }
}

pub(super) fn memarg(cell: Cell, offset: u32) -> MemArg {
    let align = if cell == Cell::Byte { 0 } else { 2 };
    MemArg { offset: u64::from(offset), align, target: MemArgTarget::Memory(0), ordering: None }
}

/// Whether kept functions are called in `body`.
pub(crate) fn calls(body: &[Stmt]) -> bool {
    let mut calls = false;
    walk_insts(body, &mut |inst| calls |= matches!(inst, Inst::Call { .. }));
    calls
}
