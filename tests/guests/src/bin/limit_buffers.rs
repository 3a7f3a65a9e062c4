//! "buffers": exactly as many as are granted, of which an empty one, a subspan and a queue-ordered one are each one.
#![no_main]

use test_guests::{Outcome, check, check::fine, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    check::edge(|| device.budget(), "buffers", || memory::try_buffer(&device, 1))?;
    check::edge(|| device.budget(), "buffers", || memory::try_buffer(&device, 0))?;
    check::edge(|| device.budget(), "buffers", || device.alloca(&[], &memory::params(), 1, &[]))?;
    let parent = memory::buffer(&device, 16)?;
    check::edge(|| device.budget(), "buffers", || parent.subspan(0, 1))?;
    fine(parent.read(0, 16), "reading the parent afterwards").map(drop)
}
