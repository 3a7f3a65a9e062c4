//! Closing and dropping a buffer does not give its memory back while work that nobody lets run holds it; the end of that work does.
#![no_main]

use test_guests::work::{at, direct, fill, semaphore, transfers};
use test_guests::{
    LONG, Outcome, StatusCode, check, check::fine, check::limited, check::refused, check::same, guest, memory, null,
};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let room = check::usage(device.budget(), "memory-bytes")?.allowed;
    let (go, done) = (semaphore(&device)?, semaphore(&device)?);
    for (round, end) in [(1, "run"), (2, "fail")] {
        let buffer = memory::buffer(&device, room)?;
        let batch = transfers(&[&buffer], vec![fill(direct(0), &[1])]);
        fine(device.submit(&[at(&go, round)], &batch, &[at(&done, round)], None), "work that waits")?;
        buffer.close();
        limited(memory::try_buffer(&device, 1), "memory-bytes", "memory while closed memory waits")?;
        drop(batch);
        drop(buffer);
        limited(memory::try_buffer(&device, 1), "memory-bytes", "memory while dropped memory waits")?;
        same(check::usage(device.budget(), "buffers")?.used, 1, "buffers in use")?;
        if end == "run" {
            fine(go.signal(round), "letting it run")?;
            fine(done.wait(round, LONG), "waiting for it")?;
        } else {
            go.fail(&test_guests::Error { code: StatusCode::Cancelled, message: "never mind".into(), limit: None });
            refused(done.wait(round, LONG), StatusCode::Cancelled, "waiting for it")?;
        }
        same(
            check::usage(device.budget(), "memory-bytes")?.used,
            0,
            &format!("memory in use after the work was let {end}"),
        )?;
    }
    memory::buffer(&device, room).map(drop)
}
