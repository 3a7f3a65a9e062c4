//! The newest factory that lists a name makes the driver, and inside a factory the last entry. A driver says in its full name who made it.
//! Granted are three factories that all list `a` (the second twice) and, in this order, `x`, `y` and `z`.
#![no_main]

use test_guests::{Outcome, Registry, check::fine, check::same, factories, guest};

guest!(run);

fn maker(registry: &Registry, name: &str) -> Outcome<String> {
    Ok(fine(registry.try_create(name), &format!("creating {name}"))?.info().full_name)
}

fn run() -> Outcome {
    let granted = factories::granted();
    let registry = Registry::default();
    same(maker(&registry, "a")?.as_str(), "third a", "the newest of three")?;
    for (name, expected) in [("x", "first x"), ("y", "second y"), ("z", "third z")] {
        same(maker(&registry, name)?.as_str(), expected, "a name that one factory lists")?;
    }
    let registry = Registry::new();
    for (n, expected) in [(1, "second a, again"), (2, "third a"), (0, "first a")] {
        fine(registry.register_factory(&granted[n]), &format!("registering factory {n}"))?;
        same(maker(&registry, "a")?.as_str(), expected, "the newest so far")?;
    }
    fine(registry.unregister_factory(&granted[0]), "unregistering the newest")?;
    same(maker(&registry, "a")?.as_str(), "third a", "the newest that is left")
}
