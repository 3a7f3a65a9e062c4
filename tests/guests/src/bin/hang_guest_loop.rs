//! Never returns and never calls the host.
#![no_main]

use std::hint::black_box;
use test_guests::{Outcome, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let _buffer = memory::buffer(&device, 4096)?;
    let mut n = 0u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}
