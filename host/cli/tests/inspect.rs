//! `hal inspect` on good, odd and hostile files.

mod common;

use common::{Folder, hal, program};

#[test]
fn a_program_is_described_with_the_line_that_runs_it() {
    let folder = Folder::new();
    let file = folder.component("tool.wasm", &program("(i32.const 0)"));
    let outcome = hal(["inspect", &file]).expect(0);
    let line = format!("hal run {file}");
    outcome.prints(&["wasi:cli/exit@0.2.0", "wasi:cli/run@0.2.0", &line]);

    let json = hal(["inspect", "--json", &file]).expect(0).json();
    assert_eq!(json["runs"], true);
    assert_eq!(json["uses"]["registry"], false);
    assert_eq!(json["uses"]["blobs"], false);
    assert_eq!(json["uses"]["wasi"], serde_json::json!(["wasi:cli/exit@0.2.0"]));
    assert_eq!(json["refusals"], serde_json::json!([]));
    assert_eq!(json["run"], line);
    assert_eq!(json["bytes"], std::fs::metadata(&file).unwrap().len());
}

#[test]
fn what_would_be_refused_is_said_with_the_reason() {
    let folder = Folder::new();
    let nothing_to_run = folder.component("lib.wasm", "(component)");
    hal(["inspect", &nothing_to_run]).expect(126).prints(&["wasi:cli/run"]);

    let surplus = folder.component(
        "surplus.wasm",
        r#"(component (import "acme:net/raw@1.0.0" (instance (export "f" (func)))) (import "hal:device/device@0.2.0" (instance)))"#,
    );
    let outcome = hal(["inspect", &surplus]).expect(126);
    outcome.prints(&["acme:net/raw@1.0.0", "hal:device/device@0.2.0", "0.1"]);
    assert_eq!(hal(["inspect", "--json", &surplus]).expect(126).json()["runs"], false);
}

#[test]
fn odd_files_are_refused_with_one_sentence() {
    let folder = Folder::new();
    let core = folder.component("core.wasm", "(module (func (export \"f\")))");
    hal(["inspect", &core]).expect(126).prints(&["core module", "wasm-tools component new"]);

    let whole = wat::parse_str(program("(i32.const 0)")).unwrap();
    let truncated = folder.file("truncated.wasm", &whole[..whole.len() - 20]);
    let report = hal(["inspect", &truncated]).expect(126);
    assert!(!report.stdout.is_empty());

    for (name, bytes) in [("empty.wasm", &b""[..]), ("text.wasm", b"#!/bin/sh\n"), ("short.wasm", b"\0as")] {
        let file = folder.file(name, bytes);
        let json = hal(["inspect", "--json", &file]).expect(126).json();
        assert_eq!(json["refusals"].as_array().unwrap().len(), 1, "{name}: {json}");
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = Folder::new();
    let path = folder.path().to_str().unwrap();
    hal(["inspect", path]).expect(125).says(&[path, "directory"]);
    let missing = folder.path().join("missing.wasm");
    hal(["inspect", missing.to_str().unwrap()]).expect(125).says(&["missing.wasm", "No such file"]);
    hal(["inspect", "/dev/zero"]).expect(125).says(&["/dev/zero", "regular file"]);
}

#[test]
fn a_huge_file_is_refused_without_reading_it() {
    let folder = Folder::new();
    let huge = folder.file("huge.wasm", b"\0asm");
    std::fs::File::options().write(true).open(&huge).unwrap().set_len(1 << 40).unwrap();
    let outcome = hal(["inspect", &huge]).expect(125).says(&["huge.wasm", "1 TiB"]);
    assert!(outcome.took.as_secs() < 5, "{:?}", outcome.took);
}

#[test]
fn hostile_shapes_are_refused_fast() {
    let folder = Folder::new();
    let nested = folder.component("nested.wasm", &format!("{}{}", "(component ".repeat(40), ")".repeat(40)));
    hal(["inspect", &nested]).expect(126).prints(&["nested"]);
    let outcome = hal(["run", &nested]).expect(126).says(&["nested"]);
    assert!(outcome.took.as_secs() < 5, "{:?}", outcome.took);
}

#[test]
fn a_component_as_large_as_a_language_runtime_takes_a_word_more() {
    let folder = Folder::new();
    let body = "(nop)".repeat(200 << 10) + "(i32.const 0)";
    let large = folder.component("runtime.wasm", &program(&body));
    let json = hal(["inspect", "--json", &large]).expect(0).json();
    assert_eq!(json["run"], format!("hal run {large} --large"));
    hal(["run", &large]).expect(126).says(&["--large"]);
    hal(["run", &large, "--large"]).expect(0);
}
