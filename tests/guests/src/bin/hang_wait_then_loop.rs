//! Waits for ever, and when that ends as a value, never returns.
#![no_main]

use std::hint::black_box;
use test_guests::work::semaphore;
use test_guests::{FOR_EVER, Outcome, StatusCode, check::refused, guest, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let never = semaphore(&device)?;
    refused(never.wait(1, FOR_EVER), StatusCode::DeadlineExceeded, "waiting for ever")?;
    let mut n = 0u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}
