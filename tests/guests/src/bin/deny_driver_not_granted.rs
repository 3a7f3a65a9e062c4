//! A driver that was not granted does not exist: not listed, `not-found` by name and by URI. Only `null` is granted.
#![no_main]

use test_guests::{Outcome, Registry, StatusCode, check::explained, check::refused, check::same, factories, guest};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    let names: Vec<_> = registry.enumerate().into_iter().map(|info| info.name).collect();
    same(names, vec!["null".into()], "the drivers that are listed")?;
    explained(registry.try_create("cpu"), StatusCode::NotFound, &["cpu", "null"], "a driver that was not granted")?;
    explained(registry.create_device("cpu://"), StatusCode::NotFound, &["cpu", "null"], "its device")?;
    for factory in factories::granted() {
        refused(factory.try_create("cpu"), StatusCode::NotFound, "asking every factory for it")?;
    }
    Ok(())
}
