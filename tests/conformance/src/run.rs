//! Cases on drivers: what is run, what is not, and how each ends.

use crate::{
    bare::{self, Bare},
    drivers::{ENTRIES, Entry, Registered},
    guest,
    native::Native,
};
use anyhow::{Result, bail};
use hal_conformance_cases::{Case, cases};
use hal_test_support::Counts;
use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

/// How long a case may take: its waits end long before. One that hangs all the same is left behind.
const DEADLINE: Duration = Duration::from_secs(90);

/// How long native release may take after a case.
const RELEASE: Duration = Duration::from_secs(15);

/// How a driver is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Over the driver traits, with nothing of the host's above.
    Bare,
    /// Over the host's checked layer.
    Native,
    /// By a guest through WIT.
    Guest,
}

impl Path {
    /// All.
    pub const ALL: [Self; 3] = [Self::Bare, Self::Native, Self::Guest];

    /// As it is printed.
    pub fn label(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Native => "native",
            Self::Guest => "guest",
        }
    }
}

/// How a case ended, or why it was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Well.
    Passed,
    /// With what it found.
    Failed(String),
    /// Not run: there is nothing behind it on this path.
    NotApplicable(String),
    /// Not run: the driver never will.
    Unsupported(String),
    /// As the driver's list says: the reason there.
    ExpectedFailure(String),
}

/// One case on one driver, one way.
#[derive(Clone, Debug)]
pub struct Done {
    /// The suite.
    pub suite: &'static str,
    /// The case.
    pub name: &'static str,
    /// With its form and format.
    pub id: String,
    /// How it ended.
    pub status: Status,
    /// How long it took.
    pub took: Duration,
}

/// Whether a pattern means a case: with `*` for anything, else as a part of its name.
pub fn matches(pattern: &str, id: &str) -> bool {
    let mut parts = pattern.split('*');
    let (Some(first), true) = (parts.next(), pattern.contains('*')) else { return id.contains(pattern) };
    let Some(mut rest) = id.strip_prefix(first) else { return false };
    let mut last = "";
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = part;
    }
    rest.is_empty() || last.is_empty() || id.ends_with(last)
}

/// The drivers that are meant.
///
/// # Errors
/// For a name that no driver has, with those there are.
pub fn drivers(name: Option<&str>) -> Result<Vec<&'static Entry>> {
    let Some(name) = name else { return Ok(ENTRIES.iter().collect()) };
    match ENTRIES.iter().find(|entry| entry.name == name) {
        Some(entry) => Ok(vec![entry]),
        None => {
            let there: Vec<_> = ENTRIES.iter().map(|entry| entry.name).collect();
            bail!("no driver is called {name:?}; there are {}", there.join(", "));
        }
    }
}

/// The cases that are meant.
///
/// # Errors
/// For a pattern that means none, with the suites and cases there are.
pub fn select(pattern: Option<&str>) -> Result<Vec<Case<Native>>> {
    let all = cases::<Native>();
    let Some(pattern) = pattern else { return Ok(all) };
    let found: Vec<_> = all.iter().filter(|case| matches(pattern, &case.id())).cloned().collect();
    if found.is_empty() {
        let mut lines: Vec<String> = Vec::new();
        for case in all.iter().filter(|case| is_first_variant(case)) {
            match lines.last_mut().filter(|line| line.starts_with(&format!("  {}:", case.suite))) {
                Some(line) => line.push_str(&format!(" {}", case.name)),
                None => lines.push(format!("  {}: {}", case.suite, case.name)),
            }
        }
        bail!(
            "no case is called {pattern:?}; a pattern is a part of a name such as \"Suite/Case/direct/spirv\", or has a `*` for anything; there are \
             the suites and cases\n{}",
            lines.join("\n")
        );
    }
    Ok(found)
}

/// One variant of each case.
fn is_first_variant(case: &Case<Native>) -> bool {
    case.form.is_none_or(|form| form == hal_conformance_cases::Form::ALL[0])
        && case.format.is_none_or(|format| format == hal_conformance_cases::FORMATS[0])
}

/// Every pattern of a driver's lists, and of the list for bare drivers, that means no case: a list that has fallen behind.
pub fn idle_patterns(entry: &Entry) -> Vec<&'static str> {
    let ids: Vec<_> = cases::<Native>().iter().map(Case::id).collect();
    let lists = entry.unsupported.iter().chain(entry.expected_failures).map(|(pattern, _)| *pattern);
    lists.chain(bare::CASES.iter().copied()).filter(|pattern| !ids.iter().any(|id| matches(pattern, id))).collect()
}

/// Runs cases on a driver, one after the other.
pub fn run(entry: &Entry, registered: &Registered, path: Path, cases: &[Case<Native>]) -> Vec<Done> {
    cases
        .iter()
        .map(|case| {
            let begun = Instant::now();
            let status = status(entry, registered, path, case);
            Done { suite: case.suite, name: case.name, id: case.id(), status, took: begun.elapsed() }
        })
        .collect()
}

fn status(entry: &Entry, registered: &Registered, path: Path, case: &Case<Native>) -> Status {
    let id = case.id();
    let listed = |list: &[(&str, &'static str)]| {
        list.iter().find(|(pattern, _)| matches(pattern, &id)).map(|(_, reason)| (*reason).to_owned())
    };
    if path == Path::Guest && case.threads {
        return Status::NotApplicable("a guest has one thread; natively a second one plays the other side".into());
    }
    if path == Path::Bare && !bare::CASES.iter().any(|pattern| matches(pattern, &id)) {
        return Status::NotApplicable("what the host's layer promises, above every driver".into());
    }
    if let Some(format) = case.format.filter(|format| !entry.formats.contains(format)) {
        let what = if entry.formats.is_empty() { "kernels" } else { format };
        return Status::Unsupported(format!("{} loads no {what}", entry.name));
    }
    if let Some(reason) = listed(entry.unsupported) {
        return Status::Unsupported(reason);
    }
    match (isolated(registered, path, case), listed(entry.expected_failures)) {
        (Ok(()), None) => Status::Passed,
        (Ok(()), Some(reason)) => Status::Failed(format!("it passes, but is listed as a failure: {reason}")),
        (Err(_), Some(reason)) => Status::ExpectedFailure(reason),
        (Err(found), None) => Status::Failed(found),
    }
}

/// Runs a case on a thread of its own, so that one that hangs or panics is one that failed.
fn isolated(registered: &Registered, path: Path, case: &Case<Native>) -> Result<(), String> {
    let (send, receive) = mpsc::channel();
    let (registered, case) = (registered.clone(), case.clone());
    let thread = std::thread::Builder::new().name(case.id());
    let spawned = thread.spawn(move || {
        // Whoever waits may have given up.
        let _ = send.send(once(&registered, path, &case));
    });
    spawned.map_err(|error| format!("no thread for the case: {error}"))?;
    match receive.recv_timeout(DEADLINE) {
        Ok(outcome) => outcome,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("it did not end within {DEADLINE:?}")),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("it panicked; see above".into()),
    }
}

fn once(registered: &Registered, path: Path, case: &Case<Native>) -> Result<(), String> {
    let counts: Arc<Counts> = match path {
        Path::Guest => guest::run(registered, &case.id())?,
        Path::Bare => {
            let (target, counts) = Bare::new(registered)?;
            let same = cases::<Bare>().into_iter().find(|other| other.id() == case.id());
            same.ok_or("a case that is not there for bare drivers")?.run(&target)?;
            drop(target);
            counts
        }
        Path::Native => {
            let (target, counts) = Native::new(registered)?;
            case.run(&target)?;
            counts
        }
    };
    if counts.made() == 0 {
        return Err("the case made nothing on the driver".into());
    }
    counts.wait_for_none(RELEASE).map_err(|left| format!("it left something behind: {left}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a case ends on a null driver with these lists.
    fn ends(entry: &Entry, case: &str) -> Status {
        let cases = select(Some(case)).unwrap();
        run(entry, &entry.find().unwrap(), Path::Native, &cases[..1]).remove(0).status
    }

    #[test]
    fn lists_are_kept_to() {
        let null = |unsupported, expected_failures| Entry { unsupported, expected_failures, ..ENTRIES[0] };
        assert_eq!(ends(&null(&[], &[]), "SemaphoreTest/NoOp"), Status::Passed);
        let listed = &[("SemaphoreTest/*", "because")];
        assert_eq!(ends(&null(listed, &[]), "SemaphoreTest/NoOp"), Status::Unsupported("because".into()));
        let Status::Failed(why) = ends(&null(&[], listed), "SemaphoreTest/NoOp") else { panic!("an unexpected pass") };
        assert_eq!(why, "it passes, but is listed as a failure: because");
    }

    #[test]
    fn failures_are_told_and_expected_ones_are_not() {
        // A driver that says it loads what it does not.
        let null = ENTRIES[0].find().unwrap();
        let lying = |expected_failures| Entry { formats: &["wgsl"], expected_failures, ..ENTRIES[0] };
        let case = &select(Some("ExecutableTest/ExportCount/wgsl")).unwrap();
        let ends = |entry: &Entry| run(entry, &null, Path::Native, case).remove(0).status;
        let Status::Failed(found) = ends(&lying(&[])) else { panic!("it loads nothing") };
        assert!(found.contains("incompatible"), "{found}");
        assert_eq!(ends(&lying(&[("*ExportCount*", "not yet")])), Status::ExpectedFailure("not yet".into()));
        assert!(lying(&[]).find().is_err(), "the device's formats are not those of the list");
    }
}
