//! Allocates until there is no more and aborts, with a device open.
#![no_main]

use test_guests::{Outcome, guest, null};

guest!(run);

fn run() -> Outcome {
    let _device = null()?;
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    loop {
        pieces.push(vec![1; 1 << 20]);
    }
}
