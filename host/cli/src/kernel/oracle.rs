//! `--check`: the same job on the interpreter, which also tells of mistakes.

use super::{Stop, job::Job};
use crate::{exit::Exit, text};
use anyhow::{Context, anyhow};
use hal_interpreter::{Bound, Dispatch, ErrorKind, Finding, FindingKind, Options, Report, STACK_BYTES};
use std::{fmt::Write, time::Instant};

/// What interpreting came to.
pub struct Verdict {
    /// The bytes of each binding of [`Job::written`]; none if a mistake kept the kernel from its end.
    pub left: Option<Vec<Vec<u8>>>,
    /// What was found, a line each.
    pub lines: String,
    /// Whether a race, an index out of bounds or a barrier that not all reach is among them. A read of memory that was never written is
    /// none: it reads zero, and kernels rely on that.
    pub mistakes: bool,
}

/// Interprets a job, within [`Options::default`]'s steps and memory, and in the time that a run on a device may take.
///
/// # Errors
/// What the interpreter cannot do, or not within these bounds.
pub fn check(job: &Job) -> anyhow::Result<Verdict> {
    let mut bindings = job.bindings.clone();
    let result = interpret(job, &mut bindings)?;
    let mut verdict = Verdict { left: None, lines: String::new(), mistakes: false };
    let findings = match result {
        Ok(report) => {
            let written = bindings.into_iter().filter(|bound| job.writes(bound.binding));
            verdict.left = Some(written.map(|bound| bound.bytes).collect());
            report.findings
        }
        Err(error) if error.kind == ErrorKind::Barrier => {
            verdict.mistakes = true;
            // A String takes any text.
            let _always = writeln!(verdict.lines, "{}", job.source.placed(&error.to_string()));
            error.findings
        }
        Err(error) => {
            let message = format!("--check: {}", job.source.placed(&error.to_string()));
            if error.kind == ErrorKind::Time {
                let message = format!("{message}; --timeout allows more");
                return Err(Stop { exit: Exit::Timeout, message }.into());
            }
            return Err(anyhow!(message));
        }
    };
    for finding in &findings {
        verdict.mistakes |= finding.kind != FindingKind::Unwritten;
        let _always = writeln!(verdict.lines, "{}", line(&job.source.file, finding));
    }
    Ok(verdict)
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
    format!("{file}{place}: {what} (workgroup {x},{y},{z}, invocation {})", finding.invocation)
}
