//! `hal`: runs WebAssembly components on devices, under grants named on the command line.
//!
//! ```text
//! hal drivers                                   what this program is built with
//! hal devices                                   what those drivers find here
//! hal inspect FILE.wasm                         what a component imports, and whether it would run
//! hal run FILE.wasm --grant cpu=memory=64MiB    run it, with one driver and 64 MiB
//! hal kernel check FILE.wgsl                    what a kernel takes, and which drivers take it
//! hal kernel run FILE.wgsl --entry NAME ...     run it on devices, without a tenant, and compare what they leave
//! ```
//!
//! All authority a tenant has comes from one `hal run` line: without `--grant` it finds no driver, without `--blob` no
//! file. WASI 0.2's command interfaces are all there, so that programs of any toolchain link, but nothing is behind them: no
//! directories, no environment, no input, no network. Clocks and random numbers work, and what it prints reaches
//! the terminal.
//!
//! # Exit codes
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | it worked; for `run`: the tenant ended well |
//! | 1-123 | `run`: the tenant's own exit code |
//! | 1 | `kernel run`: devices or the interpreter disagree, or `--check` found a mistake |
//! | 124 | `run`: the tenant was stopped because its time was up; `kernel`: a device's time was |
//! | 125 | we could not do what was asked: command line, file, policy, driver |
//! | 126 | the component or kernel was refused: nothing of it ran |
//! | 134 | `run`: the tenant trapped |
//! | 141 | `run`: whoever read the output went away, so the tenant was stopped |

#![deny(unsafe_code)]

mod args;
mod component;
mod drivers;
mod environment;
mod exit;
mod file;
mod inspect;
mod kernel;
mod list;
mod probe;
mod run;
mod terminal;
mod text;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use std::process::ExitCode;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

fn main() -> ExitCode {
    // Components are compiled in a child of this very program: there, this does not return.
    hal_host::worker::init();
    // While this is the only thread.
    environment::settle();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _gone = error.print();
            return if error.use_stderr() { Exit::Failure } else { Exit::Success }.into();
        }
    };
    listen(cli.verbose);
    dispatch(cli.command, cli.verbose > 0)
        .unwrap_or_else(|error| {
            text::note(&format!("error: {error:#}"));
            Exit::Failure
        })
        .into()
}

fn dispatch(command: Command, verbose: bool) -> anyhow::Result<Exit> {
    match command {
        Command::Drivers(arguments) => list::drivers(&arguments),
        Command::Devices(arguments) => list::devices(&arguments, verbose),
        Command::ProbeDriver { driver } => list::probe(&driver),
        Command::Inspect(arguments) => wait(inspect::inspect(&arguments)),
        Command::Run(arguments) => wait(run::run(&arguments)),
        Command::Kernel { command } => wait(kernel::kernel(&command)),
    }
}

/// Runs to the end, and does not wait for threads that are stuck: a tenant's time may be up while one writes for it.
fn wait(work: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}

/// Sends our own crates' events to stderr.
fn listen(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    tracing_subscriber::registry()
        .with(Targets::new().with_target("hal_", level))
        .with(tracing_subscriber::fmt::layer().with_writer(std::io::stderr).without_time())
        .init();
}
