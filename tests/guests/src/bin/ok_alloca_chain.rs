//! Queue-ordered memory: named before it is there, used, released and allocated again without waiting in between.
#![no_main]

use test_guests::work::{at, copy, direct, fill, semaphore, transfers};
use test_guests::{Command, LONG, Outcome, StatusCode, check::fine, check::refused, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let result = memory::buffer(&device, 16)?;
    let (go, line) = (semaphore(&device)?, semaphore(&device)?);
    let mut value = 0;
    let mut held = Vec::new();
    for round in 0..8u8 {
        let waits = if round == 0 { [at(&go, 1)] } else { [at(&line, value)] };
        let made = device.alloca(&waits, &memory::params(), 16, &[at(&line, value + 1)]);
        let transient = fine(made, &format!("alloca, round {round}"))?;
        if round == 0 {
            refused(transient.read(0, 1), StatusCode::FailedPrecondition, "reading memory that is not there yet")?;
        }
        let commands = vec![fill(direct(0), &[round + 1]), Command::Barrier, copy(direct(0), direct(1))];
        let batch = transfers(&[&transient, &result], commands);
        fine(device.submit(&[at(&line, value + 1)], &batch, &[at(&line, value + 2)], None), "use")?;
        fine(device.dealloca(&[at(&line, value + 2)], &transient, &[at(&line, value + 3)]), "dealloca")?;
        same(transient.info().transient, true, "transient")?;
        held.push(transient);
        value += 3;
    }
    fine(go.signal(1), "letting it all run")?;
    fine(line.wait(value, LONG), "waiting for it all")?;
    same(memory::bytes(&result)?, vec![8; 16], "what the last round left")?;
    refused(held[0].read(0, 1), StatusCode::FailedPrecondition, "reading memory that was released")?;
    let again = device.dealloca(&[], &held[0], &[at(&line, value + 1)]);
    refused(again, StatusCode::FailedPrecondition, "releasing it a second time")?;
    same(fine(line.query(), "query")?, value, "the value after a refused release")
}
