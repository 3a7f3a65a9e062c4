//! The bytes of an update are captured by the call: changing them afterwards, before the work runs, has no effect.
#![no_main]

use test_guests::work::{at, direct, semaphore, transfers};
use test_guests::{BufferUsage, Command, LONG, Outcome, UpdateCommand, check::fine, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let buffer = fine(device.allocate(&memory::with_usage(BufferUsage::all()), 4), "allocating")?;
    let (go, done) = (semaphore(&device)?, semaphore(&device)?);
    let mut batch =
        transfers(&[&buffer], vec![Command::Update(UpdateCommand { target: direct(0), bytes: vec![1, 2, 3, 4] })]);
    fine(device.submit(&[at(&go, 1)], &batch, &[at(&done, 1)], None), "submitting an update")?;
    if let Some(Command::Update(command)) = batch.commands.first_mut() {
        command.bytes.fill(9);
    }
    fine(go.signal(1), "letting it run")?;
    fine(done.wait(1, LONG), "waiting for it")?;
    same(memory::bytes(&buffer)?, vec![1, 2, 3, 4], "what was captured")
}
