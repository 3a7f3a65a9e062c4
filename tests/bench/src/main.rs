//! The figures of this project on this machine, each beside a baseline of the same run: `cargo xtask bench [--json FILE]`.
//!
//! The machine may be shared and noisy, so contestants take turns and what counts is the ratio: the median, over rounds, of each
//! round's own ratio. A ratio above 1 always means that ours is better: less time, more bytes per second, less memory.

mod calls;
mod measure;
mod native;
mod table;
mod tenants;
mod transfers;

use anyhow::{Context, Result};
use clap::Parser;
use std::path::PathBuf;
use table::Row;

/// Measures, prints a table, and writes the rows as JSON.
#[derive(Parser)]
#[command(name = "bench")]
struct Arguments {
    /// Where to write the rows: group, name, unit, ours, baseline, ratio, at_least.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Only groups whose name contains this.
    filter: Option<String>,
}

/// Measures one group.
type Group = fn() -> Result<Vec<Row>>;

/// Every group, under its name.
const GROUPS: [(&str, Group); 4] = [
    ("calls", calls::measure),
    ("transfers", transfers::measure),
    ("tenants", tenants::measure),
    ("idle", tenants::idle),
];

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut rows = Vec::new();
    for (name, measure) in GROUPS {
        if arguments.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str())) {
            eprintln!("measuring {name}");
            rows.extend(measure().with_context(|| format!("measuring {name}"))?);
        }
    }
    table::print(&rows);
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&rows)?;
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}
