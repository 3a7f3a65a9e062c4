//! From source to machine code.

use crate::{codegen::Codegen, convert, device::LIMITS, executable::Loaded, kernel::Kernel, memory::SCRATCH_BYTES};
use hal_driver::{Code, Error, LoadRequest, Result};
use hal_kernel::Program;
use naga_wasm::Options;
use std::sync::Arc;

/// Most entry points of one source: each is compiled on its own, in up to some tens of milliseconds.
const MAX_FUNCTIONS: usize = 64;

/// Most bytes of wasm of one source in all: what a single entry point may have, which takes the compiler some seconds. A source could
/// otherwise have the same long function compiled once for each of its entry points.
const MAX_WASM_BYTES: usize = 1 << 20;

/// Compiles every entry point; with `contract`, products may be added without having been rounded. *Blocking.*
pub(crate) fn load(
    codegen: &Codegen,
    request: &LoadRequest<'_>,
    features: &[String],
    contract: bool,
) -> Result<Loaded> {
    let program = hal_kernel::load_for(request, features, &LIMITS)?;
    if program.functions().len() > MAX_FUNCTIONS {
        let found = program.functions().len();
        return Err(Error::new(
            Code::ResourceExhausted,
            format!("{found} entry points; at most {MAX_FUNCTIONS} a source"),
        ));
    }
    compile(codegen, &program, contract)
}

fn compile(codegen: &Codegen, program: &Program, contract: bool) -> Result<Loaded> {
    let options = Options {
        max_scratch_bytes: SCRATCH_BYTES,
        max_workgroup_bytes: LIMITS.max_workgroup_memory_bytes,
        max_invocations: LIMITS.max_invocations_per_workgroup,
        contract,
        ..Options::default()
    };
    // Compilers recurse over what a tenant nested, and cannot be interrupted: each entry point is compiled on one of the few threads with deep
    // stacks that the process has, and others have their turn before the next one. Machine code, which takes most of the time, is made
    // when it is known that there is not too much to make it of.
    let mut wasm_bytes = 0;
    let mut compiled = Vec::with_capacity(program.functions().len());
    for function in program.functions() {
        let kernel = hal_kernel::on_compile_thread(|| {
            naga_wasm::compile(program.module(), program.info(), &function.name, &options)
                .map_err(|error| convert::diagnostic(&error, program))
        })??;
        wasm_bytes += kernel.wasm.len();
        if wasm_bytes > MAX_WASM_BYTES {
            return Err(Error::new(
                Code::ResourceExhausted,
                format!(
                    "the entry points up to this one compile to more than {MAX_WASM_BYTES} bytes; split the source"
                ),
            ));
        }
        compiled.push(kernel);
    }
    let mut loaded = Loaded { functions: Vec::new(), kernels: Vec::new() };
    for (kernel, function) in compiled.into_iter().zip(program.functions()) {
        let kernel = hal_kernel::on_compile_thread(|| Kernel::new(codegen, kernel))??;
        loaded.kernels.push(Arc::new(kernel));
        loaded.functions.push(function.into());
    }
    Ok(loaded)
}
