//! "buffers": exactly as many as are granted, of which an empty one, a subspan and a queue-ordered one are each one.
#![no_main]

use test_guests::work::{at, semaphore};
use test_guests::{LONG, Outcome, check, check::fine, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    check::edge(|| device.budget(), "buffers", || memory::try_buffer(&device, 1))?;
    check::edge(|| device.budget(), "buffers", || memory::try_buffer(&device, 0))?;
    let there = semaphore(&device)?;
    check::edge(
        || device.budget(),
        "buffers",
        || {
            let value = there.query()? + 1;
            let buffer = device.alloca(&[], &memory::params(), 1, &[at(&there, value)])?;
            // Until then the queue holds it too.
            there.wait(value, LONG).map(|()| buffer)
        },
    )?;
    let parent = memory::buffer(&device, 16)?;
    check::edge(|| device.budget(), "buffers", || parent.subspan(0, 1))?;
    fine(parent.read(0, 16), "reading the parent afterwards").map(drop)
}
