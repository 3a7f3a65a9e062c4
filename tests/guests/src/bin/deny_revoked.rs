//! The host revokes the grant while the guest waits: from then on everything that came from it is `permission-denied`, at once.
//! The input is the scheme to open; the report says that the guest saw it.
#![no_main]

use test_guests::work::{at, nothing, semaphore};
use test_guests::{
    FOR_EVER, Outcome, Registry, StatusCode, check::fine, check::refused, factories, guest, memory, open,
};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let factory = factories::granted().remove(0);
    let registry = Registry::default();
    let driver = fine(registry.try_create(input), "the driver")?;
    let device = open(&format!("{input}://"))?;
    let buffer = memory::buffer(&device, 8)?;
    let (never, done) = (semaphore(&device)?, semaphore(&device)?);
    fine(device.submit(&[at(&never, 1)], &nothing(), &[at(&done, 1)], None), "work whose wait is unmet")?;
    let recording = fine(device.create_recording(&nothing(), 0, ""), "recording")?;

    let denied = StatusCode::PermissionDenied;
    refused(never.wait(1, FOR_EVER), denied, "the wait during which the grant is revoked")?;
    refused(done.wait(1, FOR_EVER), denied, "waiting for work that was queued")?;
    refused(never.signal(1), denied, "signalling")?;
    refused(buffer.read(0, 1), denied, "reading")?;
    refused(buffer.write(0, &[1]), denied, "writing")?;
    refused(buffer.subspan(0, 1), denied, "a subspan")?;
    refused(memory::try_buffer(&device, 1), denied, "allocating")?;
    refused(device.create_semaphore(0), denied, "a semaphore")?;
    refused(device.submit(&[], &nothing(), &[], None), denied, "submitting")?;
    refused(device.execute(&[], &recording, &[], &[], &[], None), denied, "executing")?;
    refused(device.trim(), denied, "trimming")?;
    refused(driver.query_available_devices(), denied, "listing devices")?;
    refused(driver.create_default_device(), denied, "opening a device")?;
    refused(factory.enumerate(), denied, "listing drivers")?;
    refused(factory.try_create(input), denied, "making a driver")?;
    refused(registry.try_create(input), denied, "making a driver through the registry")?;
    refused(registry.create_device(&format!("{input}://")), denied, "opening a device through the registry")?;
    let listed = registry.enumerate().len();
    Ok(format!("denied; the listing taken at registration still has {listed}"))
}
