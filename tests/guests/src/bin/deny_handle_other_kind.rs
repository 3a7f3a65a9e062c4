//! Uses a device's handle as a buffer's.
#![no_main]

use test_guests::{Buffer, Outcome, guest, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    // SAFETY: not at all: the handle is a device's, which is what the host has to notice.
    let buffer = unsafe { Buffer::from_handle(device.handle()) };
    Err(format!("expected a trap, got {:?}", buffer.info()))
}
