//! Statements and instructions.

use std::collections::HashMap;

use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, MemArgTarget, ValType};

use super::cost::large;
use super::memory::{Lanes, Write};
use super::module::Emitter;
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{Cell, Func, Inst, Label, Operand, Reg, RegInfo, Stmt, walk, walk_insts};
use crate::passes::locals::{self, Locals, scalar_type};
use crate::passes::variance::Variance;

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
    /// Which of them a label belongs to, from the outermost on.
    places: HashMap<Label, usize>,
    /// Which of them is the innermost loop; the outermost if there is none.
    pub(super) innermost: usize,
    pub(crate) target: Target,
    pub(crate) builtins: super::gang::Builtins,
    results: Vec<ValType>,
    /// Local that holds the budget, if the function spends.
    pub(crate) budget: Option<u32>,
    pub(super) regs: Vec<RegInfo>,
    pub(super) variances: Vec<Variance>,
    pub(super) workgroup_size: [u32; 3],
    /// Whether what is written is hardly ever run.
    pub(super) cold: bool,
    /// Offset in scratch memory of the registers that have no local.
    pub(super) spills: Option<u32>,
    temporaries: Vec<Temporary>,
    /// First and number of the locals of pieces that are copied in.
    piece_locals: (u32, u32),
}

/// A local for what an instruction has to keep aside.
struct Temporary {
    ty: ValType,
    local: u32,
    taken: bool,
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
            places: HashMap::new(),
            innermost: 0,
            target,
            builtins: super::gang::Builtins::default(),
            results: Vec::new(),
            budget: None,
            regs: Vec::new(),
            variances: Vec::new(),
            workgroup_size: [1; 3],
            cold: false,
            spills: None,
            temporaries: Vec::new(),
            piece_locals: (0, 0),
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
        self.places.extend(labels.iter().map(|&label| (label, self.scopes.len())));
        self.scopes.push(Scope::Labels(labels));
    }

    pub(crate) fn open_plain(&mut self) {
        self.scopes.push(Scope::Plain);
    }

    pub(crate) fn close(&mut self) {
        if let Some(Scope::Labels(labels)) = self.scopes.pop() {
            for label in labels {
                self.places.remove(&label);
            }
        }
        self.code().end();
    }

    /// Branches to a label.
    pub(crate) fn branch(&mut self, label: Label) -> Result<(), Diagnostic> {
        let depth = self.depth(label)?;
        self.code().br(depth);
        Ok(())
    }

    /// How many constructs are open.
    pub(super) fn opened(&self) -> usize {
        self.scopes.len()
    }

    fn depth(&self, label: Label) -> Result<u32, Diagnostic> {
        let depth = self.places.get(&label).and_then(|place| self.scopes.len().checked_sub(place + 1));
        depth.and_then(|depth| u32::try_from(depth).ok()).ok_or_else(|| defect("a jump to nowhere"))
    }
}

pub(crate) fn defect(what: &str) -> Diagnostic {
    Diagnostic::new(Kind::Invalid, format!("{what}: this is a defect of the compiler"), None)
}

/// The body of a function that is not `run`.
pub(crate) fn function_body(emitter: &mut Emitter, func: &Func) -> Result<Function, Diagnostic> {
    let locals = locals::of_function(func);
    let params = vec![ValType::I32; func.params.len()];
    let mut body = Body::new(&params, &locals.types, Target::Other);
    body.locals = locals;
    body.regs = func.regs.clone();
    body.results = func.results.iter().map(|&ty| scalar_type(ty)).collect();
    if emitter.spends.last() == Some(&true) {
        let budget = body.local(ValType::I64);
        body.budget = Some(budget);
        body.code().global_get(emitter.globals.budget).local_set(budget);
    }
    body.declare_spills(emitter)?;
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
    pub(super) fn leave_with_zeros(&mut self, emitter: &Emitter) {
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

    pub(crate) fn list(&mut self, emitter: &mut Emitter, body: &[Stmt]) -> Result<(), Diagnostic> {
        for stmt in body {
            match stmt {
                Stmt::Inst(inst) => self.inst(emitter, inst, Lanes::All)?,
                Stmt::Masked { mask: Operand::Bool(true), inst } => self.inst(emitter, inst, Lanes::All)?,
                Stmt::Masked { mask: Operand::Bool(false), .. } => {}
                Stmt::Masked { mask, inst } => self.inst(emitter, inst, Lanes::Some(*mask))?,
                Stmt::If { condition, accept, reject, .. } => self.choose(emitter, *condition, accept, reject)?,
                Stmt::Block { label, body } => {
                    self.code().block(BlockType::Empty);
                    self.open_labels(vec![*label]);
                    self.list(emitter, body)?;
                    self.close();
                }
                Stmt::Loop { label, body, rare: true } => self.cold(|this| this.repeat(emitter, *label, body))?,
                Stmt::Loop { label, body, rare: false } => self.repeat(emitter, *label, body)?,
                Stmt::Jump { label, .. } => self.branch(*label)?,
                Stmt::Return { values } => {
                    self.save_budget(emitter);
                    for &value in values {
                        self.scalar(emitter, value)?;
                    }
                    self.code().return_();
                }
                Stmt::Barrier { .. } => return Err(defect("a barrier inside a region")),
            }
        }
        Ok(())
    }

    /// One of two lists. One that leaves the innermost loop is the branch that is taken, the other the one that is not:
    /// Cranelift comes to the latter first, and from blocks that it comes to after one behind the loop it no longer moves
    /// what stays the same out of the loop.
    fn choose(
        &mut self,
        emitter: &mut Emitter,
        condition: Operand,
        accept: &[Stmt],
        reject: &[Stmt],
    ) -> Result<(), Diagnostic> {
        self.scalar(emitter, condition)?;
        let exchanged = accept.is_empty() || (self.leaves(reject) && !self.leaves(accept));
        let (accept, reject) = if exchanged { (reject, accept) } else { (accept, reject) };
        if exchanged {
            self.code().i32_eqz();
        }
        if let (&[Stmt::Jump { label, .. }], []) = (accept, reject) {
            let depth = self.depth(label)?;
            self.code().br_if(depth);
            return Ok(());
        }
        self.code().if_(BlockType::Empty);
        self.open_plain();
        self.list(emitter, accept)?;
        if !reject.is_empty() {
            self.code().else_();
            self.list(emitter, reject)?;
        }
        self.close();
        Ok(())
    }

    /// Whether a list of statements may leave the innermost loop.
    fn leaves(&self, list: &[Stmt]) -> bool {
        let mut leaves = false;
        walk(list, &mut |stmt| {
            leaves |= match stmt {
                Stmt::Jump { label, .. } => self.places.get(label).is_some_and(|&place| place < self.innermost),
                Stmt::Return { .. } => true,
                _ => false,
            }
        });
        leaves
    }

    /// Makes room for the registers that have no local.
    pub(super) fn declare_spills(&mut self, emitter: &mut Emitter) -> Result<(), Diagnostic> {
        if self.locals.spills > 0 {
            self.spills = Some(emitter.add_spills(self.locals.spills)?);
        }
        Ok(())
    }

    /// A local that is free until the next instruction.
    pub(super) fn temporary(&mut self, ty: ValType) -> u32 {
        let free = self.temporaries.iter_mut().find(|temporary| temporary.ty == ty && !temporary.taken);
        if let Some(temporary) = free {
            temporary.taken = true;
            return temporary.local;
        }
        let local = self.local(ty);
        self.temporaries.push(Temporary { ty, local, taken: true });
        local
    }

    /// First of that many vector locals in a row, for one piece of code.
    pub(super) fn piece_locals(&mut self, count: u32) -> u32 {
        if self.piece_locals.1 < count {
            let first = self.local(ValType::V128);
            (1..count).for_each(|_| {
                self.local(ValType::V128);
            });
            self.piece_locals = (first, count);
        }
        self.piece_locals.0
    }

    /// Appends instructions that are already encoded.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn free_temporaries(&mut self) {
        self.temporaries.iter_mut().for_each(|temporary| temporary.taken = false);
    }

    fn inst(&mut self, emitter: &mut Emitter, inst: &Inst, lanes: Lanes) -> Result<(), Diagnostic> {
        self.free_temporaries();
        if let Some(units) = large(inst) {
            self.charge(emitter, units);
        }
        match inst {
            Inst::Op { dst, op, args } => {
                if let (Lanes::Some(mask), &[value]) = (lanes, args.as_slice()) {
                    return self.masked_copy(emitter, *dst, value, mask);
                }
                self.operation(emitter, *dst, *op, args)
            }
            Inst::Load { dst, cell, address } | Inst::UniformLoad { dst, cell, address } => {
                self.load(emitter, *dst, *cell, address)
            }
            Inst::LoadRow { dsts, cell, address, by_index } => self.load_row(emitter, *dsts, *cell, address, *by_index),
            Inst::Store { cell, address, value } => {
                self.store(emitter, Write { cell: *cell, address, value: *value, lanes })
            }
            Inst::Fill { address, length } => self.fill(emitter, address, *length, lanes),
            Inst::Move { to, from, length, grain } => self.copy(emitter, to, from, *length, *grain, lanes),
            Inst::Atomic { dst, op, address, value, compare } => {
                self.atomic(emitter, *dst, *op, address, *value, *compare, lanes)
            }
            Inst::Subgroup { dst, op, args } => self.subgroup(emitter, *dst, *op, args, lanes),
            Inst::Call { function, args, results } => self.call(emitter, *function, args, results, lanes),
        }
    }

    /// Sets a variable in the lanes that are on.
    fn masked_copy(&mut self, emitter: &Emitter, dst: Reg, value: Operand, mask: Operand) -> Result<(), Diagnostic> {
        self.vector(emitter, value)?;
        self.vector(emitter, Operand::Reg(dst))?;
        self.vector(emitter, mask)?;
        self.code().v128_bitselect();
        self.set_vector(emitter, dst)
    }
}

pub(super) fn memarg(cell: Cell, offset: u32) -> MemArg {
    let align = cell.bytes().trailing_zeros();
    MemArg { offset: u64::from(offset), align, target: MemArgTarget::Memory(0), ordering: None }
}

/// Whether kept functions are called in `body`.
pub(crate) fn calls(body: &[Stmt]) -> bool {
    let mut calls = false;
    walk_insts(body, &mut |inst| calls |= matches!(inst, Inst::Call { .. }));
    calls
}
