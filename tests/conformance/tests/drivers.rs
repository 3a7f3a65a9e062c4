//! Every case on every driver that is there, each way.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of this crate is tests, helpers included"
)]

use hal_conformance::{
    drivers::{ENTRIES, REQUIRE_VULKAN},
    report::{self, Column},
    run::{self, Path},
};

fn all_cases(driver: &str, path: Path) {
    let entry = ENTRIES.iter().find(|entry| entry.name == driver).unwrap();
    let found = match entry.find() {
        Ok(found) => found,
        Err(reason) => {
            assert!(!entry.required(), "{driver} is required here, but: {reason}");
            eprintln!("skipped: {driver}: {reason}; set {REQUIRE_VULKAN}=1 where that is a failure");
            return;
        }
    };
    let done = run::run(entry, &found, path, &run::select(None).unwrap());
    let column = Column { driver: entry.name, path, device: Ok(found.device), done };
    println!("{}", column.summary());
    let failures = report::failures(std::slice::from_ref(&column));
    assert!(failures.is_empty(), "{} failures\n  {}", failures.len(), failures.join("\n  "));
    let least = if path == Path::Bare { 75 } else { 150 };
    assert!(column.totals().passed > least, "only {:?}", column.totals());
}

macro_rules! drivers {
    ($($bare:ident $native:ident $guest:ident $driver:literal;)*) => {
        $(
            #[test]
            fn $bare() {
                all_cases($driver, Path::Bare);
            }

            #[test]
            fn $native() {
                all_cases($driver, Path::Native);
            }

            #[test]
            fn $guest() {
                all_cases($driver, Path::Guest);
            }
        )*

        #[test]
        fn every_driver_of_the_manifest_is_tested() {
            let tested: &[&str] = &[$($driver),*];
            let known: Vec<_> = ENTRIES.iter().map(|entry| entry.name).collect();
            assert_eq!(known, tested);
        }
    };
}

drivers! {
    null_bare null_native null_through_a_guest "null";
    local_sync_bare local_sync_native local_sync_through_a_guest "local-sync";
    local_task_bare local_task_native local_task_through_a_guest "local-task";
    vulkan_bare vulkan_native vulkan_through_a_guest "vulkan";
}
