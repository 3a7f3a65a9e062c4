//! A program in Rust that knows nothing of this system: built here with a plain `rustc`, run with nothing granted.

mod common;

use common::{Folder, hal};
use std::process::Command;

const TARGET: &str = "wasm32-wasip2";

const SOURCE: &str = r#"
fn main() {
    println!("arguments: {:?}", std::env::args().skip(1).collect::<Vec<_>>());
    println!("variables: {}", std::env::vars().count());
    match std::env::var("HOME") {
        Ok(value) => println!("HOME is {value}"),
        Err(error) => println!("no HOME: {error}"),
    }
    match std::fs::read("/etc/hostname") {
        Ok(bytes) => println!("a file of {} bytes", bytes.len()),
        Err(error) => println!("no file: {error}"),
    }
}
"#;

/// Whether the toolchain has the standard library for the target; without rustc there is none either.
fn has_target() -> bool {
    let asked = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    asked.is_ok_and(|asked| {
        let folder = String::from_utf8(asked.stdout).unwrap_or_default();
        asked.status.success() && std::path::Path::new(folder.trim()).is_dir()
    })
}

#[test]
fn a_rust_program_runs_and_sees_only_its_arguments() {
    if !has_target() {
        println!("skipped: no standard library for {TARGET}; `rustup target add {TARGET}` installs it");
        return;
    }
    let folder = Folder::new();
    let source = folder.file("plain.rs", SOURCE);
    let component = folder.path().join("plain.wasm");
    let built = Command::new("rustc")
        .args(["--edition", "2021", "--target", TARGET, "-o"])
        .args([component.as_os_str(), source.as_ref()])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));

    let outcome = hal(["run", component.to_str().unwrap(), "--", "one", "two words", ""]).expect(0);
    assert_eq!(outcome.stderr, "");
    let lines: Vec<_> = outcome.stdout.lines().collect();
    assert_eq!(lines[0], r#"arguments: ["one", "two words", ""]"#);
    assert_eq!(lines[1..3], ["variables: 0", "no HOME: environment variable not found"]);
    assert!(lines[3].starts_with("no file: "), "{}", outcome.stdout);
    assert_eq!(lines.len(), 4, "{}", outcome.stdout);
}
