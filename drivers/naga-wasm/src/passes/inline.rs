//! Decides which functions are copied into their callers.
//!
//! A function must be if it contains a barrier (a barrier splits the entry point, not a callee) or a subgroup operation
//! (functions run for one invocation at a time), takes a pointer (so that variables stay in registers), or passes more
//! values than a wasm function comfortably can. It is as well if it is small or called from one place. Everything else
//! becomes a wasm function.

use naga::{Block, Function, Handle, Module, Span, Statement, TypeInner};

use crate::diagnostic::{Diagnostic, Kind};
use crate::layout::Layouts;

/// Statements may be nested this deep, functions copied into functions included. Front ends stop before it; each level
/// costs this compiler, wasm's validator and the code generator a stack frame.
pub(crate) const MAX_NESTING: u32 = 256;

/// Scalars that a wasm function takes or returns. wasm allows 1,000, but they go through memory beyond a few.
const MAX_PASSED_SCALARS: u32 = 32;

/// Functions up to this many expressions and statements are always copied: a call costs about as much.
const SMALL: u64 = 60;

/// Size, in expressions and statements, of the entry point and the functions that stay, with all that was copied into
/// them. Beyond it small functions are called, and if that does not help the kernel is refused: 2^n copies are easily written.
const MAX_INLINED: u64 = 60_000;

/// What is done with each function of a module.
pub(crate) struct Plan {
    inline: Vec<bool>,
    /// Functions that stay functions, callees first.
    pub(crate) kept: Vec<Handle<Function>>,
    /// All functions that can be called, callees first.
    pub(crate) reachable: Vec<Handle<Function>>,
}

impl Plan {
    pub(crate) fn is_inlined(&self, function: Handle<Function>) -> bool {
        self.inline.get(function.index()).copied().unwrap_or(true)
    }
}

/// Facts about one function.
#[derive(Clone, Copy, Default)]
struct Facts {
    /// It has something that invocations do together: a barrier, or a subgroup operation.
    together: bool,
    must: bool,
    own: u64,
    callers: u32,
    reachable: bool,
}

/// Makes the plan for entry point `entry` of `module`.
pub(crate) fn plan(module: &Module, layouts: &Layouts, entry: &Function) -> Result<Plan, Diagnostic> {
    let mut facts = vec![Facts::default(); module.functions.len()];
    for (handle, function) in module.functions.iter() {
        let found = survey(module, layouts, function, &facts)?;
        if let Some(slot) = facts.get_mut(handle.index()) {
            *slot = found;
        }
    }
    mark_reachable(module, entry, &mut facts)?;
    for keep_small in [true, false] {
        let inline: Vec<bool> =
            facts.iter().map(|facts| facts.must || facts.callers == 1 || (keep_small && facts.own <= SMALL)).collect();
        if total_size(module, entry, &inline, &facts)? <= MAX_INLINED {
            let reachable: Vec<_> = module
                .functions
                .iter()
                .map(|(handle, _)| handle)
                .filter(|handle| facts.get(handle.index()).is_some_and(|facts| facts.reachable))
                .collect();
            let kept = reachable.iter().copied().filter(|handle| inline.get(handle.index()) == Some(&false)).collect();
            return Ok(Plan { inline, kept, reachable });
        }
    }
    let message = format!("the kernel is larger than {MAX_INLINED} expressions once its functions are copied into it");
    Err(Diagnostic::new(Kind::Limit, message, None))
}

fn survey(module: &Module, layouts: &Layouts, function: &Function, known: &[Facts]) -> Result<Facts, Diagnostic> {
    let mut facts = Facts { own: function.expressions.len() as u64, ..Facts::default() };
    let mut passed = 0u32;
    for argument in &function.arguments {
        match module.types[argument.ty].inner {
            TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => facts.must = true,
            _ => passed = passed.saturating_add(layouts.scalars(layouts.shape(argument.ty)?)),
        }
    }
    let returned = match &function.result {
        Some(result) => layouts.scalars(layouts.shape(result.ty)?),
        None => 0,
    };
    facts.must |= passed > MAX_PASSED_SCALARS || returned > MAX_PASSED_SCALARS;
    visit(&function.body, &mut |statement, _| {
        facts.own += 1;
        match *statement {
            Statement::ControlBarrier(_)
            | Statement::WorkGroupUniformLoad { .. }
            | Statement::SubgroupBallot { .. }
            | Statement::SubgroupGather { .. }
            | Statement::SubgroupCollectiveOperation { .. } => facts.together = true,
            Statement::Call { function, .. } => {
                facts.together |= known.get(function.index()).is_some_and(|callee| callee.together);
            }
            _ => {}
        }
    })?;
    facts.must |= facts.together;
    Ok(facts)
}

fn mark_reachable(module: &Module, entry: &Function, facts: &mut [Facts]) -> Result<(), Diagnostic> {
    // Callers come after callees in the arena, so going backwards sees every caller first.
    let mut calls = calls_of(entry)?;
    for (handle, function) in module.functions.iter().rev() {
        let count = calls.iter().filter(|&&callee| callee == handle).count();
        let Some(facts) = facts.get_mut(handle.index()) else { continue };
        if count > 0 {
            facts.reachable = true;
            facts.callers = u32::try_from(count).unwrap_or(u32::MAX);
            calls.extend(calls_of(function)?);
        }
    }
    Ok(())
}

fn calls_of(function: &Function) -> Result<Vec<Handle<Function>>, Diagnostic> {
    let mut calls = Vec::new();
    visit(&function.body, &mut |statement, _| {
        if let Statement::Call { function, .. } = *statement {
            calls.push(function);
        }
    })?;
    Ok(calls)
}

fn total_size(module: &Module, entry: &Function, inline: &[bool], facts: &[Facts]) -> Result<u64, Diagnostic> {
    let mut sizes = vec![0u64; module.functions.len()];
    let mut sum = 0u64;
    for (handle, function) in module.functions.iter() {
        let size = inlined_size(function, inline, &sizes)?;
        let reachable = facts.get(handle.index()).is_some_and(|facts| facts.reachable);
        if reachable && inline.get(handle.index()) == Some(&false) {
            sum = sum.saturating_add(size);
        }
        if let Some(slot) = sizes.get_mut(handle.index()) {
            *slot = size;
        }
    }
    Ok(inlined_size(entry, inline, &sizes)?.saturating_add(sum))
}

fn inlined_size(function: &Function, inline: &[bool], sizes: &[u64]) -> Result<u64, Diagnostic> {
    let mut size = function.expressions.len() as u64;
    visit(&function.body, &mut |statement, _| {
        size = size.saturating_add(1);
        if let Statement::Call { function, .. } = *statement
            && inline.get(function.index()) == Some(&true)
        {
            size = size.saturating_add(sizes.get(function.index()).copied().unwrap_or(0));
        }
    })?;
    Ok(size)
}

/// Calls `f` for each statement of a naga block, outer ones first, and refuses too deep nesting.
pub(crate) fn visit<'a>(block: &'a Block, f: &mut impl FnMut(&'a Statement, Span)) -> Result<(), Diagnostic> {
    visit_at(block, 0, f)
}

fn visit_at<'a>(block: &'a Block, depth: u32, f: &mut impl FnMut(&'a Statement, Span)) -> Result<(), Diagnostic> {
    for (statement, &span) in block.span_iter() {
        if depth > MAX_NESTING {
            return Err(too_deep(span));
        }
        f(statement, span);
        match statement {
            Statement::Block(block) => visit_at(block, depth + 1, f)?,
            Statement::If { accept, reject, .. } => {
                visit_at(accept, depth + 1, f)?;
                visit_at(reject, depth + 1, f)?;
            }
            Statement::Switch { cases, .. } => {
                for case in cases {
                    visit_at(&case.body, depth + 1, f)?;
                }
            }
            Statement::Loop { body, continuing, .. } => {
                visit_at(body, depth + 1, f)?;
                visit_at(continuing, depth + 1, f)?;
            }
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn too_deep(span: Span) -> Diagnostic {
    let message = format!("statements are nested more than {MAX_NESTING} deep; move the inner ones to a function");
    Diagnostic::new(Kind::Limit, message, Some(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(source: &str) -> Vec<(String, bool)> {
        let module = naga::front::wgsl::parse_str(source).unwrap();
        let layouts = Layouts::new(&module).unwrap();
        let plan = plan(&module, &layouts, &module.entry_points[0].function).unwrap();
        let name = |handle: Handle<Function>| module.functions[handle].name.clone().unwrap_or_default();
        plan.reachable.iter().map(|&handle| (name(handle), plan.is_inlined(handle))).collect()
    }

    #[test]
    fn barriers_pointers_small_ones_and_single_calls_are_copied() {
        let long = "v = v * 3u + 1u;".repeat(40);
        let source = format!(
            "fn waits(v0: u32) -> u32 {{ var v = v0; {long} workgroupBarrier(); return v; }}
            fn around(v: u32) -> u32 {{ return waits(v); }}
            fn points(p: ptr<function, u32>) {{ var v = *p; {long} *p = v; }}
            fn small(v: u32) -> u32 {{ return v + 1u; }}
            fn once(v0: u32) -> u32 {{ var v = v0; {long} return v; }}
            fn often(v0: u32) -> u32 {{ var v = v0; {long} return v; }}
            fn never() {{}}
            @group(0) @binding(0) var<storage, read_write> o: array<u32>;
            @compute @workgroup_size(1) fn main() {{
                var x = o[0]; points(&x); points(&x);
                o[0] = around(x) + around(1u) + small(1u) + small(2u) + once(x) + often(x) + often(3u);
            }}"
        );
        let want =
            [("waits", true), ("around", true), ("points", true), ("small", true), ("once", true), ("often", false)];
        assert_eq!(planned(&source), want.map(|(name, inlined)| (name.to_owned(), inlined)));
    }
}
