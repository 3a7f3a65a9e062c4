//! Commands that can never be right are refused by the call, and nothing of their batch runs.
#![no_main]

use test_guests::work::{copy, direct, fill, part, slot, transfers, try_run, update};
use test_guests::{Binding, Outcome, StatusCode, check::fine, check::refused, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, 16)?;
    let foreign = memory::buffer(&null()?, 16)?;
    let first = fill(direct(0), &[1]);
    for (bad, code, what) in [
        (fill(direct(0), &[]), StatusCode::InvalidArgument, "a fill pattern of no bytes"),
        (fill(direct(0), &[1, 2, 3]), StatusCode::InvalidArgument, "a fill pattern of three bytes"),
        (fill(direct(0), &[1; 5]), StatusCode::InvalidArgument, "a fill pattern of five bytes"),
        (fill(part(direct(0), 2, 8), &[1, 2, 3, 4]), StatusCode::InvalidArgument, "a misaligned fill"),
        (fill(part(direct(0), 0, 3), &[1, 2]), StatusCode::InvalidArgument, "a fill of one and a half patterns"),
        (update(part(direct(0), 0, 4), &[1; 5]), StatusCode::InvalidArgument, "an update longer than its range"),
        (update(part(direct(0), 0, 4), &[1; 3]), StatusCode::InvalidArgument, "an update shorter than its range"),
        (copy(part(direct(0), 0, 8), part(direct(0), 4, 8)), StatusCode::InvalidArgument, "an overlapping copy"),
        (copy(part(direct(0), 0, 4), part(direct(0), 8, 5)), StatusCode::InvalidArgument, "a copy of two lengths"),
        (fill(direct(1), &[1]), StatusCode::OutOfRange, "an index past the table"),
        (fill(direct(u32::MAX), &[1]), StatusCode::OutOfRange, "the largest index"),
    ] {
        let commands = vec![first.clone(), bad];
        let batch = transfers(&[&buffer], commands);
        refused(device.create_recording(&batch, 0, ""), code, &format!("recording {what}"))?;
        refused(try_run(&device, batch), code, what)?;
    }
    let named = transfers(&[&buffer, &foreign], vec![first, fill(direct(1), &[2])]);
    refused(try_run(&device, named), StatusCode::InvalidArgument, "a buffer of another device")?;

    // An overlap that shows only by where two subspans lie.
    let (low, high) = (fine(buffer.subspan(0, 8), "subspan")?, fine(buffer.subspan(4, 8), "subspan")?);
    let overlapping = transfers(&[&low, &high], vec![copy(direct(0), direct(1))]);
    refused(try_run(&device, overlapping), StatusCode::InvalidArgument, "an overlapping copy between two subspans")?;

    let slotted = transfers(&[&buffer], vec![fill(slot(0), &[1])]);
    let submit = device.submit(&[], &slotted, &[], None);
    refused(submit, StatusCode::InvalidArgument, "a slot in a submission")?;
    refused(device.create_recording(&slotted, 0, ""), StatusCode::OutOfRange, "a slot where there are none")?;
    let hole = transfers(&[], vec![fill(slot(0), &[1]), fill(slot(2), &[1])]);
    let recording = fine(device.create_recording(&hole, 3, ""), "a recording that uses slots 0 and 2")?;
    let whole = |buffer| Binding { buffer, offset: 0, length: None };
    for bindings in [vec![], vec![whole(0)], vec![whole(0), whole(0)]] {
        let execute = device.execute(&[], &recording, &[&buffer], &bindings, &[], None);
        refused(execute, StatusCode::InvalidArgument, &format!("{} bindings for slots 0 and 2", bindings.len()))?;
    }
    let execute = device.execute(&[], &recording, &[&buffer], &[whole(0), whole(0), whole(1)], &[], None);
    refused(execute, StatusCode::OutOfRange, "a binding past the call's buffers")?;
    let execute = device.execute(&[], &recording, &[&foreign], &[whole(0), whole(0), whole(0)], &[], None);
    refused(execute, StatusCode::InvalidArgument, "a binding to a buffer of another device")?;
    same(memory::bytes(&buffer)?, vec![0; 16], "the buffer after all the refusals")
}
