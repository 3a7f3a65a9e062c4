//! Usage bits are enforced: each use without its bit is `permission-denied`, and with it allowed.
#![no_main]

use test_guests::work::{at, copy, direct, fill, semaphore, transfers, update};
use test_guests::{
    Batch, Buffer, BufferUsage, Device, Outcome, StatusCode, check::fine, check::refused, check::same, guest, memory,
    null,
};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let other = memory::buffer(&device, 8)?;
    let (source, target) = (BufferUsage::TRANSFER_SOURCE, BufferUsage::TRANSFER_TARGET);
    let map = BufferUsage::MAPPING_SCOPED;
    for usage in [BufferUsage::empty(), source, target, map, source | map, target | map, source | target | map] {
        let buffer = fine(device.allocate(&memory::with_usage(usage), 8), &format!("allocating for {usage:?}"))?;
        let can_read = usage.contains(source);
        let can_write = usage.contains(target);
        let mapped = usage.contains(map);
        allowed(can_read && mapped, buffer.read(0, 8), &format!("reading {usage:?}"))?;
        allowed(can_write && mapped, buffer.write(0, &[1]), &format!("writing {usage:?}"))?;
        let child = fine(buffer.subspan(0, 4), "subspan")?;
        allowed(can_read && mapped, child.read(0, 4), &format!("reading a subspan of {usage:?}"))?;
        for (batch, can, what) in [
            (transfers(&[&buffer], vec![fill(direct(0), &[1])]), can_write, "a fill"),
            (transfers(&[&buffer], vec![update(direct(0), &[1; 8])]), can_write, "an update"),
            (transfers(&[&buffer, &other], vec![copy(direct(1), direct(0))]), can_write, "a copy to it"),
            (transfers(&[&buffer, &other], vec![copy(direct(0), direct(1))]), can_read, "a copy from it"),
        ] {
            allowed(can, submit(&device, &batch), &format!("{what} with {usage:?}"))?;
            allowed(can, device.create_recording(&batch, 0, ""), &format!("recording {what} with {usage:?}"))?;
        }
    }
    unharmed(&device, &other)
}

fn submit(device: &Device, batch: &Batch<'_>) -> Result<(), test_guests::Error> {
    let done = device.create_semaphore(0)?;
    device.submit(&[], batch, &[at(&done, 1)], None)?;
    done.wait(1, test_guests::LONG)
}

fn allowed<T>(can: bool, result: Result<T, test_guests::Error>, what: &str) -> Outcome {
    if can { fine(result, what).map(drop) } else { refused(result, StatusCode::PermissionDenied, what).map(drop) }
}

fn unharmed(device: &Device, buffer: &Buffer) -> Outcome {
    let _ = semaphore(device)?;
    memory::write(buffer, &[9; 8])?;
    same(memory::bytes(buffer)?, vec![9; 8], "the other buffer after all the refusals")
}
