//! "host-bytes": what the host keeps for a guest is bounded, in recordings as in queued work, and comes back.
#![no_main]

use test_guests::work::{at, direct, semaphore, transfers, update};
use test_guests::{LONG, Outcome, check, check::fine, check::limited, check::same, ensure, guest, memory, null};

guest!(run);

const PAYLOAD: usize = 64 << 10;

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, PAYLOAD as u64)?;
    let batch = transfers(&[&buffer], vec![update(direct(0), &[1; PAYLOAD])]);
    let (go, done) = (semaphore(&device)?, semaphore(&device)?);
    let before = check::usage(device.budget(), "host-bytes")?;
    let most = (before.allowed - before.used) / PAYLOAD as u64;

    let mut recordings = Vec::new();
    let hit = loop {
        match device.create_recording(&batch, 0, "") {
            Ok(recording) => recordings.push(recording),
            refused => break limited(refused, "host-bytes", "a recording too many")?,
        }
        ensure!(
            recordings.len() as u64 <= most,
            "expected at most {most} recordings of 64 KiB, made {}",
            recordings.len()
        );
    };
    ensure!(hit.available < hit.asked && hit.asked >= PAYLOAD as u64, "expected less left than asked for, got {hit:?}");
    ensure!(recordings.len() as u64 >= most / 2, "expected most of {before:?} to be usable, made {}", recordings.len());
    drop(recordings);
    same(check::usage(device.budget(), "host-bytes")?.used, before.used, "used after the recordings were given back")?;

    let mut queued = 0;
    loop {
        let wait = [if queued == 0 { at(&go, 1) } else { at(&done, queued) }];
        match device.submit(&wait, &batch, &[at(&done, queued + 1)], None) {
            Ok(()) => queued += 1,
            refused => {
                limited(refused, "host-bytes", "a queued update too many")?;
                break;
            }
        }
        ensure!(queued <= most, "expected at most {most} queued updates of 64 KiB, made {queued}");
    }
    fine(go.signal(1), "letting them run")?;
    fine(done.wait(queued, LONG), "waiting for them")?;
    fine(device.submit(&[], &batch, &[at(&done, queued + 1)], None), "an update once they have ended")?;
    fine(done.wait(queued + 1, LONG), "waiting for it")
}
