//! The figures of this project on this machine, each beside a baseline of the same run:
//! `cargo xtask bench [--json FILE] [--rounds N] [--kernel NAME] [--bare] [GROUP]`.
//!
//! The machine may be shared and noisy, so contestants take turns and what counts is the ratio: the median, over rounds, of each
//! round's own ratio, with its 95 % interval. A ratio above 1 always means that ours is better: less time, more bytes per second, less memory.

mod calls;
mod chains;
mod kernels;
mod measure;
mod native;
mod statistics;
mod table;
mod tenants;
mod transfers;

use anyhow::{Context, Result};
use clap::{Parser, builder::RangedU64ValueParser};
use std::{path::PathBuf, process::ExitCode};
use table::{Report, Row};

/// Measures, prints a table, and writes the rows as JSON.
#[derive(Parser)]
#[command(name = "bench")]
struct Arguments {
    /// Where to write the rows, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Rounds of each kernel; rows with fewer than 31 are marked.
    #[arg(long, default_value_t = measure::ROUNDS, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    rounds: usize,
    /// Only kernels whose name contains this, and no latencies.
    #[arg(long)]
    kernel: Option<String>,
    /// Only kernels, and only the cpu driver's speed: for quick work on its compiler.
    #[arg(long, conflicts_with = "json")]
    bare: bool,
    /// What the group of kernels starts itself with.
    #[arg(long, hide = true)]
    first_dispatches: bool,
    /// Only groups whose name contains this.
    group: Option<String>,
}

impl Arguments {
    fn wants(&self, group: &str) -> bool {
        self.group.as_ref().is_none_or(|filter| group.contains(filter.as_str()))
    }
}

/// Measures one group.
type Group = fn() -> Result<Vec<Row>>;

/// Measures one group of kernels, those that are wanted.
type KernelGroup = fn(&Arguments, &mut Report) -> Result<()>;

/// The groups that take no arguments, under their names.
const GROUPS: [(&str, Group); 5] = [
    ("calls", calls::measure),
    ("chains", chains::measure),
    ("transfers", transfers::measure),
    ("tenants", tenants::measure),
    ("idle", tenants::idle),
];

/// The groups that are about kernels. They are last, as they keep this process on few processors.
const KERNEL_GROUPS: [(&str, KernelGroup); 3] = [
    (kernels::stops::GROUP, kernels::stops::measure),
    (kernels::counter::GROUP, kernels::counter::measure),
    (kernels::GROUP, kernels::measure),
];

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if arguments.first_dispatches {
        kernels::print_first_dispatches(&arguments)?;
        return Ok(ExitCode::SUCCESS);
    }
    let with_kernels = arguments.bare || arguments.wants(kernels::GROUP);
    if with_kernels && !kernels::machine::is_set() {
        let status = kernels::machine::again()?.status().context("starting this program again")?;
        return Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from));
    }
    let mut report = Report::default();
    if arguments.bare {
        report.failures = kernels::bare(&arguments)?;
    } else {
        measure_groups(&arguments, &mut report)?;
        table::print(&report.rows);
    }
    report.failures.iter().for_each(|failure| println!("{failure}"));
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&report.rows)?;
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures the groups that are wanted.
fn measure_groups(arguments: &Arguments, report: &mut Report) -> Result<()> {
    for (name, measure) in GROUPS {
        if arguments.wants(name) {
            eprintln!("measuring {name}");
            report.rows.extend(measure().with_context(|| format!("measuring {name}"))?);
        }
    }
    for (name, measure) in KERNEL_GROUPS {
        if arguments.wants(name) {
            eprintln!("measuring {name}");
            measure(arguments, report).with_context(|| format!("measuring {name}"))?;
        }
    }
    Ok(())
}
