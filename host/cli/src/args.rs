//! The command line.

use crate::{exit, kernel::args::Kernel};
use clap::{Args, Parser, Subcommand, ValueEnum};
use hal_host::{engine::MEMORY_RESERVATION_BYTES, hal_core::policy};
use std::{path::PathBuf, time::Duration};

/// Runs WebAssembly components that compute on devices, under grants that you name.
///
/// A component gets no driver, no memory on a device, no file, no network and no environment unless a line below hands it one.
#[derive(Debug, Parser)]
#[command(name = "hal", version, after_help = exit::HELP, max_term_width = 100)]
pub struct Cli {
    /// Say on stderr what the host does: grants and refusals; twice: every call
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Lists the drivers this program is built with
    Drivers(Listing),
    /// Lists the devices that each driver finds on this machine; with --verbose, their limits too
    Devices(Listing),
    /// What `hal devices` runs in a child process: prints a driver's devices for that, or dies of it
    #[command(hide = true)]
    ProbeDriver {
        /// The driver
        driver: String,
    },
    /// Says what a component is, what it imports, and whether `hal run` would take it
    #[command(
        after_help = "Exit code 0 if `hal run` would take it, 126 if not (the report says why), 125 if it cannot be read."
    )]
    Inspect(Inspect),
    /// Runs a component that exports wasi:cli/run, with what is granted here and nothing else
    #[command(after_help = RUN_HELP)]
    Run(Run),
    /// Checks a kernel, or runs it on devices, without a tenant
    Kernel {
        /// What to do.
        #[command(subcommand)]
        command: Kernel,
    },
}

/// What `hal run --help` adds. A test compares the names of the limits.
const RUN_HELP: &str = "\
Limits of a grant, with what it allows if nothing else is said:
  memory=256MiB buffers=4096 executables=256 recordings=1024 semaphores=1024 devices=4 drivers=64
  factories=256 submissions=4096 host=32MiB transfer=16MiB update=1MiB source=256KiB
  submission-time=10s
A grant may name one device: cpu/0, cpu/0=memory=1GiB.

The tenant's own exit code is passed on (1-123). 124: its time was up. 125: hal could not do what was
asked. 126: the component was refused. 134: it trapped. 141: whoever read its output went away.

Example:
  hal run digits.wasm --grant cpu=memory=64MiB --blob weights=digits.safetensors -- cpu://";

/// Arguments of `hal drivers` and `hal devices`.
#[derive(Args, Debug)]
pub struct Listing {
    /// Only this driver
    #[arg(value_name = "DRIVER")]
    pub driver: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `hal inspect`.
#[derive(Args, Debug)]
pub struct Inspect {
    /// The component
    #[arg(value_name = "FILE.wasm")]
    pub file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `hal run`.
#[derive(Args, Debug)]
pub struct Run {
    /// The component
    #[arg(value_name = "FILE.wasm")]
    pub file: PathBuf,
    /// Let the tenant use a driver, within limits: cpu, cpu=memory=64MiB,buffers=16
    #[arg(long = "grant", value_name = "DRIVER[=LIMITS]")]
    pub grants: Vec<String>,
    /// Take grants and limits from a TOML file; --grant and --blob add to it
    #[arg(long, value_name = "FILE.toml")]
    pub policy: Option<PathBuf>,
    /// Let the tenant read a file, under a name; it never sees the path
    #[arg(long = "blob", value_name = "NAME=FILE")]
    pub blobs: Vec<String>,
    /// Stop the tenant after this time, from its start: 500ms, 30s, 5min; never, if not said
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Linear memory that the tenant may grow to, apart from devices: 64MiB if not said, 256MiB at most
    #[arg(long, value_name = "SIZE", value_parser = guest_memory)]
    pub guest_memory: Option<u64>,
    /// Take a component as large as a language runtime (64 MiB), which may take a minute to compile
    #[arg(long)]
    pub large: bool,
    /// Keep the component's compiled code in this folder, for the next time; only you may be able to write there
    #[arg(long, value_name = "FOLDER")]
    pub cache: Option<PathBuf>,
    /// Keep what drivers compile from kernels in this folder, which may be the same; a tenant can then tell by the time it takes whether a kernel was
    /// loaded before
    #[arg(long, value_name = "FOLDER")]
    pub kernel_cache: Option<PathBuf>,
    /// Afterwards, say on stderr what the tenant used of its grants
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub stats: Option<StatsFormat>,
    /// The tenant's arguments
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
}

/// How `--stats` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    /// A table.
    Text,
    /// One JSON object on one line.
    Json,
}

/// Reads `30s` and its like. A bare number would be nanoseconds, which nobody means here.
pub fn duration(text: &str) -> Result<Duration, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("write a number and a unit: 500ms, 30s, 5min".to_owned());
    }
    match policy::duration_ns(text) {
        Ok(0) => Err("some time is needed: 1ms at least".to_owned()),
        Ok(ns) => Ok(Duration::from_nanos(ns)),
        Err(error) => Err(error.message),
    }
}

fn guest_memory(text: &str) -> Result<u64, String> {
    let bytes = policy::bytes(text).map_err(|error| error.message)?;
    if bytes > MEMORY_RESERVATION_BYTES {
        return Err(format!("a memory can have {} at most", crate::text::bytes(MEMORY_RESERVATION_BYTES)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_names_every_limit_with_its_default() {
        let words: Vec<&str> = RUN_HELP.lines().skip(1).take(3).flat_map(str::split_whitespace).collect();
        let mut limits = hal_host::hal_core::Limits::new();
        let zero = limits.clone();
        for word in &words {
            limits.parse(word).unwrap();
        }
        assert_eq!(limits, zero, "the defaults in the help are the defaults");
        // A blob belongs to no driver, so no grant limits it.
        assert_eq!(words.len(), hal_host::hal_core::Limit::COUNT - 1);
    }

    #[test]
    fn durations() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2min"), Ok(Duration::from_secs(120)));
        for wrong in ["", "30", "s", "-1s", "1.5s", "0s", "99999999999999999999s", "99999999999s", "²s"] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn memory() {
        assert_eq!(guest_memory("64MiB"), Ok(64 << 20));
        assert!(guest_memory("257MiB").unwrap_err().contains("256 MiB"));
        assert!(guest_memory("much").is_err());
    }
}
