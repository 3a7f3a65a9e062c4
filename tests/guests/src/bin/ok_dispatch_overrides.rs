//! Overrides: given by name and by id, left to their default, refused when unknown, missing or of another type.
#![no_main]

use test_guests::kernels::overridden;
use test_guests::work::{batch, direct, dispatch, run as submit};
use test_guests::{
    Outcome, OverrideConstant, OverrideValue, StatusCode, check::fine, check::refused, check::same, cpu, guest, memory,
};

guest!(run);

const SOURCE: &str = "
override base: u32;
@id(7) override step: u32 = 2u;
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(1)
fn count(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] = base + id.x * step;
}
";

fn run() -> Outcome {
    let device = cpu()?;
    let constant = |name: &str, value| OverrideConstant { name: name.into(), value };
    let load = |overrides: &[OverrideConstant]| device.load_executable(&overridden(overrides), SOURCE.as_bytes());
    let base = constant("base", OverrideValue::Unsigned(10));
    for (overrides, expected) in [
        (vec![base.clone()], vec![10u32, 12, 14]),
        (vec![base.clone(), constant("7", OverrideValue::Unsigned(5))], vec![10, 15, 20]),
    ] {
        let executable = fine(load(&overrides), "compiling with overrides")?;
        let output = memory::buffer(&device, 12)?;
        submit(&device, batch(&[&output], &[&executable], vec![dispatch(0, 3, &[], &[direct(0)])]))?;
        same(memory::read_numbers::<u32>(&output)?, expected, &format!("with {overrides:?}"))?;
    }
    refused(load(&[]), StatusCode::InvalidArgument, "an override without a default that is missing")?;
    let unknown = [base.clone(), constant("stride", OverrideValue::Unsigned(1))];
    refused(load(&unknown), StatusCode::InvalidArgument, "an override that the source does not have")?;
    let mistyped = [constant("base", OverrideValue::Boolean(true))];
    refused(load(&mistyped), StatusCode::InvalidArgument, "an override of another type")?;
    Ok(())
}
