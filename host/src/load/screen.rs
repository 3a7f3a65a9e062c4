//! The first look at a tenant's bytes: one linear walk that allocates next to nothing and refuses what would cost a
//! later stage too much.
//!
//! A valid file can be small and still ruin its reader: 190 KB of nested empty components cost the compiler 5 GiB, one
//! function of 1.9 MB more than 13 GiB. Validation does not look at such things, so this does, before anything else runs.

use super::quote;
use crate::error::Rejection;
use hal_driver::Code;
use wasmparser::{Chunk, ComponentExternalKind, FunctionBody, Operator, Parser, Payload, Validator, WasmFeatures};

/// Bytes of one component. Real ones are 40 KiB to a few MiB; language runtimes compiled whole need more.
pub const MAX_TOTAL_BYTES: usize = 8 << 20;
/// Components in components. A composition nests two deep, a composition of compositions four.
pub const MAX_NESTING: usize = 8;
/// Modules and components in all. A composed tenant has about ten; compile time grows with their square.
pub const MAX_PARTS: usize = 200;
/// Bytes of one function's body. The compiler's memory grows faster than a body does.
pub const MAX_FUNCTION_BYTES: usize = 128 << 10;
/// Bytes of all function bodies: what the compiler has to go through.
pub const MAX_CODE_BYTES: usize = 2 << 20;
/// Functions in all modules. Each costs the compiler some tens of microseconds however short it is.
pub const MAX_FUNCTIONS: usize = 50_000;
/// Locals of one function, parameters not counted. Real functions have tens, generated ones some hundreds.
pub const MAX_LOCALS: u32 = 1_000;
/// Blocks times locals of one function: the size of the table that turning locals into values fills. A real function
/// of 128 KiB stays under a tenth of it; ten thousand blocks over a thousand locals, in 116 KB, cost 1.6 s.
pub const MAX_BLOCK_LOCALS: u64 = 4_000_000;

/// The caps of the first look. A grant may raise them for a tenant that is trusted with more of the compiler's time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Screen {
    /// [`MAX_TOTAL_BYTES`].
    pub total_bytes: usize,
    /// [`MAX_NESTING`].
    pub nesting: usize,
    /// [`MAX_PARTS`].
    pub parts: usize,
    /// [`MAX_FUNCTION_BYTES`].
    pub function_bytes: usize,
    /// [`MAX_CODE_BYTES`].
    pub code_bytes: usize,
    /// [`MAX_FUNCTIONS`].
    pub functions: usize,
    /// [`MAX_LOCALS`].
    pub locals: u32,
    /// [`MAX_BLOCK_LOCALS`].
    pub block_locals: u64,
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            total_bytes: MAX_TOTAL_BYTES,
            nesting: MAX_NESTING,
            parts: MAX_PARTS,
            function_bytes: MAX_FUNCTION_BYTES,
            code_bytes: MAX_CODE_BYTES,
            functions: MAX_FUNCTIONS,
            locals: MAX_LOCALS,
            block_locals: MAX_BLOCK_LOCALS,
        }
    }
}

impl Screen {
    /// No caps, to look at what was put together from screened parts.
    pub(crate) fn unlimited() -> Self {
        Self {
            total_bytes: usize::MAX,
            nesting: usize::MAX,
            parts: usize::MAX,
            function_bytes: usize::MAX,
            code_bytes: usize::MAX,
            functions: usize::MAX,
            locals: u32::MAX,
            block_locals: u64::MAX,
        }
    }

    /// Caps for a language runtime compiled whole (a JavaScript or Python engine): slow to compile, so for tenants
    /// whose code is trusted with a minute of the compile worker.
    pub fn large() -> Self {
        Self {
            total_bytes: 64 << 20,
            function_bytes: 4 << 20,
            code_bytes: 48 << 20,
            functions: 200_000,
            locals: 10_000,
            block_locals: 400_000_000,
            ..Self::default()
        }
    }
}

/// What a component is made of, as far as the first look tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// Bytes in all.
    pub bytes: usize,
    /// Names that it imports, in order.
    pub imports: Vec<Item>,
    /// Names that it exports, in order.
    pub exports: Vec<Item>,
    /// Modules and components in it, itself included.
    pub parts: usize,
    /// Functions in its modules.
    pub functions: usize,
    /// Bytes of their bodies.
    pub code_bytes: usize,
    /// The longest body.
    pub longest_function_bytes: usize,
}

/// An import or export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// `wasi:cli/run@0.2.6`, `run`.
    pub name: String,
    /// `instance`, `function`, `type`, `component`, `module` or `value`.
    pub kind: &'static str,
}

/// Walks `bytes` once and refuses what is over a cap of `screen`, or not a component at all.
///
/// Whether the component is *valid* is [`validate`]'s question.
///
/// # Errors
/// `ResourceExhausted` above a cap, naming both; `InvalidArgument` for anything that is not a whole component.
pub fn screen(bytes: &[u8], screen: &Screen) -> Result<Shape, Rejection> {
    cap("bytes in all", bytes.len(), screen.total_bytes)?;
    require_component(bytes)?;
    let mut walk =
        Walk { screen, shape: Shape { bytes: bytes.len(), parts: 1, ..Shape::default() }, outer: Vec::new() };
    let mut parser = Parser::new(0);
    let mut rest = bytes;
    loop {
        let (consumed, payload) = match parser.parse(rest, true).map_err(malformed)? {
            Chunk::Parsed { consumed, payload } => (consumed, payload),
            Chunk::NeedMoreData(_) => return Err(Rejection::invalid("the component is cut off in the middle")),
        };
        let step = walk.payload(payload, &mut parser)?;
        rest = rest.get(consumed..).unwrap_or_default();
        if let Step::End = step {
            return Ok(walk.shape);
        }
    }
}

/// Validates `bytes` under `features`, which are the engine's.
///
/// # Errors
/// `InvalidArgument` or, for a feature that is off, `Incompatible`, with the validator's sentence and offset.
pub fn validate(bytes: &[u8], features: WasmFeatures) -> Result<(), Rejection> {
    match Validator::new_with_features(features).validate_all(bytes) {
        Ok(_) => Ok(()),
        Err(error) => {
            // The validator has no kinds of errors. With every feature on, only a file that needs one passes.
            let incompatible = Validator::new_with_features(WasmFeatures::all()).validate_all(bytes).is_ok();
            let code = if incompatible { Code::Incompatible } else { Code::InvalidArgument };
            let hint = if incompatible { "; build it without this feature" } else { "" };
            Err(Rejection::new(
                code,
                format!("not valid here: {} at byte {}{hint}", quote(error.message()), error.offset()),
            ))
        }
    }
}

enum Step {
    Go,
    End,
}

struct Walk<'s> {
    screen: &'s Screen,
    shape: Shape,
    /// The parsers of what encloses the current part.
    outer: Vec<Parser>,
}

impl Walk<'_> {
    fn payload(&mut self, payload: Payload<'_>, parser: &mut Parser) -> Result<Step, Rejection> {
        match payload {
            Payload::ModuleSection { parser: inner, .. } | Payload::ComponentSection { parser: inner, .. } => {
                self.shape.parts += 1;
                cap("modules and components", self.shape.parts, self.screen.parts)?;
                self.outer.push(std::mem::replace(parser, inner));
                cap("components nested in one another", self.outer.len(), self.screen.nesting)?;
            }
            Payload::CodeSectionEntry(body) => self.body(&body)?,
            Payload::ComponentImportSection(section) if self.outer.is_empty() => {
                for import in section {
                    let import = import.map_err(malformed)?;
                    let name = import.name.full_name().into_owned();
                    self.shape.imports.push(Item { name, kind: kind(import.ty.kind()) });
                }
            }
            Payload::ComponentExportSection(section) if self.outer.is_empty() => {
                for export in section {
                    let export = export.map_err(malformed)?;
                    let name = export.name.full_name().into_owned();
                    self.shape.exports.push(Item { name, kind: kind(export.kind) });
                }
            }
            Payload::End(_) => match self.outer.pop() {
                Some(outer) => *parser = outer,
                None => return Ok(Step::End),
            },
            _ => {}
        }
        Ok(Step::Go)
    }

    fn body(&mut self, body: &FunctionBody<'_>) -> Result<(), Rejection> {
        let bytes = body.as_bytes().len();
        self.shape.functions += 1;
        self.shape.code_bytes += bytes;
        self.shape.longest_function_bytes = self.shape.longest_function_bytes.max(bytes);
        cap("bytes of one function", bytes, self.screen.function_bytes)?;
        cap("bytes of all functions", self.shape.code_bytes, self.screen.code_bytes)?;
        cap("functions", self.shape.functions, self.screen.functions)?;

        let mut locals = 0_u64;
        for local in body.get_locals_reader().map_err(malformed)? {
            locals = locals.saturating_add(u64::from(local.map_err(malformed)?.0));
        }
        cap("locals of one function", locals, self.screen.locals.into())?;
        // Each block takes at least two bytes: most functions cannot reach the product and need no closer look.
        if (bytes as u64 / 2).saturating_mul(locals) > self.screen.block_locals {
            let product = blocks(body)?.saturating_mul(locals);
            cap("blocks times locals of one function", product, self.screen.block_locals)?;
        }
        Ok(())
    }
}

fn blocks(body: &FunctionBody<'_>) -> Result<u64, Rejection> {
    let mut blocks = 0_u64;
    for operator in body.get_operators_reader().map_err(malformed)? {
        blocks += u64::from(matches!(
            operator.map_err(malformed)?,
            Operator::Block { .. }
                | Operator::Loop { .. }
                | Operator::If { .. }
                | Operator::Else
                | Operator::BrIf { .. }
                | Operator::BrTable { .. }
        ));
    }
    Ok(blocks)
}

fn cap<N: PartialOrd + std::fmt::Display>(what: &str, found: N, cap: N) -> Result<(), Rejection> {
    if found > cap {
        return Err(Rejection::exhausted(format!("{found} {what}; this host takes {cap}")));
    }
    Ok(())
}

fn require_component(bytes: &[u8]) -> Result<(), Rejection> {
    if Parser::is_component(bytes) {
        return Ok(());
    }
    Err(Rejection::invalid(if Parser::is_core_wasm(bytes) {
        "this is a core module, not a component; make one of it with `wasm-tools component new`"
    } else {
        match bytes.get(..4) {
            Some(b"\0asm") => "this is WebAssembly of an unknown version, not a component",
            Some(_) => "this is not WebAssembly: it does not begin with \"\\0asm\"",
            None => "this is shorter than any component",
        }
    }))
}

fn malformed(error: wasmparser::BinaryReaderError) -> Rejection {
    Rejection::invalid(format!("malformed: {} at byte {}", quote(error.message()), error.offset()))
}

fn kind(kind: ComponentExternalKind) -> &'static str {
    match kind {
        ComponentExternalKind::Module => "module",
        ComponentExternalKind::Func => "function",
        ComponentExternalKind::Value => "value",
        ComponentExternalKind::Type => "type",
        ComponentExternalKind::Instance => "instance",
        ComponentExternalKind::Component => "component",
    }
}

/// wasmparser's name for each feature that `engine` has on: the engine was built with another copy of wasmparser.
pub(crate) fn features(engine: &wasmtime::Engine) -> WasmFeatures {
    let mut features = WasmFeatures::empty();
    for (name, _) in engine.get_wasm_features().iter_names() {
        if let Some(feature) = WasmFeatures::from_name(name) {
            features |= feature;
        }
    }
    features
}
