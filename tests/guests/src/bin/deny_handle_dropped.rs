//! Uses a buffer after it was dropped.
#![no_main]

use test_guests::{Buffer, Outcome, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, 4)?;
    let number = buffer.handle();
    drop(buffer);
    // SAFETY: not at all: the handle is gone, which is what the host has to notice.
    let buffer = unsafe { Buffer::from_handle(number) };
    Err(format!("expected a trap, got {:?}", buffer.info()))
}
