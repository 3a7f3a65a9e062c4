//! After `execute` behind an unmet wait, recording and buffers may be dropped: the work keeps what it needs.
#![no_main]

use test_guests::work::{at, copy, direct, semaphore, slot, transfers};
use test_guests::{Binding, LONG, Outcome, check::fine, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let result = memory::buffer(&device, 8)?;
    let (go, done) = (semaphore(&device)?, semaphore(&device)?);
    {
        let source = memory::numbers(&device, &[7u32, 8])?;
        let through = memory::buffer(&device, 8)?;
        let first = transfers(&[&source], vec![copy(direct(0), slot(0))]);
        let first = fine(device.create_recording(&first, 1, ""), "the first recording")?;
        let second = transfers(&[&result], vec![copy(slot(0), direct(0))]);
        let second = fine(device.create_recording(&second, 1, ""), "the second recording")?;
        let bindings = [Binding { buffer: 0, offset: 0, length: None }];
        fine(device.execute(&[at(&go, 1)], &first, &[&through], &bindings, &[at(&done, 1)], None), "the first")?;
        fine(device.execute(&[at(&done, 1)], &second, &[&through], &bindings, &[at(&done, 2)], None), "the second")?;
    }
    fine(go.signal(1), "letting it run")?;
    fine(done.wait(2, LONG), "waiting")?;
    same(memory::read_numbers::<u32>(&result)?, vec![7, 8], "what came through dropped buffers")
}
