//! Traps with a batch half built and objects of every kind alive.
#![no_main]

use test_guests::kernels::{WORKGROUP_NUMBERS, load};
use test_guests::work::{batch, direct, dispatch, fill, semaphore, transfers};
use test_guests::{Command, Outcome, check::fine, cpu, guest, memory};

guest!(run);

fn run() -> Outcome {
    let device = cpu()?;
    let executable = load(&device, WORKGROUP_NUMBERS)?;
    let buffer = memory::buffer(&device, 4096)?;
    let child = fine(buffer.subspan(0, 16), "subspan")?;
    let recording = transfers(&[&child], vec![fill(direct(0), &[1])]);
    let recording = fine(device.create_recording(&recording, 0, ""), "recording")?;
    let semaphore = semaphore(&device)?;
    let mut half = batch(&[&buffer, &child], &[&executable], vec![fill(direct(0), &[1]), Command::Barrier]);
    half.commands.push(dispatch(0, 1, &[], &[direct(1)]));
    drop((recording, semaphore));
    core::arch::wasm32::unreachable()
}
