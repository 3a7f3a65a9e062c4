//! naga's front ends and validator, and their errors in our words.

use naga::front::wgsl::ParseError;
use naga::valid::{
    Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationError, ValidationFlags, Validator,
};
use naga::{Barrier, Block, Statement, WithSpan};

use crate::error::{ErrorCode, KernelError, Place, quote};
use crate::messages::{detail, plain, remedy};
use crate::{place, wgsl_scan};

/// What a kernel may use at all. Whether the device has it is for the driver to say: see
/// [`Function::required_features`](crate::Function::required_features).
pub(crate) fn capabilities() -> Capabilities {
    Capabilities::IMMEDIATES
        // `pack2x16float` and its like, which every device can do.
        | Capabilities::SHADER_FLOAT16_IN_FLOAT32
        | Capabilities::SHADER_FLOAT16
        | Capabilities::SHADER_INT64
        | Capabilities::SUBGROUP
        | Capabilities::SUBGROUP_BARRIER
        | Capabilities::SHADER_FLOAT32_ATOMIC
        | Capabilities::SHADER_INT64_ATOMIC_MIN_MAX
        | Capabilities::SHADER_INT64_ATOMIC_ALL_OPS
        // Decorations that SPIR-V compilers add freely.
        | Capabilities::MEMORY_DECORATION_COHERENT
        | Capabilities::MEMORY_DECORATION_VOLATILE
}

/// Parses WGSL.
pub(crate) fn parse_wgsl(source: &str) -> Result<naga::Module, KernelError> {
    naga::front::wgsl::parse_str(source).map_err(|error| {
        let span = error.labels().next().map(|(span, _)| span);
        let message = detail(error.message(), None);
        let message = match remedy(error.message()) {
            Some(remedy) => format!("{message}; {remedy}"),
            None => told(message, &error),
        };
        located(code_of(error.message()), message, source, span)
    })
}

/// A message of the parser's with its first label and note.
fn told(mut message: String, error: &ParseError) -> String {
    // Some labels only point to the message, or repeat it.
    let says_more = |label: &str| !matches!(label, "" | "see msg") && !error.message().contains(label);
    for (_, label) in error.labels().filter(|(_, label)| says_more(label)).take(1) {
        message = format!("{message} ({})", detail(label, None));
    }
    if let Some(note) = error.notes().next() {
        message = format!("{message}; {}", detail(note, None));
    }
    message
}

/// Parses SPIR-V.
pub(crate) fn parse_spirv(bytes: &[u8]) -> Result<naga::Module, KernelError> {
    let options = naga::front::spv::Options {
        adjust_coordinate_space: false,
        strict_capabilities: true,
        block_ctx_dump_prefix: None,
    };
    let module = naga::front::spv::parse_u8_slice(bytes, &options).map_err(|error| {
        let text = error.to_string();
        let code = match error {
            naga::front::spv::Error::UnsupportedCapability(_)
            | naga::front::spv::Error::UnknownCapability(_)
            | naga::front::spv::Error::UnsupportedExtension(_)
            | naga::front::spv::Error::UnsupportedExtSet(_)
            | naga::front::spv::Error::UnsupportedExecutionModel(_)
            | naga::front::spv::Error::UnsupportedStorageClass(_) => ErrorCode::Incompatible,
            naga::front::spv::Error::UnsupportedInstruction(..)
            | naga::front::spv::Error::UnsupportedExtInst(_)
            | naga::front::spv::Error::UnsupportedControlFlow(_) => ErrorCode::Unimplemented,
            _ => ErrorCode::InvalidArgument,
        };
        KernelError::new(code, format!("the SPIR-V cannot be read: {}", detail(&text, None)))
    });
    let mut module = module?;
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    let bodies = functions.chain(module.entry_points.iter_mut().map(|point| &mut point.function));
    bodies.for_each(|function| whole_barriers(&mut function.body));
    Ok(module)
}

/// Makes barriers that order more than a subgroup's memory ones of the workgroup.
///
/// naga forgets who a barrier is for, and keeps only whose memory it orders. Of one that orders both, some of its back ends make a barrier of the
/// subgroup, which may be too weak, and others both; the stronger one is right either way, as all are seen to reach it.
fn whole_barriers(block: &mut Block) {
    for statement in block.iter_mut() {
        match statement {
            Statement::ControlBarrier(flags) if *flags != Barrier::SUB_GROUP => flags.remove(Barrier::SUB_GROUP),
            Statement::Block(block) => whole_barriers(block),
            Statement::If { accept, reject, .. } => [accept, reject].into_iter().for_each(whole_barriers),
            Statement::Switch { cases, .. } => cases.iter_mut().for_each(|case| whole_barriers(&mut case.body)),
            Statement::Loop { body, continuing, .. } => [body, continuing].into_iter().for_each(whole_barriers),
            _ => {}
        }
    }
}

/// Validates a module.
pub(crate) fn validate(module: &naga::Module, source: &str) -> Result<ModuleInfo, KernelError> {
    let mut validator = Validator::new(ValidationFlags::all(), capabilities());
    validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    validator.validate(module).map_err(|error| invalid(&error, Some(module), source))
}

/// A validation error in our words, or naga's: all causes, and the first place. `module` is what it speaks of, if that is still there.
pub(crate) fn invalid(error: &WithSpan<ValidationError>, module: Option<&naga::Module>, source: &str) -> KernelError {
    let mut text = error.as_inner().to_string();
    let mut cause = std::error::Error::source(error.as_inner());
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    let code = code_of(&text);
    // The last span is the innermost: that of the expression, not of the function around it.
    let span = error.spans().last().map(|(span, _)| *span);
    let plain = module.and_then(|module| plain(error.as_inner(), module, source));
    let refusal = match plain {
        Some(message) => KernelError::new(code, message).at(span.and_then(|span| place::of_span(source, span))),
        None => located(code, detail(&text, module), source, span),
    };
    let place = refusal.place.or_else(|| declaration(error.as_inner(), source));
    refusal.at(place)
}

/// Where the function is declared that an error is about.
fn declaration(error: &ValidationError, source: &str) -> Option<Place> {
    let (ValidationError::EntryPoint { name, .. } | ValidationError::Function { name, .. }) = error else {
        return None;
    };
    wgsl_scan::function(source, name).map(|at| place::of_offset(source, at))
}

fn code_of(text: &str) -> ErrorCode {
    let lower = text.to_lowercase();
    if lower.contains("capabilit") || lower.contains("enable extension") || lower.contains("enable-extension") {
        ErrorCode::Incompatible
    } else {
        ErrorCode::InvalidArgument
    }
}

fn located(code: ErrorCode, message: String, source: &str, span: Option<naga::Span>) -> KernelError {
    let place = span.and_then(|span| place::of_span(source, span));
    let quoted = span.and_then(|span| place::text(source, span)).map(quote).filter(|text| !text.is_empty());
    let message = match quoted {
        Some(text) if !message.contains(&text) => format!("{message}, at `{text}`"),
        _ => message,
    };
    KernelError::new(code, message).at(place)
}
