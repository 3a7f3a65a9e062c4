//! Submissions with a tag are timed, each reported once, oldest first; those without are not.
#![no_main]

use test_guests::work::{at, direct, fill, nothing, semaphore, transfers};
use test_guests::{LONG, Outcome, check::fine, check::same, ensure, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, 1 << 20)?;
    let done = semaphore(&device)?;
    for (value, tag) in [(1, Some(70)), (2, None), (3, Some(u64::MAX))] {
        let batch = transfers(&[&buffer], vec![fill(direct(0), &[1])]);
        let waits = [at(&done, value - 1)];
        fine(device.submit(&waits, &batch, &[at(&done, value)], tag), &format!("submission {value}"))?;
    }
    fine(done.wait(3, LONG), "waiting for all")?;
    let timings = device.take_timings();
    same(timings.iter().map(|timing| timing.tag).collect::<Vec<_>>(), vec![70, u64::MAX], "tags, oldest first")?;
    for timing in &timings {
        ensure!(
            timing.queue_ns < LONG && timing.device_ns.unwrap_or(0) < LONG,
            "expected plausible times, got {timing:?}"
        );
    }
    same(device.take_timings().len(), 0, "timings left after they were taken")?;

    for value in 4..1030 {
        fine(device.submit(&[at(&done, value - 1)], &nothing(), &[at(&done, value)], Some(value)), "many submissions")?;
    }
    fine(done.wait(1029, LONG), "waiting for all of them")?;
    let tags: Vec<_> = device.take_timings().into_iter().map(|timing| timing.tag).collect();
    same((tags.len(), tags.first().copied(), tags.last().copied()), (1024, Some(6), Some(1029)), "the newest 1,024")
}
