//! Waits for ever for a value that nobody signals. The wait ends as a value before the call's deadline ends the guest.
#![no_main]

use test_guests::work::{at, semaphore};
use test_guests::{FOR_EVER, Outcome, StatusCode, WaitMode, check::refused, guest, null};

guest!(run);

fn run() -> Outcome<String> {
    let device = null()?;
    let never = semaphore(&device)?;
    refused(never.wait(1, FOR_EVER), StatusCode::DeadlineExceeded, "waiting for ever")?;
    // The time is used up: every further wait ends at once, in the same way.
    let points = [at(&never, 1)];
    let wait = device.wait_semaphores(&points, WaitMode::All, FOR_EVER);
    refused(wait, StatusCode::DeadlineExceeded, "waiting for ever once more")?;
    Ok("deadline-exceeded".into())
}
