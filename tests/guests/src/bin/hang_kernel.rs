//! Starts a kernel that never ends and waits for it for ever. The input is the scheme.
#![no_main]

use test_guests::kernels::{ENDLESS, load};
use test_guests::work::{at, batch, direct, dispatch, semaphore};
use test_guests::{FOR_EVER, Outcome, StatusCode, check::fine, check::refused, guest, memory, open};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let device = open(&format!("{input}://"))?;
    let endless = load(&device, ENDLESS)?;
    let buffer = memory::buffer(&device, 4096)?;
    let done = semaphore(&device)?;
    let batch = batch(&[&buffer], &[&endless], vec![dispatch(0, 8, &[], &[direct(0)])]);
    fine(device.submit(&[], &batch, &[at(&done, 1)], None), "an endless kernel")?;
    refused(done.wait(1, FOR_EVER), StatusCode::DeadlineExceeded, "waiting for it for ever")?;
    Ok("deadline-exceeded".into())
}
