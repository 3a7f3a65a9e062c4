//! A device outside the grant's patterns does not exist: not listed, `not-found` by every way to open it, ids and ordinals are
//! given after filtering. The driver `many` has devices `a` to `d`; granted are `b` and `d`.
#![no_main]

use test_guests::{Outcome, Registry, StatusCode, check::explained, check::fine, check::refused, check::same, guest};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    let driver = fine(registry.try_create("many"), "the driver")?;
    let devices = fine(driver.query_available_devices(), "its devices")?;
    let listed: Vec<_> = devices.iter().map(|device| (device.id, device.path.as_str())).collect();
    same(listed, vec![(0, "b"), (1, "d")], "ids and paths of what is granted")?;
    for path in ["a", "c"] {
        let what = format!("device {path}, which is not granted");
        explained(driver.create_device_by_path(path, &[]), StatusCode::NotFound, &["b", "d"], &what)?;
        explained(registry.create_device(&format!("many://{path}")), StatusCode::NotFound, &["b", "d"], &what)?;
    }
    let missing = refused(driver.create_device_by_path("a", &[]), StatusCode::NotFound, "one that exists")?;
    let nowhere = refused(driver.create_device_by_path("z", &[]), StatusCode::NotFound, "one that does not")?;
    same(missing.message.replace('a', "z"), nowhere.message.replace('a', "z"), "what the two errors tell")?;

    refused(driver.create_device_by_ordinal(2, &[]), StatusCode::OutOfRange, "an ordinal past what is granted")?;
    refused(driver.create_device_by_id(2, &[]), StatusCode::NotFound, "an id past what is granted")?;
    refused(driver.device_details(2), StatusCode::NotFound, "details of what is not granted")?;
    for opened in [
        fine(driver.create_default_device(), "the default device")?,
        fine(driver.create_device_by_path("", &[]), "the empty path")?,
        fine(driver.create_device_by_ordinal(0, &[]), "the first")?,
    ] {
        same(opened.info().path, "b".into(), "the default device is the first that is granted")?;
    }
    Ok(())
}
