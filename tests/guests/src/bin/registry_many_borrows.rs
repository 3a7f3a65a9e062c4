//! Lends the registry component the same factories very often, and through it hands big text around: both cross from component to
//! component. Granted is a factory that lists `null`.
#![no_main]

use test_guests::{Outcome, Registry, StatusCode, check::fine, check::refused, check::same, factories, guest};

guest!(run);

fn run() -> Outcome {
    let factory = factories::granted().remove(0);
    let registry = Registry::new();
    for _ in 0..20_000 {
        fine(registry.register_factory(&factory), "registering")?;
        fine(registry.unregister_factory(&factory), "unregistering")?;
    }
    same(registry.enumerate().len(), 0, "drivers at the end")?;
    for length in [5_000, 1 << 20, 4 << 20] {
        refused(
            registry.create_device(&"u".repeat(length)),
            StatusCode::InvalidArgument,
            &format!("a URI of {length} bytes"),
        )?;
        refused(
            registry.try_create(&"n".repeat(length)),
            StatusCode::InvalidArgument,
            &format!("a name of {length} bytes"),
        )?;
    }
    // UTF-8 of every length on both sides of the boundary.
    let text = "\u{e9}\u{20ac}\u{1f600}".repeat(20);
    let error = refused(registry.try_create(&text), StatusCode::NotFound, "a name beyond ASCII")?;
    same(error.message.contains("\u{e9}\u{20ac}\u{1f600}"), true, "whether the name comes back whole")
}
