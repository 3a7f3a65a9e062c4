//! The README's program is the example, and the example works.

use std::{path::Path, process::Command};

#[test]
fn the_readme_shows_the_example() {
    let example = include_str!("../../examples/embed.rs");
    let program = example.find("\nuse ").and_then(|start| example.get(start + 1..)).expect("a program");
    assert!(include_str!("../../../README.md").contains(program), "README.md and host/examples/embed.rs differ");
    assert!(example.lines().count() <= 60);
}

/// Whoever runs the tests has cargo build the examples too, beside the folder of the test programs.
#[test]
fn the_example_runs_a_guest() {
    let tests = std::env::current_exe().expect("this program");
    let example = tests.ancestors().nth(2).expect("a target folder").join("examples/embed");
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/components/ok_dispatch_constants.wasm");
    assert!(guest.exists(), "run `cargo xtask guests`");
    let output = Command::new(&example).arg(&guest).output().unwrap_or_else(|error| panic!("{example:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let nothing = Command::new(&example).output().expect("the example");
    assert!(!nothing.status.success() && String::from_utf8_lossy(&nothing.stderr).contains("usage"));
}
