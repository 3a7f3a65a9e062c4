//! A semaphore counts up, answers waits for what it has reached, and never goes back.
#![no_main]

use test_guests::work::{at, semaphore};
use test_guests::{Outcome, StatusCode, WaitMode, check::fine, check::refused, check::same, guest, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let a = fine(device.create_semaphore(123), "a semaphore that starts at 123")?;
    same(fine(a.query(), "query")?, 123, "the initial value")?;
    fine(a.wait(0, 0), "polling for a value long passed")?;
    fine(a.signal(124), "124")?;
    fine(a.signal(400), "400")?;
    fine(a.signal(u64::MAX - 1), "nearly the largest")?;
    for value in [0, 400, u64::MAX - 1] {
        refused(a.signal(value), StatusCode::InvalidArgument, &format!("signalling {value}, which is no advance"))?;
    }
    same(fine(a.query(), "query")?, u64::MAX - 1, "the value after refused signals")?;

    let b = semaphore(&device)?;
    refused(b.wait(1, 0), StatusCode::DeadlineExceeded, "polling for a value not reached")?;
    refused(b.wait(1, 1_000_000), StatusCode::DeadlineExceeded, "waiting a millisecond for a value not reached")?;
    let points = [at(&b, 1), at(&a, 5), at(&a, 5)];
    let all = device.wait_semaphores(&points, WaitMode::All, 0);
    refused(all, StatusCode::DeadlineExceeded, "all of three, of which one is not met")?;
    same(
        fine(device.wait_semaphores(&points, WaitMode::Any, 0), "any of three")?,
        1,
        "the index of a point that is met",
    )?;
    for mode in [WaitMode::All, WaitMode::Any] {
        same(fine(device.wait_semaphores(&[], mode, 0), "no points")?, 0, "the index for no points")?;
    }
    fine(b.signal(1), "signalling the last")?;
    same(fine(device.wait_semaphores(&points, WaitMode::All, 0), "all of three")?, 0, "the index for all")
}
