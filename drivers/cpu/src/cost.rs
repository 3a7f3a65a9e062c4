//! What a kernel costs, counted in the compiled code itself: to turn it into machine code, and to run it.
//!
//! The compiler lets a kernel look at its budget in every loop. Code without loops can be long all the same: thirty functions that each call the
//! next one twice are a kilobyte of source and a billion steps. The count here does not rely on the compiler's.

use wasmparser::{Operator, Parser, Payload, TypeRef};

/// What one module costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Costs {
    /// The operators that a call of the costliest function executes at most if no loop repeats. `u64::MAX` if that cannot be told.
    pub(crate) straight: u64,
    /// Blocks of all functions.
    pub(crate) blocks: u64,
    /// Blocks times locals, summed over the functions: the size of the tables that turning locals into values fills.
    pub(crate) block_locals: u64,
}

/// Looks at a module once, without validating it.
///
/// # Errors
/// It cannot be read at all.
pub(crate) fn of(wasm: &[u8]) -> wasmparser::Result<Costs> {
    let functions = functions(wasm)?;
    let blocks = functions.iter().fold(0, |sum: u64, body| sum.saturating_add(body.blocks));
    let block_locals =
        functions.iter().fold(0, |sum: u64, body| sum.saturating_add(body.blocks.saturating_mul(body.locals)));
    let mut graph = Graph { known: vec![Cost::Unknown; functions.len()], functions };
    let straight = (0..graph.functions.len()).map(|index| graph.cost(index)).max().unwrap_or(0);
    Ok(Costs { straight, blocks, block_locals })
}

/// What is in a function, and which functions it calls.
#[derive(Default)]
struct Body {
    operators: u64,
    blocks: u64,
    /// Those it declares; parameters are few.
    locals: u64,
    calls: Vec<usize>,
    /// It calls what cannot be told.
    unknown: bool,
}

#[derive(Clone, Copy)]
enum Cost {
    Unknown,
    /// Being counted: to meet it again is recursion.
    Open,
    Known(u64),
}

struct Graph {
    functions: Vec<Body>,
    known: Vec<Cost>,
}

impl Graph {
    /// Recurses as deep as functions call each other; the caller has a deep stack, and sources a bounded number of functions.
    fn cost(&mut self, index: usize) -> u64 {
        match self.known.get(index).copied() {
            Some(Cost::Known(cost)) => return cost,
            Some(Cost::Open) | None => return u64::MAX,
            Some(Cost::Unknown) => self.learn(index, Cost::Open),
        }
        let body = self.functions.get_mut(index).map(std::mem::take).unwrap_or_default();
        let mut cost = if body.unknown { u64::MAX } else { body.operators };
        for callee in body.calls {
            cost = cost.saturating_add(self.cost(callee));
        }
        self.learn(index, Cost::Known(cost));
        cost
    }

    fn learn(&mut self, index: usize, cost: Cost) {
        if let Some(known) = self.known.get_mut(index) {
            *known = cost;
        }
    }
}

fn functions(wasm: &[u8]) -> wasmparser::Result<Vec<Body>> {
    // Imported functions come first in numbering; each call of one counts as an operator.
    let mut functions = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    if matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)) {
                        functions.push(Body::default());
                    }
                }
            }
            Payload::CodeSectionEntry(code) => functions.push(body(&code)?),
            _ => {}
        }
    }
    Ok(functions)
}

fn body(code: &wasmparser::FunctionBody<'_>) -> wasmparser::Result<Body> {
    let mut body = Body::default();
    for local in code.get_locals_reader()? {
        body.locals = body.locals.saturating_add(u64::from(local?.0));
    }
    for operator in code.get_operators_reader()? {
        body.operators += 1;
        match operator? {
            Operator::Call { function_index } | Operator::ReturnCall { function_index } => {
                body.calls.push(function_index as usize);
            }
            Operator::CallIndirect { .. } | Operator::ReturnCallIndirect { .. } | Operator::CallRef { .. } => {
                body.unknown = true;
            }
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Else
            | Operator::BrIf { .. }
            | Operator::BrTable { .. } => body.blocks += 1,
            _ => {}
        }
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(text: &str) -> u64 {
        of(&wat::parse_str(text).unwrap()).unwrap().straight
    }

    #[test]
    fn calls_count_what_they_call() {
        let import = r#"(import "hal" "refill" (func $refill (result i64)))"#;
        // Each function ends with an `end`.
        assert_eq!(cost("(module (func nop nop))"), 3);
        assert_eq!(cost(&format!("(module {import} (func (drop (call $refill))))")), 3);
        assert_eq!(cost("(module (func $f call $g call $g) (func $g nop))"), 2 + 1 + 2 * 2);
    }

    #[test]
    fn calls_that_double_are_seen() {
        let chain = |depth: u32| {
            let links: String = (1..depth).map(|n| format!("(func $f{n} call $f{0} call $f{0})", n - 1)).collect();
            cost(&format!("(module (func $f0) {links})"))
        };
        assert!((1 << 29..1 << 32).contains(&chain(30)));
        assert_eq!(chain(200), u64::MAX);
    }

    #[test]
    fn what_cannot_be_told_is_endless() {
        assert_eq!(cost("(module (func $f call $f))"), u64::MAX);
        assert_eq!(
            cost("(module (table 1 funcref) (type $t (func)) (func (call_indirect (type $t) (i32.const 0))))"),
            u64::MAX
        );
        assert!(of(b"\0asm nonsense").is_err());
    }

    #[test]
    fn blocks_and_locals_multiply() {
        let costs = |text: &str| of(&wat::parse_str(text).unwrap()).unwrap();
        let product = |text: &str| costs(text).block_locals;
        let three = "(if (i32.const 1) (then (block (br_if 0 (i32.const 1)))))";
        assert_eq!(product(&format!("(module (func {three}))")), 0);
        assert_eq!(product(&format!("(module (func (local i32 i32 i64) {three}))")), 9);
        assert_eq!(product(&format!("(module (func (local i32) {three}) (func (local i32 f32) (loop)))")), 5);
        assert_eq!(costs(&format!("(module (func {three}) (func {three} (loop)))")).blocks, 7);
    }
}
