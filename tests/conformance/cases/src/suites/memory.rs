//! Memory that was somebody else's.

use crate::{
    Context, Outcome,
    case::Suite,
    commands::{copy, params, update, whole},
    target::{BufferParams, Command, MemoryType, Target},
};

/// Sizes on both sides of what allocators treat differently.
const SIZES: [u64; 7] = [1, 16, 100, 4096, 65_537, 1 << 20, (1 << 20) + 3];

/// Leaves a trace in as many buffers as given, and drops them.
fn soil<T: Target>(cx: &Context<'_, T>, size: u64, buffers: usize) -> Outcome {
    let mut held = Vec::new();
    for _ in 0..buffers {
        held.push(cx.buffer_of(&vec![0xC3; size as usize])?);
    }
    Ok(())
}

pub(super) fn memory<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("FreshMemoryIsZero", |cx| {
        for memory in [MemoryType::OPTIMAL, MemoryType::DEVICE_LOCAL, MemoryType::HOST_VISIBLE] {
            for size in SIZES {
                let made = cx.target.allocate(&cx.device, &BufferParams { memory, ..params() }, size);
                cx.holds(
                    &cx.fine(made, "allocating")?,
                    &vec![0; size as usize],
                    &format!("{size} fresh bytes, {memory}"),
                )?;
            }
        }
        Ok(())
    });
    suite.case("UsedMemoryComesBackZero", |cx| {
        for size in SIZES {
            for round in 0..3 {
                soil(cx, size, 4)?;
                let fresh = [cx.buffer(size)?, cx.buffer(size)?];
                for buffer in &fresh {
                    cx.holds(buffer, &vec![0; size as usize], &format!("{size} bytes in round {round}"))?;
                }
            }
        }
        Ok(())
    });
    suite.case("UsedMemoryComesBackZeroThroughTheQueue", |cx| {
        let timeline = cx.semaphore(0)?;
        let mut at = 0;
        for size in [64, 4096, 1 << 20] {
            let output = cx.buffer(size)?;
            for round in 0..3 {
                let buffer = cx.alloca(&[(&timeline, at)], size, &[(&timeline, at + 1)])?;
                // First look, then soil: a round finds what the round before left.
                let look = vec![copy(whole(0), whole(1)), Command::Barrier, crate::commands::fill(whole(0), &[0xC3])];
                cx.submit(&[(&timeline, at + 1)], &[&buffer, &output], &[], look, &[(&timeline, at + 2)])?;
                cx.dealloca(&[(&timeline, at + 2)], &buffer, &[(&timeline, at + 3)])?;
                at += 3;
                cx.wait(&timeline, at)?;
                cx.holds(&output, &vec![0; size as usize], &format!("{size} bytes in round {round}"))?;
            }
        }
        Ok(())
    });
    suite.case("MemoryOfAClosedDeviceComesBackZero", |cx| {
        for _ in 0..3 {
            let device = cx.another_device()?;
            let made = cx.target.allocate(&device, &params(), 1 << 16);
            let buffer = cx.fine(made, "allocating on another device")?;
            cx.holds(&buffer, &[0; 1 << 16], "fresh memory")?;
            cx.write(&buffer, 0, &[0xC3; 1 << 16])?;
            cx.target.close_device(&device);
        }
        cx.holds(&cx.buffer(1 << 16)?, &[0; 1 << 16], "memory of the first device")
    });
    // What lies behind the last byte of a buffer is nobody's, however devices pad.
    suite.case("PaddingIsUnreachable", |cx| {
        let small = cx.buffer_of(&[1, 2, 3, 4, 5])?;
        cx.refused(cx.target.read(&small, 0, 6), crate::target::Code::OutOfRange, "reading a byte past the end")?;
        let target = cx.buffer(8)?;
        cx.submit_and_wait(&[&small, &target], &[], vec![copy(whole(0), crate::commands::part(1, 0, 5))])?;
        cx.holds(&target, &[1, 2, 3, 4, 5, 0, 0, 0], "a copy of five bytes")?;
        let past = cx.try_submit(&[], &[&small], &[], vec![update(crate::commands::part(0, 4, 2), &[9, 9])], &[]);
        cx.refused(past, crate::target::Code::OutOfRange, "writing a byte past the end")?;
        cx.holds(&small, &[1, 2, 3, 4, 5], "the five bytes")
    });
}
