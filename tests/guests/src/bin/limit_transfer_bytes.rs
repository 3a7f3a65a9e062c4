//! "transfer-bytes": one call moves exactly as much as is granted; more is refused as a value, in every call that moves bytes. Granted
//! is the blob `numbers`, which is longer than the limit.
#![no_main]

use test_guests::{Outcome, blobs, check, check::fine, check::limited, check::same, ensure, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let most = check::limit(&device, "transfer-bytes")?;
    let buffer = memory::buffer(&device, 2 * most + 2)?;
    let bytes = vec![5; most as usize];
    fine(buffer.write(1, &bytes), "writing as much as is allowed")?;
    ensure!(
        fine(buffer.read(1, most), "reading as much as is allowed")? == bytes,
        "what was written is not what was read"
    );
    for length in [most + 1, 2 * most] {
        let hit = limited(buffer.read(0, length), "transfer-bytes", &format!("reading {length} bytes"))?;
        same((hit.asked, hit.available, hit.allowed), (length, most, most), "asked, available, allowed")?;
        let bytes = vec![6; length as usize];
        let hit = limited(buffer.write(0, &bytes), "transfer-bytes", &format!("writing {length} bytes"))?;
        same((hit.asked, hit.available, hit.allowed), (length, most, most), "asked, available, allowed")?;
    }
    let blob = fine(blobs::open("numbers"), "opening the blob")?;
    limited(blob.read(0, blob.length()), "transfer-bytes", "reading a blob that is longer").map(drop)?;
    let end = fine(buffer.read(most, 2), "reading the end of what was written")?;
    same(end, vec![5, 0], "the buffer after all the refusals")
}
