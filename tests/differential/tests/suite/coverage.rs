//! What random work is made of: a test that finds nothing because it does nothing would pass too.

use hal_core::{Command, Source, Workgroups};
use hal_differential::{Plan, Step, kernels::KERNELS, lower, sequence::sequence};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use std::collections::BTreeMap;

/// How often each thing occurs in a plan.
fn count(plan: &Plan, found: &mut BTreeMap<String, u32>) {
    let mut note = |what: &str| *found.entry(what.to_owned()).or_default() += 1;
    for phase in &plan.phases {
        let order: Vec<usize> = phase
            .steps
            .iter()
            .filter_map(|step| if let Step::Submit(node) = step { Some(*node) } else { None })
            .collect();
        if order.windows(2).any(|pair| pair[0] > pair[1]) {
            note("submitted out of order");
        }
        for node in &phase.nodes {
            note(if node.waits.is_empty() { "waits for nothing" } else { "waits" });
            if node.gate.is_some() {
                note("waits for the host");
            }
            if !node.table.is_empty() {
                note("execution");
            }
        }
        for command in phase.recordings.iter().flat_map(|recording| &recording.commands) {
            match command {
                Command::Barrier => note("barrier"),
                Command::Fill { target, pattern } => {
                    note(&format!("fill of {}", pattern.len()));
                    if target.offset % 2 == 1 {
                        note("fill at odd offset");
                    }
                }
                Command::Update { .. } => note("update"),
                Command::Copy { source, target } => {
                    note("copy");
                    if source.source == target.source {
                        note("copy inside one view");
                    }
                    if source.offset % 4 != target.offset % 4 {
                        note("copy between unlike offsets");
                    }
                    if matches!((source.source, target.source), (Source::Slot(_), _) | (_, Source::Slot(_))) {
                        note("copy of a slot");
                    }
                }
                Command::Dispatch(dispatch) => {
                    note(&format!("dispatch of {}", dispatch.executable));
                    if matches!(dispatch.workgroups, Workgroups::Indirect(_)) {
                        note("indirect dispatch");
                    }
                    for binding in &dispatch.bindings {
                        note(if matches!(binding.buffer.source, Source::Slot(_)) {
                            "bound slot"
                        } else {
                            "bound view"
                        });
                        if binding.buffer.length.is_none() {
                            note("open binding");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn random_work_has_everything_in_it() {
    let mut runner = TestRunner::deterministic();
    let mut found = BTreeMap::new();
    for _ in 0..200 {
        count(&lower(&sequence().new_tree(&mut runner).unwrap().current()), &mut found);
    }
    println!("{found:#?}");
    let kernels = (0..KERNELS.len()).map(|kernel| format!("dispatch of {kernel}"));
    let others = [
        "submitted out of order",
        "waits for nothing",
        "waits",
        "waits for the host",
        "execution",
        "barrier",
        "fill of 1",
        "fill of 2",
        "fill of 4",
        "fill at odd offset",
        "update",
        "copy",
        "copy inside one view",
        "copy between unlike offsets",
        "copy of a slot",
        "indirect dispatch",
        "bound slot",
        "bound view",
        "open binding",
    ];
    for what in kernels.chain(others.map(str::to_owned)) {
        let times = found.get(&what).copied().unwrap_or(0);
        assert!(times >= 20, "{what}: only {times} times in 200 plans");
    }
}
