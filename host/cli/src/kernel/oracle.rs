//! `--check`: the same job on the interpreter, which also tells of mistakes.

use super::{Stop, job::Job};
use crate::{exit::Exit, text};
use anyhow::{Context, anyhow};
use hal_interpreter::{Bound, Dispatch, Error, ErrorKind, Finding, FindingKind, Options, Report, STACK_BYTES};
use std::{fmt::Write, time::Instant};

/// What interpreting came to.
pub struct Verdict {
    /// The bytes of each binding of [`Job::written`]; none if something kept the kernel from its end.
    pub left: Option<Vec<Vec<u8>>>,
    /// What kept it from its end, if that was no mistake: a bound of ours, or a defect.
    pub stopped: Option<anyhow::Error>,
    /// What was found, a line each.
    pub lines: String,
    /// Whether a race, an index out of bounds or a barrier that not all reach is among them. A read of memory that was never written is
    /// none: it reads zero, and kernels rely on that.
    pub mistakes: bool,
}

/// Interprets a job, within [`Options::default`]'s steps and memory, and in the time that a run on a device may take.
///
/// # Errors
/// What the interpreter has no meaning for.
pub fn check(job: &Job) -> anyhow::Result<Verdict> {
    let mut bindings = job.bindings.clone();
    let mut verdict = Verdict { left: None, stopped: None, lines: String::new(), mistakes: false };
    let findings = match interpret(job, &mut bindings) {
        Ok(Ok(report)) => {
            let written = bindings.into_iter().filter(|bound| job.writes(bound.binding));
            verdict.left = Some(written.map(|bound| bound.bytes).collect());
            report.findings
        }
        Ok(Err(error)) if error.kind == ErrorKind::Barrier => {
            verdict.mistakes = true;
            // A String takes any text.
            let _always = writeln!(verdict.lines, "{}", job.source.placed(&error.to_string()));
            error.findings
        }
        Ok(Err(error)) if error.kind == ErrorKind::Unsupported => return Err(beyond(job, &error)),
        Ok(Err(error)) => {
            let (late, message) = (error.kind == ErrorKind::Time, job.source.placed(&error.to_string()));
            verdict.stopped = Some(if late {
                Stop { exit: Exit::Timeout, message: format!("--check: {message}; --timeout allows more") }.into()
            } else {
                anyhow!("--check: {message}")
            });
            error.findings
        }
        Err(error) => {
            verdict.stopped = Some(error);
            Vec::new()
        }
    };
    for finding in findings.iter().filter(|finding| is_told(finding)) {
        verdict.mistakes |= finding.kind != FindingKind::Unwritten;
        let _always = writeln!(verdict.lines, "{}", line(&job.source.file, finding));
    }
    Ok(verdict)
}

/// The refusal of a kernel that cannot be interpreted, with the names of what is rare in it.
fn beyond(job: &Job, error: &Error) -> anyhow::Error {
    let sentence = job.source.placed(&error.to_string());
    let features = job.program.function(&job.function).map_or(&[][..], |function| &function.required_features);
    let needs = if features.is_empty() {
        String::new()
    } else {
        format!("; {} needs {}", text::shown(&job.function), text::list(features.iter().map(|feature| feature.name)))
    };
    anyhow!("--check: {sentence}{needs}; nothing was run: leave --check out to run it on the devices alone")
}

/// All indices out of range lead to the last element, so that races there say nothing that they do not.
fn is_told(finding: &Finding) -> bool {
    !(finding.kind == FindingKind::Race && finding.clamped)
}

/// Runs it on a thread with the stack that it needs.
fn interpret(job: &Job, bindings: &mut [Bound]) -> anyhow::Result<hal_interpreter::Result<Report>> {
    let dispatch = Dispatch { function: &job.function, groups: job.groups, constants: &job.constants };
    let options = Options { checks: true, until: Instant::now().checked_add(job.timeout), ..Options::default() };
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("interpreter".into()).stack_size(STACK_BYTES);
        let work = || hal_interpreter::run(&job.program, &dispatch, bindings, &options);
        let thread = builder.spawn_scoped(scope, work).context("no thread to interpret on")?;
        thread.join().map_err(|_| anyhow!("--check: the interpreter failed on this kernel (a defect of it)"))
    })
}

fn line(file: &str, finding: &Finding) -> String {
    let place = finding.place.map(|place| format!(":{place}")).unwrap_or_default();
    let of = finding.variable.as_deref().map(|name| format!(" in `{}`", text::shown(name))).unwrap_or_default();
    let what = match &finding.kind {
        FindingKind::OutOfBounds { index, count } => format!("out of bounds: element {index} of {count}{of}"),
        FindingKind::Race => {
            let other = finding.other.map(|other| format!(" with invocation {other}")).unwrap_or_default();
            format!("race{of}{other}")
        }
        FindingKind::Unwritten => format!("note: a read of what was never written, which is zero{of}"),
        other => format!("{other:?}{of}"),
    };
    let [x, y, z] = finding.group;
    let often = match finding.times {
        1 => String::new(),
        times => format!("{times} times, first in "),
    };
    format!("{file}{place}: {what} ({often}workgroup {x},{y},{z}, invocation {})", finding.invocation)
}
