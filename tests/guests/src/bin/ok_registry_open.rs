//! Every granted driver is listed and opens its default device by URI, by id, by ordinal and by path.
#![no_main]

use test_guests::{Outcome, Registry, check::fine, check::same, ensure, guest};

guest!(run);

fn run() -> Outcome<String> {
    let registry = Registry::default();
    let drivers = registry.enumerate();
    ensure!(!drivers.is_empty(), "no driver is listed");
    for info in &drivers {
        let name = &info.name;
        let driver = fine(registry.try_create(name), &format!("creating driver {name}"))?;
        same(&driver.info().name, name, "the name of the driver that was asked for")?;
        let devices = fine(driver.query_available_devices(), &format!("devices of {name}"))?;
        for (ordinal, device) in (0..).zip(&devices) {
            let by_id = fine(driver.create_device_by_id(device.id, &[]), &format!("{name}: by id {}", device.id))?;
            let by_ordinal =
                fine(driver.create_device_by_ordinal(ordinal, &[]), &format!("{name}: by ordinal {ordinal}"))?;
            let by_path =
                fine(driver.create_device_by_path(&device.path, &[]), &format!("{name}: by path {}", device.path))?;
            for opened in [by_id, by_ordinal, by_path] {
                same(&opened.info().path, &device.path, "the path of the device that was asked for")?;
            }
        }
        same(devices.first().map(|device| device.id), Some(0), &format!("{name}: the id of its first device"))?;
        fine(driver.create_default_device(), &format!("{name}: its default device"))?;
        fine(driver.create_device_by_path("", &[]), &format!("{name}: by the empty path"))?;
        fine(registry.create_device(&format!("{name}://")), &format!("opening {name}://"))?;
        fine(registry.create_device(&format!("{name}://{}", devices[0].path)), "opening by scheme and path")?;
    }
    Ok(drivers.iter().map(|info| info.name.as_str()).collect::<Vec<_>>().join(" "))
}
