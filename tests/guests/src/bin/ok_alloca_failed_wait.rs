//! A release behind a failed wait releases nothing: the buffer stays usable and can be released later.
#![no_main]

use test_guests::work::{at, direct, fill, run as submit, semaphore, transfers};
use test_guests::{Error, LONG, Outcome, StatusCode, check::fine, check::refused, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let (ready, bad, released) = (semaphore(&device)?, semaphore(&device)?, semaphore(&device)?);
    let transient = fine(device.alloca(&[], &memory::params(), 8, &[at(&ready, 1)]), "alloca")?;
    fine(ready.wait(1, LONG), "waiting for the memory")?;
    fine(device.dealloca(&[at(&bad, 1)], &transient, &[at(&released, 1)]), "a release that will fail")?;
    bad.fail(&Error { code: StatusCode::Cancelled, message: "changed my mind".into(), limit: None });
    refused(released.wait(1, LONG), StatusCode::Cancelled, "waiting for the failed release")?;

    submit(&device, transfers(&[&transient], vec![fill(direct(0), &[3])]))?;
    same(memory::bytes(&transient)?, vec![3; 8], "memory that was not released")?;
    let again = semaphore(&device)?;
    fine(device.dealloca(&[], &transient, &[at(&again, 1)]), "releasing it later")?;
    fine(again.wait(1, LONG), "waiting for the release")
}
