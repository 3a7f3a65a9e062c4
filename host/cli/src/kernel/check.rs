//! `hal kernel check`.

use super::{args::Check, args::counts, device, report, source::Source};
use crate::{
    drivers::{BuiltIn, Listed},
    exit::Exit,
    text,
};
use hal_driver::OverrideValue;
use hal_host::hal_core::Limit;
use std::time::Duration;

/// Says what a kernel has, and who takes it.
///
/// # Errors
/// The front end's refusal; a file or a device that cannot be opened.
pub async fn check(arguments: &Check) -> anyhow::Result<Exit> {
    counts(&arguments.devices, &arguments.overrides)?;
    let source = Source::read(&arguments.file)?;
    let program = source.load()?;
    let specialized = source.specialize(&program, &arguments.overrides);
    // Also if values are missing: to know them one has to see what there is.
    let shown = specialized.as_ref().map_or(&program, |(program, _)| program);
    let printed = text::print(&report::program(&source, shown, program.overrides()))?;
    let (_, overrides) = specialized?;
    let answers = if arguments.devices.is_empty() {
        everywhere(&source, &overrides).await
    } else {
        here(&source, &overrides, &arguments.devices).await?
    };
    if answers.is_empty() {
        anyhow::bail!("no driver here has a device that loads kernels");
    }
    let rows: Vec<_> = answers.iter().map(|answer| vec![answer.uri.clone(), answer.text.clone()]).collect();
    let told = text::print(&format!("\n{}", text::table(&["DEVICE", "ANSWER"], &rows)))?;
    Ok(match [printed, told] {
        [Exit::Success, Exit::Success] if answers.iter().any(|answer| answer.refused) => Exit::Refused,
        [Exit::Success, end] | [end, _] => end,
    })
}

struct Answer {
    uri: String,
    refused: bool,
    text: String,
}

/// The devices that are named: each has to open.
async fn here(
    source: &Source,
    overrides: &[(String, OverrideValue)],
    devices: &[String],
) -> anyhow::Result<Vec<Answer>> {
    let built_in = BuiltIn::new();
    let mut answers = Vec::new();
    for uri in devices {
        let open = device::open(&built_in, uri, time()).await?;
        answers.push(answer(&open, source, overrides).await?);
    }
    Ok(answers)
}

/// The default device of every driver that has one and loads kernels.
async fn everywhere(source: &Source, overrides: &[(String, OverrideValue)]) -> Vec<Answer> {
    let built_in = BuiltIn::new();
    let mut answers = Vec::new();
    for Listed { info, .. } in &built_in.drivers {
        let uri = format!("{}://", info.name);
        let asked = match device::open(&built_in, &uri, time()).await {
            Ok(open) if open.can_load(source) => answer(&open, source, overrides).await,
            Ok(_) => continue,
            Err(error) => Err(error),
        };
        match asked {
            Ok(answer) => answers.push(answer),
            Err(error) => text::note(&format!("note: {error:#}")),
        }
    }
    answers
}

async fn answer(open: &device::Open, source: &Source, overrides: &[(String, OverrideValue)]) -> anyhow::Result<Answer> {
    let (uri, loaded) = (open.uri.clone(), open.load(source, overrides).await?);
    Ok(match loaded {
        Ok(_) => Answer { uri, refused: false, text: "takes it".to_owned() },
        Err(error) => Answer { uri, refused: true, text: format!("refuses it: {} ({})", error.message, error.code) },
    })
}

/// Nothing is run.
fn time() -> Duration {
    Duration::from_nanos(Limit::SubmissionTimeNs.default_value())
}
