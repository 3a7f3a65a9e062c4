//! A submission whose signal would not advance its semaphore, or that names one twice, is refused and nothing is queued.
#![no_main]

use test_guests::work::{at, direct, fill, nothing, transfers};
use test_guests::{Outcome, StatusCode, check::fine, check::refused, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, 4)?;
    let semaphore = fine(device.create_semaphore(5), "a semaphore at 5")?;
    let filling = transfers(&[&buffer], vec![fill(direct(0), &[1])]);
    for value in [0, 4, 5] {
        let submit = device.submit(&[], &filling, &[at(&semaphore, value)], None);
        refused(submit, StatusCode::InvalidArgument, &format!("signalling {value} on a semaphore at 5"))?;
    }
    same(memory::bytes(&buffer)?, vec![0; 4], "the buffer after the refusals")?;
    same(fine(semaphore.query(), "query")?, 5, "the semaphore after the refusals")?;
    fine(device.submit(&[at(&semaphore, 5)], &nothing(), &[at(&semaphore, 6)], None), "one that advances")?;
    fine(semaphore.wait(6, test_guests::LONG), "waiting for it")
}
