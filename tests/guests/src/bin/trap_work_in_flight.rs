//! Traps while submissions wait, one runs, and an allocation is queued.
#![no_main]

use test_guests::kernels::{ENDLESS, load};
use test_guests::work::{at, batch, direct, dispatch, fill, semaphore, transfers};
use test_guests::{Outcome, check::fine, cpu, guest, memory};

guest!(run);

fn run() -> Outcome {
    let device = cpu()?;
    let endless = load(&device, ENDLESS)?;
    let buffer = memory::buffer(&device, 1 << 20)?;
    let (never, done) = (semaphore(&device)?, semaphore(&device)?);
    let running = batch(&[&buffer], &[&endless], vec![dispatch(0, 1, &[], &[direct(0)])]);
    fine(device.submit(&[], &running, &[at(&done, 1)], None), "a kernel that runs")?;
    let waiting = transfers(&[&buffer], vec![fill(direct(0), &[1])]);
    for _ in 0..20 {
        fine(device.submit(&[at(&never, 1)], &waiting, &[], None), "work that waits")?;
    }
    fine(device.submit(&[at(&done, 1)], &waiting, &[at(&done, 2)], None), "work that waits for the kernel")?;
    fine(device.alloca(&[at(&never, 1)], &memory::params(), 4096, &[at(&never, 2)]), "memory that waits")?;
    core::arch::wasm32::unreachable()
}
