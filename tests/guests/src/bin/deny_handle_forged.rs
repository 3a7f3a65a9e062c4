//! Uses a handle number that was never given out to it. The input is the number: small ones are in use in other sessions.
#![no_main]

use test_guests::{Buffer, Outcome, guest, memory, null};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let number = input.parse().map_err(|error| format!("the input is a handle number: {error}"))?;
    let device = null()?;
    let _own = memory::buffer(&device, 4)?;
    // SAFETY: not at all: the number belongs to nobody here, which is what the host has to notice.
    let forged = unsafe { Buffer::from_handle(number) };
    Err(format!("expected a trap, got {:?}", forged.info()))
}
