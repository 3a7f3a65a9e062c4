//! Drops everything from the wrong end while work is in flight, parents first, then traps.
#![no_main]

use test_guests::work::{at, direct, fill, semaphore, transfers};
use test_guests::{Outcome, Registry, check::fine, guest, memory};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    let driver = fine(registry.try_create("null"), "the driver")?;
    let device = fine(driver.create_default_device(), "the device")?;
    let parent = memory::buffer(&device, 64)?;
    let child = fine(parent.subspan(8, 8), "subspan")?;
    let batch = transfers(&[&child], vec![fill(direct(0), &[1])]);
    let recording = fine(device.create_recording(&batch, 0, ""), "recording")?;
    let (go, done) = (semaphore(&device)?, semaphore(&device)?);
    fine(device.execute(&[at(&go, 1)], &recording, &[], &[], &[at(&done, 1)], None), "work in flight")?;
    drop(batch);
    drop(registry);
    drop(driver);
    drop(device);
    drop(go);
    drop(parent);
    drop(recording);
    drop(done);
    drop(child);
    core::arch::wasm32::unreachable()
}
