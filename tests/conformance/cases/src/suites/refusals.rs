//! What is refused at the call, with its code, and the objects unharmed afterwards.

use crate::{
    Context, LONG, Outcome,
    case::Suite,
    commands::{copy, fill, params, part, sample, slot, table_of, update, whole},
    target::{
        Batch, BufferParams, BufferRef, Code, Command, LimitHit, MemoryAccess, Result, SlotBinding, Source, Target,
        Usage,
    },
};

/// Both ways that commands reach the host: recorded, and submitted.
fn both<T: Target>(cx: &Context<'_, T>, buffers: &[&T::Buffer], commands: &[Command]) -> [Result<()>; 2] {
    let batch = || Batch { buffers: buffers.to_vec(), executables: Vec::new(), commands: commands.to_vec() };
    let recorded = cx.target.create_recording(&cx.device, &batch(), 0).map(|_| ());
    [recorded, cx.target.submit(&cx.device, &[], &batch(), &[])]
}

fn refuses<T: Target>(
    cx: &Context<'_, T>,
    buffers: &[&T::Buffer],
    command: Command,
    code: Code,
    what: &str,
) -> Outcome {
    // A good command before it must not run either.
    for (result, how) in both(cx, buffers, &[Command::Barrier, command]).into_iter().zip(["recorded", "submitted"]) {
        cx.refused(result, code, &format!("{what}, {how}"))?;
    }
    Ok(())
}

/// The buffer holds what it held, and takes good work.
fn unharmed<T: Target>(cx: &Context<'_, T>, buffer: &T::Buffer, held: &[u8]) -> Outcome {
    cx.holds(buffer, held, "the buffer after the refusals")?;
    cx.submit_and_wait(&[buffer], &[], vec![fill(whole(0), &[0x99])])?;
    cx.holds(buffer, &vec![0x99; held.len()], "a fill after the refusals")
}

pub(super) fn ranges<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("PastTheEnd", |cx| {
        let held = sample(64);
        let (buffer, other) = (cx.buffer_of(&held)?, cx.buffer_of(&held)?);
        let both = [&buffer, &other];
        let wrong = [
            part(0, 0, 65),
            part(0, 64, 1),
            part(0, 65, 0),
            part(0, 63, 2),
            part(0, u64::MAX, 1),
            part(0, 1, u64::MAX),
            part(0, u64::MAX, u64::MAX),
            BufferRef { offset: 65, ..whole(0) },
        ];
        for range in wrong {
            let out = Code::OutOfRange;
            let what = format!("{} from {:?}", range.offset, range.length);
            refuses(cx, &both, fill(range, &[1]), out, &format!("a fill of {what}"))?;
            refuses(cx, &both, copy(range, whole(1)), out, &format!("a copy from {what}"))?;
            refuses(cx, &both, copy(whole(1), range), out, &format!("a copy to {what}"))?;
            let length = range.length.unwrap_or(0).min(100) as usize;
            refuses(cx, &both, update(range, &vec![0; length]), out, &format!("an update of {what}"))?;
            let length = range.length.unwrap_or(0);
            cx.refused(cx.target.subspan(&buffer, range.offset, length), out, &format!("a subspan of {what}"))?;
            // A length above what a call may move is refused for that first.
            if length < 1000 {
                cx.refused(cx.target.read(&buffer, range.offset, length), out, &format!("a read of {what}"))?;
                let bytes = vec![0; length as usize];
                cx.refused(cx.target.write(&buffer, range.offset, &bytes), out, &format!("a write of {what}"))?;
            }
        }
        unharmed(cx, &buffer, &held)?;
        unharmed(cx, &other, &held)
    });
    suite.case("ZeroLengthAtTheEnd", |cx| {
        let held = sample(64);
        let buffer = cx.buffer_of(&held)?;
        cx.same(cx.read(&buffer, 64, 0)?, Vec::new(), "a read of nothing at the end")?;
        cx.write(&buffer, 64, &[])?;
        let commands =
            vec![fill(part(0, 64, 0), &[1]), update(part(0, 64, 0), &[]), copy(part(0, 64, 0), part(0, 64, 0))];
        cx.submit_and_wait(&[&buffer], &[], commands)?;
        let empty = cx.subspan(&buffer, 64, 0)?;
        cx.same(cx.target.buffer_info(&empty).size, 0, "the size of a subspan of nothing")?;
        // One further is an error, even for nothing.
        cx.refused(cx.target.write(&buffer, 65, &[]), Code::OutOfRange, "a write of nothing past the end")?;
        cx.refused(cx.target.read(&buffer, 65, 0), Code::OutOfRange, "a read of nothing past the end")?;
        cx.refused(cx.target.subspan(&buffer, 65, 0), Code::OutOfRange, "a subspan of nothing past the end")?;
        unharmed(cx, &buffer, &held)
    });
    suite.case("SubspanOfASubspan", |cx| {
        let held = sample(64);
        let buffer = cx.buffer_of(&held)?;
        let view = cx.subspan(&buffer, 16, 32)?;
        cx.refused(cx.target.subspan(&view, 16, 17), Code::OutOfRange, "more than the view has")?;
        cx.refused(cx.target.read(&view, 0, 33), Code::OutOfRange, "reading past the view")?;
        refuses(cx, &[&view], fill(part(0, 0, 33), &[1]), Code::OutOfRange, "filling past the view")?;
        let inner = cx.subspan(&view, 8, 8)?;
        cx.same(cx.target.buffer_info(&inner).offset, 24, "its offset in the allocation")?;
        cx.holds(&inner, &held[24..32], "what it shows")?;
        unharmed(cx, &buffer, &held)
    });
    suite.case("FillPatterns", |cx| {
        let held = sample(64);
        let buffer = cx.buffer_of(&held)?;
        let wrong = Code::InvalidArgument;
        for pattern in [&[][..], &[1; 3], &[1; 5], &[1; 8]] {
            refuses(cx, &[&buffer], fill(part(0, 0, 24), pattern), wrong, &format!("a pattern of {}", pattern.len()))?;
        }
        for (pattern, offset, length) in [(2, 1, 2), (2, 0, 3), (4, 2, 4), (4, 0, 6), (4, 1, 4), (4, 4, 5)] {
            let command = fill(part(0, offset, length), &vec![1; pattern]);
            refuses(
                cx,
                &[&buffer],
                command,
                wrong,
                &format!("a pattern of {pattern} for {length} bytes from {offset}"),
            )?;
        }
        // The distance from the start of the allocation counts.
        let view = cx.subspan(&buffer, 2, 32)?;
        refuses(cx, &[&view], fill(part(0, 0, 4), &[1; 4]), wrong, "an offset that a subspan makes odd")?;
        unharmed(cx, &buffer, &held)
    });
    suite.case("CopyOverlap", |cx| {
        let held = sample(64);
        let buffer = cx.buffer_of(&held)?;
        let (view, wrong) = (cx.subspan(&buffer, 16, 32)?, Code::InvalidArgument);
        for (from, to, length) in [(0, 0, 64), (0, 8, 16), (8, 0, 16), (10, 25, 16)] {
            let command = copy(part(0, from, length), part(0, to, length));
            refuses(cx, &[&buffer], command, wrong, &format!("{length} bytes from {from} to {to} in one buffer"))?;
        }
        let command = copy(part(0, 0, 32), part(1, 0, 32));
        refuses(cx, &[&buffer, &view], command, wrong, "from a buffer to an overlapping subspan of it")?;
        unharmed(cx, &buffer, &held)
    });
    suite.case("LengthsThatDiffer", |cx| {
        let held = sample(64);
        let (buffer, other) = (cx.buffer_of(&held)?, cx.buffer_of(&held)?);
        let wrong = Code::InvalidArgument;
        refuses(cx, &[&buffer, &other], copy(part(0, 0, 8), part(1, 0, 9)), wrong, "a copy of 8 bytes to 9")?;
        refuses(cx, &[&buffer], update(part(0, 0, 8), &[1; 7]), wrong, "an update of 8 bytes with 7")?;
        refuses(cx, &[&buffer], update(whole(0), &[1; 7]), wrong, "an update of all 64 bytes with 7")?;
        unharmed(cx, &buffer, &held)?;
        unharmed(cx, &other, &held)
    });
    suite.case("UpdateAboveTheLimit", |cx| {
        let most = cx.limit("update-bytes")?;
        let buffer = cx.buffer(most + 1)?;
        for result in both(cx, &[&buffer], &[update(part(0, 0, most + 1), &vec![1; most as usize + 1])]) {
            let hit = cx.limited(result, "update-bytes", "an update one byte above the limit")?;
            cx.same(
                hit,
                LimitHit { limit: "update-bytes".into(), asked: most + 1, available: most, allowed: most },
                "the limit",
            )?;
        }
        let bytes = sample(most);
        cx.submit_and_wait(&[&buffer], &[], vec![update(part(0, 0, most), &bytes)])?;
        cx.same(cx.read(&buffer, 0, most)? == bytes, true, "an update of exactly the limit")
    });
}

pub(super) fn rights<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("UsageNotGranted", |cx| {
        let denied = Code::PermissionDenied;
        let read_only = cx.buffer_for(Usage::TRANSFER_SOURCE | Usage::MAPPING_SCOPED, 16)?;
        let write_only = cx.buffer_for(Usage::TRANSFER_TARGET | Usage::MAPPING_SCOPED, 16)?;
        let unmapped = cx.buffer_for(Usage::TRANSFER_SOURCE | Usage::TRANSFER_TARGET, 16)?;
        let plain = cx.buffer_of(&[7; 16])?;
        refuses(cx, &[&read_only], fill(whole(0), &[1]), denied, "filling what is no target")?;
        refuses(cx, &[&read_only], update(whole(0), &[1; 16]), denied, "updating what is no target")?;
        refuses(cx, &[&plain, &read_only], copy(whole(0), whole(1)), denied, "copying to what is no target")?;
        refuses(cx, &[&write_only, &plain], copy(whole(0), whole(1)), denied, "copying from what is no source")?;
        cx.refused(cx.target.write(&read_only, 0, &[1]), denied, "writing what is no target")?;
        cx.refused(cx.target.read(&write_only, 0, 1), denied, "reading what is no source")?;
        cx.refused(cx.target.read(&unmapped, 0, 1), denied, "reading what the host may not reach")?;
        cx.refused(cx.target.write(&unmapped, 0, &[1]), denied, "writing what the host may not reach")?;
        // A part has no more rights than the whole.
        let view = cx.subspan(&read_only, 0, 8)?;
        refuses(cx, &[&view], fill(whole(0), &[1]), denied, "filling a part of what is no target")?;
        cx.holds(&read_only, &[0; 16], "what was not written")?;
        // Through the queue, what is allowed works.
        cx.write(&write_only, 0, &[3; 16])?;
        let commands = vec![fill(whole(0), &[5]), Command::Barrier, copy(whole(0), whole(1))];
        cx.submit_and_wait(&[&unmapped, &plain], &[], commands)?;
        cx.holds(&plain, &[5; 16], "what went through the queue")
    });
    suite.case("AccessNotGranted", |cx| {
        let with = |access| cx.target.allocate(&cx.device, &BufferParams { access, ..params() }, 16);
        let read_only = cx.fine(with(MemoryAccess::READ), "read-only memory")?;
        let write_only = cx.fine(with(MemoryAccess::WRITE | MemoryAccess::DISCARD), "write-only memory")?;
        let (plain, denied) = (cx.buffer_of(&[7; 16])?, Code::PermissionDenied);
        refuses(cx, &[&read_only], fill(whole(0), &[1]), denied, "filling what is read-only")?;
        refuses(cx, &[&write_only, &plain], copy(whole(0), whole(1)), denied, "copying from what is write-only")?;
        cx.refused(cx.target.write(&read_only, 0, &[1]), denied, "writing what is read-only")?;
        cx.refused(cx.target.read(&write_only, 0, 1), denied, "reading what is write-only")?;
        cx.holds(&read_only, &[0; 16], "what was not written")?;
        cx.write(&write_only, 0, &[1; 16])?;
        unharmed(cx, &plain, &[7; 16])
    });
}

pub(super) fn recordings<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("IndexPastTheTable", |cx| {
        let buffer = cx.buffer_of(&[7; 16])?;
        refuses(cx, &[&buffer], fill(whole(1), &[1]), Code::OutOfRange, "a buffer past the table")?;
        refuses(cx, &[&buffer], fill(whole(u32::MAX), &[1]), Code::OutOfRange, "the largest index")?;
        refuses(cx, &[], fill(whole(0), &[1]), Code::OutOfRange, "a buffer of an empty table")?;
        unharmed(cx, &buffer, &[7; 16])
    });
    suite.case("SlotOutOfRange", |cx| {
        let record = |index, slots| {
            let batch = Batch { buffers: Vec::new(), executables: Vec::new(), commands: vec![fill(slot(index), &[1])] };
            cx.target.create_recording(&cx.device, &batch, slots)
        };
        cx.refused(record(0, 0), Code::OutOfRange, "slot 0 of none")?;
        cx.refused(record(2, 2), Code::OutOfRange, "slot 2 of two")?;
        cx.refused(record(u32::MAX, 64), Code::OutOfRange, "the largest slot")?;
        cx.refused(record(0, 65), Code::InvalidArgument, "65 slots")?;
        cx.succeeds(record(63, 64), "slot 63 of 64").map(|_| ())
    });
    suite.case("SlotInASubmission", |cx| {
        let buffer = cx.buffer_of(&[7; 16])?;
        let submitted = cx.try_submit(&[], &[&buffer], &[], vec![fill(slot(0), &[1])], &[]);
        cx.refused(submitted, Code::InvalidArgument, "a slot outside of a recording")?;
        unharmed(cx, &buffer, &[7; 16])
    });
    suite.case("MissingTableEntries", |cx| {
        let buffer = cx.buffer_of(&[7; 16])?;
        let batch = Batch {
            buffers: Vec::new(),
            executables: Vec::new(),
            commands: vec![fill(slot(0), &[1]), copy(slot(1), BufferRef { length: Some(0), ..slot(2) })],
        };
        // The lengths can only be compared when the slots are filled.
        let recording = cx.fine(cx.target.create_recording(&cx.device, &batch, 3), "recording")?;
        let run = |bindings: &[SlotBinding]| cx.target.execute(&cx.device, &[], &recording, &[&buffer], bindings, &[]);
        let all = SlotBinding { buffer: 0, offset: 0, length: None };
        cx.refused(run(&[]), Code::InvalidArgument, "no table")?;
        cx.refused(run(&[all]), Code::InvalidArgument, "a table of one for three slots")?;
        cx.refused(run(&[all, all]), Code::InvalidArgument, "a table of two for three slots")?;
        cx.refused(run(&[all, all, all]), Code::InvalidArgument, "a copy of 16 bytes to none")?;
        let past = SlotBinding { buffer: 1, ..all };
        cx.refused(run(&[all, all, past]), Code::OutOfRange, "a buffer past the call's table")?;
        for (offset, length) in [(17, None), (0, Some(17)), (u64::MAX, Some(1)), (1, Some(u64::MAX))] {
            let past = SlotBinding { buffer: 0, offset, length };
            cx.refused(run(&[past, all, all]), Code::OutOfRange, &format!("{length:?} from {offset} of 16 bytes"))?;
        }
        unharmed(cx, &buffer, &[7; 16])
    });
    suite.case("RangesOfFilledSlots", |cx| {
        let buffer = cx.buffer_of(&[7; 64])?;
        let range = |offset, length| BufferRef { source: Source::Slot(0), offset, length: Some(length) };
        let batch =
            Batch { buffers: Vec::new(), executables: Vec::new(), commands: vec![fill(range(8, 8), &[1, 2, 3, 4])] };
        let recording = cx.fine(cx.target.create_recording(&cx.device, &batch, 1), "recording")?;
        let done = cx.semaphore(0)?;
        let run = |offset, length| {
            let binding = SlotBinding { buffer: 0, offset, length };
            cx.target.execute(&cx.device, &[], &recording, &[&buffer], &[binding], &[(&done, 1)])
        };
        cx.refused(run(0, Some(15)), Code::OutOfRange, "a command's range past what the slot holds")?;
        cx.refused(run(56, None), Code::OutOfRange, "the same at the buffer's end")?;
        cx.refused(run(2, Some(32)), Code::InvalidArgument, "an offset that makes the pattern odd")?;
        let read_only = cx.buffer_for(Usage::TRANSFER_SOURCE | Usage::MAPPING_SCOPED, 64)?;
        let refused = cx.target.execute(&cx.device, &[], &recording, &[&read_only], &table_of(1), &[(&done, 1)]);
        cx.refused(refused, Code::PermissionDenied, "a slot filled with what is no target")?;
        cx.value_is(&done, 0, "the signal of what was refused")?;
        cx.holds(&buffer, &[7; 64], "the buffer")?;
        cx.fine(run(32, Some(16)), "a table that fits")?;
        cx.wait(&done, 1)?;
        cx.same(cx.read(&buffer, 40, 8)?, [1, 2, 3, 4].repeat(2), "the fill")
    });
    // A recording that is wrong anywhere is not made, and leaves no charge.
    suite.case("InvalidRecordingIsNotMade", |cx| {
        let buffer = cx.buffer_of(&[7; 16])?;
        let before = cx.used("recordings")?.used;
        let commands = vec![fill(whole(0), &[1]), Command::Barrier, fill(part(0, 0, 17), &[1])];
        let batch = Batch { buffers: vec![&buffer], executables: Vec::new(), commands };
        let error =
            cx.refused(cx.target.create_recording(&cx.device, &batch, 0), Code::OutOfRange, "a wrong last command")?;
        cx.ensure(error.message.contains("command 2"), || format!("expected the command's number, got {error}"))?;
        cx.same(cx.used("recordings")?.used, before, "recordings in use")?;
        unharmed(cx, &buffer, &[7; 16])
    });
    suite.case("CloseRefusesUse", |cx| {
        let buffer = cx.buffer_of(&[7; 16])?;
        let recording = cx.record(&[&buffer], &[], vec![fill(whole(0), &[1])])?;
        cx.target.close_recording(&recording);
        cx.target.close_recording(&recording);
        let run = cx.target.execute(&cx.device, &[], &recording, &[], &[], &[]);
        cx.refused(run, Code::FailedPrecondition, "executing a closed recording")?;
        unharmed(cx, &buffer, &[7; 16])
    });
}

pub(super) fn objects<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("BufferOfAnotherDevice", |cx| {
        let other = cx.another_device()?;
        let theirs = cx.fine(cx.target.allocate(&other, &params(), 16), "allocating on another device")?;
        cx.write(&theirs, 0, &[7; 16])?;
        let ours = cx.buffer_of(&[7; 16])?;
        let wrong = Code::InvalidArgument;
        refuses(cx, &[&theirs], fill(whole(0), &[1]), wrong, "filling another device's buffer")?;
        refuses(cx, &[&ours, &theirs], copy(whole(1), whole(0)), wrong, "copying from another device's buffer")?;
        refuses(cx, &[&ours, &theirs], copy(whole(0), whole(1)), wrong, "copying to another device's buffer")?;
        let read = cx.target.read_blob(&cx.device, &[], 0, &theirs, 0, 4, &[]);
        cx.refused(read, wrong, "reading a blob into another device's buffer")?;
        cx.refused(cx.target.dealloca(&cx.device, &[], &theirs, &[]), wrong, "a dealloca of another device's buffer")?;
        cx.holds(&theirs, &[7; 16], "the other device's buffer")?;
        unharmed(cx, &ours, &[7; 16])
    });
    suite.case("RecordingOfAnotherDevice", |cx| {
        let other = cx.another_device()?;
        let buffer = cx.buffer_of(&[7; 16])?;
        let recording = cx.record(&[&buffer], &[], vec![fill(whole(0), &[1])])?;
        let run = cx.target.execute(&other, &[], &recording, &[], &[], &[]);
        cx.refused(run, Code::InvalidArgument, "executing another device's recording")?;
        cx.holds(&buffer, &[7; 16], "its buffer")?;
        cx.run_recorded(&recording, &[])?;
        cx.holds(&buffer, &[1; 16], "executed by its own device")
    });
    suite.case("ClosedBuffer", |cx| {
        let buffer = cx.buffer_of(&[7; 16])?;
        let (view, closed) = (cx.subspan(&buffer, 4, 8)?, Code::FailedPrecondition);
        cx.target.close_buffer(&buffer);
        cx.target.close_buffer(&buffer);
        refuses(cx, &[&buffer], fill(whole(0), &[1]), closed, "filling a closed buffer")?;
        cx.refused(cx.target.read(&buffer, 0, 1), closed, "reading a closed buffer")?;
        cx.refused(cx.target.write(&buffer, 0, &[1]), closed, "writing a closed buffer")?;
        cx.refused(cx.target.subspan(&buffer, 0, 1), closed, "a subspan of a closed buffer")?;
        cx.same(cx.target.buffer_info(&buffer).size, 16, "its size, which it still says")?;
        unharmed(cx, &view, &[7; 8])
    });
    suite.case("DroppedBufferInARecording", |cx| {
        let output = cx.buffer(16)?;
        let recording = {
            let input = cx.buffer_of(&[0x6B; 16])?;
            let batch = Batch {
                buffers: vec![&input, &output],
                executables: Vec::new(),
                commands: vec![copy(whole(0), whole(1))],
            };
            cx.fine(cx.target.create_recording(&cx.device, &batch, 0), "recording")?
        };
        let done = cx.semaphore(0)?;
        cx.execute(&[], &recording, &[], &[], &[(&done, 1)])?;
        cx.wait(&done, 1)?;
        cx.holds(&output, &[0x6B; 16], "what the recording kept alive")
    });
    suite.case("DroppedDeviceKeepsObjects", |cx| {
        let device = cx.another_device()?;
        let buffer = cx.fine(cx.target.allocate(&device, &params(), 16), "allocating")?;
        let semaphore = cx.fine(cx.target.create_semaphore(&device, 0), "a semaphore")?;
        cx.barrier(&[(&semaphore, 1)], &[])?;
        drop(device);
        cx.write(&buffer, 0, &[7; 16])?;
        cx.holds(&buffer, &[7; 16], "a buffer whose device's handle is gone")?;
        cx.signal(&semaphore, 1)?;
        cx.wait(&semaphore, 1)
    });
    suite.case("HostAccessOfPendingRanges", |cx| {
        let buffer = cx.buffer_of(&[7; 64])?;
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        cx.submit(
            &[(&gate, 1)],
            &[&buffer],
            &[],
            vec![fill(part(0, 16, 16), &[9]), copy(part(0, 0, 8), part(0, 40, 8))],
            &[(&done, 1)],
        )?;
        let busy = Code::FailedPrecondition;
        cx.refused(cx.target.read(&buffer, 16, 16), busy, "reading what pending work writes")?;
        cx.refused(cx.target.read(&buffer, 8, 9), busy, "reading a byte of it")?;
        cx.refused(cx.target.write(&buffer, 31, &[1]), busy, "writing what pending work writes")?;
        cx.refused(cx.target.write(&buffer, 0, &[1]), busy, "writing what pending work reads")?;
        cx.same(cx.read(&buffer, 0, 16)?, vec![7; 16], "reading what pending work only reads")?;
        cx.write(&buffer, 48, &[5; 16])?;
        cx.signal(&gate, 1)?;
        cx.wait(&done, 1)?;
        let mut expected = vec![7; 64];
        expected[16..32].fill(9);
        expected[48..].fill(5);
        cx.holds(&buffer, &expected, "after the wait")
    });
}

pub(super) fn semaphores<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("SignalThatDoesNotAdvance", |cx| {
        let (semaphore, wrong) = (cx.semaphore(5)?, Code::InvalidArgument);
        for value in [0, 4, 5] {
            cx.refused(cx.target.signal(&semaphore, value), wrong, &format!("signalling {value} at 5"))?;
            let submitted = cx.try_submit(&[], &[], &[], Vec::new(), &[(&semaphore, value)]);
            cx.refused(submitted, wrong, &format!("a submission that signals {value} at 5"))?;
            let alloca = cx.target.alloca(&cx.device, &[], &params(), 16, &[(&semaphore, value)]);
            cx.refused(alloca, wrong, &format!("an alloca that signals {value} at 5"))?;
        }
        cx.value_is(&semaphore, 5, "its value")?;
        cx.signal(&semaphore, 6)
    });
    suite.case("ClosedSemaphore", |cx| {
        let (semaphore, closed) = (cx.semaphore(0)?, Code::FailedPrecondition);
        let (pending, gate) = (cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&gate, 1)], &[(&semaphore, 1), (&pending, 1)])?;
        cx.target.close_semaphore(&semaphore);
        cx.target.close_semaphore(&semaphore);
        cx.refused(cx.target.query_semaphore(&semaphore), closed, "a query")?;
        cx.refused(cx.target.signal(&semaphore, 1), closed, "a signal")?;
        cx.refused(cx.target.wait(&semaphore, 1, 0), closed, "a wait")?;
        cx.refused(cx.try_submit(&[(&semaphore, 1)], &[], &[], Vec::new(), &[]), closed, "a submission that waits")?;
        cx.refused(cx.try_submit(&[], &[], &[], Vec::new(), &[(&semaphore, 2)]), closed, "a submission that signals")?;
        // Its pending signaller is not disturbed.
        cx.signal(&gate, 1)?;
        cx.wait(&pending, 1)
    });
    suite.case("DroppedSemaphoreWithSignallers", |cx| {
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        {
            let dropped = cx.semaphore(0)?;
            cx.barrier(&[(&gate, 1)], &[(&dropped, 1)])?;
            cx.barrier(&[(&dropped, 1)], &[(&done, 1)])?;
        }
        cx.value_is(&done, 0, "before the dropped one's signaller may run")?;
        cx.signal(&gate, 1)?;
        cx.wait(&done, 1)?;
        cx.value_is(&done, 1, "what waited for the dropped one")
    });
    suite.case("RefusedWorkSignalsNothing", |cx| {
        let (buffer, done) = (cx.buffer_of(&[7; 16])?, cx.semaphore(0)?);
        let submitted = cx.try_submit(&[], &[&buffer], &[], vec![fill(part(0, 0, 17), &[1])], &[(&done, 1)]);
        cx.refused(submitted, Code::OutOfRange, "a submission that is wrong")?;
        cx.refused(cx.target.wait(&done, 1, crate::SHORT), Code::DeadlineExceeded, "the signal of refused work")?;
        cx.submit(&[], &[&buffer], &[], vec![fill(whole(0), &[8])], &[(&done, 1)])?;
        cx.fine(cx.target.wait(&done, 1, LONG), "the next submission")?;
        cx.holds(&buffer, &[8; 16], "what it wrote")
    });
}
