//! Transfers straight to the queue.

use super::command_buffer::copy_classes;
use crate::{
    Context, Outcome,
    case::Suite,
    commands::{copy, fill, part, sample, update, whole},
    target::{Code, Target},
};

const PATTERN: [u8; 4] = [0x9A, 0xBC, 0xDE, 0xF1];

fn filled<T: Target>(cx: &Context<'_, T>, pattern: usize, size: u64, offset: u64, length: u64) -> Outcome {
    let buffer = cx.buffer_of(&vec![0x11; size as usize])?;
    cx.submit_and_wait(&[&buffer], &[], vec![fill(part(0, offset, length), &PATTERN[..pattern])])?;
    let mut expected = vec![0x11; size as usize];
    for at in 0..length as usize {
        expected[offset as usize + at] = PATTERN[at % pattern];
    }
    cx.holds(&buffer, &expected, &format!("a pattern of {pattern} from {offset}, {length} bytes of {size}"))
}

fn updated<T: Target>(cx: &Context<'_, T>, size: u64, offset: u64, bytes: &[u8]) -> Outcome {
    let buffer = cx.buffer_of(&vec![0x11; size as usize])?;
    cx.submit_and_wait(&[&buffer], &[], vec![update(part(0, offset, bytes.len() as u64), bytes)])?;
    let mut expected = vec![0x11; size as usize];
    expected[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
    cx.holds(&buffer, &expected, &format!("{} bytes at {offset} of {size}", bytes.len()))
}

/// Offset and length of twenty-two fills, and the bytes of their patterns.
const FILLS: [(usize, u64, u64); 22] = [
    (1, 0, 1),
    (1, 1, 1),
    (1, 2, 3),
    (1, 3, 2),
    (1, 3, 8),
    (1, 5, 61),
    (1, 7, 250),
    (1, 255, 258),
    (1, 4095, 4098),
    (1, 1, 65535),
    (2, 0, 2),
    (2, 2, 2),
    (2, 2, 6),
    (2, 6, 58),
    (2, 254, 260),
    (2, 4094, 4100),
    (2, 2, 65534),
    (4, 0, 4),
    (4, 4, 4),
    (4, 4, 60),
    (4, 252, 4104),
    (4, 4, 65532),
];

pub(super) fn transfers<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("FillEntireBuffer_1Byte", |cx| filled(cx, 1, 256, 0, 256));
    suite.case("FillEntireBuffer_2Byte", |cx| filled(cx, 2, 256, 0, 256));
    suite.case("FillEntireBuffer_4Byte", |cx| filled(cx, 4, 256, 0, 256));
    suite.case("FillSubrange", |cx| filled(cx, 4, 256, 64, 128));
    suite.case("FillLargeBuffer", |cx| filled(cx, 4, 256 << 10, 0, 256 << 10));
    suite.case("FillSizeAlignmentAndPatternClasses", |cx| {
        FILLS
            .into_iter()
            .try_for_each(|(pattern, offset, length)| filled(cx, pattern, offset + length + 3, offset, length))
    });
    suite.case("UpdateEntireBuffer", |cx| updated(cx, 64, 0, &sample(64)));
    suite.case("UpdateSubrange", |cx| updated(cx, 64, 16, &sample(32)));
    suite.case("UpdateWithSourceOffset", |cx| updated(cx, 64, 8, &sample(64)[24..40]));
    suite.case("UpdateSizeAndAlignmentClasses", |cx| {
        for offset in [0, 1, 2, 3, 4, 7, 16, 255] {
            for size in [1, 2, 3, 4, 5, 8, 15, 17, 63, 256, 1023, 4097] {
                updated(cx, offset + size + 5, offset, &sample(size))?;
            }
        }
        Ok(())
    });
    suite.case("UpdateLargerThanCommandBufferLimit", |cx| {
        let size = (128 << 10) + 37;
        updated(cx, size + 20, 13, &sample(size))
    });
    suite.case("UpdateCapturesSourceBeforeWaitResolves", |cx| {
        let (gate, done, buffer) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.buffer(64)?);
        let mut bytes = sample(64);
        cx.submit(&[(&gate, 1)], &[&buffer], &[], vec![update(whole(0), &bytes)], &[(&done, 1)])?;
        bytes.fill(0xFF);
        cx.signal(&gate, 1)?;
        cx.wait(&done, 1)?;
        cx.holds(&buffer, &sample(64), "what the bytes were when it was queued")
    });
    suite.case("CopyEntireBuffer", |cx| copied(cx, 256, 0, 0, 256));
    suite.case("CopyWithOffsets", |cx| copied(cx, 256, 32, 64, 96));
    suite.case("CopyLargeBuffer", |cx| copied(cx, 256 << 10, 0, 0, 256 << 10));
    suite.case("CopySizeAndAlignmentClasses", |cx| {
        copy_classes(cx, |buffers, commands| cx.submit_and_wait(buffers, &[], commands))
    });
    suite.case("BurstCopySubmit", |cx| {
        let (source, target) = (cx.buffer_of(&sample(4096))?, cx.buffer(4096)?);
        let (gate, mut done) = (cx.semaphore(0)?, Vec::new());
        for part_of in 0..64u64 {
            let semaphore = cx.semaphore(0)?;
            let range = |index| part(index, part_of * 64, 64);
            let commands = vec![copy(range(0), range(1))];
            cx.submit(&[(&gate, 1)], &[&source, &target], &[], commands, &[(&semaphore, 1)])?;
            done.push(semaphore);
        }
        cx.signal(&gate, 1)?;
        let points: Vec<_> = done.iter().map(|semaphore| (semaphore, 1)).collect();
        cx.succeeds(cx.wait_for(&points, crate::target::WaitMode::All, crate::LONG), "all of the burst")?;
        cx.holds(&target, &sample(4096), "64 parts")
    });
    suite.case("ChainedFillThenCopy", |cx| {
        let (source, target, timeline) = (cx.buffer(64)?, cx.buffer(64)?, cx.semaphore(0)?);
        cx.submit(&[], &[&source], &[], vec![fill(whole(0), &[0x21])], &[(&timeline, 1)])?;
        cx.submit(&[(&timeline, 1)], &[&source, &target], &[], vec![copy(whole(0), whole(1))], &[(&timeline, 2)])?;
        cx.wait(&timeline, 2)?;
        cx.holds(&target, &[0x21; 64], "the copy of the fill")
    });
    suite.case("ChainedUpdateThenCopy", |cx| {
        let (source, target, timeline) = (cx.buffer(64)?, cx.buffer(64)?, cx.semaphore(0)?);
        cx.submit(&[], &[&source], &[], vec![update(whole(0), &sample(64))], &[(&timeline, 1)])?;
        cx.submit(&[(&timeline, 1)], &[&source, &target], &[], vec![copy(whole(0), whole(1))], &[(&timeline, 2)])?;
        cx.wait(&timeline, 2)?;
        cx.holds(&target, &sample(64), "the copy of the update")
    });
    suite.case("ChainedFillCopyFill", |cx| {
        let (source, target, timeline) = (cx.buffer(64)?, cx.buffer(64)?, cx.semaphore(0)?);
        cx.submit(&[], &[&source], &[], vec![fill(whole(0), &[0x31])], &[(&timeline, 1)])?;
        cx.submit(&[(&timeline, 1)], &[&source, &target], &[], vec![copy(whole(0), whole(1))], &[(&timeline, 2)])?;
        cx.submit(&[(&timeline, 2)], &[&source], &[], vec![fill(whole(0), &[0x32])], &[(&timeline, 3)])?;
        cx.wait(&timeline, 3)?;
        cx.holds(&target, &[0x31; 64], "the copy of the first fill")?;
        cx.holds(&source, &[0x32; 64], "the second fill")
    });
    suite.case("BarrierSignals", |cx| {
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&gate, 1)], &[(&done, 1)])?;
        cx.refused(cx.target.wait(&done, 1, 0), Code::DeadlineExceeded, "before its wait is met")?;
        cx.signal(&gate, 1)?;
        cx.wait(&done, 1)
    });
    suite.case("BarrierPreservesOrdering", |cx| {
        let (source, target, timeline) = (cx.buffer(64)?, cx.buffer(64)?, cx.semaphore(0)?);
        cx.submit(&[(&timeline, 2)], &[&source, &target], &[], vec![copy(whole(0), whole(1))], &[(&timeline, 3)])?;
        cx.barrier(&[(&timeline, 1)], &[(&timeline, 2)])?;
        cx.submit(&[], &[&source], &[], vec![fill(whole(0), &[0x41])], &[(&timeline, 1)])?;
        cx.wait(&timeline, 3)?;
        cx.holds(&target, &[0x41; 64], "the copy behind the barrier")
    });
}

fn copied<T: Target>(cx: &Context<'_, T>, size: u64, from: u64, to: u64, length: u64) -> Outcome {
    let (source, target) = (cx.buffer_of(&sample(size))?, cx.buffer_of(&vec![0x11; size as usize])?);
    cx.submit_and_wait(&[&source, &target], &[], vec![copy(part(0, from, length), part(1, to, length))])?;
    let mut expected = vec![0x11; size as usize];
    expected[to as usize..(to + length) as usize]
        .copy_from_slice(&sample(size)[from as usize..(from + length) as usize]);
    cx.holds(&target, &expected, "the copy")
}
