//! `hal kernel run`.

use super::{
    args::{Run, counts},
    device::{self, Open, Outcome},
    job::Job,
    oracle, tell,
};
use crate::{drivers::BuiltIn, exit::Exit, file, text};
use anyhow::Context;
use hal_host::hal_core::Executable;
use hal_kernel::{Difference, Part, Tolerance, compare};
use std::fmt::Write;

/// What the interpreter is called beside devices.
const INTERPRETER: &str = "the interpreter";

/// Runs a kernel on each device, one after the other. What one device fails at does not keep the others from being told of.
///
/// # Errors
/// What keeps it from running on any of them.
pub async fn run(arguments: &Run) -> anyhow::Result<Exit> {
    counts(&arguments.devices, &arguments.overrides)?;
    let job = Job::new(arguments)?;
    let built_in = BuiltIn::new();
    // All are opened first, and asked for the kernel: a name that is wrong costs no time.
    let mut devices = Vec::new();
    for uri in &arguments.devices {
        devices.push(device::open(&built_in, uri, job.timeout).await?);
    }
    let mut prepared = Vec::new();
    for device in &devices {
        prepared.push(device.prepare(&job).await);
    }
    // So is the interpreter; but if no device takes the kernel, that is what there is to tell.
    let checked = arguments.check && prepared.iter().any(Result::is_ok);
    let verdict = if checked { Some(oracle::check(&job)?) } else { None };
    let results = on_each(&job, &devices, prepared).await;
    let mut comparison = Comparison::new(&job);
    let mut report = table(&devices, &results);
    let mut outcomes = results.iter().filter_map(|result| result.as_ref().ok());
    let first = outcomes.next();
    if let Some(verdict) = &verdict {
        report.push_str(&verdict.lines);
        comparison.differs |= verdict.mistakes;
    }
    if let Some(first) = first {
        for other in outcomes {
            comparison.add(first, &other.uri, &other.left)?;
        }
        if let Some(left) = verdict.as_ref().and_then(|verdict| verdict.left.as_ref()) {
            comparison.add(first, INTERPRETER, left)?;
        }
    }
    if let Some(Ok(first)) = results.first() {
        outputs(arguments, &job, first)?;
    }
    report.push_str(&comparison.lines);
    let printed = text::print(&report)?;
    let stopped = verdict.and_then(|verdict| verdict.stopped);
    let failures: Vec<Exit> =
        results.iter().filter_map(|result| result.as_ref().err()).chain(&stopped).map(tell).collect();
    let verdict = if comparison.differs { Exit::Different } else { Exit::Success };
    Ok(if printed == Exit::Success { failures.first().copied().unwrap_or(verdict) } else { printed })
}

/// Runs the job on each device that has taken the kernel.
async fn on_each(
    job: &Job,
    devices: &[Open],
    prepared: Vec<anyhow::Result<Executable>>,
) -> Vec<anyhow::Result<Outcome>> {
    let mut results = Vec::new();
    for (device, prepared) in devices.iter().zip(prepared) {
        results.push(match prepared {
            Ok(executable) => device.run(job, executable).await,
            Err(error) => Err(error),
        });
    }
    results
}

/// Writes what the first device left.
fn outputs(arguments: &Run, job: &Job, first: &Outcome) -> anyhow::Result<()> {
    for out in &arguments.outputs {
        let at = job.written.iter().position(|binding| *binding == out.binding);
        let bytes = at.and_then(|at| first.left.get(at)).context("an output was checked to be written")?;
        file::write(&out.file, bytes)?;
    }
    Ok(())
}

/// What each device took.
fn table(devices: &[Open], results: &[anyhow::Result<Outcome>]) -> String {
    let rows = devices.iter().zip(results).map(|(device, result)| match result {
        Ok(outcome) => row(outcome),
        Err(_) => vec![device.uri.clone(), "failed".to_owned()],
    });
    text::table(&["DEVICE", "MEDIAN", "MIN", "RUNS", "CLOCK"], &rows.collect::<Vec<_>>())
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
    lines: String,
    differs: bool,
}

impl<'a> Comparison<'a> {
    fn new(job: &'a Job) -> Self {
        let lines = if job.runs() { "" } else { "no workgroup: nothing ran, and nothing is compared\n" };
        Self { job, lines: lines.to_owned(), differs: false }
    }

    fn add(&mut self, first: &Outcome, other: &str, left: &[Vec<u8>]) -> anyhow::Result<()> {
        if !self.job.runs() {
            return Ok(());
        }
        let tolerance = &self.job.tolerance;
        for ((binding, expected), found) in self.job.written.iter().zip(&first.left).zip(left) {
            let difference = compare(self.job.layout(*binding)?, expected, found, tolerance);
            let (text, differs) = verdict(*binding, &format!("{} and {other}", first.uri), difference, tolerance);
            self.lines.push_str(&text);
            self.differs |= differs;
        }
        Ok(())
    }
}

/// What is to be said about what two left in a binding, and whether that is not the same.
fn verdict(binding: u32, who: &str, difference: Option<Difference>, tolerance: &Tolerance) -> (String, bool) {
    let Some(Difference { beyond, within, first, largest, most_ulps }) = difference else {
        return (format!("binding {binding}: {who} agree\n"), false);
    };
    let scalars = |count: u64| if count == 1 { "1 scalar".to_owned() } else { format!("{count} scalars") };
    let head = match (beyond, within) {
        (0, _) => format!("agree within {}: {}", allowed(tolerance), scalars(within)),
        (_, 0) => format!("differ: {}", scalars(beyond)),
        _ => format!("differ: {} by more than {}, {within} within that", scalars(beyond), allowed(tolerance)),
    };
    let mut text = format!("binding {binding}: {who} {head}\n  largest: {}\n", example(&largest));
    // A String takes any text.
    if let Some(most) = most_ulps.filter(|most| *most != largest) {
        let _always = writeln!(text, "  in ulps: {}", example(&most));
    }
    if first != largest && Some(first) != most_ulps {
        let _always = writeln!(text, "  first:   {}", example(&first));
    }
    (text, beyond > 0)
}

/// How far values may be apart, of which something is allowed.
fn allowed(tolerance: &Tolerance) -> String {
    let ulps = (tolerance.ulps > 0).then(|| ulps(tolerance.ulps));
    let absolute = (tolerance.absolute > 0.0).then(|| format!("{:e}", tolerance.absolute));
    let both: Vec<String> = ulps.into_iter().chain(absolute).collect();
    both.join(" or ")
}

fn ulps(count: u64) -> String {
    if count == 1 { "1 ulp".to_owned() } else { format!("{count} ulps") }
}

/// `f32 at byte 8: 0.5 against 0.25 (8388608 ulps, 2.50e-1)`.
fn example(part: &Part) -> String {
    let absolute = part.absolute().map(|distance| format!("{distance:.2e}"));
    let distances: Vec<String> = part.ulps().map(ulps).into_iter().chain(absolute).collect();
    if distances.is_empty() { part.to_string() } else { format!("{part} ({})", distances.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hal_kernel::{Element, Layout};

    #[test]
    fn verdicts_say_how_much_and_where() {
        let of = |left: [f32; 3], right: [f32; 3], ulps: u64, absolute: f64| {
            let [left, right] = [left, right].map(|values| values.map(f32::to_le_bytes).concat());
            let tolerance = Tolerance { ulps, absolute };
            verdict(4, "a and b", compare(Layout::array_of(Element::F32), &left, &right, &tolerance), &tolerance)
        };
        let right = [1.0, 0.0, 3.0];
        assert_eq!(of(right, right, 0, 0.0), ("binding 4: a and b agree\n".to_owned(), false));
        let near = f32::from_bits(1f32.to_bits() + 2);
        let (text, differs) = of([1.0, 0.0, 3.0], [near, 0.0, 3.0], 1, 0.0);
        let example = "f32 at byte 0: 1.0 against 1.0000002 (2 ulps, 2.38e-7)";
        assert_eq!((text, differs), (format!("binding 4: a and b differ: 1 scalar\n  largest: {example}\n"), true));
        for (ulps, absolute, said) in [(2, 0.0, "2 ulps"), (0, 1e-6, "1e-6"), (1, 0.5, "1 ulp or 5e-1")] {
            let want = format!("binding 4: a and b agree within {said}: 1 scalar\n  largest: {example}\n");
            assert_eq!(of([1.0, 0.0, 3.0], [near, 0.0, 3.0], ulps, absolute), (want, false));
        }
        let (text, differs) = of([1.0, 0.0, 3.0], [near, 1e-30, 3.5], 2, 0.0);
        assert_eq!(
            text,
            "binding 4: a and b differ: 2 scalars by more than 2 ulps, 1 within that\n  \
             largest: f32 at byte 8: 3.0 against 3.5 (2097152 ulps, 5.00e-1)\n  \
             in ulps: f32 at byte 4: 0.0 against 1e-30 (228737632 ulps, 1.00e-30)\n"
        );
        assert!(differs);
        assert!(of([0.0, 1.0, 1.0], [-0.0, 1.0, 1.0], 0, 0.0).1 && !of([0.0, 1.0, 1.0], [-0.0, 1.0, 1.0], 1, 0.0).1);
        let (text, differs) = of([near, f32::NAN, 1.0], [1.0, 2.0, 1.0], u64::MAX, 0.0);
        let want = "differ: 1 scalar by more than 18446744073709551615 ulps, 1 within that\n  \
                    largest: f32 at byte 4: NaN against 2.0\n";
        assert!(differs && text.ends_with(want), "{text}");
    }
}
