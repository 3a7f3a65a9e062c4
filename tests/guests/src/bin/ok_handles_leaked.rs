//! Returns normally and leaves every handle behind, with work in flight that will never run: the host takes all of it back.
#![no_main]

use std::mem::forget;
use test_guests::work::{at, direct, fill, semaphore, transfers};
use test_guests::{Outcome, check::fine, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let (never, done) = (semaphore(&device)?, semaphore(&device)?);
    for _ in 0..10 {
        let buffer = memory::buffer(&device, 4096)?;
        let child = fine(buffer.subspan(0, 8), "subspan")?;
        let batch = transfers(&[&buffer, &child], vec![fill(direct(0), &[1])]);
        let recording = fine(device.create_recording(&batch, 0, ""), "recording")?;
        fine(device.submit(&[at(&never, 1)], &batch, &[], None), "work that never runs")?;
        forget((buffer, child, recording));
    }
    let transient = device.alloca(&[at(&never, 1)], &memory::params(), 4096, &[at(&done, 1)]);
    forget((fine(transient, "alloca that never happens")?, never, done, device));
    Ok(())
}
