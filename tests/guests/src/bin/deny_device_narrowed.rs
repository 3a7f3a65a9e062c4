//! A narrowed factory opens only the devices that its patterns name, and a pattern cannot widen it again. The driver `many` has `a` to `d`.
#![no_main]

use test_guests::{DriverFactory, Outcome, StatusCode, check::fine, check::refused, check::same, factories, guest};

guest!(run);

fn paths(factory: &DriverFactory) -> Outcome<Vec<String>> {
    let driver = fine(factory.try_create("many"), "the driver")?;
    let devices = fine(driver.query_available_devices(), "its devices")?;
    Ok(devices.into_iter().map(|device| device.path).collect())
}

fn run() -> Outcome {
    let granted = factories::granted().remove(0);
    same(paths(&granted)?, ["a", "b", "c", "d"].map(String::from).to_vec(), "the granted devices")?;
    let two = fine(granted.narrow(&[], Some(&["many/b".into(), "many/d".into()])), "narrowing to two")?;
    same(paths(&two)?, ["b", "d"].map(String::from).to_vec(), "the devices of a narrowed factory")?;
    let wide = fine(two.narrow(&[], Some(&["*".into()])), "narrowing by a pattern for everything")?;
    same(paths(&wide)?, ["b", "d"].map(String::from).to_vec(), "patterns add nothing")?;
    let none = fine(two.narrow(&[], Some(&["many/a".into()])), "narrowing to what is not there")?;
    match none.try_create("many") {
        // Either the driver is gone with its last device, or it has none.
        Err(error) => same(error.code, StatusCode::NotFound, "a driver without devices")?,
        Ok(driver) => {
            same(
                fine(driver.query_available_devices(), "its devices")?.len(),
                0,
                "devices of a factory narrowed to nothing",
            )?;
            refused(driver.create_default_device(), StatusCode::Unavailable, "a default device where there is none")?;
        }
    }
    let same_again = fine(two.narrow(&[], None), "narrowing without patterns")?;
    same(paths(&same_again)?, ["b", "d"].map(String::from).to_vec(), "no patterns keep what there was")?;
    for pattern in ["", "many/", "/b", "ma*/b", "many/b*"] {
        let malformed = granted.narrow(&[], Some(&[pattern.into()]));
        refused(malformed, StatusCode::InvalidArgument, &format!("the malformed pattern {pattern:?}"))?;
    }
    Ok(())
}
