//! Makes registries, which no quota counts, until the engine's cap on handles ends it.
#![no_main]

use std::mem::forget;
use test_guests::{Outcome, Registry, guest};

guest!(run);

fn run() -> Outcome {
    for _ in 0..1_000_000 {
        forget(Registry::new());
    }
    Err("expected a trap after far fewer than a million handles".into())
}
