//! "devices": exactly as many open at a time as are granted, however they are opened.
#![no_main]

use test_guests::{Outcome, Registry, check, check::fine, factories, guest};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    let factory = factories::granted().remove(0);
    check::edge(|| factory.budget(), "devices", || registry.create_device("null://"))?;
    let driver = fine(registry.try_create("null"), "the driver")?;
    check::edge(|| factory.budget(), "devices", || driver.create_default_device())?;
    check::edge(|| factory.budget(), "devices", || driver.create_device_by_ordinal(0, &[]))?;
    check::edge(|| factory.budget(), "devices", || driver.create_device_by_id(0, &[]))
}
