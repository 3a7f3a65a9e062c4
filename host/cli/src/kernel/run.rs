//! `hal kernel run`.

use super::{args::Run, args::counts, device, device::Outcome, job::Job, oracle};
use crate::{drivers::BuiltIn, exit::Exit, file, text};
use anyhow::Context;
use hal_kernel::{Difference, compare};
use std::fmt::Write;

/// What the interpreter is called beside devices.
const INTERPRETER: &str = "the interpreter";

/// Runs a kernel on each device, one after the other.
///
/// # Errors
/// What keeps it from running on one of them.
pub async fn run(arguments: &Run) -> anyhow::Result<Exit> {
    counts(&arguments.devices, &arguments.overrides)?;
    let job = Job::new(arguments)?;
    let built_in = BuiltIn::new();
    // All are opened first: a name that is wrong costs no time.
    let mut devices = Vec::new();
    for uri in &arguments.devices {
        devices.push(device::open(&built_in, uri, job.timeout).await?);
    }
    let mut comparison = Comparison::new(&job, arguments.ulps);
    let mut rows = Vec::new();
    let mut first = None;
    for device in devices {
        let outcome = device.run(&job).await?;
        rows.push(row(&outcome));
        match &first {
            None => first = Some(outcome),
            Some(first) => comparison.add(first, &outcome.uri, &outcome.left)?,
        }
    }
    let first = first.context("clap requires a device")?;
    let mut report = text::table(&["DEVICE", "MEDIAN", "MIN", "RUNS", "CLOCK"], &rows);
    if arguments.check {
        let verdict = oracle::check(&job)?;
        report.push_str(&verdict.lines);
        comparison.differs |= verdict.mistakes;
        if let Some(left) = &verdict.left {
            comparison.add(&first, INTERPRETER, left)?;
        }
    }
    for out in &arguments.outputs {
        let at = job.written.iter().position(|binding| *binding == out.binding);
        let bytes = at.and_then(|at| first.left.get(at)).context("an output was checked to be written")?;
        file::write(&out.file, bytes)?;
    }
    report.push_str(&comparison.lines);
    let printed = text::print(&report)?;
    Ok(if printed == Exit::Success && comparison.differs { Exit::Different } else { printed })
}

fn row(outcome: &Outcome) -> Vec<String> {
    let mut times = outcome.times_ns.clone();
    times.sort_unstable();
    let time = |at: usize| times.get(at).map_or_else(String::new, |time| text::time(*time));
    let clock = if outcome.device_clock { "device" } else { "host" };
    vec![outcome.uri.clone(), time(times.len() / 2), time(0), times.len().to_string(), clock.to_owned()]
}

/// What others left, beside what the first device left.
struct Comparison<'a> {
    job: &'a Job,
    ulps: u64,
    lines: String,
    differs: bool,
}

impl<'a> Comparison<'a> {
    fn new(job: &'a Job, ulps: u64) -> Self {
        Self { job, ulps, lines: String::new(), differs: false }
    }

    fn add(&mut self, first: &Outcome, other: &str, left: &[Vec<u8>]) -> anyhow::Result<()> {
        for ((binding, expected), found) in self.job.written.iter().zip(&first.left).zip(left) {
            let layout = self.job.program.layout(&self.job.function, *binding);
            let difference = compare(layout.context("a binding that is written has a type")?, expected, found);
            self.line(*binding, &format!("{} and {other}", first.uri), difference);
        }
        Ok(())
    }

    fn line(&mut self, binding: u32, who: &str, difference: Option<Difference>) {
        let Some(Difference { count, first, largest, ulps }) = difference else {
            // A String takes any text.
            let _always = writeln!(self.lines, "binding {binding}: {who} agree");
            return;
        };
        let within = ulps.is_some_and(|ulps| ulps <= self.ulps);
        self.differs |= !within;
        let verdict = if within { "agree within --ulps" } else { "differ" };
        let ulps = ulps.map(|ulps| format!("{ulps} ulps")).unwrap_or_else(|| "no number of ulps".to_owned());
        let absolute = largest.absolute().map(|most| format!("{most:e}")).unwrap_or_else(|| "no number".to_owned());
        let _always = writeln!(
            self.lines,
            "binding {binding}: {who} {verdict}: {count} scalars, by {ulps} and {absolute} at most\n  largest: {largest}\n  first:   {first}"
        );
    }
}
