//! Tables, commands, waits and slots: as many as fit the budget are values, never a trap; 64 slots are taken, 65 are not.
#![no_main]

use test_guests::work::{at, direct, fill, nothing, semaphore, slot, transfers};
use test_guests::{
    Batch, Command, Outcome, StatusCode, TimePoint, WaitMode, check::explained, check::fine, check::refused, ensure,
    guest, memory, null,
};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, 4)?;
    fine(device.create_recording(&transfers(&[], vec![fill(slot(63), &[1])]), 64, ""), "64 slots")?;
    let over = device.create_recording(&transfers(&[], vec![fill(slot(0), &[1])]), 65, "");
    let error = over.err().ok_or("65 slots: expected a refusal")?;
    let allowed = [StatusCode::InvalidArgument, StatusCode::ResourceExhausted, StatusCode::OutOfRange];
    ensure!(allowed.contains(&error.code), "65 slots: got {}", test_guests::check::show(&error));

    // Far more than anybody needs: each is an error or works, and the guest lives on.
    let go = semaphore(&device)?;
    for entries in [1000, 4096, 10_000] {
        let table =
            Batch { buffers: vec![&buffer; entries], executables: Vec::new(), commands: vec![fill(direct(0), &[1])] };
        accepted_or_exhausted(device.submit(&[], &table, &[], None), &format!("a table of {entries} buffers"))?;
        let points: Vec<TimePoint> = (0..entries).map(|_| at(&go, 0)).collect();
        accepted_or_exhausted(device.submit(&points, &nothing(), &[], None), &format!("{entries} waits"))?;
        accepted_or_exhausted(
            device.wait_semaphores(&points, WaitMode::Any, 0),
            &format!("waiting for {entries} points"),
        )?;
        let commands =
            Batch { buffers: vec![&buffer], executables: Vec::new(), commands: vec![Command::Barrier; entries] };
        accepted_or_exhausted(device.submit(&[], &commands, &[], None), &format!("{entries} commands"))?;
        let fills =
            Batch { buffers: vec![&buffer], executables: Vec::new(), commands: vec![fill(direct(0), &[1]); entries] };
        accepted_or_exhausted(device.create_recording(&fills, 0, ""), &format!("recording {entries} fills"))?;
    }
    // More than one call takes: refused with the number, before the engine's own bound on what a call lends.
    for entries in [16_385, 100_000, 700_000] {
        let words = ["16384", &entries.to_string()];
        let points: Vec<TimePoint> = (0..entries).map(|_| at(&go, 0)).collect();
        let waited = device.wait_semaphores(&points, WaitMode::Any, 0);
        explained(waited, StatusCode::OutOfRange, &words, &format!("waiting for {entries} points"))?;
        let submitted = device.submit(&points, &nothing(), &[], None);
        explained(submitted, StatusCode::OutOfRange, &words, &format!("{entries} waits"))?;
        drop(points);
        let table = Batch { buffers: vec![&buffer; entries], executables: Vec::new(), commands: Vec::new() };
        let submitted = device.submit(&[], &table, &[], None);
        explained(submitted, StatusCode::OutOfRange, &words, &format!("a table of {entries} buffers"))?;
    }
    refused(
        device.submit(&[], &transfers(&[], vec![fill(direct(0), &[1])]), &[], None),
        StatusCode::OutOfRange,
        "an empty table",
    )?;
    memory::write(&buffer, &[1; 4])
}

fn accepted_or_exhausted<T>(result: Result<T, test_guests::Error>, what: &str) -> Outcome {
    match result {
        Ok(_) => Ok(()),
        Err(error) => refused::<()>(Err(error), StatusCode::ResourceExhausted, what).map(drop),
    }
}
