//! Kernels that several guests use.

use crate::check::fine;
use crate::{Device, Error, Executable, ExecutableParams, Outcome, OverrideConstant};

/// `out[i] = in[i] * scale + offset`, with the two constants of the dispatch.
pub const SCALE_AND_OFFSET: &str = "
struct Constants { scale: u32, offset: u32 }
var<immediate> constants: Constants;
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(1)
fn scale_and_offset(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] = input[id.x] * constants.scale + constants.offset;
}
";

/// Two functions: one negates, one doubles.
pub const NEGATE_AND_DOUBLE: &str = "
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(1)
fn negate(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] = -input[id.x];
}

@compute @workgroup_size(1)
fn double(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] = input[id.x] * 2;
}
";

/// Every workgroup writes its number plus one.
pub const WORKGROUP_NUMBERS: &str = "
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(1)
fn number(@builtin(workgroup_id) id: vec3<u32>) {
    output[id.x] = id.x + 1u;
}
";

/// Never ends, and cannot be seen to be endless at compile time.
pub const ENDLESS: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1)
fn endless() {
    loop {
        data[0] = data[0] + 2u;
        if data[0] == 1u { break; }
    }
}
";

/// Compiles WGSL; the result is the host's.
pub fn try_load(device: &Device, source: &str) -> Result<Executable, Error> {
    device.load_executable(&wgsl(), source.as_bytes())
}

/// Compiles WGSL.
pub fn load(device: &Device, source: &str) -> Outcome<Executable> {
    fine(try_load(device, source), "compiling a kernel")
}

/// Parameters for WGSL without overrides.
pub fn wgsl() -> ExecutableParams {
    overridden(&[])
}

/// Parameters for WGSL with overrides.
pub fn overridden(overrides: &[OverrideConstant]) -> ExecutableParams {
    ExecutableParams { format: "wgsl".into(), overrides: overrides.to_vec(), label: String::new() }
}
