//! `hal drivers` and `hal devices`: what could be granted, as the machine's owner sees it.
//!
//! A tenant sees less: only what was granted, under numbers and names that its grant reveals.

use crate::{
    args::Listing,
    drivers::{BuiltIn, Failure, Listed},
    exit::Exit,
    text,
};
use hal_driver::DeviceInfo;
use serde::Serialize;

#[derive(Serialize)]
struct DriverRow {
    name: String,
    full_name: String,
    version: String,
    factory: String,
}

#[derive(Serialize)]
struct DriverReport {
    drivers: Vec<DriverRow>,
    failures: Vec<Failure>,
}

#[derive(Serialize)]
struct DeviceRow {
    driver: String,
    path: String,
    uri: String,
    name: String,
    kind: &'static str,
    memory_bytes: u64,
    formats: Vec<String>,
    features: Vec<String>,
    /// Whether the driver opens this one when no path is given.
    default: bool,
}

#[derive(Serialize)]
struct DeviceReport {
    devices: Vec<DeviceRow>,
    failures: Vec<Failure>,
}

/// `hal drivers`.
///
/// # Errors
/// A driver that is not built in; an output that cannot be written.
pub fn drivers(arguments: &Listing) -> anyhow::Result<Exit> {
    let (listed, failures) = select(arguments)?;
    let drivers: Vec<DriverRow> = listed
        .into_iter()
        .map(|listed| DriverRow {
            name: listed.info.name,
            full_name: listed.info.full_name,
            version: listed.info.version,
            factory: listed.factory,
        })
        .collect();
    if arguments.json {
        return text::print(&text::json(&DriverReport { drivers, failures })?);
    }
    let rows: Vec<_> = drivers.into_iter().map(|row| vec![row.name, row.version, row.factory, row.full_name]).collect();
    finish(&text::table(&["DRIVER", "VERSION", "FACTORY", "DESCRIPTION"], &rows), &failures)
}

/// `hal devices`.
///
/// # Errors
/// As [`drivers`].
pub fn devices(arguments: &Listing) -> anyhow::Result<Exit> {
    let (listed, mut failures) = select(arguments)?;
    let mut devices = Vec::new();
    for driver in listed {
        match driver.create().and_then(|made| made.devices()) {
            Ok(found) => {
                devices.extend(found.into_iter().enumerate().map(|(place, info)| device(&driver, place, info)));
            }
            Err(error) => failures.push(Failure::new(&driver.info.name, error)),
        }
    }
    if arguments.json {
        return text::print(&text::json(&DeviceReport { devices, failures })?);
    }
    let rows: Vec<_> = devices
        .into_iter()
        .map(|row| {
            vec![
                row.uri,
                row.kind.to_owned(),
                text::bytes(row.memory_bytes),
                text::list(row.formats),
                text::list(row.features),
                row.name,
            ]
        })
        .collect();
    finish(&text::table(&["DEVICE", "KIND", "MEMORY", "FORMATS", "FEATURES", "NAME"], &rows), &failures)
}

fn device(driver: &Listed, place: usize, info: DeviceInfo) -> DeviceRow {
    DeviceRow {
        driver: driver.info.name.clone(),
        uri: format!("{}://{}", driver.info.name, info.path),
        path: info.path,
        name: info.name,
        kind: info.kind.label(),
        memory_bytes: info.memory_bytes,
        formats: info.formats,
        features: info.features,
        default: place == 0,
    }
}

fn select(arguments: &Listing) -> anyhow::Result<(Vec<Listed>, Vec<Failure>)> {
    let mut built_in = BuiltIn::new();
    if let Some(wanted) = &arguments.driver {
        built_in.require(wanted)?;
        built_in.drivers.retain(|driver| driver.info.name == *wanted);
    }
    Ok((built_in.drivers, built_in.failures))
}

/// The table on stdout, what failed on stderr.
fn finish(table: &str, failures: &[Failure]) -> anyhow::Result<Exit> {
    let exit = text::print(table)?;
    for failure in failures {
        text::note(&format!("note: {} did not answer: {} ({})", failure.name, failure.message, failure.code));
    }
    Ok(exit)
}
