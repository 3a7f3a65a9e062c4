//! The table: cases in rows, drivers and paths in columns, reasons numbered below.

use crate::{
    drivers::ENTRIES,
    run::{Done, Path, Status},
};
use hal_conformance_cases::NOT_APPLICABLE;
use hal_driver::DeviceInfo;
use std::{collections::HashSet, fmt::Write, time::Duration};

/// One driver on one path.
pub struct Column {
    /// The driver.
    pub driver: &'static str,
    /// The path.
    pub path: Path,
    /// Its device as it is listed, or why there is none.
    pub device: Result<DeviceInfo, String>,
    /// Its cases; none if there is no device.
    pub done: Vec<Done>,
}

/// What a column comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Nothing behind them on this path.
    pub not_applicable: usize,
    /// Never to be run on this driver.
    pub unsupported: usize,
    /// Failed as listed.
    pub expected: usize,
}

impl Column {
    /// What it comes to.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for done in &self.done {
            *match done.status {
                Status::Passed => &mut totals.passed,
                Status::Failed(_) => &mut totals.failed,
                Status::NotApplicable(_) => &mut totals.not_applicable,
                Status::Unsupported(_) => &mut totals.unsupported,
                Status::ExpectedFailure(_) => &mut totals.expected,
            } += 1;
        }
        totals
    }

    fn title(&self) -> String {
        format!("{} {}", self.driver, self.path.label())
    }

    /// One line of totals.
    pub fn summary(&self) -> String {
        match &self.device {
            Err(reason) => format!("{}: not run: {reason}", self.title()),
            Ok(_) => {
                let Totals { passed, failed, not_applicable, unsupported, expected } = self.totals();
                let took: Duration = self.done.iter().map(|done| done.took).sum();
                format!(
                    "{}: {passed} passed, {failed} failed, {expected} failed as listed, {unsupported} unsupported, \
                     {not_applicable} not applicable, in {:.1} s",
                    self.title(),
                    took.as_secs_f64()
                )
            }
        }
    }
}

/// A line for each failure.
pub fn failures(columns: &[Column]) -> Vec<String> {
    let mut lines = Vec::new();
    for column in columns {
        for done in &column.done {
            if let Status::Failed(found) = &done.status {
                lines.push(format!("{}: {}: {found}", column.title(), done.id));
            }
        }
    }
    lines
}

/// Reasons in the order in which they first appear.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Reasons {
    fn number(&mut self, reason: &str) -> usize {
        let at = self.0.iter().position(|known| known == reason);
        at.unwrap_or_else(|| {
            self.0.push(reason.to_owned());
            self.0.len() - 1
        }) + 1
    }
}

/// The variants of one case in one column.
fn cell(column: &Column, suite: &str, name: &str, reasons: &mut Reasons) -> String {
    let all: Vec<_> = column.done.iter().filter(|done| done.suite == suite && done.name == name).collect();
    let mut parts: Vec<(String, usize)> = Vec::new();
    for done in &all {
        let part = match &done.status {
            Status::Passed => "pass".to_owned(),
            Status::Failed(found) => format!("FAIL [{}]", reasons.number(found)),
            Status::NotApplicable(why) => format!("n-a [{}]", reasons.number(why)),
            Status::Unsupported(why) => format!("unsupported [{}]", reasons.number(why)),
            Status::ExpectedFailure(why) => format!("xfail [{}]", reasons.number(why)),
        };
        match parts.iter_mut().find(|(known, _)| *known == part) {
            Some((_, count)) => *count += 1,
            None => parts.push((part, 1)),
        }
    }
    let part = |(part, count): (String, usize)| if count == 1 { part } else { format!("{part} x{count}") };
    parts.into_iter().map(part).collect::<Vec<_>>().join(", ")
}

/// Rows of the columns that ran: suite, case, cells.
fn rows(columns: &[&Column], reasons: &mut Reasons) -> Vec<[Vec<String>; 2]> {
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for done in columns.iter().flat_map(|column| &column.done) {
        if seen.insert((done.suite, done.name)) {
            let cells = columns.iter().map(|column| cell(column, done.suite, done.name, reasons)).collect();
            rows.push([vec![done.suite.to_owned(), done.name.to_owned()], cells]);
        }
    }
    rows
}

/// For a terminal.
pub fn plain(columns: &[Column]) -> String {
    let ran: Vec<_> = columns.iter().filter(|column| column.device.is_ok()).collect();
    let mut reasons = Reasons::default();
    let rows = rows(&ran, &mut reasons);
    let titles: Vec<_> = ran.iter().map(|column| column.title()).collect();
    let first = rows.iter().map(|[name, _]| name[0].len() + 1 + name[1].len()).max().unwrap_or(0);
    let widths: Vec<_> = titles
        .iter()
        .enumerate()
        .map(|(at, title)| rows.iter().map(|[_, cells]| cells[at].len()).max().unwrap_or(0).max(title.len()))
        .collect();
    let mut text = String::new();
    let mut line = |name: String, cells: &[String]| {
        let cells: String = cells.iter().zip(&widths).map(|(cell, width)| format!("  {cell:width$}")).collect();
        text.push_str(format!("{name:first$}{cells}").trim_end());
        text.push('\n');
    };
    line(String::new(), &titles);
    rows.iter().for_each(|[name, cells]| line(name.join("/"), cells));
    text.push('\n');
    for (at, reason) in reasons.0.iter().enumerate() {
        let _ = writeln!(text, "[{}] {reason}", at + 1);
    }
    text.push('\n');
    for column in columns {
        let _ = writeln!(text, "{}", column.summary());
    }
    text
}

const HEAD: &str = "# Conformance

Written by `cargo xtask conformance --write`; how it works is in `tests/conformance/README.md`. A case is run natively, over the
host's checked layer, by a guest component through WIT, and bare, over the driver traits alone, if it is about what a driver itself promises. `x4` means four variants: with direct references and through a
binding table, for each executable format. Suites and cases bear IREE's names where they come from there.
";

/// For `REPORT.md`. Holds nothing of the machine but what the drivers' devices say of themselves.
pub fn markdown(columns: &[Column]) -> String {
    let mut text = HEAD.to_owned();
    text.push_str("\n## Devices\n\n| driver | device | features |\n|---|---|---|\n");
    for entry in ENTRIES {
        if let Some(column) = columns.iter().find(|column| column.driver == entry.name) {
            let (device, features) = match &column.device {
                Ok(device) => (device.name.clone(), device.features.join(", ")),
                Err(reason) => (format!("not run: {reason}"), String::new()),
            };
            let _ = writeln!(text, "| {} | {} | {features} |", entry.name, escape(&device));
        }
    }
    text.push_str(
        "\nNo GPU was there when this was written: a `vulkan` column is a software implementation's, and `metal` and `dx12` have none.\n",
    );
    text.push_str("\n## Totals\n\n| | passed | failed | failed as listed | unsupported | not applicable |\n|---|---|---|---|---|---|\n");
    for column in columns.iter().filter(|column| column.device.is_ok()) {
        let Totals { passed, failed, not_applicable, unsupported, expected } = column.totals();
        let _ = writeln!(
            text,
            "| {} | {passed} | {failed} | {expected} | {unsupported} | {not_applicable} |",
            column.title()
        );
    }
    let ran: Vec<_> = columns.iter().filter(|column| column.device.is_ok()).collect();
    let mut reasons = Reasons::default();
    let mut suite = String::new();
    let titles: String = ran.iter().map(|column| format!(" {} |", column.title())).collect();
    for [name, cells] in rows(&ran, &mut reasons) {
        if name[0] != suite {
            suite.clone_from(&name[0]);
            let _ = write!(text, "\n## {suite}\n\n| case |{titles}\n|---|{}\n", "---|".repeat(ran.len()));
        }
        let _ = writeln!(text, "| {} | {} |", name[1], cells.join(" | "));
    }
    if !reasons.0.is_empty() {
        text.push_str("\n## Reasons\n\n");
        for (at, reason) in reasons.0.iter().enumerate() {
            let _ = writeln!(text, "- [{}] {}", at + 1, escape(reason));
        }
    }
    text.push_str("\n## Not applicable on any driver\n\n| suite | cases | why |\n|---|---|---|\n");
    for entry in NOT_APPLICABLE {
        let _ = writeln!(text, "| {} | {} | {} |", entry.suite, entry.cases.join(", "), escape(entry.reason));
    }
    text
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
