//! `cargo xtask test`: builds the guests, then runs every test.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::route::Route;
use crate::workspace::Workspace;
use crate::{guests, process, vulkan};

/// What the test programs' closing lines add up to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
    skipped: u64,
}

/// Builds the guests and runs the tests whose names contain one of `filters` (all, if there are none).
pub fn run(workspace: &Workspace, filters: &[String], route: Option<Route>) -> Result<()> {
    guests::build(workspace, &[], route)?;
    vulkan::provide();

    let start = Instant::now();
    let mut totals = Totals::default();
    let mut command = command(workspace, filters);
    let remedy = "mend the tests that are named above";
    let status = process::run_lines(&mut command, remedy, |line| {
        println!("{line}");
        totals.add(line);
    })?;
    let result = process::succeeded(&command, status, remedy);
    process::report(start.elapsed(), "tests", if result.is_ok() { "ok" } else { "FAILED" });
    println!("{} passed, {} failed, {} skipped", totals.passed, totals.failed, totals.skipped);
    result?;
    if totals.passed == 0 && filters.is_empty() {
        bail!("no test ran");
    }
    Ok(())
}

/// Guests are left out, but for those that say that they can be tested natively too.
fn command(workspace: &Workspace, filters: &[String]) -> Command {
    let mut command = process::cargo();
    command.current_dir(&workspace.root).args(["test", "--workspace", "--no-fail-fast"]);
    for guest in workspace.guests() {
        if guest.native_tests {
            let features = guest.native_features.iter().map(|feature| format!("{}/{feature}", guest.name));
            command.args(features.flat_map(|feature| ["--features".into(), feature]));
        } else {
            command.args(["--exclude", &guest.name]);
        }
    }
    if !filters.is_empty() {
        command.arg("--").args(filters);
    }
    command
}

impl Totals {
    /// Adds the counts of a closing line such as `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out`.
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line.split_once("test result: ") else { return };
        for count in counts.split([';', '.']) {
            let mut words = count.split_whitespace();
            let (Some(number), Some(what)) = (words.next().and_then(|word| word.parse::<u64>().ok()), words.next())
            else {
                continue;
            };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.skipped += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::sample;

    #[test]
    fn closing_lines_add_up() {
        let mut totals = Totals::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.10s",
            "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.25s",
            "nonsense: 5 passed",
        ] {
            totals.add(line);
        }
        assert_eq!(totals, Totals { passed: 13, failed: 2, skipped: 1 });
    }

    #[test]
    fn guests_are_tested_natively_only_where_they_say_so() {
        let shown = process::display(&command(&sample(), &["a".into(), "b".into()]));
        let expected = "test --workspace --no-fail-fast --exclude hal-registry --features hal-sdk/wasi --exclude test-guests -- a b";
        assert!(shown.ends_with(expected), "{shown}");
    }
}
