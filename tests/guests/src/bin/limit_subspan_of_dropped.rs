//! A subspan holds all of its parent's memory and its charge after the parent is dropped, and one buffer each.
#![no_main]

use test_guests::{Outcome, check, check::fine, check::limited, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let room = check::usage(device.budget(), "memory-bytes")?.allowed;
    let parent = memory::buffer(&device, room)?;
    let child = fine(parent.subspan(room - 1, 1), "the last byte")?;
    let grandchild = fine(child.subspan(0, 1), "the same byte")?;
    drop(parent);
    drop(child);
    limited(memory::try_buffer(&device, 1), "memory-bytes", "memory while a subspan holds it")?;
    same(fine(grandchild.read(0, 1), "reading the subspan")?, vec![0], "its byte")?;
    grandchild.close();
    drop(grandchild);
    same(check::usage(device.budget(), "memory-bytes")?.used, 0, "memory in use at the end")?;
    same(check::usage(device.budget(), "buffers")?.used, 0, "buffers in use at the end")
}
