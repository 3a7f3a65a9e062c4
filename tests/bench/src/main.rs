//! The figures of this project on this machine, each beside a baseline of the same run:
//! `cargo xtask bench [--json FILE] [--rounds N] [--only cpu] [GROUP [KERNEL]]`.
//!
//! The machine may be shared and noisy, so contestants take turns and what counts is the ratio: the median, over rounds, of each
//! round's own ratio, with its 95 % interval. A ratio above 1 always means that ours is better: less time, more bytes per second, less memory.

mod calls;
mod kernels;
mod measure;
mod native;
mod statistics;
mod table;
mod tenants;
mod transfers;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use std::{path::PathBuf, process::ExitCode};
use table::Row;

/// Measures, prints a table, and writes the rows as JSON.
#[derive(Parser)]
#[command(name = "bench")]
struct Arguments {
    /// Where to write the rows, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Rounds of each kernel; rows with fewer than 31 are marked.
    #[arg(long, default_value_t = measure::ROUNDS, value_parser = clap::value_parser!(usize))]
    rounds: usize,
    /// Only one contestant, for quick work on it.
    #[arg(long)]
    only: Option<Only>,
    /// What the group of kernels starts itself with.
    #[arg(long, hide = true)]
    first_dispatches: bool,
    /// Only groups whose name contains this.
    group: Option<String>,
    /// Only kernels whose name contains this.
    kernel: Option<String>,
}

/// A contestant that can be alone.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    /// The cpu driver.
    Cpu,
}

impl Arguments {
    fn wants(&self, group: &str) -> bool {
        self.group.as_ref().is_none_or(|filter| group.contains(filter.as_str()))
    }

    fn only_cpu(&self) -> bool {
        self.only == Some(Only::Cpu)
    }
}

/// Measures one group.
type Group = fn() -> Result<Vec<Row>>;

/// The groups that take no arguments, under their names.
const GROUPS: [(&str, Group); 4] = [
    ("calls", calls::measure),
    ("transfers", transfers::measure),
    ("tenants", tenants::measure),
    ("idle", tenants::idle),
];

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if arguments.rounds == 0 {
        bail!("--rounds 0; it takes at least one");
    }
    let with_kernels = arguments.wants(kernels::GROUP);
    if with_kernels && !kernels::machine::is_set() {
        let status = kernels::machine::again()?.status().context("starting this program again")?;
        return Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from));
    }
    if arguments.first_dispatches {
        kernels::print_first_dispatches(&arguments)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Vec::new();
    for (name, measure) in GROUPS {
        if arguments.wants(name) {
            eprintln!("measuring {name}");
            rows.extend(measure().with_context(|| format!("measuring {name}"))?);
        }
    }
    let mut report = kernels::Report { rows, failures: Vec::new() };
    if with_kernels {
        eprintln!("measuring {}", kernels::GROUP);
        let kernels = kernels::measure(&arguments).with_context(|| format!("measuring {}", kernels::GROUP))?;
        report.rows.extend(kernels.rows);
        report.failures = kernels.failures;
    }
    table::print(&report.rows);
    kernels::conclude(&report);
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&report.rows)?;
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
