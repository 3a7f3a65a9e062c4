//! Hands over far more bytes in one call than the host lifts, which ends it. The input is how many.
#![no_main]

use test_guests::{Outcome, guest, memory, null};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let length = input.parse().map_err(|error| format!("the input is a number of bytes: {error}"))?;
    let device = null()?;
    let buffer = memory::buffer(&device, 16)?;
    Err(format!("expected a trap, got {:?}", buffer.write(0, &vec![1; length])))
}
