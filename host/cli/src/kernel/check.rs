//! `hal kernel check`.

use super::{
    args::{Check, counts},
    device,
    facts::{DeviceRow, Facts, Refusal},
    report,
    source::{self, Source},
};
use crate::{
    drivers::{BuiltIn, Listed},
    exit::Exit,
    text,
};
use hal_driver::OverrideValue;
use hal_host::hal_core::Limit;
use hal_kernel::KernelError;
use std::time::Duration;

/// Says what a kernel has, and who takes it.
///
/// # Errors
/// The front end's refusal; a file or a device that cannot be opened.
pub async fn check(arguments: &Check) -> anyhow::Result<Exit> {
    counts(&arguments.devices, &arguments.overrides)?;
    let source = Source::read(&arguments.file)?;
    let refused = |error: KernelError| {
        if arguments.json {
            text::print(&text::json(&Facts::refused(&source, &error))?)?;
        }
        Err(source.refused(&error))
    };
    let program = match source.load() {
        Ok(program) => program,
        Err(error) => return refused(error),
    };
    let values = source::values(&program, &arguments.overrides)?;
    let required = source::missing(&program, &arguments.overrides);
    // Also if values are missing: to know them one has to see what there is.
    let resolved = if required.is_empty() { source::resolve(&program, &values) } else { Ok(program.clone()) };
    let mut printed = Exit::Success;
    if !arguments.json {
        let shown = resolved.as_ref().unwrap_or(&program);
        printed = text::print(&report::program(&source, shown, program.overrides()))?;
    }
    let resolved = match resolved {
        Ok(resolved) => resolved,
        Err(error) => return refused(error),
    };
    let asked = if required.is_empty() { ask(&source, &values, &arguments.devices).await? } else { Asked::default() };
    let end = asked.exit(!required.is_empty());
    let told = if arguments.json {
        text::print(&text::json(&Facts::new(&source, &resolved, program.overrides(), asked.devices, asked.failures))?)?
    } else if required.is_empty() {
        text::print(&format!("\n{}", report::answers(&asked.devices)))?
    } else {
        text::print(&format!("\nno device is asked: {}\n", required.join("; ")))?
    };
    Ok([printed, told].into_iter().find(|exit| *exit != Exit::Success).unwrap_or(end))
}

/// What devices said.
#[derive(Default)]
struct Asked {
    devices: Vec<DeviceRow>,
    failures: Vec<String>,
}

impl Asked {
    fn exit(&self, open: bool) -> Exit {
        if open {
            Exit::Failure
        } else if self.devices.iter().any(|device| device.refusal.is_some()) {
            Exit::Refused
        } else {
            Exit::Success
        }
    }
}

async fn ask(source: &Source, overrides: &[(String, OverrideValue)], devices: &[String]) -> anyhow::Result<Asked> {
    let asked =
        if devices.is_empty() { everywhere(source, overrides).await } else { here(source, overrides, devices).await? };
    for failure in &asked.failures {
        text::note(&format!("note: {failure}"));
    }
    anyhow::ensure!(!asked.devices.is_empty(), "no driver here has a device that loads kernels");
    Ok(asked)
}

/// The devices that are named: each has to open.
async fn here(source: &Source, overrides: &[(String, OverrideValue)], devices: &[String]) -> anyhow::Result<Asked> {
    let built_in = BuiltIn::new();
    let mut asked = Asked::default();
    for uri in devices {
        let open = device::open(&built_in, uri, time()).await?;
        asked.devices.push(answer(&open, source, overrides).await?);
    }
    Ok(asked)
}

/// The default device of every driver that has one and loads kernels.
async fn everywhere(source: &Source, overrides: &[(String, OverrideValue)]) -> Asked {
    let built_in = BuiltIn::new();
    let mut asked = Asked::default();
    for Listed { info, .. } in &built_in.drivers {
        let uri = format!("{}://", info.name);
        let said = match device::open(&built_in, &uri, time()).await {
            Ok(open) if open.can_load(source) => answer(&open, source, overrides).await,
            Ok(_) => continue,
            Err(error) => Err(error),
        };
        match said {
            Ok(device) => asked.devices.push(device),
            Err(error) => asked.failures.push(format!("{error:#}")),
        }
    }
    asked
}

async fn answer(
    open: &device::Open,
    source: &Source,
    overrides: &[(String, OverrideValue)],
) -> anyhow::Result<DeviceRow> {
    let loaded = open.load(source, overrides).await?;
    let refusal = loaded.err().map(|error| Refusal { code: error.code.label(), message: error.message });
    Ok(DeviceRow { uri: open.uri.clone(), refusal })
}

/// Nothing is run.
fn time() -> Duration {
    Duration::from_nanos(Limit::SubmissionTimeNs.default_value())
}
