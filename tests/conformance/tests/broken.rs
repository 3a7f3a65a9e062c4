//! The cases themselves, on a target that is wrong on purpose: each kind of wrong must fail some of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of this crate is tests, helpers included"
)]

#[path = "broken/target.rs"]
mod target;

use hal_conformance::{drivers::ENTRIES, native::Native};
use hal_conformance_cases::cases;
use std::panic::{AssertUnwindSafe, catch_unwind};
use target::{Broken, Fault};

/// Runs the cases that need no second thread, in one format, and answers the names of those that fail.
fn failing(fault: Option<Fault>) -> Vec<String> {
    let entry = ENTRIES.iter().find(|entry| entry.name == "local-sync").unwrap();
    let registered = entry.find().unwrap();
    let cases = cases::<Broken>();
    let cases = cases.iter().filter(|case| !case.threads && case.format != Some("spirv"));
    let fails = |case: &&hal_conformance_cases::Case<Broken>| {
        let target = Broken::new(Native::new(&registered).unwrap().0, fault);
        // A case may stumble over what it did not expect; that is a failure too.
        catch_unwind(AssertUnwindSafe(|| case.run(&target))).map_or(true, |outcome| outcome.is_err())
    };
    cases.filter(fails).map(|case| case.id()).collect()
}

/// At least so many cases fail, and this one among them.
fn found(fault: Fault, least: usize, one: &str) {
    let failing = failing(Some(fault));
    println!("{fault:?}: {} cases fail", failing.len());
    assert!(failing.len() >= least, "{fault:?} fails only {}: {failing:#?}", failing.len());
    assert!(failing.iter().any(|id| id.starts_with(one)), "{fault:?} does not fail {one}: {failing:#?}");
}

#[test]
fn the_wrapper_itself_breaks_nothing() {
    assert_eq!(failing(None), Vec::<String>::new());
}

macro_rules! faults {
    ($($test:ident: $fault:ident fails $least:literal, such as $one:literal;)*) => {
        $(
            #[test]
            fn $test() {
                found(Fault::$fault, $least, $one);
            }
        )*
    };
}

faults! {
    fills_that_are_ignored: IgnoresFills fails 30, such as "CommandBufferFillBufferTest/Pattern1_Size1_Offset0_Length1";
    fills_that_are_too_short: ShortensFills fails 10, such as "CommandBufferFillBufferTest/Pattern1_Size5_Offset0_Length5";
    copies_that_are_dropped: DropsCopies fails 20, such as "CommandBufferCopyBufferTest/CopyWholeBuffer";
    updates_that_are_dropped: DropsUpdates fails 15, such as "CommandBufferUpdateBufferTest/WithOffsets";
    dispatches_that_are_skipped: SkipsDispatches fails 30, such as "DispatchTest/DispatchAbs";
    constants_that_are_zero: ZeroesConstants fails 5, such as "DispatchConstantsTest/DispatchWithDispatchConstants";
    binding_offsets_that_are_lost: LosesBindingOffsets fails 4, such as "DispatchTest/DispatchAbs";
    bindings_that_are_swapped: SwapsBindings fails 15, such as "DispatchMultiEntrypointTest/NegateAndDouble";
    waits_that_are_not_waited_for: IgnoresWaits fails 20, such as "SemaphoreSubmissionTest/SubmitWithWait";
    signals_that_come_early: SignalsEarly fails 20, such as "SemaphoreSubmissionTest/SubmitWithWait";
    signals_that_never_come: NeverSignals fails 50, such as "CommandBufferBasicTest/SubmitEmpty";
    waits_that_return_at_once: ReturnsFromWaits fails 15, such as "SemaphoreTest/WaitUnsignaled";
    failures_that_are_forgotten: ForgetsFailures fails 9, such as "SemaphoreTest/FailThenWait";
    reads_of_zeroes: ReadsZeroes fails 60, such as "BufferMappingTest/ReadData";
    writes_at_the_start: WritesAtTheStart fails 3, such as "BufferMappingTest/WriteDataWithOffset";
    subspans_without_offset: LosesSubspanOffsets fails 6, such as "CommandBufferUpdateBufferTest/Subspan";
    memory_of_others: LeavesMemoryDirty fails 8, such as "MemoryIsolation/FreshMemoryIsZero";
    errors_that_are_swallowed: SwallowsErrors fails 25, such as "RangeRefusals/PastTheEnd";
    errors_with_one_code: ConfusesCodes fails 30, such as "RightRefusals/UsageNotGranted";
    limits_without_numbers: HidesLimits fails 8, such as "BudgetEdges/Buffers";
    objects_that_are_kept: KeepsEverything fails 6, such as "BudgetEdges/Memory";
}
