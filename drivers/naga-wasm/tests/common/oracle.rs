//! The interpreter, as what compiled kernels are compared with.

use hal_interpreter::{Bound, Dispatch, Options, Report};
use hal_kernel::{Format, Program, SourceLimits};

/// Loads WGSL through the front end that drivers use.
pub fn load(source: &str) -> Result<Program, hal_kernel::KernelError> {
    hal_kernel::load(Format::Wgsl, source.as_bytes(), &SourceLimits::default())?.specialize(&[])
}

/// Runs `main` and leaves in the buffers what it wrote.
pub fn interpret(
    program: &Program,
    groups: [u32; 3],
    constants: &[u8],
    buffers: &mut [(u32, Vec<u8>)],
    options: &Options,
) -> hal_interpreter::Result<Report> {
    let mut bound: Vec<Bound> =
        buffers.iter_mut().map(|(binding, bytes)| Bound { binding: *binding, bytes: std::mem::take(bytes) }).collect();
    let dispatch = Dispatch { function: "main", groups, constants };
    let report = hal_interpreter::run(program, &dispatch, &mut bound, options);
    for ((_, bytes), bound) in buffers.iter_mut().zip(bound) {
        *bytes = bound.bytes;
    }
    report
}
