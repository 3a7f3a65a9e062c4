//! A tenant makes several registries; what is done to one does not show in another. Granted are factories that list `a` and `null`.
#![no_main]

use test_guests::{Outcome, Registry, StatusCode, check::fine, check::refused, check::same, factories, guest};

guest!(run);

fn run() -> Outcome {
    let granted = factories::granted();
    let (one, two, three) = (Registry::new(), Registry::new(), Registry::new());
    fine(one.register_factory(&granted[0]), "registering in one")?;
    fine(two.register_factory(&granted[0]), "registering in two")?;
    fine(two.register_factory(&granted[1]), "registering another in two")?;
    let counts = || [&one, &two, &three].map(|registry| registry.enumerate().len());
    same(counts(), [1, 2, 0], "drivers in each")?;
    fine(two.unregister_factory(&granted[0]), "unregistering from two")?;
    same(counts(), [1, 1, 0], "drivers in each after one was removed from two")?;
    refused(one.create_device("null://"), StatusCode::NotFound, "a device by a registry that lacks its factory")?;
    fine(two.create_device("null://"), "a device by the registry that has it")?;
    drop(one);
    same(two.enumerate().len(), 1, "drivers in two after one was dropped")?;
    same(Registry::default().enumerate().len(), 2, "drivers in the default registry, which has all that was granted")
}
