//! Ranges past the end are refused in every call that has one, also those whose offset and length wrap; the buffer stays as it was.
#![no_main]

use test_guests::work::{copy, direct, fill, part, transfers, try_run, update};
use test_guests::{Binding, Outcome, StatusCode, check::fine, check::refused, check::same, guest, memory, null};

guest!(run);

const MAX: u64 = u64::MAX;

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, 16)?;
    memory::write(&buffer, &[7; 16])?;
    let child = fine(buffer.subspan(4, 8), "subspan")?;
    let other = memory::buffer(&device, 64)?;
    let past = |result, what: String| refused::<()>(result, StatusCode::OutOfRange, &what).map(drop);

    for (offset, length) in [(0, 17), (16, 1), (17, 0), (8, 9), (MAX, 1), (1, MAX), (MAX, MAX), (MAX - 3, 4)] {
        let range = format!("{length} bytes at {offset} of 16");
        if length <= 64 {
            // A longer one may as well be refused for its length alone.
            past(buffer.read(offset, length).map(drop), format!("reading {range}"))?;
        }
        past(buffer.subspan(offset, length).map(drop), format!("a subspan of {range}"))?;
        let here = part(direct(0), offset, length);
        past(try_run(&device, transfers(&[&buffer], vec![fill(here, &[1])])), format!("filling {range}"))?;
        let copying = transfers(&[&buffer, &other], vec![copy(here, part(direct(1), 0, length))]);
        past(try_run(&device, copying), format!("copying from {range}"))?;
        if length < 64 {
            past(buffer.write(offset, &vec![1; length as usize]), format!("writing {range}"))?;
            let bytes = vec![1; length as usize];
            past(try_run(&device, transfers(&[&buffer], vec![update(here, &bytes)])), format!("updating {range}"))?;
            let copying = transfers(&[&buffer, &other], vec![copy(part(direct(1), 0, length), here)]);
            past(try_run(&device, copying), format!("copying to {range}"))?;
        }
    }
    for (offset, length) in [(0, 9), (8, 1), (MAX - 3, 4)] {
        let what = format!("{length} bytes at {offset} of a subspan of 8");
        past(child.read(offset, length).map(drop), format!("reading {what}"))?;
        past(child.subspan(offset, length).map(drop), format!("a subspan of {what}"))?;
        let filling = transfers(&[&child], vec![fill(part(direct(0), offset, length), &[1])]);
        past(try_run(&device, filling), format!("filling {what}"))?;
    }

    // A slot is checked against what is put into it.
    let through = transfers(&[], vec![fill(part(test_guests::work::slot(0), 4, 8), &[1])]);
    let recording = fine(device.create_recording(&through, 1, ""), "recording")?;
    for (offset, length) in [(0, Some(11)), (5, None), (8, Some(9)), (MAX, None), (1, Some(MAX))] {
        let binding = [Binding { buffer: 0, offset, length }];
        let execute = device.execute(&[], &recording, &[&buffer], &binding, &[], None);
        past(execute, format!("a slot filled with {length:?} bytes at {offset}"))?;
    }
    same(memory::bytes(&buffer)?, vec![7; 16], "the buffer after all the refusals")?;
    fine(buffer.subspan(16, 0), "an empty range at the end").map(drop)
}
