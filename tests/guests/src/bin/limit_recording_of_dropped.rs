//! A recording keeps the buffers it names, and their charge, after their handles are gone.
#![no_main]

use test_guests::work::{at, direct, fill, semaphore, transfers};
use test_guests::{LONG, Outcome, check, check::fine, check::limited, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let room = check::usage(device.budget(), "memory-bytes")?.allowed;
    let buffer = memory::buffer(&device, room)?;
    let batch = transfers(&[&buffer], vec![fill(direct(0), &[1])]);
    let recording = fine(device.create_recording(&batch, 0, ""), "recording")?;
    drop(batch);
    drop(buffer);
    limited(memory::try_buffer(&device, 1), "memory-bytes", "memory while a recording holds it")?;
    let done = semaphore(&device)?;
    fine(device.execute(&[], &recording, &[], &[], &[at(&done, 1)], None), "executing it")?;
    fine(done.wait(1, LONG), "waiting for it")?;
    limited(memory::try_buffer(&device, 1), "memory-bytes", "memory after it ran")?;
    drop(recording);
    same(check::usage(device.budget(), "memory-bytes")?.used, 0, "memory in use at the end")
}
