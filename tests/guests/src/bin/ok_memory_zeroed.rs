//! All the memory that is granted reads as zero, is then filled with something else, and is left behind: for the next tenant to find zeroed.
//! The input is the scheme.
#![no_main]

use test_guests::work::{at, direct, fill, semaphore, transfers};
use test_guests::{LONG, Outcome, check, check::fine, ensure, guest, memory, open};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let device = open(&format!("{input}://"))?;
    let transfer = check::limit(&device, "transfer-bytes")?;
    let piece = transfer.min(check::limit(&device, "max-buffer-bytes")?).min(1 << 20);
    let done = semaphore(&device)?;
    for round in 0..2 {
        let mut held = Vec::new();
        while let Ok(buffer) = memory::try_buffer(&device, piece) {
            let found = memory::bytes(&buffer)?;
            let dirty = found.iter().position(|byte| *byte != 0);
            ensure!(
                dirty.is_none(),
                "expected zeroes in piece {}, found {:?} at {dirty:?}",
                held.len(),
                found[dirty.unwrap_or(0)]
            );
            held.push(buffer);
        }
        ensure!(!held.is_empty(), "not even one piece of {piece} bytes could be had");
        for buffer in &held {
            let value = fine(done.query(), "query")?;
            let batch = transfers(&[buffer], vec![fill(direct(0), &[0xa5])]);
            fine(device.submit(&[], &batch, &[at(&done, value + 1)], None), "filling")?;
            fine(done.wait(value + 1, LONG), "waiting")?;
        }
        ensure!(memory::bytes(&held[0])?[0] == 0xa5, "round {round}: the fill did not arrive");
    }
    Ok(String::new())
}
