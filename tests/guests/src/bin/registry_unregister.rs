//! Factories are removed first, middle and last, in any order: the rest stays whole and in order, and what came from the removed one
//! stays usable. Granted are factories that list `a`, `b`, `c`, `d` and `null`.
#![no_main]

use test_guests::{Outcome, Registry, StatusCode, check::fine, check::refused, check::same, factories, guest, memory};

guest!(run);

fn names(registry: &Registry) -> String {
    registry.enumerate().into_iter().map(|info| info.name).collect::<Vec<_>>().join(" ")
}

fn run() -> Outcome {
    let granted = factories::granted();
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1], [1, 3, 0, 2], [2, 0, 1, 3]] {
        let registry = Registry::new();
        for factory in &granted {
            fine(registry.register_factory(factory), "registering")?;
        }
        let mut left = vec!["a", "b", "c", "d", "null"];
        for n in order {
            let name = ["a", "b", "c", "d"][n];
            let driver = fine(registry.try_create(name), &format!("creating {name}"))?;
            fine(registry.unregister_factory(&granted[n]), &format!("unregistering {name}"))?;
            left.retain(|other| *other != name);
            same(names(&registry), left.join(" "), &format!("in the order {order:?}, after {name}"))?;
            same(driver.info().name.as_str(), name, "a driver whose factory is gone")?;
            refused(registry.try_create(name), StatusCode::NotFound, "a driver of a factory that is gone")?;
            refused(registry.unregister_factory(&granted[n]), StatusCode::NotFound, "unregistering it twice")?;
            for other in &left {
                fine(registry.try_create(other), &format!("{other} after {name} was removed"))?;
            }
        }
        let device = fine(registry.create_device("null://"), "a device")?;
        fine(registry.unregister_factory(&granted[4]), "unregistering the last")?;
        same(names(&registry).as_str(), "", "the drivers of an emptied registry")?;
        memory::buffer(&device, 8)?;
    }
    Ok(())
}
