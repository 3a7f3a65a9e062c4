//! Recurses until the stack is used up, with a device open.
#![no_main]

use std::hint::black_box;
use test_guests::{Outcome, guest, null};

guest!(run);

#[expect(unconditional_recursion, reason = "that is the point")]
fn deeper(depth: u64) -> u64 {
    let room = black_box([depth; 64]);
    deeper(depth + 1) + black_box(room)[7]
}

fn run() -> Outcome {
    let _device = null()?;
    Err(format!("expected a trap, got {}", deeper(0)))
}
