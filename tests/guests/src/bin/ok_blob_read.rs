//! A granted blob is listed, read in parts, and copied into a buffer without passing through the guest. The blob `numbers` holds 0 to 255.
#![no_main]

use test_guests::work::{at, semaphore};
use test_guests::{
    LONG, Outcome, StatusCode, blobs, check::fine, check::refused, check::same, ensure, guest, memory, null,
};

guest!(run);

fn run() -> Outcome {
    let granted = blobs::granted();
    ensure!(
        granted.iter().any(|blob| blob.name == "numbers" && blob.length == 256),
        "expected a blob \"numbers\" of 256 bytes, got {granted:?}"
    );
    let blob = fine(blobs::open("numbers"), "opening the blob")?;
    same((blob.name(), blob.length()), ("numbers".into(), 256), "name and length")?;
    same(fine(blob.read(250, 6), "reading its end")?, vec![250, 251, 252, 253, 254, 255], "its end")?;
    same(fine(blob.read(256, 0), "reading nothing at its end")?, vec![], "nothing")?;
    refused(blob.read(250, 7), StatusCode::OutOfRange, "reading past its end")?;
    refused(blob.read(u64::MAX, 1), StatusCode::OutOfRange, "a range that wraps")?;

    let device = null()?;
    let buffer = memory::buffer(&device, 16)?;
    let done = semaphore(&device)?;
    let past = device.read_blob(&[], &blob, 250, &buffer, 0, 7, &[at(&done, 1)]);
    refused(past, StatusCode::OutOfRange, "queueing a copy past the blob's end")?;
    let past = device.read_blob(&[], &blob, 0, &buffer, 10, 7, &[at(&done, 1)]);
    refused(past, StatusCode::OutOfRange, "queueing a copy past the buffer's end")?;
    fine(device.read_blob(&[], &blob, 100, &buffer, 3, 10, &[at(&done, 1)]), "queueing a copy")?;
    blob.close();
    blob.close();
    refused(blob.read(0, 1), StatusCode::FailedPrecondition, "reading a closed blob")?;
    fine(done.wait(1, LONG), "waiting for the copy")?;
    let mut expected = vec![0; 16];
    expected[3..13].copy_from_slice(&(100..110).collect::<Vec<u8>>());
    same(memory::bytes(&buffer)?, expected, "what was copied")
}
