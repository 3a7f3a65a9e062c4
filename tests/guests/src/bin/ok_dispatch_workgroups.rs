//! A thousand workgroups all run, a three-dimensional dispatch runs every one once, and no workgroups is no work.
#![no_main]

use test_guests::kernels::{WORKGROUP_NUMBERS, load};
use test_guests::work::{batch, direct, dispatch, run as submit};
use test_guests::{Command, Outcome, Workgroups, check::same, cpu, guest, memory};

guest!(run);

const COUNT: &str = "
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(2, 1, 1)
fn count(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) index: u32) {
    let linear = (group.z * groups.y + group.y) * groups.x + group.x;
    output[linear * 2u + index] += linear + 1u;
}
";

fn run() -> Outcome {
    let device = cpu()?;
    let numbers = load(&device, WORKGROUP_NUMBERS)?;
    let output = memory::buffer(&device, 4096)?;
    submit(&device, batch(&[&output], &[&numbers], vec![dispatch(0, 1024, &[], &[direct(0)])]))?;
    same(memory::read_numbers::<u32>(&output)?, (1..=1024).collect(), "what 1,024 workgroups wrote")?;

    let count = load(&device, COUNT)?;
    let output = memory::buffer(&device, 2 * 60 * 4)?;
    let mut command = dispatch(0, 1, &[], &[direct(0)]);
    if let Command::Dispatch(dispatch) = &mut command {
        dispatch.workgroups = Workgroups::Direct((3, 4, 5));
    }
    let mut none = command.clone();
    if let Command::Dispatch(dispatch) = &mut none {
        dispatch.workgroups = Workgroups::Direct((3, 0, 5));
    }
    submit(&device, batch(&[&output], &[&count], vec![none, Command::Barrier, command]))?;
    let expected: Vec<u32> = (0..120).map(|n| n / 2 + 1).collect();
    same(memory::read_numbers::<u32>(&output)?, expected, "what 3 x 4 x 5 workgroups of two wrote")
}
