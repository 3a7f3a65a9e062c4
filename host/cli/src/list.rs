//! `hal drivers` and `hal devices`: what could be granted, as the machine's owner sees it.
//!
//! A tenant sees less: only what was granted, under numbers and names that its grant reveals.

use crate::{
    args::Listing,
    drivers::{BuiltIn, Failure, Listed},
    exit::Exit,
    probe::{self, Found},
    text,
};
use serde::Serialize;
use std::fmt::Write;

/// The limit that kernels with long loops meet first, and what is enough for all that are known: a million iterations of one invocation.
const LOOP_LIMIT: &str = "max-loop-iterations";
const ENOUGH_ITERATIONS: u64 = 1 << 20;

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
    kind: String,
    memory_bytes: u64,
    formats: Vec<String>,
    features: Vec<String>,
    /// The first one, which most drivers open when no path is given.
    default: bool,
    /// By name; empty if it could not be opened.
    limits: serde_json::Map<String, serde_json::Value>,
    /// The driver's text.
    details: String,
    /// What is wrong with it, or unusual.
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct UnusableRow {
    driver: String,
    name: String,
    reason: String,
}

#[derive(Serialize)]
struct DeviceReport {
    devices: Vec<DeviceRow>,
    /// What is there and cannot be used.
    unusable: Vec<UnusableRow>,
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
pub fn devices(arguments: &Listing, verbose: bool) -> anyhow::Result<Exit> {
    let (listed, mut failures) = select(arguments)?;
    let (mut devices, mut unusable) = (Vec::new(), Vec::new());
    for driver in listed {
        let probed = probe::probe(&driver, verbose);
        let found = probed.devices.found.into_iter().enumerate();
        devices.extend(found.map(|(place, found)| device(&driver, place, found)));
        unusable.extend(probed.devices.unusable.into_iter().map(|device| UnusableRow {
            driver: driver.info.name.clone(),
            name: device.name,
            reason: device.reason,
        }));
        failures.extend(probed.failure);
    }
    if arguments.json {
        return text::print(&text::json(&DeviceReport { devices, unusable, failures })?);
    }
    let cells = |row: &DeviceRow| {
        vec![
            row.uri.clone(),
            row.kind.clone(),
            text::bytes(row.memory_bytes),
            text::list(&row.formats),
            text::list(&row.features),
            row.name.clone(),
        ]
    };
    let rows: Vec<_> = devices.iter().map(cells).collect();
    let mut table = text::table(&["DEVICE", "KIND", "MEMORY", "FORMATS", "FEATURES", "NAME"], &rows);
    if verbose {
        devices.iter().for_each(|row| more(&mut table, row));
        table.push_str(&unusable_ones(&unusable));
    }
    let exit = finish(&table, &failures)?;
    for row in devices {
        row.warnings.iter().for_each(|warning| text::note(&format!("warning: {}: {warning}", row.uri)));
    }
    Ok(exit)
}

/// `hal probe-driver`.
///
/// # Errors
/// As [`drivers`].
pub fn probe(driver: &str) -> anyhow::Result<Exit> {
    let arguments = Listing { driver: Some(driver.to_owned()), json: false };
    let (listed, _) = select(&arguments)?;
    listed.last().map_or(Ok(Exit::Failure), probe::report)
}

fn device(driver: &Listed, place: usize, found: Found) -> DeviceRow {
    let warnings = warnings(&found);
    DeviceRow {
        driver: driver.info.name.clone(),
        uri: format!("{}://{}", driver.info.name, found.path),
        path: found.path,
        name: found.name,
        kind: found.kind,
        memory_bytes: found.memory_bytes,
        formats: found.formats,
        features: found.features,
        default: place == 0,
        limits: found.limits.into_iter().map(|(name, value)| (name, value.into())).collect(),
        details: found.details,
        warnings,
    }
}

fn warnings(found: &Found) -> Vec<String> {
    let mut warnings: Vec<String> =
        found.closed.iter().map(|reason| format!("it cannot be opened now: {reason}")).collect();
    let iterations = found.limits.iter().find(|(name, _)| name == LOOP_LIMIT);
    if let Some((_, value)) = iterations.filter(|(_, value)| *value < ENOUGH_ITERATIONS) {
        warnings.push(format!(
            "a kernel's invocation may make {value} loop iterations ({LOOP_LIMIT}); beyond them the submission fails"
        ));
    }
    warnings
}

/// What `--verbose` adds about a device.
fn more(text: &mut String, row: &DeviceRow) {
    // A String takes any text.
    let _always = writeln!(text, "\n{}", row.uri);
    for line in row.details.lines() {
        let _always = writeln!(text, "  {line}");
    }
    for (name, value) in &row.limits {
        let value = match value.as_u64() {
            Some(u64::MAX) => "unbounded".to_owned(),
            _ => value.to_string(),
        };
        let _always = writeln!(text, "  {name:<30} {value}");
    }
}

/// What `--verbose` says of devices that cannot be used; nothing if there are none.
fn unusable_ones(rows: &[UnusableRow]) -> String {
    let line = |row: &UnusableRow| format!("  {}: {}: {}\n", row.driver, row.name, row.reason);
    let lines: String = rows.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\nnot usable:\n{lines}") }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_cannot_be_used_are_told_with_the_reason() {
        let row = UnusableRow { driver: "vulkan".into(), name: "Old GPU".into(), reason: "it lacks something".into() };
        assert_eq!(unusable_ones(&[row]), "\nnot usable:\n  vulkan: Old GPU: it lacks something\n");
        assert_eq!(unusable_ones(&[]), "");
    }

    #[test]
    fn a_device_that_ends_loops_early_or_does_not_open_is_warned_of() {
        let found = |limit: Option<u64>, closed: Option<&str>| Found {
            path: "0".into(),
            name: "n".into(),
            kind: "cpu".into(),
            memory_bytes: 0,
            formats: Vec::new(),
            features: Vec::new(),
            details: String::new(),
            limits: limit.map(|value| (LOOP_LIMIT.to_owned(), value)).into_iter().collect(),
            closed: closed.map(str::to_owned),
        };
        assert!(warnings(&found(Some(u64::MAX), None)).is_empty() && warnings(&found(Some(1 << 20), None)).is_empty());
        assert!(warnings(&found(Some(65_535), None))[0].contains("65535 loop iterations"));
        assert_eq!(warnings(&found(None, Some("busy"))), ["it cannot be opened now: busy"]);
    }
}
