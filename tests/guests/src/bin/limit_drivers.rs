//! "drivers": exactly as many handles as are granted.
#![no_main]

use test_guests::{Outcome, Registry, check, factories, guest};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    let factory = factories::granted().remove(0);
    check::edge(|| factory.budget(), "drivers", || registry.try_create("null"))
}
