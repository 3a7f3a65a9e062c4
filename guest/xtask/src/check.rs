//! `cargo xtask check`: everything that is judged without running the project.

use std::process::Command;

use anyhow::{Result, bail};

use crate::guests::{PROFILE, TARGET_DIR};
use crate::route::{self, Route, Toolchain};
use crate::workspace::{Member, Workspace};
use crate::{paths, process, wit};

/// What a guest prints with the standard library's macros vanishes: its target has no terminal. `hal_guest` has macros that reach the host's.
const NO_STD_PRINT: [&str; 3] = ["clippy::print_stdout", "clippy::print_stderr", "clippy::dbg_macro"];

/// Runs every check, also after one has failed, and says at the end which did.
pub fn run(workspace: &Workspace, route: Option<Route>) -> Result<()> {
    let mut failed = Vec::new();
    let mut check = |what: &'static str, work: &mut dyn FnMut() -> Result<()>| {
        if let Err(error) = process::step(what, work) {
            eprintln!("error: {error:#}");
            failed.push(what);
        }
    };

    check("no machine's paths in tracked files", &mut || paths::check(&workspace.root));
    check("WIT packages", &mut || wit::check(&workspace.root.join("wit")));
    check("formatting", &mut || {
        let mut command = process::cargo();
        command.args(["fmt", "--all", "--check"]);
        process::run(&mut command, "run `cargo fmt --all` (a missing formatter: `rustup component add rustfmt`)")
    });
    check("clippy", &mut || process::run(&mut clippy(workspace), CLIPPY_REMEDY));
    check("documentation", &mut || process::run(&mut doc(workspace), DOC_REMEDY));

    match route::find(route) {
        Ok(toolchain) => {
            check("clippy of guests", &mut || {
                toolchain.prepare_clippy()?;
                each(workspace, |guest| process::run(&mut guest_clippy(workspace, guest, &toolchain), CLIPPY_REMEDY))
            });
            check("documentation of guests", &mut || {
                each(workspace, |guest| process::run(&mut guest_doc(workspace, guest, &toolchain), DOC_REMEDY))
            });
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            failed.push("guests");
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

const CLIPPY_REMEDY: &str = "mend what is named above (a missing clippy: `rustup component add clippy`)";
const DOC_REMEDY: &str = "mend what is named above";

/// Clippy and rustdoc use the same profile and features, and so one set of checked dependencies.
fn clippy(workspace: &Workspace) -> Command {
    let mut command = process::cargo();
    command.args(["clippy", "--all-targets"]);
    natives(&mut command, workspace);
    command.args(["--", "--deny", "warnings"]);
    command
}

fn doc(workspace: &Workspace) -> Command {
    let mut command = process::cargo();
    command.args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings");
    natives(&mut command, workspace);
    command
}

/// Does `work` for each guest by itself, as they are built: cargo joins the features of what it checks together.
fn each(workspace: &Workspace, work: impl Fn(&Member) -> Result<()>) -> Result<()> {
    let failures: Vec<_> = workspace.guests().filter_map(|guest| work(guest).err()).collect();
    if failures.is_empty() {
        return Ok(());
    }
    bail!("{}", failures.iter().map(|error| format!("{error:#}")).collect::<Vec<_>>().join("\n"))
}

fn guest_clippy(workspace: &Workspace, guest: &Member, toolchain: &Toolchain) -> Command {
    let mut command = guest_command(workspace, guest, toolchain, "clippy");
    command.args(["--lib", "--bins", "--no-deps", "--", "--deny", "warnings"]);
    command.args(NO_STD_PRINT.iter().flat_map(|lint| ["--deny", lint]));
    command
}

fn guest_doc(workspace: &Workspace, guest: &Member, toolchain: &Toolchain) -> Command {
    let mut command = guest_command(workspace, guest, toolchain, "doc");
    command.args(["--lib", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings");
    command
}

fn guest_command(workspace: &Workspace, guest: &Member, toolchain: &Toolchain, subcommand: &str) -> Command {
    let mut command = toolchain.cargo(subcommand);
    command.current_dir(&workspace.root).args(["--profile", PROFILE, "--target-dir", TARGET_DIR]);
    command.args(["--package", &guest.name, "--all-features"]);
    command
}

fn natives(command: &mut Command, workspace: &Workspace) {
    command.current_dir(&workspace.root).arg("--workspace");
    for guest in workspace.guests() {
        command.args(["--exclude", &guest.name]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::sample;

    #[test]
    fn guests_and_the_rest_are_checked_apart() {
        let workspace = sample();
        let shown = process::display(&clippy(&workspace));
        let excluded = "--workspace --exclude hal-registry --exclude hal-sdk --exclude test-guests";
        assert!(shown.ends_with(&format!("clippy --all-targets {excluded} -- --deny warnings")), "{shown}");
        let sdk = workspace.guests().find(|guest| guest.name == "hal-sdk").unwrap();
        let shown = process::display(&guest_clippy(&workspace, sdk, &Toolchain::for_tests()));
        for part in ["--target wasm32-unknown-unknown", "--package hal-sdk", "--deny clippy::print_stdout"] {
            assert!(shown.contains(part), "{shown}");
        }
        assert!(!shown.contains("hal-host"), "{shown}");
    }
}
