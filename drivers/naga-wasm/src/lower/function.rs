//! Function bodies.

use std::collections::HashMap;
use std::rc::Rc;

use naga::{BuiltIn, EntryPoint, Expression, Function, FunctionArgument, Handle, Statement, TypeInner};

use super::builder::Builder;
use super::place::{Place, Root};
use super::{Context, Exit, Frame, Lowerer, Meaning, Shared, Value};
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{Address, Base, Builtin, Func, LANES, Object, Op, Operand, Reg, Stmt, Unit};
use crate::layout::{Shape, ty_of, unsupported};
use crate::passes::inline::visit;

/// Functions copied into functions may be nested this deep: each level is several frames of this compiler's stack.
const MAX_CALL_DEPTH: u32 = 64;

/// Lowers an entry point and all that it calls.
pub(crate) fn lower(cx: &Context, entry_index: usize, entry: &EntryPoint) -> Result<Unit, Diagnostic> {
    let mut shared = Shared::default();
    let mut functions = Vec::new();
    for &handle in &cx.plan.kept {
        functions.push(lower_kept(cx, &mut shared, handle)?);
    }
    let info = cx.info.get_entry_point(entry_index);
    let frame = Frame::new(&entry.function, None, info, Vec::new());
    let mut lowerer = Lowerer::new(cx, &mut shared, frame);
    let arguments: Result<Vec<_>, _> =
        entry.function.arguments.iter().map(|argument| lowerer.builtin_argument(argument)).collect();
    lowerer.frame.arguments = arguments?;
    lowerer.initialise_privates()?;
    let end = lowerer.b.label();
    lowerer.b.open(lowerer.span)?;
    lowerer.frame.exit = Exit::Block { label: end, result: None };
    lowerer.body()?;
    let body = lowerer.b.close();
    lowerer.b.push(Stmt::Block { label: end, body });
    let (regs, body) = lowerer.b.finish();
    let entry_func = Func { params: Vec::new(), results: Vec::new(), regs, body, span: naga::Span::UNDEFINED };
    Ok(Unit {
        entry: entry_func,
        functions,
        objects: shared.objects,
        bindings: cx.globals.list.clone(),
        workgroup_bytes: cx.globals.workgroup_bytes,
        workgroup_size: entry.workgroup_size,
        constant_bytes: cx.globals.constant_bytes,
    })
}

fn lower_kept(cx: &Context, shared: &mut Shared, handle: Handle<Function>) -> Result<Func, Diagnostic> {
    let function = &cx.module.functions[handle];
    let frame = Frame::new(function, Some(handle), &cx.info[handle], Vec::new());
    let mut lowerer = Lowerer::new(cx, shared, frame);
    lowerer.at(cx.module.functions.get_span(handle));
    let mut params = Vec::new();
    for argument in &function.arguments {
        let shape = cx.layouts.shape(argument.ty)?;
        let regs = lowerer.temps(shape)?;
        params.extend(regs.iter().copied());
        let values: Vec<_> = regs.iter().map(|&reg| Operand::Reg(reg)).collect();
        lowerer.frame.arguments.push(Meaning::Value(Value::Flat(values.into())));
    }
    let results = match &function.result {
        Some(result) => {
            let leaves = cx.layouts.leaves(cx.layouts.shape(result.ty)?)?;
            leaves.iter().map(|leaf| ty_of(leaf.scalar)).collect()
        }
        None => Vec::new(),
    };
    lowerer.body()?;
    let span = cx.module.functions.get_span(handle);
    let (regs, body) = lowerer.b.finish();
    Ok(Func { params, results, regs, body, span })
}

impl<'a> Frame<'a> {
    fn new(
        function: &'a Function,
        handle: Option<Handle<Function>>,
        info: &'a naga::valid::FunctionInfo,
        arguments: Vec<Meaning>,
    ) -> Self {
        Self {
            function,
            handle,
            info,
            meanings: HashMap::new(),
            locals: HashMap::new(),
            arguments,
            exit: Exit::Function,
            breaks: Vec::new(),
            continues: Vec::new(),
        }
    }
}

impl<'a, 'u> Lowerer<'a, 'u> {
    fn new(cx: &'a Context<'a>, unit: &'u mut Shared, frame: Frame<'a>) -> Self {
        let span = naga::Span::UNDEFINED;
        Self { cx, unit, b: Builder::new(), frame, privates: HashMap::new(), span, depth: 0, nesting: 0 }
    }

    fn temps(&mut self, shape: Shape) -> Result<Vec<Reg>, Diagnostic> {
        let leaves = self.cx.layouts.leaves(shape)?;
        Ok(leaves.iter().map(|leaf| self.b.temp(ty_of(leaf.scalar))).collect())
    }

    pub(crate) fn variables(&mut self, shape: Shape) -> Result<Rc<[Reg]>, Diagnostic> {
        let leaves = self.cx.layouts.leaves(shape)?;
        Ok(leaves.iter().map(|leaf| self.b.variable(ty_of(leaf.scalar))).collect())
    }

    /// The locals' first values, then the statements.
    fn body(&mut self) -> Result<(), Diagnostic> {
        let function = self.frame.function;
        for (local, variable) in function.local_variables.iter() {
            self.at(function.local_variables.get_span(local));
            let shape = self.cx.layouts.shape(variable.ty).map_err(|error| error.or_at(self.span))?;
            let root = if self.cx.memory.has_local(self.frame.handle, local) {
                let object = self.new_object(shape);
                Self::object_place(object, shape).root
            } else {
                Root::Regs(self.variables(shape)?)
            };
            let place = Place { shape, root };
            let value = match variable.init {
                Some(init) => self.value(init)?,
                None => Value::Zero,
            };
            self.store(&place, &value)?;
            self.frame.locals.insert(local, place);
        }
        self.block(&function.body)
    }

    /// Private variables start anew in each invocation.
    fn initialise_privates(&mut self) -> Result<(), Diagnostic> {
        let used = self.frame.info;
        for (handle, variable) in self.cx.module.global_variables.iter() {
            if variable.space != naga::AddressSpace::Private || used[handle].is_empty() {
                continue;
            }
            self.at(self.cx.module.global_variables.get_span(handle));
            let place = self.private(handle)?;
            let value = match variable.init {
                Some(init) => self.constant(init)?,
                None => Value::Zero,
            };
            self.store(&place, &value)?;
        }
        Ok(())
    }

    /// The place of a private variable.
    pub(crate) fn private(&mut self, handle: Handle<naga::GlobalVariable>) -> Result<Place, Diagnostic> {
        let shape = self.cx.layouts.shape(self.cx.module.global_variables[handle].ty)?;
        if self.cx.memory.has_private(handle) {
            let (size, align) = self.cx.layouts.size(shape);
            let shared = self.cx.memory.shared.contains(&handle);
            let object = match self.unit.privates.get(&handle) {
                Some(&object) => object,
                None => self.unit.object(Object { size, align: align.max(4), table: None, shared }),
            };
            self.unit.privates.insert(handle, object);
            return Ok(Place { shape, root: Root::Memory(Address::start(Base::Object(object))) });
        }
        let regs = match self.privates.get(&handle) {
            Some(regs) => regs.clone(),
            None => self.variables(shape)?,
        };
        self.privates.insert(handle, regs.clone());
        Ok(Place { shape, root: Root::Regs(regs) })
    }

    fn builtin_argument(&mut self, argument: &FunctionArgument) -> Result<Meaning, Diagnostic> {
        let mut values = Vec::new();
        match (&argument.binding, &self.cx.module.types[argument.ty].inner) {
            (Some(naga::Binding::BuiltIn(builtin)), _) => self.builtin(*builtin, &mut values)?,
            (None, TypeInner::Struct { members, .. }) => {
                for member in members {
                    match member.binding {
                        Some(naga::Binding::BuiltIn(builtin)) => self.builtin(builtin, &mut values)?,
                        _ => return self.unsupported("an entry point argument that is no built-in value"),
                    }
                }
            }
            _ => return self.unsupported("an entry point argument that is no built-in value"),
        }
        Ok(Meaning::Value(Value::Flat(values.into())))
    }

    fn builtin(&mut self, builtin: BuiltIn, values: &mut Vec<Operand>) -> Result<(), Diagnostic> {
        let size = self.cx.workgroup_size;
        let axes = |f: fn(u8) -> Builtin| (0..3).map(move |axis| Operand::Builtin(f(axis)));
        match builtin {
            BuiltIn::LocalInvocationId => values.extend(axes(Builtin::Local)),
            BuiltIn::GlobalInvocationId => values.extend(axes(Builtin::Global)),
            BuiltIn::WorkGroupId => values.extend(axes(Builtin::Group)),
            BuiltIn::NumWorkGroups => values.extend(axes(Builtin::Groups)),
            BuiltIn::LocalInvocationIndex => values.push(Operand::Builtin(Builtin::LocalIndex)),
            BuiltIn::SubgroupSize => values.push(Operand::I32(LANES)),
            BuiltIn::SubgroupInvocationId => values.push(self.lane()),
            BuiltIn::SubgroupId => {
                let index = Operand::Builtin(Builtin::LocalIndex);
                values.push(self.b.op(Op::ShrU, &[index, Operand::I32(LANES.trailing_zeros())]));
            }
            BuiltIn::NumSubgroups => {
                let invocations = size.iter().fold(1, |product: u32, &axis| product.saturating_mul(axis));
                values.push(Operand::I32(invocations.div_ceil(LANES)));
            }
            BuiltIn::WorkGroupSize => values.extend(size.map(Operand::I32)),
            _ => return Err(unsupported(&format!("the built-in value {builtin:?}"), self.span)),
        }
        Ok(())
    }

    /// Copies a function into the one being lowered.
    pub(crate) fn copy_in(
        &mut self,
        callee: Handle<Function>,
        arguments: &[Handle<Expression>],
    ) -> Result<Option<Meaning>, Diagnostic> {
        if self.depth >= MAX_CALL_DEPTH {
            let message = format!("calls are nested more than {MAX_CALL_DEPTH} deep");
            return Err(Diagnostic::new(Kind::Limit, message, Some(self.span)));
        }
        let meanings: Result<Vec<_>, _> = arguments.iter().map(|&argument| self.meaning(argument)).collect();
        let function = &self.cx.module.functions[callee];
        let last_only = returns_last_only(function)?;
        let mut frame = Frame::new(function, Some(callee), &self.cx.info[callee], meanings?);
        let result = match &function.result {
            Some(result) if !last_only => Some(self.result_place(result.ty)?),
            _ => None,
        };
        let label = self.b.label();
        frame.exit = if last_only { Exit::Last(None) } else { Exit::Block { label, result: result.clone() } };
        let caller = std::mem::replace(&mut self.frame, frame);
        self.depth += 1;
        let span = self.span;
        self.b.open(span)?;
        self.body()?;
        let body = self.b.close();
        self.depth -= 1;
        let frame = std::mem::replace(&mut self.frame, caller);
        self.at(span);
        if let Exit::Last(value) = frame.exit {
            for stmt in body {
                self.b.push(stmt);
            }
            return Ok(value.map(Meaning::Value));
        }
        self.b.push(Stmt::Block { label, body });
        match result {
            Some(place) => Ok(Some(Meaning::Value(self.load(&place)?))),
            None => Ok(None),
        }
    }

    fn result_place(&mut self, ty: Handle<naga::Type>) -> Result<Place, Diagnostic> {
        let shape = self.cx.layouts.shape(ty)?;
        let root = if self.cx.layouts.is_flat(shape) {
            let regs = self.variables(shape)?;
            // wasm would do it, but every variable here has a value before it is read.
            let zeros = self.zeros(shape)?;
            for (&reg, zero) in regs.iter().zip(zeros) {
                self.b.copy(reg, zero);
            }
            Root::Regs(regs)
        } else {
            Self::object_place(self.new_object(shape), shape).root
        };
        Ok(Place { shape, root })
    }
}

/// Whether a function returns at its end and nowhere else, so that its body can stand in the caller as it is.
fn returns_last_only(function: &Function) -> Result<bool, Diagnostic> {
    let mut returns = 0;
    visit(&function.body, &mut |statement, _| returns += u32::from(matches!(statement, Statement::Return { .. })))?;
    Ok(returns == 0 || (returns == 1 && matches!(function.body.last(), Some(Statement::Return { .. }))))
}
