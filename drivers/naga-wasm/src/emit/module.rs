//! Sections, imports, exports and globals.

use std::collections::HashMap;

use wasm_encoder::{
    CodeSection, ConstExpr, DataCountSection, DataSection, EntityType, ExportKind, ExportSection, FunctionSection,
    GlobalSection, GlobalType, ImportSection, MemoryType, Module, TypeSection, ValType,
};

use super::body::{Body, Target, function_body};
use super::run::run_body;
use crate::abi;
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{Func, Reg, Ty, Unit, walk, walk_insts};
use crate::options::Options;
use crate::passes::locals::scalar_type;
use crate::passes::regions::Node;
use crate::passes::slots::Layout;
use crate::passes::variance::Variance;

/// Bytes of all copies of routines in a module; further uses call them.
pub(super) const MAX_COPIED: usize = 24 << 10;

/// Function index of the import.
const REFILL: u32 = 0;

/// Pages of a 4 GiB memory: the import takes any.
const MAX_PAGES: u64 = 65_536;

/// A signature.
type Signature = (Vec<ValType>, Vec<ValType>);

/// Functions of the module, in the order of their indices. Index 0 is the import.
#[derive(Default)]
pub(crate) struct Functions {
    signatures: Vec<Signature>,
    list: Vec<(u32, Option<wasm_encoder::Function>)>,
    pub(crate) routines: HashMap<super::routine::Routine, u32>,
}

impl Functions {
    fn signature(&mut self, signature: Signature) -> u32 {
        let at = self.signatures.iter().position(|known| *known == signature).unwrap_or_else(|| {
            self.signatures.push(signature);
            self.signatures.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// The index of a function whose body comes later.
    pub(crate) fn reserve(&mut self, params: &[ValType], results: &[ValType]) -> u32 {
        let ty = self.signature((params.to_vec(), results.to_vec()));
        self.list.push((ty, None));
        u32::try_from(self.list.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn define(&mut self, index: u32, body: wasm_encoder::Function) {
        if let Some((_, slot)) = (index as usize).checked_sub(1).and_then(|at| self.list.get_mut(at)) {
            *slot = Some(body);
        }
    }
}

/// Indices of the globals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Globals {
    pub(crate) scratch: u32,
    pub(crate) budget: u32,
    bindings: u32,
    constants: u32,
    last: u32,
    pub(crate) stopped: u32,
    pub(crate) context: u32,
    /// Four times the lane that a function is called for.
    pub(crate) lane: u32,
}

impl Globals {
    fn new(unit: &Unit) -> Self {
        let count = u32::try_from(unit.bindings.len()).unwrap_or(u32::MAX);
        let (bindings, constants) = (2, 2 + 2 * count);
        let last = constants + unit.constant_bytes / 4;
        let stopped = last + count;
        Self { scratch: 0, budget: 1, bindings, constants, last, stopped, context: stopped + 1, lane: stopped + 2 }
    }

    pub(crate) fn base(&self, binding: u32) -> u32 {
        self.bindings + 2 * binding
    }

    pub(crate) fn length(&self, binding: u32) -> u32 {
        self.bindings + 2 * binding + 1
    }

    /// Index of the last element of a runtime array; `run` computes it.
    pub(crate) fn last(&self, binding: u32) -> u32 {
        self.last + binding
    }

    pub(crate) fn constant(&self, word: u32) -> u32 {
        self.constants + word
    }
}

/// What all bodies of a module share.
pub(crate) struct Emitter<'a> {
    pub(crate) unit: &'a Unit,
    /// Of the entry point's registers.
    pub(crate) variances: &'a [Variance],
    pub(crate) layout: &'a Layout,
    pub(crate) options: &'a Options,
    pub(crate) globals: Globals,
    pub(crate) functions: Functions,
    /// Function index of each kept function.
    pub(crate) kept: Vec<u32>,
    /// Which of them have loops, or call one that has.
    pub(crate) spends: Vec<bool>,
    /// Cost of each, without its loops.
    pub(crate) costs: Vec<u64>,
    /// Function index of `spend`.
    pub(crate) spend: u32,
    /// Bytes of routines that were copied to where they are used.
    pub(crate) copied: usize,
    /// Scratch memory that is taken.
    scratch_bytes: u32,
    nowhere: Option<u32>,
}

/// Emits the module of a unit; also says how much scratch memory it needs in all.
pub(crate) fn emit(
    unit: &Unit,
    nodes: &[Node],
    variances: &[Variance],
    layout: &Layout,
    options: &Options,
) -> Result<(Vec<u8>, u32), Diagnostic> {
    let mut emitter = Emitter {
        unit,
        variances,
        layout,
        options,
        globals: Globals::new(unit),
        functions: Functions::default(),
        kept: Vec::new(),
        spends: Vec::new(),
        costs: Vec::new(),
        spend: 0,
        copied: 0,
        scratch_bytes: layout.total.next_multiple_of(16),
        nowhere: None,
    };
    emitter.spend = emitter.functions.reserve(&[ValType::I64], &[ValType::I64]);
    let spend = emitter.spend_body();
    emitter.functions.define(emitter.spend, spend);
    for func in &unit.functions {
        let params: Vec<_> = func.params.iter().map(|&param| scalar_type(param_ty(func, param))).collect();
        let results: Vec<_> = func.results.iter().map(|&ty| scalar_type(ty)).collect();
        let index = emitter.functions.reserve(&params, &results);
        let spends = emitter.options.counted && may_spend(func, &emitter.spends);
        let cost = super::cost::cost(&func.body, &emitter.costs);
        emitter.kept.push(index);
        emitter.spends.push(spends);
        emitter.costs.push(cost);
        let body = function_body(&mut emitter, func).map_err(|error| error.or_at(func.span))?;
        emitter.functions.define(index, body);
    }
    let (int, long) = (ValType::I32, ValType::I64);
    let run = emitter.functions.reserve(&[long, long, int, int, int], &[int]);
    let body = run_body(&mut emitter, nodes)?;
    emitter.functions.define(run, body);
    let scratch_bytes = emitter.scratch_bytes;
    Ok((emitter.finish(run)?, scratch_bytes))
}

fn param_ty(func: &Func, param: Reg) -> Ty {
    func.regs.get(param.0 as usize).map_or(Ty::I32, |info| info.ty)
}

fn may_spend(func: &Func, known: &[bool]) -> bool {
    let mut spends = false;
    walk(&func.body, &mut |stmt| spends |= matches!(stmt, crate::ir::Stmt::Loop { .. }));
    walk_insts(&func.body, &mut |inst| {
        spends |= super::cost::large(inst).is_some();
        if let crate::ir::Inst::Call { function, .. } = inst {
            spends |= known.get(*function as usize).copied().unwrap_or(true);
        }
    });
    spends
}

impl Emitter<'_> {
    /// Takes scratch memory for `count` registers; its offset. Each function has its own: none calls itself.
    pub(crate) fn add_spills(&mut self, count: u32) -> Result<u32, Diagnostic> {
        let at = self.scratch_bytes;
        let end = count.saturating_mul(super::value::VECTOR).saturating_add(at);
        let limit = self.options.max_scratch_bytes;
        if end > limit {
            let message = format!("the kernel's values need {end} bytes of scratch memory, more than {limit}");
            return Err(Diagnostic::new(Kind::Limit, message, None));
        }
        self.scratch_bytes = end;
        Ok(at)
    }

    /// Offset in scratch memory of a vector that is written and never read.
    pub(crate) fn nowhere(&mut self) -> Result<u32, Diagnostic> {
        if let Some(nowhere) = self.nowhere {
            return Ok(nowhere);
        }
        let nowhere = self.add_spills(1)?;
        self.nowhere = Some(nowhere);
        Ok(nowhere)
    }

    /// `spend(budget) -> budget`: asks for more, and sets `stopped` if there is none.
    fn spend_body(&self) -> wasm_encoder::Function {
        let mut body = Body::new(&[ValType::I64], &[ValType::I64], Target::Other);
        let mut code = body.code();
        code.call(REFILL).local_tee(1).i64_const(0).i64_le_s();
        code.if_(wasm_encoder::BlockType::Empty);
        code.i32_const(1).global_set(self.globals.stopped);
        code.local_get(0).return_();
        code.end();
        code.local_get(0).local_get(1).i64_add().end();
        body.into_function()
    }

    fn finish(self, run: u32) -> Result<Vec<u8>, Diagnostic> {
        let mut module = Module::new();
        let mut functions = self.functions;
        let refill = functions.signature((Vec::new(), vec![ValType::I64]));
        let mut types = TypeSection::new();
        for (params, results) in &functions.signatures {
            types.ty().function(params.iter().copied(), results.iter().copied());
        }
        module.section(&types);
        let mut imports = ImportSection::new();
        imports.import(abi::IMPORT_MODULE, abi::IMPORT_REFILL, EntityType::Function(refill));
        let memory =
            MemoryType { minimum: 1, maximum: Some(MAX_PAGES), memory64: false, shared: true, page_size_log2: None };
        imports.import(abi::IMPORT_MODULE, abi::IMPORT_MEMORY, EntityType::Memory(memory));
        module.section(&imports);
        let mut declared = FunctionSection::new();
        let mut code = CodeSection::new();
        for (ty, body) in &functions.list {
            declared.function(*ty);
            match body {
                Some(body) => code.function(body),
                None => {
                    return Err(Diagnostic::new(Kind::Invalid, "a function without a body: a compiler defect", None));
                }
            };
        }
        module.section(&declared);
        let (globals, mut exports) = declare_globals(self.unit, &self.globals);
        module.section(&globals);
        exports.export(abi::EXPORT_RUN, ExportKind::Func, run);
        module.section(&exports);
        let tables: Vec<_> = self.unit.objects.iter().filter_map(|object| object.table.as_ref()).collect();
        module.section(&DataCountSection { count: u32::try_from(tables.len()).unwrap_or(u32::MAX) });
        module.section(&code);
        let mut data = DataSection::new();
        for table in tables {
            data.passive(table.iter().copied());
        }
        module.section(&data);
        let wasm = module.finish();
        let limit = self.options.max_wasm_bytes;
        if wasm.len() > limit as usize {
            let message = format!("the kernel compiles to {} bytes of wasm, more than {limit}", wasm.len());
            return Err(Diagnostic::new(Kind::Limit, message, None));
        }
        Ok(wasm)
    }
}

fn declare_globals(unit: &Unit, indices: &Globals) -> (GlobalSection, ExportSection) {
    let mut globals = GlobalSection::new();
    let mut exports = ExportSection::new();
    let ty = |val_type| GlobalType { val_type, mutable: true, shared: false };
    let mut export = |name: &str, index| {
        exports.export(name, ExportKind::Global, index);
    };
    globals.global(ty(ValType::I32), &ConstExpr::i32_const(0));
    export(abi::EXPORT_SCRATCH, indices.scratch);
    globals.global(ty(ValType::I64), &ConstExpr::i64_const(0));
    export(abi::EXPORT_BUDGET, indices.budget);
    for (place, binding) in (0u32..).zip(&unit.bindings) {
        globals.global(ty(ValType::I32), &ConstExpr::i32_const(0));
        globals.global(ty(ValType::I32), &ConstExpr::i32_const(0));
        export(&abi::base_global(binding.number), indices.base(place));
        export(&abi::length_global(binding.number), indices.length(place));
    }
    for word in 0..unit.constant_bytes / 4 {
        globals.global(ty(ValType::I32), &ConstExpr::i32_const(0));
        export(&abi::constant_global(word), indices.constant(word));
    }
    // The last elements, `stopped`, `context` and `lane` are not exported.
    for _ in 0..unit.bindings.len() + 3 {
        globals.global(ty(ValType::I32), &ConstExpr::i32_const(0));
    }
    (globals, exports)
}
