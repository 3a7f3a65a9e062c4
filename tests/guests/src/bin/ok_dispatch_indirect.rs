//! Workgroup counts come from a buffer that work before it wrote; counts over the device's limit run nothing and fail the submission.
#![no_main]

use test_guests::kernels::{WORKGROUP_NUMBERS, load};
use test_guests::work::{batch, direct, dispatch_indirect, part, run as submit, try_run, update};
use test_guests::{Command, Outcome, StatusCode, check::fine, check::refused, check::same, cpu, guest, memory};

guest!(run);

fn run() -> Outcome {
    let device = cpu()?;
    let executable = load(&device, WORKGROUP_NUMBERS)?;
    let output = memory::buffer(&device, 32)?;
    let counts = memory::buffer(&device, 32)?;
    let four: Vec<u8> = [4u32, 1, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
    let commands = vec![
        update(part(direct(1), 16, 12), &four),
        Command::Barrier,
        dispatch_indirect(0, part(direct(1), 16, 12), &[], &[direct(0)]),
    ];
    submit(&device, batch(&[&output, &counts], &[&executable], commands))?;
    same(memory::read_numbers::<u32>(&output)?, vec![1, 2, 3, 4, 0, 0, 0, 0], "four of eight")?;

    let tail = fine(counts.subspan(16, 12), "a subspan with the counts")?;
    memory::write(&output, &[0; 32])?;
    let whole = vec![dispatch_indirect(0, direct(1), &[], &[direct(0)])];
    submit(&device, batch(&[&output, &tail], &[&executable], whole.clone()))?;
    same(memory::read_numbers::<u32>(&output)?, vec![1, 2, 3, 4, 0, 0, 0, 0], "through a subspan with an open length")?;

    memory::write(&output, &[0; 32])?;
    memory::write(&tail, &u32::MAX.to_le_bytes())?;
    let run = try_run(&device, batch(&[&output, &tail], &[&executable], whole));
    refused(run, StatusCode::OutOfRange, "counts over the device's limit")?;
    same(memory::bytes(&output)?, vec![0; 32], "the output of a dispatch that must not have run")
}
