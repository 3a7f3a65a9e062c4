//! "update-bytes": an update carries exactly as much as is granted, in a submission as in a recording.
#![no_main]

use test_guests::work::{direct, run as submit, transfers, try_run, update};
use test_guests::{Outcome, check, check::fine, check::limited, check::same, ensure, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let most = check::limit(&device, "update-bytes")?;
    let buffer = memory::buffer(&device, most + 1)?;
    let bytes = vec![5; most as usize];
    let exact = test_guests::work::part(direct(0), 1, most);
    submit(&device, transfers(&[&buffer], vec![update(exact, &bytes)]))?;
    ensure!(memory::bytes(&buffer)?[1..] == bytes, "the update did not arrive");
    fine(device.create_recording(&transfers(&[&buffer], vec![update(exact, &bytes)]), 0, ""), "recording it")?;

    let over = transfers(&[&buffer], vec![update(direct(0), &vec![6; most as usize + 1])]);
    let hit = limited(device.create_recording(&over, 0, ""), "update-bytes", "recording one byte more")?;
    same((hit.asked, hit.available, hit.allowed), (most + 1, most, most), "asked, available, allowed")?;
    limited(try_run(&device, over), "update-bytes", "submitting one byte more")?;
    same(memory::bytes(&buffer)?[..2].to_vec(), vec![0, 5], "the buffer after the refusals")
}
