//! "submissions": exactly as many in flight as are granted, waiting ones included; room again once they have ended.
#![no_main]

use test_guests::work::{at, nothing, semaphore};
use test_guests::{LONG, Outcome, check, check::fine, check::limited, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let (go, done) = (semaphore(&device)?, semaphore(&device)?);
    let allowed = check::usage(device.budget(), "submissions")?.allowed;
    for round in 0..2 {
        let first = round * (allowed + 1);
        for n in 1..=allowed {
            let (wait, signal) = ([at(&go, round + 1)], [at(&done, first + n)]);
            // In a line, so that signals advance one after the other.
            let waits = if n == 1 { &wait[..] } else { &[at(&done, first + n - 1)][..] };
            fine(device.submit(waits, &nothing(), &signal, None), &format!("submission {n} of {allowed}"))?;
        }
        let what = "one submission too many";
        let hit = limited(device.submit(&[at(&go, round + 1)], &nothing(), &[], None), "submissions", what)?;
        same((hit.asked, hit.available, hit.allowed), (1, 0, allowed), "asked, available, allowed")?;
        let recording = fine(device.create_recording(&nothing(), 0, ""), "recording")?;
        let execute = device.execute(&[at(&go, round + 1)], &recording, &[], &[], &[], None);
        limited(execute, "submissions", "one execution too many")?;
        let alloca = device.alloca(&[at(&go, round + 1)], &memory::params(), 1, &[]);
        limited(alloca, "submissions", "one queue-ordered allocation too many")?;
        fine(go.signal(round + 1), "letting them run")?;
        fine(done.wait(first + allowed, LONG), "waiting for them")?;
        // The last one's signal may be seen before its charge is back.
        fine(device.submit(&[], &nothing(), &[at(&done, first + allowed + 1)], None), "one once they have ended")?;
        fine(done.wait(first + allowed + 1, LONG), "waiting for it")?;
    }
    same(check::usage(device.budget(), "memory-bytes")?.used, 0, "memory that refused calls left behind")
}
