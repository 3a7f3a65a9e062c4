//! "memory-bytes": the last byte that is granted can be had, one more cannot, and what is given back can be had again.
#![no_main]

use test_guests::{Outcome, check, check::fine, check::limited, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let before = check::usage(device.budget(), "memory-bytes")?;
    let room = before.allowed - before.used;
    let too_much = memory::try_buffer(&device, room + 4096);
    let hit = limited(too_much, "memory-bytes", "more than there is room for")?;
    same((hit.available, hit.allowed), (room, before.allowed), "available and allowed")?;
    same(hit.asked >= room + 4096, true, "whether what was asked for is told")?;

    let all = fine(memory::try_buffer(&device, room), &format!("all {room} bytes that are left"))?;
    same(check::usage(device.budget(), "memory-bytes")?.used, before.allowed, "used at the edge")?;
    let hit = limited(memory::try_buffer(&device, 1), "memory-bytes", "one byte more")?;
    same((hit.available, hit.allowed), (0, before.allowed), "available and allowed at the edge")?;
    limited(device.alloca(&[], &memory::params(), 1, &[]), "memory-bytes", "one byte more, queue-ordered")?;
    fine(memory::try_buffer(&device, 0), "a buffer of no bytes, which needs none")?;
    drop(all);
    let again = fine(memory::try_buffer(&device, room), "all of it again after it was given back")?;
    same(memory::bytes(&fine(again.subspan(0, 4096), "subspan")?)?, vec![0; 4096], "memory that was used before")?;
    drop(again);
    same(check::usage(device.budget(), "memory-bytes")?.used, before.used, "used after all was given back")
}
