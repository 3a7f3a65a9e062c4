//! Semaphores and the queue.

use crate::{
    LONG,
    case::Suite,
    commands::{copy, fill, slot, table_of, whole},
    target::{Batch, Code, Command, Target, WaitMode},
};

pub(super) fn submission<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("SubmitWithNoCommandBuffers", |cx| {
        let done = cx.semaphore(0)?;
        cx.barrier(&[], &[(&done, 1)])?;
        cx.wait(&done, 1)?;
        cx.value_is(&done, 1, "its signal")
    });
    suite.case("SubmitAndSignal", |cx| {
        let done = cx.semaphore(0)?;
        let recording = cx.record(&[], &[], vec![Command::Barrier])?;
        cx.execute(&[], &recording, &[], &[], &[(&done, 1)])?;
        cx.wait(&done, 1)?;
        cx.value_is(&done, 1, "its signal")
    });
    suite.case("SubmitWithWait", |cx| {
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(100)?);
        cx.barrier(&[(&gate, 1)], &[(&done, 101)])?;
        cx.refused(cx.target.wait(&done, 101, crate::SHORT), Code::DeadlineExceeded, "before its wait is met")?;
        cx.value_is(&done, 100, "before its wait is met")?;
        cx.signal(&gate, 1)?;
        cx.wait(&done, 101)?;
        cx.value_is(&done, 101, "after it")
    });
    suite.case("IndirectCommandBufferBindingTableRetainedUntilSignal", |cx| {
        let (gate, done, output) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.buffer(16)?);
        {
            let batch = Batch { buffers: Vec::new(), executables: Vec::new(), commands: vec![copy(slot(0), slot(1))] };
            let recording = cx.fine(cx.target.create_recording(&cx.device, &batch, 2), "recording")?;
            let input = cx.buffer_of(&[0x5A; 16])?;
            let mut table = table_of(2);
            cx.execute(&[(&gate, 1)], &recording, &[&input, &output], &table, &[(&done, 1)])?;
            table.clear();
        }
        cx.value_is(&done, 0, "before its wait is met")?;
        cx.signal(&gate, 1)?;
        cx.wait(&done, 1)?;
        cx.holds(&output, &[0x5A; 16], "what the table's buffer held")
    });
    suite.case("SubmitWithMultipleSemaphores", |cx| {
        let (wait, signal) = ([cx.semaphore(0)?, cx.semaphore(0)?], [cx.semaphore(0)?, cx.semaphore(0)?]);
        cx.barrier(&[(&wait[0], 1), (&wait[1], 1)], &[(&signal[0], 1), (&signal[1], 1)])?;
        cx.signal(&wait[0], 1)?;
        for semaphore in &signal {
            cx.refused(
                cx.target.wait(semaphore, 1, crate::SHORT),
                Code::DeadlineExceeded,
                "with one of two waits met",
            )?;
        }
        cx.signal(&wait[1], 1)?;
        for semaphore in &signal {
            cx.wait(semaphore, 1)?;
            cx.value_is(semaphore, 1, "a signal")?;
        }
        Ok(())
    });
    suite.case("WaitAllHostAndDeviceSemaphores", |cx| {
        let (gate, device, host) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&gate, 1)], &[(&device, 1)])?;
        let wait = |timeout| cx.wait_for(&[(&device, 1), (&host, 1)], WaitMode::All, timeout);
        cx.refused(wait(0), Code::DeadlineExceeded, "with neither signalled")?;
        cx.signal(&host, 1)?;
        cx.refused(wait(0), Code::DeadlineExceeded, "with the device's missing")?;
        cx.signal(&gate, 1)?;
        cx.succeeds(wait(LONG), "with both").map(|_| ())
    });
    suite.case("WaitAnyHostAndDeviceSemaphoresAndDeviceSignals", |cx| {
        let (gate, device, host) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&gate, 1)], &[(&device, 1)])?;
        let wait = |timeout| cx.wait_for(&[(&device, 1), (&host, 1)], WaitMode::Any, timeout);
        cx.refused(wait(0), Code::DeadlineExceeded, "with neither signalled")?;
        cx.signal(&gate, 1)?;
        cx.same(cx.fine(wait(LONG), "with the device's")?, 0, "which one")?;
        cx.value_is(&host, 0, "the host's")
    });
    suite.case("WaitAnyHostAndDeviceSemaphoresAndHostSignals", |cx| {
        let (gate, device, host) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&gate, 1)], &[(&device, 1)])?;
        let wait = |timeout| cx.wait_for(&[(&device, 1), (&host, 1)], WaitMode::Any, timeout);
        cx.refused(wait(0), Code::DeadlineExceeded, "with neither signalled")?;
        cx.signal(&host, 1)?;
        cx.same(cx.fine(wait(LONG), "with the host's")?, 1, "which one")?;
        cx.value_is(&device, 0, "the device's")?;
        cx.signal(&gate, 1)?;
        cx.wait(&device, 1)
    });
    suite.case("IntermediateSemaphoreBetweenDeviceBatches", |cx| {
        let (middle, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        let (source, target) = (cx.buffer(16)?, cx.buffer(16)?);
        cx.submit(&[(&middle, 1)], &[&source, &target], &[], vec![copy(whole(0), whole(1))], &[(&done, 1)])?;
        cx.value_is(&done, 0, "the consumer before its producer")?;
        cx.submit(&[], &[&source], &[], vec![fill(whole(0), &[0x77])], &[(&middle, 1)])?;
        cx.wait(&done, 1)?;
        cx.holds(&target, &[0x77; 16], "what the consumer copied")
    });
    suite.case("TwoBatchesWaitingOn1FormerBatchAmongst2", |cx| {
        // A first pair of batches; two others wait for the first of them only. Submitted in reverse.
        let gate = cx.semaphore(0)?;
        let (first, unrelated) = (cx.semaphore(0)?, cx.semaphore(0)?);
        let (left, right) = (cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&first, 1)], &[(&left, 1)])?;
        cx.barrier(&[(&first, 1)], &[(&right, 1)])?;
        cx.barrier(&[(&gate, 1)], &[(&unrelated, 1)])?;
        cx.value_is(&left, 0, "before the first")?;
        cx.barrier(&[], &[(&first, 1)])?;
        cx.wait(&left, 1)?;
        cx.wait(&right, 1)?;
        cx.value_is(&unrelated, 0, "the unrelated one")?;
        cx.signal(&gate, 1)?;
        cx.wait(&unrelated, 1)
    });
    suite.case("TwoBatchesWaitingOnDifferentSemaphoreValues", |cx| {
        let (gate, one, two) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&gate, 1)], &[(&one, 1)])?;
        cx.barrier(&[(&gate, 2)], &[(&two, 1)])?;
        cx.value_is(&one, 0, "before")?;
        cx.signal(&gate, 3)?;
        cx.wait(&one, 1)?;
        cx.wait(&two, 1)?;
        cx.value_is(&two, 1, "both are freed by one signal of 3")
    });
    suite.case("BatchWaitingOnAnotherAndHostSignal", |cx| {
        let (host, first, done) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&first, 1), (&host, 1)], &[(&done, 1)])?;
        cx.barrier(&[], &[(&first, 1)])?;
        cx.wait(&first, 1)?;
        cx.refused(cx.target.wait(&done, 1, crate::SHORT), Code::DeadlineExceeded, "without the host's signal")?;
        cx.signal(&host, 1)?;
        cx.wait(&done, 1)
    });
    suite.case("DeviceBatchSignalAnotherAndHost", |cx| {
        let (gate, middle, done) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&middle, 1)], &[(&done, 1)])?;
        cx.barrier(&[(&gate, 1)], &[(&middle, 1)])?;
        let both = |timeout| cx.wait_for(&[(&middle, 1), (&done, 1)], WaitMode::All, timeout);
        cx.refused(both(0), Code::DeadlineExceeded, "before the batch")?;
        cx.signal(&gate, 1)?;
        cx.succeeds(both(LONG), "the host and the second batch").map(|_| ())
    });
    suite.case("BatchWaitingOnSmallerValueAfterSignaled", |cx| {
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        cx.signal(&gate, 5)?;
        cx.barrier(&[(&gate, 2)], &[(&done, 1)])?;
        cx.wait(&done, 1)?;
        cx.value_is(&gate, 5, "the larger value")
    });
    suite.case("BatchWaitingOnSmallerValueBeforeSignaled", |cx| {
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&gate, 2)], &[(&done, 1)])?;
        cx.value_is(&done, 0, "before")?;
        cx.signal(&gate, 5)?;
        cx.wait(&done, 1)
    });
    suite.case("PropagateFailSignal", |cx| {
        let (gate, done, next) = (cx.semaphore(0)?, cx.semaphore(0)?, cx.semaphore(0)?);
        let buffer = cx.buffer_of(&[3; 16])?;
        cx.submit(&[(&gate, 1)], &[&buffer], &[], vec![fill(whole(0), &[9])], &[(&done, 1)])?;
        cx.barrier(&[(&done, 1)], &[(&next, 1)])?;
        cx.target.fail(&gate, Code::Cancelled, "on purpose");
        for semaphore in [&done, &next] {
            cx.refused(cx.target.wait(semaphore, 1, LONG), Code::Cancelled, "a signal behind a failed wait")?;
            cx.refused(cx.target.query_semaphore(semaphore), Code::Cancelled, "a query of it")?;
        }
        cx.holds(&buffer, &[3; 16], "what the failed work did not touch")
    });
    suite.case("SubmitBehindAFailure", |cx| {
        let (failed, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        cx.target.fail(&failed, Code::DataLoss, "on purpose");
        cx.barrier(&[(&failed, 1)], &[(&done, 1)])?;
        cx.refused(cx.target.wait(&done, 1, LONG), Code::DataLoss, "work behind a failed semaphore")?;
        let again = cx.semaphore(0)?;
        cx.barrier(&[], &[(&again, 1)])?;
        cx.wait(&again, 1)
    });
    suite.case("LongChain", |cx| {
        let timeline = cx.semaphore(0)?;
        for link in (1..=200).rev() {
            cx.barrier(&[(&timeline, link)], &[(&timeline, link + 1)])?;
        }
        cx.value_is(&timeline, 0, "before the first link")?;
        cx.signal(&timeline, 1)?;
        cx.wait(&timeline, 201)?;
        cx.value_is(&timeline, 201, "after the last link")
    });
}
