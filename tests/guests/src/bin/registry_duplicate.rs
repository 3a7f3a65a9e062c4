//! A factory is in a registry once, whichever handle it comes by, and that is looked at before capacity; in another registry it may be again;
//! a narrowed one is another one. The caller keeps its handle in every case. Granted is a factory that lists `null`.
#![no_main]

use test_guests::{Outcome, Registry, StatusCode, check::fine, check::refused, check::same, factories, guest};

guest!(run);

fn run() -> Outcome {
    let first = factories::granted().remove(0);
    let second = factories::granted().remove(0);
    let third = fine(first.duplicate(), "duplicating")?;
    let narrowed = fine(first.narrow(&[], None), "narrowing")?;
    let registry = Registry::new();
    fine(registry.register_factory(&first), "the first time")?;
    for factory in [&first, &second, &third] {
        refused(registry.register_factory(factory), StatusCode::AlreadyExists, "the same factory again")?;
        same(fine(factory.enumerate(), "listing a factory whose registration was refused")?.len(), 1, "drivers")?;
    }
    fine(registry.register_factory(&narrowed), "one narrowed from it")?;
    refused(registry.register_factory(&narrowed), StatusCode::AlreadyExists, "the narrowed one again")?;
    same(registry.enumerate().len(), 2, "drivers")?;

    let other = Registry::new();
    fine(other.register_factory(&third), "the same factory in another registry")?;
    // Identity is the id, so any handle removes it.
    fine(registry.unregister_factory(&second), "unregistering by another handle")?;
    refused(registry.unregister_factory(&first), StatusCode::NotFound, "unregistering what is gone")?;
    same([registry.enumerate().len(), other.enumerate().len()], [1, 1], "drivers that are left in each")?;
    fine(registry.register_factory(&first), "registering it again")
}
