//! `hal --help`, `hal drivers` and `hal devices`.

mod common;

use common::hal;

#[test]
fn help_names_every_command_and_exit_code() {
    let help = hal(["--help"]).expect(0);
    help.prints(&["drivers", "devices", "inspect", "run", "kernel", "124", "125", "126", "134", "141"]);
    hal(["run", "--help"]).expect(0).prints(&["--grant", "--policy", "--blob", "--timeout", "--stats", "124", "134"]);
    hal(["--version"]).expect(0).prints(&["hal 0."]);
}

#[test]
fn a_wrong_command_line_is_ours_and_not_a_tenants() {
    for arguments in [&[][..], &["fly"], &["run"], &["run", "x.wasm", "--grant"], &["run", "x.wasm", "--timeout", "30"]]
    {
        let outcome = hal(arguments).expect(125);
        assert!(outcome.stdout.is_empty(), "{arguments:?}: {}", outcome.stdout);
    }
    hal(["run", "x.wasm", "--timeout", "30"]).says(&["ms"]);
}

#[test]
fn drivers_are_a_table_and_json() {
    let table = hal(["drivers"]).expect(0);
    let mut lines = table.stdout.lines();
    let header = lines.next().unwrap();
    let column = header.find("VERSION").unwrap();
    for line in lines {
        assert_eq!(&line[column..][..2], "0.", "columns line up:\n{}", table.stdout);
    }

    let json = hal(["drivers", "--json"]).expect(0).json();
    let names: Vec<_> =
        json["drivers"].as_array().unwrap().iter().map(|driver| driver["name"].as_str().unwrap()).collect();
    for name in ["cpu", "local-sync", "local-task", "null"] {
        assert!(names.contains(&name), "{names:?}");
        assert!(table.stdout.contains(name));
    }
    assert_eq!(json["failures"], serde_json::json!([]));
}

#[test]
fn devices_have_uris_that_name_them() {
    let json = hal(["devices", "--json"]).expect(0).json();
    let devices = json["devices"].as_array().unwrap();
    for device in devices {
        let uri = format!("{}://{}", device["driver"].as_str().unwrap(), device["path"].as_str().unwrap());
        assert_eq!(device["uri"], uri);
        assert!(device["memory_bytes"].as_u64().unwrap() > 0, "{device}");
        assert!(device["kind"].is_string() && device["formats"].is_array());
    }
    let cpu = devices.iter().find(|device| device["driver"] == "cpu").unwrap();
    assert_eq!(cpu["kind"], "cpu");
    assert_eq!(cpu["default"], true);
    assert!(cpu["formats"].as_array().unwrap().contains(&"wgsl".into()));
    hal(["devices"]).expect(0).prints(&["cpu://", "null://", "wgsl", "MiB"]);
}

#[test]
fn verbose_devices_have_limits_and_details() {
    let plain = hal(["devices", "local-sync"]).expect(0);
    assert!(!plain.stdout.contains("max-bindings") && plain.stderr.is_empty(), "{}{}", plain.stdout, plain.stderr);
    let verbose = hal(["devices", "local-sync", "--verbose"]).expect(0);
    verbose.prints(&["local-sync://0", "max-storage-binding-bytes", "Runs work on the calling thread"]);
    let loops = hal(["devices", "null", "-v"]).expect(0);
    let line = loops.stdout.lines().find(|line| line.contains("max-loop-iterations")).unwrap();
    assert!(line.ends_with("unbounded"), "{line}");
    let json = hal(["devices", "null", "--json"]).expect(0).json();
    assert_eq!(json["devices"][0]["limits"]["max-bindings"], 64);
    assert_eq!(json["devices"][0]["warnings"], serde_json::json!([]));
}

/// What `hal devices` runs in a child for drivers over native libraries.
#[test]
fn a_probe_reports_in_one_line() {
    let report = hal(["probe-driver", "null"]).expect(0);
    let line = report.stdout.lines().find_map(|line| line.strip_prefix("hal-probe: ")).unwrap();
    let answer: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(answer["Ok"]["found"][0]["path"], "0");
    assert_eq!(answer["Ok"]["unusable"], serde_json::json!([]));
    hal(["probe-driver", "vulkanx"]).expect(125).says(&["vulkanx"]);
    assert!(!hal(["--help"]).expect(0).stdout.contains("probe-driver"), "it is no command for people");
}

#[test]
fn a_listing_can_be_of_one_driver() {
    let json = hal(["devices", "null", "--json"]).expect(0).json();
    assert!(json["devices"].as_array().unwrap().iter().all(|device| device["driver"] == "null"));
    hal(["devices", "cuda"]).expect(125).says(&["cuda", "cpu", "null"]);
    hal(["drivers", "cpux"]).expect(125).says(&["cpux", "local-task"]);
}

#[test]
fn a_reader_who_leaves_is_no_panic() {
    use std::process::Stdio;
    let mut child =
        common::command().args(["devices", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    // It may have been written before the pipe closed.
    assert!(matches!(output.status.code(), Some(0 | 141)), "{:?}", output.status);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
