//! `cargo xtask conformance`: builds the guest that runs cases, then runs them.

use anyhow::Result;

use crate::route::Route;
use crate::workspace::Workspace;
use crate::{guests, process, vulkan};

/// What the program needs: the guest with the cases in it, and the registry that it looks for devices in.
const GUESTS: [&str; 2] = ["conformance_case_runs", "registry"];

/// Runs the conformance cases; `arguments` are the program's.
pub fn run(workspace: &Workspace, arguments: &[String], route: Option<Route>) -> Result<()> {
    guests::build(workspace, &GUESTS.map(String::from), route)?;
    vulkan::provide();
    let mut command = process::cargo();
    command.current_dir(&workspace.root).args(["run", "--package", "hal-conformance", "--"]).args(arguments);
    process::step("conformance", || process::run(&mut command, "the message above says why"))
}
