//! "submission-time-ns": a kernel that does not end is stopped after that time, its signals fail with `deadline-exceeded`, and the
//! device goes on. The input is the scheme.
#![no_main]

use test_guests::kernels::{ENDLESS, WORKGROUP_NUMBERS, load};
use test_guests::work::{at, batch, direct, dispatch, run as submit, semaphore};
use test_guests::{LONG, Outcome, StatusCode, check::fine, check::refused, check::same, guest, memory, open};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let device = open(&format!("{input}://"))?;
    let (endless, short) = (load(&device, ENDLESS)?, load(&device, WORKGROUP_NUMBERS)?);
    let buffer = memory::buffer(&device, 16)?;
    let (done, after) = (semaphore(&device)?, semaphore(&device)?);
    let batch_ = batch(&[&buffer], &[&endless], vec![dispatch(0, 1, &[], &[direct(0)])]);
    fine(device.submit(&[], &batch_, &[at(&done, 1)], None), "an endless kernel")?;
    let what = "waiting for it";
    refused(done.wait(1, LONG), StatusCode::DeadlineExceeded, what)?;
    refused(done.query(), StatusCode::DeadlineExceeded, "the semaphore that it was to signal")?;
    same(fine(after.query(), "another semaphore")?, 0, "its value")?;
    submit(&device, batch(&[&buffer], &[&short], vec![dispatch(0, 4, &[], &[direct(0)])]))?;
    same(memory::read_numbers::<u32>(&buffer)?, vec![1, 2, 3, 4], "what a kernel wrote afterwards")?;
    Ok(String::new())
}
