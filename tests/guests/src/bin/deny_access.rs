//! Access bits are enforced: what may not be read is not read, what may not be written is not written.
#![no_main]

use test_guests::work::{copy, direct, fill, transfers, try_run};
use test_guests::{BufferParams, MemoryAccess, Outcome, StatusCode, check::fine, check::refused, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let other = memory::buffer(&device, 8)?;
    let only = |access| fine(device.allocate(&BufferParams { access, ..memory::params() }, 8), "allocating");
    let read_only = only(MemoryAccess::READ)?;
    fine(read_only.read(0, 8), "reading what may be read")?;
    fine(try_run(&device, transfers(&[&read_only, &other], vec![copy(direct(0), direct(1))])), "copying from it")?;
    refused(read_only.write(0, &[1]), StatusCode::PermissionDenied, "writing what may only be read")?;
    for commands in [vec![fill(direct(0), &[1])], vec![copy(direct(1), direct(0))]] {
        let batch = transfers(&[&read_only, &other], commands);
        refused(try_run(&device, batch), StatusCode::PermissionDenied, "queued writes to what may only be read")?;
    }
    let write_only = only(MemoryAccess::WRITE | MemoryAccess::DISCARD)?;
    fine(write_only.write(0, &[1]), "writing what may be written")?;
    fine(try_run(&device, transfers(&[&write_only], vec![fill(direct(0), &[1])])), "filling it")?;
    refused(write_only.read(0, 1), StatusCode::PermissionDenied, "reading what may only be written")?;
    let batch = transfers(&[&write_only, &other], vec![copy(direct(0), direct(1))]);
    refused(try_run(&device, batch), StatusCode::PermissionDenied, "copying from what may only be written")?;
    let child = fine(read_only.subspan(0, 4), "a subspan of what may only be read")?;
    refused(child.write(0, &[1]), StatusCode::PermissionDenied, "writing through a subspan").map(drop)
}
