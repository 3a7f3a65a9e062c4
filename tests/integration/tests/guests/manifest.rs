//! No guest without a test, no test on a stale guest.

use hal_test_support::{manifest, root};
use std::{collections::BTreeSet, path::Path};

/// The names of the test functions beside this file.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests");
    for file in std::fs::read_dir(&here).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let mut lines = text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            if line == "#[test]" {
                let function =
                    lines.next().and_then(|line| line.strip_prefix("fn ")).and_then(|line| line.split('(').next());
                names.extend(function.map(String::from));
            }
        }
    }
    names
}

#[test]
fn every_guest_has_a_test_of_its_name() {
    let tests = tests();
    let guests = manifest().unwrap().components.iter().filter(|(_, entry)| entry.package == "test-guests");
    let guests = guests.map(|(name, _)| name).filter(|name| !name.starts_with("bench_"));
    let untested: Vec<_> = guests.filter(|name| !tests.contains(*name)).collect();
    assert!(untested.is_empty(), "guests that no test is named after: {untested:?}");
}

#[test]
fn every_source_is_built() {
    let components = &manifest().unwrap().components;
    for file in std::fs::read_dir(root().join("tests/guests/src/bin")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            components.contains_key(name),
            "{} is not among the components: run `cargo xtask guests`",
            path.display()
        );
        let suite = name.split('_').next().unwrap();
        // `bench_` guests are driven by tests/bench.
        let suites = ["ok", "deny", "limit", "trap", "hang", "registry", "bench"];
        assert!(suites.contains(&suite), "{name}: no such suite");
        let first = std::fs::read_to_string(&path).unwrap();
        assert!(first.starts_with("//! "), "{name} does not say what it shows");
    }
}

#[test]
fn nothing_is_stale() {
    let stale = manifest().unwrap().stale(root()).unwrap();
    assert!(stale.is_empty(), "run `cargo xtask guests`: {stale:?}");
}
