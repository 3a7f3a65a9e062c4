//! The lists themselves: names, patterns, reasons, kernels.

use hal_conformance::{
    drivers::ENTRIES,
    guest::GUEST,
    native::Native,
    run::{drivers, idle_patterns, matches, select},
    spirv::{kernel, spirv},
};
use hal_conformance_cases::{KERNELS, NOT_APPLICABLE, cases};
use std::collections::HashSet;

#[test]
fn every_case_has_a_name_of_its_own() {
    let ids: Vec<_> = cases::<Native>().iter().map(hal_conformance_cases::Case::id).collect();
    let different: HashSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), different.len());
    assert!(ids.len() > 300, "{} cases", ids.len());
}

#[test]
fn what_is_not_applicable_says_why_and_is_not_run_all_the_same() {
    let run: HashSet<_> = cases::<Native>().iter().map(|case| format!("{}/{}", case.suite, case.name)).collect();
    for entry in NOT_APPLICABLE {
        assert!(entry.reason.len() > 20, "{entry:?}");
        for case in entry.cases {
            assert!(!run.contains(&format!("{}/{case}", entry.suite)), "{}/{case} is run", entry.suite);
        }
    }
}

#[test]
fn the_drivers_lists_are_current_and_say_why() {
    for entry in ENTRIES {
        assert_eq!(idle_patterns(entry), Vec::<&str>::new(), "{}: patterns that mean no case", entry.name);
        for (pattern, reason) in entry.unsupported.iter().chain(entry.expected_failures) {
            assert!(reason.len() > 20, "{}: {pattern}: {reason:?} is no reason", entry.name);
        }
    }
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let error = select(Some("NoSuchCase")).err().unwrap().to_string();
    for part in [
        "\"NoSuchCase\"",
        "\"Suite/Case/direct/spirv\"",
        "CommandBufferFillBufferTest: Pattern1_Size1_Offset0_Length1",
        "BudgetEdges",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let error = drivers(Some("cuda")).err().unwrap().to_string();
    assert_eq!(error, "no driver is called \"cuda\"; there are null, local-sync, local-task, vulkan");
    assert_eq!(drivers(Some("null")).unwrap().len(), 1);
    assert_eq!(select(Some("DispatchTest/DispatchAbs/*/spirv")).unwrap().len(), 2);
}

#[test]
fn patterns() {
    for (pattern, id, expected) in [
        ("Fill", "Suite/FillEmpty", true),
        ("fill", "Suite/FillEmpty", false),
        ("*", "Suite/Case", true),
        ("Suite/*", "Suite/Case/direct", true),
        ("Suite/*/table", "Suite/Case/direct", false),
        ("Suite/*/direct", "Suite/Case/direct", true),
        ("Suit*direct", "Suite/Case/direct/direct", true),
        ("*Case*", "Suite/Case/direct", true),
        ("Suite", "Other/Case", false),
        ("uite/*", "Suite/Case", false),
    ] {
        assert_eq!(matches(pattern, id), expected, "{pattern} {id}");
    }
}

#[test]
fn kernels_come_in_both_formats() {
    assert_eq!(spirv().len(), KERNELS.len());
    for (name, source) in KERNELS {
        assert_eq!(kernel(name, "wgsl").unwrap(), source.as_bytes());
        let words = kernel(name, "spirv").unwrap();
        assert_eq!(words[..4], 0x0723_0203u32.to_le_bytes(), "{name}");
        assert!(source.starts_with("// "), "{name} does not say what it does");
    }
    assert!(kernel("abs", "ptx").is_err() && kernel("none", "wgsl").is_err() && kernel("none", "spirv").is_err());
}

#[test]
fn the_guest_is_built() {
    let bytes = hal_test_support::component(GUEST).unwrap();
    assert!(bytes.len() > 10_000, "{} bytes", bytes.len());
}
