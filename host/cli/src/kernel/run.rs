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
    // What the devices did is told also if the interpreter cannot follow.
    let checked = arguments.check.then(|| oracle::check(&job)).transpose();
    if let Ok(Some(verdict)) = &checked {
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
    checked?;
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
            let (line, differs) = verdict(*binding, &format!("{} and {other}", first.uri), difference, self.ulps);
            self.lines.push_str(&line);
            self.differs |= differs;
        }
        Ok(())
    }
}

/// A sentence about what two left in a binding, and whether that is not the same.
fn verdict(binding: u32, who: &str, difference: Option<Difference>, allowed: u64) -> (String, bool) {
    let Some(Difference { count, first, largest, ulps }) = difference else {
        return (format!("binding {binding}: {who} agree\n"), false);
    };
    // The two zeros are no ulp apart, and not bit-equal.
    let within = allowed > 0 && ulps.is_some_and(|ulps| ulps <= allowed);
    let verdict = if within { "agree within --ulps" } else { "differ" };
    let distance = match (largest.absolute(), ulps) {
        (Some(most), Some(ulps)) => format!(", by {ulps} ulps and {most:.2e} at most"),
        (Some(most), None) => format!(", by {most:.2e} at most"),
        (None, _) => String::new(),
    };
    let scalars = if count == 1 { "1 scalar" } else { &format!("{count} scalars") };
    let mut text = format!("binding {binding}: {who} {verdict}: {scalars}{distance}\n  largest: {largest}\n");
    if first != largest {
        // A String takes any text.
        let _always = writeln!(text, "  first:   {first}");
    }
    (text, !within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hal_kernel::{Format, SourceLimits};

    #[test]
    fn verdicts_say_how_much_and_where() {
        let source = "@group(0) @binding(0) var<storage, read_write> o: array<f32>;
            @compute @workgroup_size(1) fn main() { o[0] = 1.0; }";
        let program = hal_kernel::load(Format::Wgsl, source.as_bytes(), &SourceLimits::default()).unwrap();
        let of = |left: [f32; 2], right: [f32; 2], ulps: u64| {
            let [left, right] = [left, right].map(|values| values.map(f32::to_le_bytes).concat());
            verdict(4, "a and b", compare(program.layout("main", 0).unwrap(), &left, &right), ulps)
        };
        assert_eq!(of([1.0, 2.0], [1.0, 2.0], 0), ("binding 4: a and b agree\n".to_owned(), false));
        let near = f32::from_bits(1f32.to_bits() + 2);
        let (text, differs) = of([1.0, 2.0], [near, 2.0], 1);
        assert!(
            differs && text.starts_with("binding 4: a and b differ: 1 scalar, by 2 ulps and 2.38e-7 at most"),
            "{text}"
        );
        assert!(text.ends_with("\n  largest: f32 at byte 0: 1.0 against 1.0000002\n"), "{text}");
        let (text, differs) = of([1.0, 2.0], [near, 2.0], 2);
        assert!(!differs && text.contains("agree within --ulps: 1 scalar"), "{text}");
        assert!(of([0.0, 1.0], [-0.0, 1.0], 0).1 && !of([0.0, 1.0], [-0.0, 1.0], 1).1);
        let (text, differs) = of([near, f32::NAN], [1.0, 2.0], u64::MAX);
        assert!(
            differs
                && text
                    .contains("differ: 2 scalars\n  largest: f32 at byte 4: NaN against 2.0\n  first:   f32 at byte 0"),
            "{text}"
        );
    }
}
