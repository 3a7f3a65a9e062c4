//! Panics, with a device open.
#![no_main]

use test_guests::{Outcome, guest, null};

guest!(run);

fn run() -> Outcome {
    let _device = null()?;
    panic!("this guest panics");
}
