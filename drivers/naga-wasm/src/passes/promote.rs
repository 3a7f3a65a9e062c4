//! Decides which variables live in registers: those of few scalars whose array elements are all named by constants.
//!
//! A vector or matrix component with a computed index is fine (it becomes a choice between registers); an array element
//! is not (it becomes an address).

use std::collections::HashSet;

use naga::{
    AddressSpace, Arena, Expression, Function, GlobalVariable, Handle, Literal, LocalVariable, Module, Statement,
    TypeInner,
};

use super::inline::{Plan, visit};
use crate::diagnostic::Diagnostic;
use crate::layout::Layouts;

/// Variables with more scalars than this stay in memory: registers are few, and each is a wasm local.
const MAX_PROMOTED_SCALARS: u32 = 64;

/// The variables that must have an address.
#[derive(Default)]
pub(crate) struct Memory {
    locals: HashSet<(Option<Handle<Function>>, Handle<LocalVariable>)>,
    privates: HashSet<Handle<GlobalVariable>>,
    arguments: HashSet<(Handle<Function>, u32)>,
    /// Private variables that functions use which are not inlined.
    pub(crate) shared: HashSet<Handle<GlobalVariable>>,
}

impl Memory {
    /// Whether a local variable of `function` (`None`: the entry point) needs an address.
    pub(crate) fn has_local(&self, function: Option<Handle<Function>>, local: Handle<LocalVariable>) -> bool {
        self.locals.contains(&(function, local))
    }

    /// Whether a private variable needs an address.
    pub(crate) fn has_private(&self, variable: Handle<GlobalVariable>) -> bool {
        self.privates.contains(&variable) || self.shared.contains(&variable)
    }
}

/// Where a chain of accesses starts.
#[derive(Clone, Copy, PartialEq)]
enum Root {
    Local(Handle<LocalVariable>),
    Private(Handle<GlobalVariable>),
    Argument(u32),
    Other,
}

/// Finds the variables that need an address, in all functions of the plan and in `entry`.
pub(crate) fn promote(module: &Module, layouts: &Layouts, plan: &Plan, entry: &Function) -> Result<Memory, Diagnostic> {
    let mut memory = Memory::default();
    for (handle, variable) in module.global_variables.iter() {
        if variable.space == AddressSpace::Private
            && layouts.scalars(layouts.shape(variable.ty)?) > MAX_PROMOTED_SCALARS
        {
            memory.privates.insert(handle);
        }
    }
    for &handle in &plan.reachable {
        let function = &module.functions[handle];
        survey(module, layouts, Some(handle), function, &mut memory)?;
    }
    survey(module, layouts, None, entry, &mut memory)?;
    spread_shared(module, plan, &mut memory)?;
    Ok(memory)
}

/// Private variables used by whatever a kept function calls are shared too, however deep.
fn spread_shared(module: &Module, plan: &Plan, memory: &mut Memory) -> Result<(), Diagnostic> {
    let mut called: HashSet<Handle<Function>> = plan.kept.iter().copied().collect();
    for &handle in plan.reachable.iter().rev() {
        if called.contains(&handle) {
            note_shared(module, &module.functions[handle], memory);
            called.extend(calls(&module.functions[handle])?.into_iter().map(|(_, callee)| callee));
        }
    }
    Ok(())
}

fn note_shared(module: &Module, function: &Function, memory: &mut Memory) {
    for (_, expression) in function.expressions.iter() {
        if let Expression::GlobalVariable(variable) = *expression
            && module.global_variables[variable].space == AddressSpace::Private
        {
            memory.shared.insert(variable);
        }
    }
}

type Calls<'a> = Vec<(&'a [Handle<Expression>], Handle<Function>)>;

fn calls(function: &Function) -> Result<Calls<'_>, Diagnostic> {
    let mut calls = Vec::new();
    visit(&function.body, &mut |statement, _| {
        if let Statement::Call { function, arguments, .. } = statement {
            calls.push((arguments.as_slice(), *function));
        }
    })?;
    Ok(calls)
}

fn survey(
    module: &Module,
    layouts: &Layouts,
    handle: Option<Handle<Function>>,
    function: &Function,
    memory: &mut Memory,
) -> Result<(), Diagnostic> {
    for (local, variable) in function.local_variables.iter() {
        if layouts.scalars(layouts.shape(variable.ty)?) > MAX_PROMOTED_SCALARS {
            memory.locals.insert((handle, local));
        }
    }
    for (_, expression) in function.expressions.iter() {
        if let Expression::Access { base, index } = *expression
            && const_index(module, &function.expressions, index).is_none()
            && points_to_array(module, function, base)
        {
            pin(root(function, base), handle, memory);
        }
    }
    for (arguments, callee) in calls(function)? {
        for (position, &argument) in arguments.iter().enumerate() {
            let position = u32::try_from(position).unwrap_or(u32::MAX);
            if memory.arguments.contains(&(callee, position)) {
                pin(root(function, argument), handle, memory);
            }
        }
    }
    Ok(())
}

fn pin(root: Root, function: Option<Handle<Function>>, memory: &mut Memory) {
    match root {
        Root::Local(local) => {
            memory.locals.insert((function, local));
        }
        Root::Private(variable) => {
            memory.privates.insert(variable);
        }
        Root::Argument(position) => {
            if let Some(function) = function {
                memory.arguments.insert((function, position));
            }
        }
        Root::Other => {}
    }
}

fn root(function: &Function, mut expression: Handle<Expression>) -> Root {
    loop {
        match function.expressions[expression] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => expression = base,
            Expression::LocalVariable(local) => return Root::Local(local),
            Expression::GlobalVariable(variable) => return Root::Private(variable),
            Expression::FunctionArgument(position) => return Root::Argument(position),
            _ => return Root::Other,
        }
    }
}

/// Whether `expression` is a pointer to an array. Anything that is no chain of accesses from a variable is not.
fn points_to_array(module: &Module, function: &Function, expression: Handle<Expression>) -> bool {
    let mut path = Vec::new();
    let mut at = expression;
    let mut ty = loop {
        match function.expressions[at] {
            Expression::Access { base, .. } => {
                path.push(0);
                at = base;
            }
            Expression::AccessIndex { base, index } => {
                path.push(index);
                at = base;
            }
            Expression::LocalVariable(local) => break function.local_variables[local].ty,
            Expression::GlobalVariable(variable) => break module.global_variables[variable].ty,
            Expression::FunctionArgument(position) => {
                let Some(argument) = function.arguments.get(position as usize) else { return false };
                match module.types[argument.ty].inner {
                    TypeInner::Pointer { base, .. } => break base,
                    _ => return false,
                }
            }
            _ => return false,
        }
    };
    for index in path.into_iter().rev() {
        ty = match module.types[ty].inner {
            TypeInner::Array { base, .. } => base,
            TypeInner::Struct { ref members, .. } => match members.get(index as usize) {
                Some(member) => member.ty,
                None => return false,
            },
            _ => return false,
        };
    }
    matches!(module.types[ty].inner, TypeInner::Array { .. })
}

/// The value of an index that is a constant.
pub(crate) fn const_index(module: &Module, expressions: &Arena<Expression>, index: Handle<Expression>) -> Option<u32> {
    let literal = match expressions[index] {
        Expression::Literal(literal) => literal,
        Expression::Constant(constant) => match module.global_expressions[module.constants[constant].init] {
            Expression::Literal(literal) => literal,
            Expression::ZeroValue(_) => Literal::U32(0),
            _ => return None,
        },
        _ => return None,
    };
    match literal {
        Literal::U32(value) => Some(value),
        Literal::I32(value) => u32::try_from(value).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::inline::plan;

    #[test]
    fn arrays_with_a_computed_index_need_an_address() {
        let source = "
            var<private> table: array<u32, 4>;
            var<private> few: array<u32, 4>;
            struct S { v: vec4<u32>, list: array<u32, 4> }
            fn pick(p: ptr<function, array<u32, 4>>, i: u32) -> u32 { return (*p)[i]; }
            fn first(p: ptr<function, array<u32, 4>>) -> u32 { return (*p)[0]; }
            @group(0) @binding(0) var<storage, read_write> o: array<u32>;
            @compute @workgroup_size(1) fn main() {
                let i = o[0];
                var vector: vec4<u32>; vector[i] = 1u;
                var named: array<u32, 4>; named[2] = 1u;
                var computed: array<u32, 4>; computed[i] = 1u;
                var member: S; member.list[i] = 1u;
                var passed: array<u32, 4>; o[1] = pick(&passed, i);
                var kept: array<u32, 4>; o[2] = first(&kept);
                var large: array<u32, 65>; large[1] = 1u;
                table[i] = few[1];
            }";
        let module = naga::front::wgsl::parse_str(source).unwrap();
        let layouts = Layouts::new(&module).unwrap();
        let entry = &module.entry_points[0].function;
        let plan = plan(&module, &layouts, entry).unwrap();
        let memory = promote(&module, &layouts, &plan, entry).unwrap();
        let in_memory: Vec<_> = entry
            .local_variables
            .iter()
            .filter(|&(local, _)| memory.has_local(None, local))
            .map(|(_, variable)| variable.name.clone().unwrap_or_default())
            .collect();
        assert_eq!(in_memory, ["computed", "member", "passed", "large"]);
        let privates: Vec<_> = module
            .global_variables
            .iter()
            .filter(|&(variable, _)| memory.has_private(variable))
            .map(|(_, variable)| variable.name.clone().unwrap_or_default())
            .collect();
        assert_eq!(privates, ["table"]);
    }
}
