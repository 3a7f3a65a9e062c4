//! The registry component between a guest and factories of every kind.

use hal_core::{Limit, Limits, Reveal};
use hal_driver::Code;
use hal_test_support::{Behaviour, Fake, Guest, listed, null};
use std::time::{Duration, Instant};

/// Runs the script and splits its report: one line for each.
fn script(guest: Guest, lines: &[&str]) -> Vec<String> {
    let report = guest.input(lines.join("\n")).run().well();
    let report: Vec<String> = report.lines().map(String::from).collect();
    assert_eq!(report.len(), lines.len(), "{report:?}");
    report
}

fn script_guest(factories: impl IntoIterator<Item = Fake>) -> Guest {
    factories.into_iter().fold(Guest::new("registry_script"), |guest, factory| guest.fake(factory))
}

#[test]
fn registry_order() {
    let factories = [Fake::new("one", &["a", "b"]), Fake::new("two", &["b", "c"]), Fake::new("three", &["c", "a"])];
    factories.into_iter().fold(Guest::new("registry_order"), Guest::fake).run().well();
}

#[test]
fn registry_override() {
    let second = vec![listed("a", "second a"), listed("y", "second y"), listed("a", "second a, again")];
    Guest::new("registry_override")
        .fake(Fake::new("first", &["a", "x"]))
        .fake(Fake::listing("second", vec![second]))
        .fake(Fake::new("third", &["z", "a"]))
        .run()
        .well();
}

#[test]
fn registry_case() {
    Guest::new("registry_case").null().run().well();
}

#[test]
fn registry_duplicate() {
    Guest::new("registry_duplicate").null().run().well();
}

#[test]
fn registry_capacity() {
    Guest::new("registry_capacity").null().run().well();
}

#[test]
fn registry_unregister() {
    let factories = ["a", "b", "c", "d"].map(|name| Fake::new(name, &[name]));
    factories.into_iter().fold(Guest::new("registry_unregister"), Guest::fake).null().run().well();
}

#[test]
fn registry_several() {
    Guest::new("registry_several").fake(Fake::new("a", &["a"])).null().run().well();
}

#[test]
fn registry_default_twice() {
    Guest::new("registry_default_twice").null().run().well();
}

#[test]
fn registry_drop_with_devices() {
    Guest::new("registry_drop_with_devices").null().run().well();
}

#[test]
fn registry_many_borrows() {
    Guest::new("registry_many_borrows").null().run().well();
}

#[test]
fn registry_uri() {
    let factory = Fake::new("uri", &["uri"]).paths(&["p", "/p", "p q", "b:c", "P"]);
    let factory = factory.parameters(&["a", "b", "c", "", "params??"]);
    let limits = Limits::new();
    Guest::new("registry_uri")
        .null()
        .with(factory.arc(), |grant| grant.reveal(Reveal::All).limits(limits))
        .run()
        .well();
}

/// A registry without a factory: an empty list, and `not-found` that says so.
#[test]
fn registry_script() {
    let report = script(
        Guest::new("registry_script"),
        &["new", "enumerate 0", "detailed 0", "try 0 cpu", "open 0 cpu://", "drop 0"],
    );
    assert_eq!(report[1], "");
    assert_eq!(report[2], " | ");
    assert!(report[3].starts_with("StatusCode::NotFound: ") && report[3].contains("cpu"), "{report:?}");
    assert!(report[4].contains("cpu://") && report[4].contains("grant"), "{report:?}");
}

const LIST: [&str; 5] = ["default", "enumerate 0", "detailed 0", "enumerate 0", "try 0 good"];

#[test]
fn registry_script_failing_factory_hides_nobody() {
    let broken = Behaviour::Fails(Code::DataLoss, "the table of drivers is gone".into());
    let guest = script_guest([
        Fake::new("first", &["good"]),
        Fake::new("broken", &["x"]).when_listing(vec![broken]),
        Fake::new("last", &["better"]),
    ]);
    let report = script(guest, &[&LIST[..], &["try 0 better", "try 0 x", "open 0 x://p"]].concat());
    assert_eq!([&report[1], &report[3]], ["good better"; 2]);
    assert!(
        report[2].starts_with("good better | broken StatusCode::DataLoss: ") && report[2].contains("table of drivers"),
        "{report:?}"
    );
    // What is there is found past the broken one; what is not, it may have had.
    assert_eq!([&report[4], &report[5]], ["made first good", "made last better"]);
    assert!(
        report[6].starts_with("StatusCode::DataLoss: ") && report[6].contains("broken") && report[6].contains("'x'"),
        "{report:?}"
    );
    assert!(report[7].starts_with("StatusCode::DataLoss: ") && report[7].contains("x://p"), "{report:?}");
}

#[test]
fn registry_script_factory_that_recovers() {
    let down = Behaviour::Fails(Code::Unavailable, "not yet".into());
    let guest = script_guest([Fake::new("late", &["good"]).when_listing(vec![down.clone(), down, Behaviour::Well])]);
    let report = script(guest, &["default", "detailed 0", "enumerate 0", "try 0 good"]);
    assert!(report[1].contains("StatusCode::Unavailable") && report[1].contains("not yet"), "{report:?}");
    assert_eq!([&report[2], &report[3]], ["good", "made late good"]);
}

/// What was listed at registration stands, whatever the factory answers later, and costs no further listing.
#[test]
fn registry_script_factory_with_two_faces() {
    let factory =
        Fake::listing("two", vec![vec![listed("good", "two good")], vec![listed("other", "two other")], vec![]]);
    let times = factory.times_listed();
    let report = script(script_guest([factory]), &[&LIST[..], &["try 0 other", "enumerate 0"]].concat());
    assert_eq!([&report[1], &report[2], &report[3], &report[6]], ["good", "good | ", "good", "good"]);
    assert!(report[5].starts_with("StatusCode::NotFound: "), "{report:?}");
    let times = times.load(std::sync::atomic::Ordering::SeqCst);
    assert!(times <= 3, "listed {times} times for one registration and two creations");
}

#[test]
fn registry_script_factory_that_lists_nothing() {
    let report = script(script_guest([Fake::new("none", &[]), Fake::new("some", &["good"])]), &LIST);
    assert_eq!([&report[1], &report[2], &report[4]], ["good", "good | ", "made some good"]);
}

#[test]
fn registry_script_factory_that_lists_one_name_twice() {
    let twice = vec![listed("good", "the first"), listed("good", "the second")];
    let report = script(script_guest([Fake::listing("twice", vec![twice])]), &LIST);
    assert_eq!([&report[1], &report[4]], ["good good", "made the second"]);
}

/// A listing outside the rules fails as a whole, says which rule it broke, and hides nobody else.
#[test]
fn registry_script_factory_that_breaks_the_rules() {
    let many: Vec<_> = (0..10_000).map(|n| listed(&format!("d{n}"), "")).collect();
    let exactly: Vec<_> = (0..64).map(|n| listed(&format!("d{n}"), &format!("number {n}"))).collect();
    let over: Vec<_> = (0..65).map(|n| listed(&format!("d{n}"), "")).collect();
    for (what, drivers, rule) in [
        ("an empty name", vec![listed("", "")], "1"),
        ("a name of 64 KiB", vec![listed(&"x".repeat(64 << 10), "")], "64"),
        ("a name of 65 bytes", vec![listed(&"x".repeat(65), "")], "64"),
        ("capitals", vec![listed("CPU", "")], "a-z"),
        ("a space", vec![listed("c pu", "")], "a-z"),
        ("65 drivers", over, "64"),
        ("10,000 drivers", many, "64"),
    ] {
        let guest = script_guest([Fake::listing("bad", vec![drivers]), Fake::new("some", &["good"])]);
        let report = script(guest, &LIST);
        assert_eq!([&report[1], &report[4]], ["good", "made some good"], "{what}");
        assert!(report[2].starts_with("good | bad StatusCode::InvalidArgument: "), "{what}: {report:?}");
        assert!(report[2].contains(rule), "{what}: {report:?}");
        assert!(report[2].len() < 1000, "{what}: {} bytes", report[2].len());
    }
    let fine = script_guest([Fake::listing("full", vec![exactly]), Fake::new("some", &["good", &"n".repeat(64)])]);
    let report = script(fine, &[&LIST[..], &["try 0 d63"]].concat());
    assert_eq!(report[1].split(' ').count(), 66);
    assert_eq!(report[5], "made number 63");
}

/// A factory that takes long to list is a value after a second, not the end of the guest; one that panics is `internal`.
#[test]
fn registry_script_factory_that_is_slow_or_panics() {
    let slow = Behaviour::Slow(Duration::from_secs(3));
    for (behaviour, code) in [(slow, "StatusCode::DeadlineExceeded"), (Behaviour::Panics, "StatusCode::Internal")] {
        let bad = Fake::new("bad", &["x"]).when_listing(vec![behaviour, Behaviour::Well]);
        let start = Instant::now();
        let report =
            script(script_guest([Fake::new("some", &["good"]), bad]), &["default", "enumerate 0", "try 0 good"]);
        assert!(start.elapsed() < Duration::from_secs(8), "{code}: took {:?}", start.elapsed());
        assert!(report[1].starts_with("good"), "{code}: {report:?}");
        assert_eq!(report[2], "made some good", "{code}");

        let bad = Fake::new("bad", &["x"]).when_listing(vec![if code.ends_with("Internal") {
            Behaviour::Panics
        } else {
            Behaviour::Slow(Duration::from_millis(1300))
        }]);
        let report = script(script_guest([bad, Fake::new("some", &["good"])]), &["default", "detailed 0"]);
        assert!(report[1].starts_with(&format!("good | bad {code}: ")), "{report:?}");
    }
}

/// A factory that lists a name and then cannot make it: its error, not an older factory's driver.
#[test]
fn registry_script_factory_that_cannot_create() {
    for (behaviour, code) in [
        (Behaviour::Fails(Code::Unavailable, "libgpu.so is missing".into()), "StatusCode::Unavailable"),
        (Behaviour::Fails(Code::NotFound, "who?".into()), "StatusCode::NotFound"),
        (Behaviour::Panics, "StatusCode::Internal"),
    ] {
        let guest =
            script_guest([Fake::new("old", &["good"]), Fake::new("new", &["good"]).when_creating(behaviour.clone())]);
        let report = script(guest, &["default", "try 0 good", "open 0 good://", "enumerate 0"]);
        assert!(report[1].starts_with(&format!("{code}: ")) && report[1].contains("new"), "{report:?}");
        assert!(report[2].starts_with(&format!("{code}: ")) && report[2].contains("good://"), "{report:?}");
        if let Behaviour::Fails(_, cause) = behaviour {
            assert!(report[1].contains(&cause) && report[2].contains(&cause), "{report:?}");
        }
        assert_eq!(report[3], "good good");
    }
}

#[test]
fn registry_script_driver_that_cannot_open() {
    for (behaviour, code) in [
        (Behaviour::Fails(Code::Unavailable, "the device fell off the bus".into()), "StatusCode::Unavailable"),
        (Behaviour::Panics, "StatusCode::Internal"),
    ] {
        let guest = script_guest([Fake::new("one", &["good"]).when_opening(behaviour)]);
        let report = script(guest, &["default", "open 0 good://0", "try 0 good"]);
        assert!(report[1].starts_with(&format!("{code}: ")) && report[1].contains("good://0"), "{report:?}");
        assert_eq!(report[2], "made one good");
    }
}

/// Revoked before it is used: the listing taken at registration still shows it, creating is denied.
#[test]
fn registry_script_factory_that_is_revoked() {
    let guest =
        Guest::new("registry_script").fake(Fake::new("gone", &["a"])).fake(Fake::new("here", &["b"])).revoked(0);
    let report = script(guest, &["default", "detailed 0", "try 0 b", "try 0 a", "open 0 a://"]);
    assert_eq!(report[2], "made here b");
    for line in &report[3..] {
        assert!(line.starts_with("StatusCode::PermissionDenied: "), "{report:?}");
    }
}

/// A tenant's registrations are its own: another tenant of the same factories starts afresh.
#[test]
fn registry_script_of_two_tenants() {
    let factory = null();
    for _ in 0..2 {
        let guest = Guest::new("registry_script")
            .with(factory.clone(), |grant| grant.limits(Limits::new().with(Limit::Devices, 1)));
        let report =
            script(guest, &["default", "enumerate 0", "narrow 0", "register 0 1", "enumerate 0", "open 0 null://"]);
        assert_eq!([&report[1], &report[4], &report[5]], ["null", "null null", "opened 0"]);
    }
}
