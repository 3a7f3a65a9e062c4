//! Limits and budget of a device are named numbers that agree with each other and with `query`.
#![no_main]

use test_guests::{Outcome, StatusCode, check, check::fine, check::refused, check::same, ensure, guest, memory, null};

guest!(run);

const LIMITS: [&str; 15] = [
    "transfer-bytes",
    "update-bytes",
    "max-buffer-bytes",
    "max-constant-bytes",
    "max-bindings",
    "binding-offset-alignment",
    "binding-length-multiple",
    "max-uniform-bytes",
    "max-storage-binding-bytes",
    "max-workgroups-per-dimension",
    "max-workgroups",
    "max-invocations-per-workgroup",
    "max-workgroup-memory-bytes",
    "max-loop-iterations",
    "max-source-bytes",
];

fn run() -> Outcome {
    let device = null()?;
    for name in LIMITS {
        let value = check::limit(&device, name)?;
        ensure!(value > 0, "the limit {name} is 0");
        same(fine(device.query("hal.limits", name), &format!("query of {name}"))?, value, &format!("{name} by query"))?;
    }
    refused(device.query("hal.limits", "max-hats"), StatusCode::NotFound, "a key nobody knows")?;
    refused(device.query("hal.hats", "x"), StatusCode::NotFound, "a category nobody knows")?;

    let before = check::usage(device.budget(), "memory-bytes")?;
    let buffer = memory::buffer(&device, 1000)?;
    let during = check::usage(device.budget(), "memory-bytes")?;
    ensure!(during.used >= before.used + 1000, "expected 1,000 bytes more than {before:?}, got {during:?}");
    drop(buffer);
    same(check::usage(device.budget(), "memory-bytes")?.used, before.used, "memory in use after it was given back")?;

    for heap in device.memory_heaps() {
        ensure!(
            heap.max_allocation <= before.allowed,
            "a heap larger than the grant: {} of {before:?}",
            heap.max_allocation
        );
    }
    let huge = device.buffer_compatibility(&memory::params(), u64::MAX);
    same(huge.allocatable, false, "whether all of the address space can be allocated")?;
    let small = device.buffer_compatibility(&memory::params(), 100);
    ensure!(
        small.allocatable && small.transferable && small.size >= 100,
        "expected 100 bytes to do well, got {small:?}"
    );
    fine(device.trim(), "trim")?;
    ensure!(device.lost().is_none(), "lost: {:?}", device.lost());
    Ok(())
}
