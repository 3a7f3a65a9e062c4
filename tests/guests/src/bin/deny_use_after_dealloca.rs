//! Work that names a buffer after its release fails, by the call or through its signals, and touches nothing.
#![no_main]

use test_guests::work::{at, copy, direct, semaphore, transfers};
use test_guests::{LONG, Outcome, StatusCode, check::fine, check::refused, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let result = memory::buffer(&device, 8)?;
    memory::write(&result, &[4; 8])?;
    let line = semaphore(&device)?;
    let transient = fine(device.alloca(&[], &memory::params(), 8, &[at(&line, 1)]), "alloca")?;
    let (go, late) = (semaphore(&device)?, semaphore(&device)?);
    let batch = transfers(&[&transient, &result], vec![copy(direct(0), direct(1))]);
    // Queued before the release, ready after it.
    fine(device.submit(&[at(&go, 1)], &batch, &[at(&late, 1)], None), "work that becomes ready too late")?;
    fine(device.dealloca(&[at(&line, 1)], &transient, &[at(&line, 2)]), "release")?;
    fine(line.wait(2, LONG), "waiting for the release")?;
    fine(go.signal(1), "letting the late work run")?;
    refused(late.wait(1, LONG), StatusCode::FailedPrecondition, "the late work")?;

    let after = semaphore(&device)?;
    match device.submit(&[], &batch, &[at(&after, 1)], None) {
        Ok(()) => refused(after.wait(1, LONG), StatusCode::FailedPrecondition, "work after the release").map(drop)?,
        Err(error) => same(error.code, StatusCode::FailedPrecondition, "submitting work after the release")?,
    }
    same(memory::bytes(&result)?, vec![4; 8], "the buffer that both would have written")?;
    let own = memory::buffer(&device, 8)?;
    refused(device.dealloca(&[], &own, &[]), StatusCode::InvalidArgument, "releasing what alloca did not make")
        .map(drop)
}
