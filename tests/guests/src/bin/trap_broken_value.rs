//! Hands over a value that its type does not have. The input says which: `text` that is not UTF-8, to the host or, as `name`, to the
//! registry; or a `mode` past the end of its enum.
#![no_main]

use test_guests::work::{at, semaphore};
use test_guests::{Outcome, Registry, WaitMode, blobs, guest, null};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let device = null()?;
    // SAFETY: not at all: it is no UTF-8, which is what the other side has to notice.
    let text = unsafe { String::from_utf8_unchecked(vec![b'a', 0xff, 0xc0, 0x80]) };
    match input {
        "text" => Err(format!("expected a trap, got {:?}", blobs::open(&text).map(drop))),
        "name" => Err(format!("expected a trap, got {:?}", Registry::default().try_create(&text).map(drop))),
        _ => {
            let semaphore = semaphore(&device)?;
            // SAFETY: not at all: there is no such mode, which is what the host has to notice.
            let mode = unsafe { std::hint::black_box(std::mem::transmute::<u8, WaitMode>(std::hint::black_box(77))) };
            let wait = device.wait_semaphores(&[at(&semaphore, 0)], mode, 0);
            Err(format!("expected a trap, got {wait:?}"))
        }
    }
}
