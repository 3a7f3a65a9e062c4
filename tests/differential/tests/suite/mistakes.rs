//! A driver with a mistake is found, and the work that shows it is cut down to little.

use hal_core::Command;
use hal_differential::{
    Plan, Target, lower, model, runtime,
    sequence::sequence,
    wrong::{Mistake, Wrong},
};
use hal_driver_cpu::{Config, CpuFactory};
use proptest::{
    prelude::ProptestConfig,
    test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner},
};
use std::sync::Arc;

/// The smallest plan on which a driver with this mistake fails, of so many tried.
fn found(mistake: Mistake, cases: u32) -> Option<Plan> {
    let cpu = CpuFactory::new(Config::new().workers(2)).unwrap();
    let target = Target::new("local-sync", Arc::new(Wrong::new(Arc::new(cpu), mistake)));
    let runtime = runtime();
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        // Not a time, which a busy machine would fill with less.
        max_shrink_iters: 4_000,
        ..Default::default()
    };
    // The same work in each run: how far it is cut down depends on where that begins.
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[2; 32]);
    let result = TestRunner::new_with_rng(config, random).run(&sequence(), |sequence| {
        let plan = lower(&sequence);
        let checked = runtime.block_on(target.check(&plan, &model::run(&plan)));
        checked.map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => None,
        Err(TestError::Fail(_, sequence)) => Some(lower(&sequence)),
        Err(other) => panic!("{other}"),
    }
}

/// Commands other than barriers.
fn commands(plan: &Plan) -> Vec<&Command> {
    let all = plan.phases.iter().flat_map(|phase| &phase.recordings).flat_map(|recording| &recording.commands);
    all.filter(|command| !matches!(command, Command::Barrier)).collect()
}

#[test]
fn the_layer_itself_changes_nothing() {
    assert!(found(Mistake::Nothing, 20).is_none());
}

#[test]
fn a_fill_that_is_short_is_found() {
    let plan = found(Mistake::ShortFill, 500).expect("it was not found");
    assert!(commands(&plan).len() <= 2, "{plan:#?}");
}

#[test]
fn a_copy_that_is_dropped_is_found() {
    let plan = found(Mistake::DroppedCopy, 2000).expect("it was not found");
    assert!(commands(&plan).len() <= 6, "{plan:#?}");
}

#[test]
fn workgroups_that_are_left_out_are_found() {
    let plan = found(Mistake::MissingRows, 2000).expect("it was not found");
    assert!(commands(&plan).len() <= 6, "{plan:#?}");
}

#[test]
fn an_update_that_is_late_is_found() {
    let plan = found(Mistake::LateUpdate, 2000).expect("it was not found");
    assert!(commands(&plan).len() <= 6, "{plan:#?}");
}
