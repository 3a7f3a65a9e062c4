//! One recording, checked once, runs with different buffers in its slots; it keeps its own buffers when their handles are gone.
#![no_main]

use test_guests::work::{at, copy, direct, part, semaphore, slot, transfers, update};
use test_guests::{Binding, Command, LONG, Outcome, check::fine, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let source = memory::numbers(&device, &[1u32, 2, 3, 4])?;
    let commands = vec![
        copy(part(direct(0), 4, 8), part(slot(0), 0, 8)),
        Command::Barrier,
        copy(part(slot(0), 4, 4), part(slot(1), 0, 4)),
        update(part(slot(1), 4, 1), &[9]),
    ];
    let recording = fine(device.create_recording(&transfers(&[&source], commands), 2, "twice"), "recording")?;
    drop(source);

    let done = semaphore(&device)?;
    for round in 1..=3 {
        let target = memory::buffer(&device, 24)?;
        // Both slots lie in one buffer, side by side.
        let bindings =
            [Binding { buffer: 0, offset: 0, length: Some(8) }, Binding { buffer: 0, offset: 8, length: None }];
        let signal = [at(&done, round)];
        fine(
            device.execute(&[], &recording, &[&target], &bindings, &signal, None),
            &format!("executing, round {round}"),
        )?;
        fine(done.wait(round, LONG), "waiting")?;
        let expected = [2u32, 3, 3, 9, 0, 0];
        same(memory::read_numbers::<u32>(&target)?, expected.to_vec(), &format!("what round {round} wrote"))?;
    }
    Ok(())
}
