//! Two handles of one thing are one charge: duplicates of a factory open devices under one budget.
#![no_main]

use test_guests::{Outcome, check, check::fine, check::limited, check::same, factories, guest, memory};

guest!(run);

fn run() -> Outcome {
    let [first, second] = [factories::granted().remove(0), factories::granted().remove(0)];
    let third = fine(first.duplicate(), "duplicating")?;
    same([second.id(), third.id()], [first.id(); 2], "ids of handles to one factory")?;
    let device = fine(fine(third.try_create("null"), "driver")?.create_default_device(), "device")?;
    let room = check::usage(first.budget(), "memory-bytes")?.allowed;
    let _all = memory::buffer(&device, room)?;
    for factory in [&first, &second, &third] {
        let other = fine(fine(factory.try_create("null"), "driver")?.create_default_device(), "another device")?;
        limited(memory::try_buffer(&other, 1), "memory-bytes", "memory by another handle")?;
        same(check::usage(factory.budget(), "memory-bytes")?.used, room, "what each handle says is used")?;
    }
    Ok(())
}
