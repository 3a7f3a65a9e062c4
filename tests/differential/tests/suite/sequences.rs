//! Random work.

use hal_differential::{config, lower, model, runtime, sequence::sequence, targets};
use proptest::test_runner::{TestCaseError, TestRunner};

#[test]
fn random_work_leaves_what_the_model_leaves() {
    let (targets, runtime) = (targets(), runtime());
    let mut runner = TestRunner::new(config(300, "proptest-regressions/sequences.txt"));
    let result = runner.run(&sequence(), |sequence| {
        let plan = lower(&sequence);
        let expected = model::run(&plan);
        for target in &targets {
            let checked = runtime.block_on(target.check(&plan, &expected));
            checked.map_err(|error| TestCaseError::fail(format!("{error}\n{plan:#?}")))?;
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
