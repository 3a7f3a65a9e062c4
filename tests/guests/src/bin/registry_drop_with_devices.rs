//! Dropping a registry releases its factories; drivers and devices that came from it stay usable. Granted is a factory that lists `null`.
#![no_main]

use test_guests::work::{direct, fill, run as submit, transfers};
use test_guests::{Outcome, Registry, check, check::fine, check::same, factories, guest, memory};

guest!(run);

fn run() -> Outcome {
    let factory = factories::granted().remove(0);
    let before = check::usage(factory.budget(), "factories")?.used;
    let registry = Registry::new();
    fine(registry.register_factory(&factory), "registering")?;
    let driver = fine(registry.try_create("null"), "driver")?;
    let device = fine(registry.create_device("null://"), "device")?;
    let buffer = memory::buffer(&device, 8)?;
    drop(registry);
    same(check::usage(factory.budget(), "factories")?.used, before, "factory handles after the registry was dropped")?;
    submit(&device, transfers(&[&buffer], vec![fill(direct(0), &[1])]))?;
    same(memory::bytes(&buffer)?, vec![1; 8], "work on a device whose registry is gone")?;
    fine(driver.create_default_device(), "a device of a driver whose registry is gone")?;
    drop(driver);
    memory::buffer(&device, 8).map(drop)
}
