//! Runs the conformance cases and prints them as a table. Run it by `cargo xtask conformance`, which builds the guest first.

use anyhow::{Context, Result, bail};
use clap::Parser;
use hal_conformance::{
    report::{self, Column},
    run::{self, Path},
};
use std::process::ExitCode;

/// The conformance cases on every driver, bare, natively and through a guest.
#[derive(Parser)]
#[command(name = "cargo xtask conformance", bin_name = "cargo xtask conformance")]
struct Arguments {
    /// Only this driver.
    #[arg(long, value_name = "NAME")]
    driver: Option<String>,
    /// Only cases whose name holds this, or matches it where it has a `*`.
    #[arg(long, value_name = "PATTERN")]
    case: Option<String>,
    /// Writes tests/conformance/REPORT.md. Takes all drivers and all cases.
    #[arg(long, conflicts_with_all = ["driver", "case"])]
    write: bool,
}

fn main() -> ExitCode {
    match start(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: &Arguments) -> Result<()> {
    let drivers = run::drivers(arguments.driver.as_deref())?;
    let cases = run::select(arguments.case.as_deref())?;
    let mut columns = Vec::new();
    let mut missing = Vec::new();
    for entry in drivers {
        let found = entry.find();
        if let Err(reason) = &found
            && entry.required()
        {
            missing.push(format!("{}: required, but not run: {reason}", entry.name));
        }
        for path in Path::ALL {
            eprintln!("running {} cases on {}, {}", cases.len(), entry.name, path.label());
            let done = found.as_ref().map_or_else(|_| Vec::new(), |found| run::run(entry, found, path, &cases));
            let device = found.as_ref().map(|found| found.device.clone()).map_err(Clone::clone);
            columns.push(Column { driver: entry.name, path, device, done });
        }
    }
    println!("{}", report::plain(&columns));
    if arguments.write {
        let file = hal_test_support::root().join("tests/conformance/REPORT.md");
        std::fs::write(&file, report::markdown(&columns)).with_context(|| format!("writing {}", file.display()))?;
        println!("written: tests/conformance/REPORT.md");
    }
    let failures: Vec<_> = missing.into_iter().chain(report::failures(&columns)).collect();
    if !failures.is_empty() {
        bail!("{} failures\n  {}", failures.len(), failures.join("\n  "));
    }
    Ok(())
}
