//! A device outlives the registry and the driver that made it; what was made from a device outlives its handle.
#![no_main]

use test_guests::work::{at, direct, fill, semaphore, transfers};
use test_guests::{LONG, Outcome, Registry, check::fine, check::same, guest, memory};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    let driver = fine(registry.try_create("null"), "creating the driver")?;
    let device = fine(driver.create_default_device(), "opening the device")?;
    drop(registry);
    drop(driver);
    let buffer = memory::buffer(&device, 4)?;
    let (go, done) = (semaphore(&device)?, semaphore(&device)?);
    let batch = transfers(&[&buffer], vec![fill(direct(0), &[6])]);
    fine(device.submit(&[at(&go, 1)], &batch, &[at(&done, 1)], None), "work")?;
    drop(device);
    fine(go.signal(1), "letting it run")?;
    fine(done.wait(1, LONG), "waiting for it")?;
    same(memory::bytes(&buffer)?, vec![6; 4], "what ran after the device's handle was dropped")
}
