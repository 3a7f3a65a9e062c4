//! A semaphore works across the devices of one session: work on one waits for work on another.
#![no_main]

use test_guests::work::{at, direct, fill, nothing, semaphore, transfers};
use test_guests::{LONG, Outcome, check::fine, check::same, cpu, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let (first, second) = (null()?, cpu()?);
    let (of_first, of_second) = (semaphore(&first)?, semaphore(&second)?);
    let buffer = memory::buffer(&second, 4)?;
    let batch = transfers(&[&buffer], vec![fill(direct(0), &[1])]);
    fine(second.submit(&[at(&of_first, 1)], &batch, &[at(&of_second, 1)], None), "waiting for the other device")?;
    fine(first.submit(&[], &nothing(), &[at(&of_first, 1)], None), "the other device's work")?;
    fine(of_second.wait(1, LONG), "waiting for both")?;
    drop(first);
    same(memory::bytes(&buffer)?, vec![1; 4], "what ran after the other device")
}
