//! Queue-ordered allocation.

use crate::{
    Context, LONG, Outcome,
    case::Suite,
    commands::{fill, params, whole},
    target::{BufferParams, Code, MemoryAccess, MemoryType, Target, Usage},
};

/// Fills a buffer behind a point and compares it.
fn usable<T: Target>(cx: &Context<'_, T>, buffer: &T::Buffer, byte: u8) -> Outcome {
    cx.submit_and_wait(&[buffer], &[], vec![fill(whole(0), &[byte])])?;
    let size = cx.target.buffer_info(buffer).size as usize;
    cx.holds(buffer, &vec![byte; size], "what was filled")
}

fn chains<T: Target>(cx: &Context<'_, T>, rounds: u64) -> Outcome {
    let timeline = cx.semaphore(0)?;
    let before = cx.used("memory-bytes")?.used;
    for round in 0..rounds {
        let buffer = cx.alloca(&[(&timeline, round * 2)], 4096, &[(&timeline, round * 2 + 1)])?;
        cx.dealloca(&[(&timeline, round * 2 + 1)], &buffer, &[(&timeline, round * 2 + 2)])?;
    }
    cx.wait(&timeline, rounds * 2)?;
    cx.settles("memory-bytes", before)
}

pub(super) fn alloca<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("BasicAlloca", |cx| {
        let done = cx.semaphore(0)?;
        let buffer = cx.alloca(&[], 256, &[(&done, 1)])?;
        cx.wait(&done, 1)?;
        cx.holds(&buffer, &[0; 256], "fresh memory")?;
        usable(cx, &buffer, 0x42)
    });
    suite.case("AllocaWithWaitSemaphores", |cx| {
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        let buffer = cx.alloca(&[(&gate, 1)], 256, &[(&done, 1)])?;
        cx.refused(cx.target.wait(&done, 1, crate::SHORT), Code::DeadlineExceeded, "before its wait is met")?;
        cx.refused(cx.target.read(&buffer, 0, 1), Code::FailedPrecondition, "reading before there is memory")?;
        cx.signal(&gate, 1)?;
        cx.wait(&done, 1)?;
        usable(cx, &buffer, 0x43)
    });
    suite.case("AllocaDeallocaCycle", |cx| {
        for round in 0..2 {
            let timeline = cx.semaphore(0)?;
            let buffer = cx.alloca(&[], 1024, &[(&timeline, 1)])?;
            cx.wait(&timeline, 1)?;
            cx.holds(&buffer, &[0; 1024], "fresh memory")?;
            usable(cx, &buffer, 0x50 + round)?;
            cx.dealloca(&[], &buffer, &[(&timeline, 2)])?;
            cx.wait(&timeline, 2)?;
        }
        Ok(())
    });
    suite.case("BufferMetadata", |cx| {
        let gate = cx.semaphore(0)?;
        let asked = BufferParams {
            memory: MemoryType::DEVICE_LOCAL,
            usage: Usage::TRANSFER_SOURCE | Usage::TRANSFER_TARGET,
            access: MemoryAccess::READ | MemoryAccess::WRITE,
            ..params()
        };
        let made = cx.target.alloca(&cx.device, &[(&gate, 1)], &asked, 777, &[]);
        let info = cx.target.buffer_info(&cx.fine(made, "an alloca")?);
        cx.same((info.size, info.offset, info.transient), (777, 0, true), "size, offset, transient, before backing")?;
        cx.same((info.usage, info.access), (asked.usage, asked.access), "usage and access")?;
        cx.ensure(info.memory.contains(asked.memory), || format!("asked for {}, got {info:?}", asked.memory))?;
        cx.signal(&gate, 1)
    });
    suite.case("DeallocaReleasesMemory", |cx| {
        let timeline = cx.semaphore(0)?;
        let before = cx.used("memory-bytes")?.used;
        let buffer = cx.alloca(&[], 4096, &[(&timeline, 1)])?;
        cx.same(cx.used("memory-bytes")?.used, before + 4096, "what is charged by the call")?;
        cx.wait(&timeline, 1)?;
        cx.dealloca(&[], &buffer, &[(&timeline, 2)])?;
        cx.wait(&timeline, 2)?;
        cx.settles("memory-bytes", before)?;
        // At the call or, at the latest, on its signal.
        let filled = cx.try_submit_and_wait(&[&buffer], &[], vec![fill(whole(0), &[1])]);
        cx.refused_with(filled, &[Code::InvalidArgument, Code::FailedPrecondition], "a fill after the dealloca")?;
        cx.refused(cx.target.read(&buffer, 0, 1), Code::FailedPrecondition, "a read after it")?;
        let again = cx.target.dealloca(&cx.device, &[], &buffer, &[]);
        cx.refused(again, Code::FailedPrecondition, "a second dealloca")?;
        usable(cx, &cx.buffer(16)?, 7)
    });
    suite.case("FailedDeallocaWaitDoesNotDealloca", |cx| {
        let (ready, gate, gone) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.semaphore(0)?);
        let buffer = cx.alloca(&[], 64, &[(&ready, 1)])?;
        cx.wait(&ready, 1)?;
        cx.dealloca(&[(&gate, 1)], &buffer, &[(&gone, 1)])?;
        cx.target.fail(&gate, Code::Cancelled, "on purpose");
        cx.refused(cx.target.wait(&gone, 1, LONG), Code::Cancelled, "a dealloca behind a failed wait")?;
        usable(cx, &buffer, 0x61)?;
        let later = cx.semaphore(0)?;
        cx.dealloca(&[], &buffer, &[(&later, 1)])?;
        cx.wait(&later, 1)?;
        cx.refused(cx.target.read(&buffer, 0, 1), Code::FailedPrecondition, "a read after the second try").map(|_| ())
    });
    suite.case("ChainedAllocaDealloca", |cx| chains(cx, 1));
    suite.case("DefaultPoolRepeatedChainedAllocaDealloca", |cx| chains(cx, 32));
    suite.case("ZeroAccessFlagsCanonicalized", |cx| {
        let done = cx.semaphore(0)?;
        let buffer = cx.alloca(&[], 64, &[(&done, 1)])?;
        cx.same(cx.target.buffer_info(&buffer).access, MemoryAccess::all(), "no bits mean all")?;
        cx.wait(&done, 1)?;
        usable(cx, &buffer, 0x62)
    });
    suite.case("FailedAllocaWaitNeverBacks", |cx| {
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        let before = cx.used("memory-bytes")?.used;
        let buffer = cx.alloca(&[(&gate, 1)], 4096, &[(&done, 1)])?;
        cx.target.fail(&gate, Code::Aborted, "on purpose");
        cx.refused(cx.target.wait(&done, 1, LONG), Code::Aborted, "an alloca behind a failed wait")?;
        cx.refused(cx.target.read(&buffer, 0, 1), Code::FailedPrecondition, "reading what never got memory")?;
        cx.settles("memory-bytes", before)
    });
    suite.case("DeallocaOfOthers", |cx| {
        let plain = cx.buffer_of(&[5; 16])?;
        let free = |buffer| cx.target.dealloca(&cx.device, &[], buffer, &[]);
        cx.refused(free(&plain), Code::InvalidArgument, "a dealloca of what alloca did not make")?;
        let done = cx.semaphore(0)?;
        let transient = cx.alloca(&[], 64, &[(&done, 1)])?;
        cx.wait(&done, 1)?;
        let view = cx.subspan(&transient, 0, 64)?;
        cx.refused(free(&view), Code::InvalidArgument, "a dealloca of a part")?;
        cx.holds(&plain, &[5; 16], "the buffer that stays")?;
        usable(cx, &transient, 0x63)
    });
    suite.case("DeallocaBehindWork", |cx| {
        // Work that was queued before the release keeps the memory; what runs after it fails.
        let (ready, gate, timeline) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.semaphore(0)?);
        let (output, late) = (cx.buffer(64)?, cx.semaphore(0)?);
        let buffer = cx.alloca(&[], 64, &[(&ready, 1)])?;
        cx.wait(&ready, 1)?;
        let copying =
            vec![fill(whole(0), &[8]), crate::target::Command::Barrier, crate::commands::copy(whole(0), whole(1))];
        cx.submit(&[(&gate, 1)], &[&buffer, &output], &[], copying, &[(&timeline, 1)])?;
        cx.dealloca(&[(&timeline, 1)], &buffer, &[(&timeline, 2)])?;
        cx.submit(&[(&timeline, 2)], &[&buffer], &[], vec![fill(whole(0), &[9])], &[(&late, 1)])?;
        cx.signal(&gate, 1)?;
        cx.wait(&timeline, 2)?;
        cx.refused(cx.target.wait(&late, 1, LONG), Code::FailedPrecondition, "work that runs after the dealloca")?;
        cx.holds(&output, &[8; 64], "what ran before it")
    });
}
