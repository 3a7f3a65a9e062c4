//! Semaphores order work: a consumer submitted before its producer runs after it, and one signal frees smaller waits.
#![no_main]

use test_guests::work::{at, copy, direct, fill, nothing, semaphore, transfers};
use test_guests::{LONG, Outcome, WaitMode, check::fine, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let (a, b, c) = (memory::buffer(&device, 8)?, memory::buffer(&device, 8)?, memory::buffer(&device, 8)?);
    let (go, middle, done) = (semaphore(&device)?, semaphore(&device)?, semaphore(&device)?);
    let consume = transfers(&[&a, &b], vec![copy(direct(0), direct(1))]);
    let consume_too = transfers(&[&a, &c], vec![copy(direct(0), direct(1))]);
    let produce = transfers(&[&a], vec![fill(direct(0), &[5])]);
    fine(device.submit(&[at(&middle, 1)], &consume, &[at(&done, 1)], None), "the first consumer")?;
    fine(device.submit(&[at(&middle, 2), at(&done, 1)], &consume_too, &[at(&done, 2)], None), "the second consumer")?;
    fine(device.submit(&[at(&go, 1)], &produce, &[at(&middle, 3)], None), "the producer")?;
    same(fine(done.query(), "query")?, 0, "the value before anything may run")?;
    fine(go.signal(1), "letting the producer run")?;
    fine(device.wait_semaphores(&[at(&middle, 3), at(&done, 2)], WaitMode::All, LONG), "waiting for all of it")?;
    same(memory::bytes(&b)?, vec![5; 8], "what the first consumer copied")?;
    same(memory::bytes(&c)?, vec![5; 8], "what the second consumer copied")?;

    fine(
        device.submit(&[at(&done, 1)], &nothing(), &[at(&middle, 10), at(&done, 10)], None),
        "a barrier with two signals",
    )?;
    fine(device.wait_semaphores(&[at(&middle, 10), at(&done, 10)], WaitMode::All, LONG), "waiting for both")?;
    Ok(())
}
