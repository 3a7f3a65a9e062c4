//! "recordings": exactly as many as are granted.
#![no_main]

use test_guests::work::{direct, fill, transfers};
use test_guests::{Outcome, check, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, 16)?;
    let batch = transfers(&[&buffer], vec![fill(direct(0), &[1])]);
    check::edge(|| device.budget(), "recordings", || device.create_recording(&batch, 0, ""))
}
