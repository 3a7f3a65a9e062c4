//! Workgroup memory and barriers, also inside a loop: a sum over a workgroup, step by step.
#![no_main]

use test_guests::kernels::load;
use test_guests::work::{batch, direct, dispatch, run as submit};
use test_guests::{Outcome, check::same, cpu, guest, memory};

guest!(run);

const SUM: &str = "
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
var<workgroup> partial: array<u32, 64>;

@compute @workgroup_size(64)
fn sum(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>) {
    partial[index] = input[group.x * 64u + index];
    workgroupBarrier();
    for (var stride = 32u; stride > 0u; stride = stride / 2u) {
        if index < stride {
            partial[index] += partial[index + stride];
        }
        workgroupBarrier();
    }
    if index == 0u {
        output[group.x] = partial[0];
    }
}
";

fn run() -> Outcome {
    let device = cpu()?;
    let executable = load(&device, SUM)?;
    let values: Vec<u32> = (0..256).collect();
    let input = memory::numbers(&device, &values)?;
    let output = memory::buffer(&device, 16)?;
    let command = dispatch(0, 4, &[], &[direct(0), direct(1)]);
    submit(&device, batch(&[&input, &output], &[&executable], vec![command]))?;
    let expected: Vec<u32> = values.chunks(64).map(|chunk| chunk.iter().sum()).collect();
    same(memory::read_numbers::<u32>(&output)?, expected, "the sum of each workgroup")
}
