//! Drivers are listed in order of registration, then in the factory's own; names may repeat. Granted are factories that list `a b`,
//! `b c` and `c a`.
#![no_main]

use test_guests::{Outcome, Registry, check::fine, check::same, factories, guest};

guest!(run);

fn names(registry: &Registry) -> String {
    registry.enumerate().into_iter().map(|info| info.name).collect::<Vec<_>>().join(" ")
}

fn run() -> Outcome {
    same(names(&Registry::default()).as_str(), "a b b c c a", "the default registry")?;
    let granted = factories::granted();
    let registry = Registry::new();
    same(names(&registry).as_str(), "", "an empty registry lists nothing, and that is no error")?;
    for (n, expected) in [(2, "c a"), (0, "c a a b"), (1, "c a a b b c")] {
        fine(registry.register_factory(&granted[n]), &format!("registering factory {n}"))?;
        same(names(&registry).as_str(), expected, &format!("after factory {n}"))?;
    }
    let detailed = registry.enumerate_detailed();
    same(detailed.drivers.len(), 6, "drivers in the detailed listing")?;
    same(detailed.failures.len(), 0, "failures in the detailed listing")
}
