//! `close` gives an object up at once and may be called again; every other call on it is `failed-precondition`, and a subspan stays valid.
#![no_main]

use test_guests::work::{at, direct, fill, nothing, semaphore, transfers};
use test_guests::{LONG, Outcome, StatusCode, check::fine, check::refused, check::same, guest, memory, null};

guest!(run);

fn closed<T>(result: Result<T, test_guests::Error>, what: &str) -> Outcome {
    refused(result, StatusCode::FailedPrecondition, what).map(drop)
}

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, 8)?;
    let child = fine(buffer.subspan(0, 4), "subspan")?;
    let filling = transfers(&[&buffer], vec![fill(direct(0), &[1])]);
    let recording = fine(device.create_recording(&filling, 0, ""), "recording")?;
    let (go, done) = (semaphore(&device)?, semaphore(&device)?);
    fine(device.submit(&[at(&go, 1)], &filling, &[at(&done, 1)], None), "work that will be in flight")?;

    buffer.close();
    buffer.close();
    closed(buffer.read(0, 1), "reading a closed buffer")?;
    closed(buffer.write(0, &[1]), "writing a closed buffer")?;
    closed(buffer.subspan(0, 1), "a subspan of a closed buffer")?;
    closed(device.submit(&[], &filling, &[], None), "submitting a closed buffer")?;
    same(child.info().size, 4, "its subspan, which stays valid")?;
    fine(go.signal(1), "letting the work run")?;
    fine(done.wait(1, LONG), "waiting for the work")?;
    same(memory::bytes(&child)?, vec![1; 4], "the subspan after the work ran")?;

    recording.close();
    recording.close();
    closed(device.execute(&[], &recording, &[], &[], &[], None), "executing a closed recording")?;
    go.close();
    go.close();
    closed(go.query(), "asking a closed semaphore")?;
    closed(go.signal(2), "signalling a closed semaphore")?;
    closed(go.wait(0, 0), "waiting for a closed semaphore")?;
    closed(device.submit(&[at(&go, 1)], &nothing(), &[], None), "work that waits for a closed semaphore")
}
