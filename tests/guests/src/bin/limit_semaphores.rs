//! "semaphores": exactly as many as are granted; a loss semaphore is one too.
#![no_main]

use test_guests::{Outcome, check, guest, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    check::edge(|| device.budget(), "semaphores", || device.create_semaphore(0))?;
    let mut odd = false;
    check::edge(
        || device.budget(),
        "semaphores",
        || {
            odd = !odd;
            if odd { device.create_semaphore(7) } else { device.loss_semaphore() }
        },
    )
}
