//! Buffers from the queue, used by recorded transfers.

use crate::{
    Context, Outcome,
    case::Suite,
    commands::{copy, fill, part, sample, slot, table_of, update, whole},
    target::{Batch, Command, Target},
};

/// Allocates on the queue, runs commands on it and a readable buffer, gives it back, and compares what was copied out.
fn round_trip<T: Target>(cx: &Context<'_, T>, size: u64, commands: Vec<Command>, expected: &[u8]) -> Outcome {
    let timeline = cx.semaphore(0)?;
    let output = cx.buffer_of(&vec![0xEE; expected.len()])?;
    let transient = cx.alloca(&[], size, &[(&timeline, 1)])?;
    let recording = cx.record(&[&transient, &output], &[], commands)?;
    cx.execute_recorded(&[(&timeline, 1)], &recording, &[&transient, &output], &[(&timeline, 2)])?;
    cx.dealloca(&[(&timeline, 2)], &transient, &[(&timeline, 3)])?;
    cx.wait(&timeline, 3)?;
    cx.holds(&output, expected, "what the transient buffer held")
}

pub(super) fn transient<T: Target>(suite: &mut Suite<'_, T>) {
    suite.forms("FillTransientBuffer", |cx| {
        let commands = vec![fill(whole(0), &[1, 2, 3, 4]), Command::Barrier, copy(whole(0), whole(1))];
        round_trip(cx, 64, commands, &[1, 2, 3, 4].repeat(16))
    });
    suite.forms("FillTransientBufferSubrange", |cx| {
        let commands = vec![
            fill(whole(0), &[0x55]),
            Command::Barrier,
            fill(part(0, 8, 16), &[1, 2, 3, 4]),
            Command::Barrier,
            copy(whole(0), whole(1)),
        ];
        let mut expected = vec![0x55; 64];
        expected[8..24].copy_from_slice(&[1, 2, 3, 4].repeat(4));
        round_trip(cx, 64, commands, &expected)
    });
    suite.forms("FillTransientBuffer1Byte", |cx| {
        let commands = vec![fill(part(0, 3, 9), &[0x77]), Command::Barrier, copy(whole(0), whole(1))];
        let mut expected = vec![0; 16];
        expected[3..12].fill(0x77);
        round_trip(cx, 16, commands, &expected)
    });
    suite.forms("CopyToTransientBuffer", |cx| {
        let (timeline, source, output) = (cx.semaphore(0)?, cx.buffer_of(&sample(64))?, cx.buffer(64)?);
        let transient = cx.alloca(&[], 64, &[(&timeline, 1)])?;
        let commands = vec![copy(whole(0), whole(1)), Command::Barrier, copy(whole(1), whole(2))];
        let buffers = [&source, &transient, &output];
        let recording = cx.record(&buffers, &[], commands)?;
        cx.execute_recorded(&[(&timeline, 1)], &recording, &buffers, &[(&timeline, 2)])?;
        cx.wait(&timeline, 2)?;
        cx.holds(&transient, &sample(64), "the transient buffer")?;
        cx.holds(&output, &sample(64), "what was copied on")
    });
    suite.forms("CopyFromTransientBuffer", |cx| {
        let commands = vec![update(whole(0), &sample(64)), Command::Barrier, copy(part(0, 16, 32), whole(1))];
        round_trip(cx, 64, commands, &sample(64)[16..48])
    });
    suite.forms("FillThenCopyInSingleCommandBuffer", |cx| {
        let commands = vec![fill(whole(0), &[0xCA, 0xFE]), Command::Barrier, copy(whole(0), whole(1))];
        round_trip(cx, 128, commands, &[0xCA, 0xFE].repeat(64))
    });
    suite.forms("UpdateTransientBuffer", |cx| {
        let commands = vec![update(part(0, 5, 20), &sample(20)), Command::Barrier, copy(whole(0), whole(1))];
        let mut expected = vec![0; 32];
        expected[5..25].copy_from_slice(&sample(20));
        round_trip(cx, 32, commands, &expected)
    });
    // Made without any access bit, which means all: what these buffers are made with.
    suite.forms("FillTransientWithZeroAccessFlags", |cx| {
        let commands = vec![fill(whole(0), &[0x42]), Command::Barrier, copy(whole(0), whole(1))];
        round_trip(cx, 32, commands, &[0x42; 32])
    });
}

pub(super) fn deferred<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("StaticRefRecordedBeforeAllocaCommitExecutes", |cx| {
        let (gate, timeline, output) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.buffer(16)?);
        let transient = cx.alloca(&[(&gate, 1)], 16, &[(&timeline, 1)])?;
        let commands = vec![fill(whole(0), &[0x31]), Command::Barrier, copy(whole(0), whole(1))];
        let batch = Batch { buffers: vec![&transient, &output], executables: Vec::new(), commands };
        let recording =
            cx.fine(cx.target.create_recording(&cx.device, &batch, 0), "recording before the memory is there")?;
        cx.execute(&[(&timeline, 1)], &recording, &[], &[], &[(&timeline, 2)])?;
        cx.value_is(&timeline, 0, "before the alloca's wait is met")?;
        cx.signal(&gate, 1)?;
        cx.wait(&timeline, 2)?;
        cx.holds(&output, &[0x31; 16], "after it")
    });
    suite.case("IndirectRefResolvedAfterAllocaCommit", |cx| {
        let (gate, timeline, output) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.buffer(16)?);
        let commands = vec![fill(slot(0), &[0x32]), Command::Barrier, copy(slot(0), slot(1))];
        let batch = Batch { buffers: Vec::new(), executables: Vec::new(), commands };
        let recording = cx.fine(cx.target.create_recording(&cx.device, &batch, 2), "recording")?;
        let transient = cx.alloca(&[(&gate, 1)], 16, &[(&timeline, 1)])?;
        cx.execute(&[(&timeline, 1)], &recording, &[&transient, &output], &table_of(2), &[(&timeline, 2)])?;
        cx.value_is(&timeline, 0, "before the alloca's wait is met")?;
        cx.signal(&gate, 1)?;
        cx.wait(&timeline, 2)?;
        cx.holds(&output, &[0x32; 16], "after it")
    });
}
