//! Closing a device closes what was made from it, cancels work whose waits are unmet, and fails the loss semaphore.
#![no_main]

use test_guests::work::{at, nothing, semaphore};
use test_guests::{
    LONG, Outcome, StatusCode, WaitMode, check::fine, check::refused, check::same, ensure, guest, memory, null,
};

guest!(run);

fn run() -> Outcome {
    let (device, other) = (null()?, null()?);
    let buffer = memory::buffer(&device, 8)?;
    let (never, done) = (semaphore(&other)?, semaphore(&other)?);
    let loss = fine(device.loss_semaphore(), "loss semaphore")?;
    same(fine(loss.query(), "query of the loss semaphore")?, 0, "its value while the device lives")?;
    fine(device.submit(&[at(&never, 1)], &nothing(), &[at(&done, 1)], None), "work whose wait is unmet")?;

    device.close();
    device.close();
    refused(buffer.read(0, 1), StatusCode::FailedPrecondition, "reading a buffer of a closed device")?;
    refused(memory::try_buffer(&device, 1), StatusCode::FailedPrecondition, "allocating on a closed device")?;
    refused(device.create_semaphore(0), StatusCode::FailedPrecondition, "a semaphore of a closed device")?;
    refused(device.trim(), StatusCode::FailedPrecondition, "trimming a closed device")?;
    refused(done.wait(1, LONG), StatusCode::Cancelled, "waiting for work that was cancelled")?;
    let any = other.wait_semaphores(&[at(&never, 1), at(&loss, 1)], WaitMode::Any, LONG);
    ensure!(any.is_err(), "expected the loss semaphore to have failed, got {any:?}");

    // The other device and its semaphores are as they were.
    fine(never.signal(1), "signalling a semaphore of the other device")?;
    memory::buffer(&other, 8).map(drop)
}
