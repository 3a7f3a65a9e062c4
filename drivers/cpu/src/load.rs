//! From source to machine code.

use crate::{convert, device::LIMITS, executable::Loaded, kernel::Kernel, memory::SCRATCH_BYTES};
use hal_driver::{Code, Error, LoadRequest, Result};
use hal_kernel::{Format, Program, SourceLimits};
use naga_wasm::Options;
use std::sync::Arc;
use wasmtime::Engine;

/// Most entry points of one source: each is compiled on its own, in up to some tens of milliseconds.
const MAX_FUNCTIONS: usize = 64;

/// Most bytes of wasm of one source in all: what a single entry point may have, which takes the compiler some seconds. A source could
/// otherwise have the same long function compiled once for each of its entry points.
const MAX_WASM_BYTES: usize = 1 << 20;

/// Compiles every entry point. *Blocking.*
pub(crate) fn load(engine: &Engine, request: &LoadRequest<'_>, features: &[String]) -> Result<Loaded> {
    let format = Format::from_name(request.format)
        .ok_or_else(|| Error::new(Code::Incompatible, "this device loads the formats \"wgsl\" and \"spirv\""))?;
    let limits = SourceLimits::default();
    let program = hal_kernel::load(format, request.bytes, &limits).map_err(|error| convert::kernel_error(&error))?;
    let program = specialize(program, request)?;
    check_features(&program, features)?;
    if program.functions().len() > MAX_FUNCTIONS {
        let found = program.functions().len();
        return Err(Error::new(
            Code::ResourceExhausted,
            format!("{found} entry points; at most {MAX_FUNCTIONS} a source"),
        ));
    }
    compile(engine, &program)
}

fn specialize(program: Program, request: &LoadRequest<'_>) -> Result<Program> {
    if request.overrides.is_empty() && program.overrides().is_empty() {
        return Ok(program);
    }
    let values = request.overrides.iter().map(|(name, value)| (name.clone(), convert::override_value(*value)));
    program.specialize(&values.collect::<Vec<_>>()).map_err(|error| convert::kernel_error(&error))
}

fn check_features(program: &Program, features: &[String]) -> Result<()> {
    let mut required = program.functions().iter().flat_map(|function| &function.required_features);
    match required.find(|required| !features.iter().any(|feature| feature == required.name)) {
        None => Ok(()),
        Some(missing) => {
            let place = missing.place.map(|place| format!("{place}: ")).unwrap_or_default();
            let name = missing.name;
            Err(Error::new(
                Code::Incompatible,
                format!("{place}the feature {name:?} is needed, and this device lacks it"),
            ))
        }
    }
}

fn compile(engine: &Engine, program: &Program) -> Result<Loaded> {
    let options = Options {
        max_scratch_bytes: SCRATCH_BYTES,
        max_workgroup_bytes: LIMITS.max_workgroup_memory_bytes,
        max_invocations: LIMITS.max_invocations_per_workgroup,
        ..Options::default()
    };
    let mut wasm_bytes = 0;
    let mut loaded = Loaded { functions: Vec::new(), kernels: Vec::new() };
    for function in program.functions() {
        // Compilers recurse over what a tenant nested, and cannot be interrupted: each entry point is compiled on one of the few
        // threads with deep stacks that the process has, and others have their turn before the next one.
        let kernel = hal_kernel::on_compile_thread(|| {
            let kernel = naga_wasm::compile(program.module(), program.info(), &function.name, &options)
                .map_err(|error| convert::diagnostic(&error, program))?;
            wasm_bytes += kernel.wasm.len();
            if wasm_bytes > MAX_WASM_BYTES {
                return Err(Error::new(
                    Code::ResourceExhausted,
                    format!(
                        "the entry points up to this one compile to more than {MAX_WASM_BYTES} bytes; split the source"
                    ),
                ));
            }
            Kernel::new(engine, kernel)
        });
        loaded.kernels.push(Arc::new(kernel.map_err(|error| convert::kernel_error(&error))??));
        loaded.functions.push(convert::function(function));
    }
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_feature_that_a_kernel_can_need_has_a_name_that_guests_can_ask_for() {
        for name in hal_kernel::FEATURES {
            assert!(hal_driver::FEATURES.contains(&name), "{name}");
        }
        assert!(hal_kernel::FEATURES.is_sorted() && hal_driver::FEATURES.is_sorted());
    }
}
