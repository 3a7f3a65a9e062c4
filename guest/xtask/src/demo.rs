//! `cargo xtask demo`, the main job on real input, and `cargo xtask bench`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::guests;
use crate::manifest::COMPONENTS;
use crate::process;
use crate::route::Route;
use crate::vulkan;
use crate::workspace::Workspace;

/// The device that the demo opens, unless it is told another.
const DEVICE: &str = "cpu://";

/// The component that `hal` carries inside, so it must be there before `hal` is built.
const REGISTRY: &str = "registry";

/// The demo's guest, and where its data lies, relative to the workspace's root.
const GUEST: &str = "digits";
const DATA: &str = "guest/tenants/digits/data";

/// What the benchmarks need: the guest whose calls are measured, and the registry.
const GUESTS_OF_BENCHMARKS: [&str; 2] = ["bench_calls", REGISTRY];

/// Builds what is needed, and classifies the held-out digits on `device`.
pub fn run(workspace: &Workspace, device: Option<&str>, route: Option<Route>) -> Result<()> {
    guests::build(workspace, &[REGISTRY.to_owned(), GUEST.to_owned()], route)?;
    process::step("building `hal` in release (minutes, the first time)", || {
        let mut build = process::cargo();
        build.current_dir(&workspace.root).args(["build", "--release", "--package", "hal-cli", "--bin", "hal"]);
        process::run(&mut build, "mend what is named above")
    })?;
    let mut hal = hal(workspace, device.unwrap_or(DEVICE));
    eprintln!("xtask: in {}, and you can repeat it:\n  {}", workspace.root.display(), process::display(&hal));
    process::step("classifying handwritten digits in a sandbox", || {
        process::run(&mut hal, "the message above says why; `hal run --help` explains the flags")
    })
}

/// The command that runs the guest: it is granted one driver and two files, and nothing else.
fn hal(workspace: &Workspace, device: &str) -> Command {
    let driver = device.split_once("://").map_or(device, |(driver, _)| driver);
    let program = workspace.target.join("release/hal");
    let mut hal = process::command(shorten(&workspace.root, &program));
    hal.current_dir(&workspace.root).arg("run").arg(format!("{COMPONENTS}/{GUEST}.wasm"));
    hal.args(["--grant", driver]);
    for (blob, file) in [("weights", "digits"), ("heldout", "heldout")] {
        hal.args(["--blob", &format!("{blob}={DATA}/{file}.safetensors")]);
    }
    hal.args(["--stats", "--", device]);
    hal
}

/// Runs the benchmarks; `arguments` are theirs.
pub fn bench(workspace: &Workspace, arguments: &[String], route: Option<Route>) -> Result<()> {
    guests::build(workspace, &GUESTS_OF_BENCHMARKS.map(String::from), route)?;
    vulkan::provide();
    let mut command = process::cargo();
    command.current_dir(&workspace.root).args(["run", "--release", "--package", "hal-bench", "--"]).args(arguments);
    process::step("benchmarks", || process::run(&mut command, "the message above says why"))
}

/// `path` as it would be typed in `root`.
fn shorten(root: &Path, path: &Path) -> std::path::PathBuf {
    path.strip_prefix(root).map_or_else(|_| path.to_owned(), |inside| Path::new(".").join(inside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::sample;

    #[test]
    fn the_demo_grants_the_driver_of_its_device() {
        let shown = process::display(&hal(&sample(), "null://0"));
        assert!(
            shown.starts_with("./target/release/hal run target/components/digits.wasm --grant null --blob weights=")
        );
        assert!(shown.ends_with(" --stats -- null://0"), "{shown}");
    }
}
