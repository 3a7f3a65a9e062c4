//! Semaphores by themselves.

use crate::{
    LONG, SHORT,
    case::Suite,
    target::{Code, Target, WaitMode},
};

const MODES: [WaitMode; 2] = [WaitMode::All, WaitMode::Any];

pub(super) fn semaphore<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("NoOp", |cx| cx.value_is(&cx.semaphore(123)?, 123, "its initial value"));
    suite.case("NormalSignaling", |cx| {
        let semaphore = cx.semaphore(2)?;
        cx.value_is(&semaphore, 2, "at first")?;
        for value in [3, 40, u64::MAX - 1] {
            cx.signal(&semaphore, value)?;
            cx.value_is(&semaphore, value, "after a signal")?;
        }
        Ok(())
    });
    suite.case("Failure", |cx| {
        let semaphore = cx.semaphore(2)?;
        cx.value_is(&semaphore, 2, "at first")?;
        cx.target.fail(&semaphore, Code::Unknown, "on purpose");
        let error = cx.refused(cx.target.query_semaphore(&semaphore), Code::Unknown, "a query after the failure")?;
        cx.ensure(error.message.contains("on purpose"), || format!("expected the reason, got {error}"))
    });
    suite.case("EmptyWait", |cx| {
        for mode in MODES {
            for timeout in [0, SHORT, LONG, u64::MAX] {
                let waited = cx.wait_for(&[], mode, timeout);
                cx.same(cx.fine(waited, "waiting for nothing")?, 0, &format!("{mode:?} of nothing for {timeout}"))?;
            }
        }
        Ok(())
    });
    suite.case("WaitAlreadySignaled", |cx| {
        let semaphore = cx.semaphore(2)?;
        for value in [0, 1, 2] {
            for timeout in [0, LONG] {
                cx.succeeds(cx.target.wait(&semaphore, value, timeout), &format!("waiting for {value}"))?;
            }
        }
        Ok(())
    });
    suite.case("WaitUnsignaled", |cx| {
        let semaphore = cx.semaphore(2)?;
        for timeout in [0, 1, SHORT] {
            cx.refused(cx.target.wait(&semaphore, 3, timeout), Code::DeadlineExceeded, "waiting for 3")?;
        }
        cx.value_is(&semaphore, 2, "its value after that")
    });
    suite.case("WaitAllButNotAllSignaled", |cx| {
        let (a, b) = (cx.semaphore(0)?, cx.semaphore(1)?);
        for timeout in [0, SHORT] {
            let waited = cx.wait_for(&[(&a, 1), (&b, 1)], WaitMode::All, timeout);
            cx.refused(waited, Code::DeadlineExceeded, "one of two is missing")?;
        }
        Ok(())
    });
    suite.case("WaitAllAndAllSignaled", |cx| {
        let (a, b) = (cx.semaphore(1)?, cx.semaphore(1)?);
        for timeout in [0, LONG] {
            let waited = cx.wait_for(&[(&a, 1), (&b, 1)], WaitMode::All, timeout);
            cx.same(cx.fine(waited, "both are there")?, 0, "the answer to a wait for all")?;
        }
        Ok(())
    });
    suite.case("WaitAnyAlreadySignaled", |cx| {
        let (a, b) = (cx.semaphore(0)?, cx.semaphore(1)?);
        let waited = cx.wait_for(&[(&a, 1), (&b, 1)], WaitMode::Any, 0);
        cx.same(cx.fine(waited, "one is there")?, 1, "which one")
    });
    suite.case("WaitAnyUnsignaled", |cx| {
        let (a, b) = (cx.semaphore(0)?, cx.semaphore(1)?);
        let waited = cx.wait_for(&[(&a, 1), (&b, 2)], WaitMode::Any, SHORT);
        cx.refused(waited, Code::DeadlineExceeded, "neither is there").map(|_| ())
    });
    suite.case("WaitForDuplicates", |cx| {
        let semaphore = cx.semaphore(1)?;
        for mode in MODES {
            cx.succeeds(
                cx.wait_for(&[(&semaphore, 1), (&semaphore, 0), (&semaphore, 1)], mode, 0),
                "one named thrice",
            )?;
        }
        let waited = cx.wait_for(&[(&semaphore, 1), (&semaphore, 2)], WaitMode::All, 0);
        cx.refused(waited, Code::DeadlineExceeded, "two values of one, the larger missing").map(|_| ())
    });
    suite.case("FailThenWait", |cx| {
        let semaphore = cx.semaphore(0)?;
        cx.target.fail(&semaphore, Code::Cancelled, "on purpose");
        cx.refused(cx.target.wait(&semaphore, 1, LONG), Code::Cancelled, "a wait after the failure")?;
        for mode in MODES {
            cx.refused(cx.wait_for(&[(&semaphore, 1)], mode, LONG), Code::Cancelled, "a wait of the device")?;
        }
        cx.refused(cx.target.query_semaphore(&semaphore), Code::Cancelled, "a query after the failure").map(|_| ())
    });
    suite.case("WaitAnyBesideFailure", |cx| {
        let (met, failed) = (cx.semaphore(1)?, cx.semaphore(0)?);
        cx.target.fail(&failed, Code::DataLoss, "on purpose");
        for (points, index) in [([(&met, 1), (&failed, 1)], 0), ([(&failed, 1), (&met, 1)], 1)] {
            let waited = cx.wait_for(&points, WaitMode::Any, LONG);
            cx.same(cx.fine(waited, "one is there, one has failed")?, index, "which one")?;
            cx.refused(cx.wait_for(&points, WaitMode::All, LONG), Code::DataLoss, "a wait for both")?;
        }
        for points in [[(&met, 2), (&failed, 1)], [(&failed, 1), (&met, 2)]] {
            cx.refused(cx.wait_for(&points, WaitMode::Any, LONG), Code::DataLoss, "none is there, one has failed")?;
        }
        cx.value_is(&met, 1, "the other one")
    });
    suite.case("FailurePreservesStatusCode", |cx| {
        for code in Code::ALL {
            let semaphore = cx.semaphore(0)?;
            cx.target.fail(&semaphore, code, "on purpose");
            cx.refused(cx.target.wait(&semaphore, 1, LONG), code, "a wait after the failure")?;
        }
        Ok(())
    });
    suite.case("DoubleFailurePreservesFirst", |cx| {
        let semaphore = cx.semaphore(0)?;
        cx.target.fail(&semaphore, Code::DataLoss, "the first");
        cx.target.fail(&semaphore, Code::Cancelled, "the second");
        let error = cx.refused(cx.target.wait(&semaphore, 1, LONG), Code::DataLoss, "a wait after two failures")?;
        cx.ensure(error.message.contains("the first"), || format!("expected the first reason, got {error}"))?;
        cx.refused(cx.target.signal(&semaphore, 1), Code::DataLoss, "a signal after the failures").map(|_| ())
    });
    suite.case("AcrossDevices", |cx| {
        let other = cx.another_device()?;
        let theirs = cx.fine(cx.target.create_semaphore(&other, 0), "a semaphore of another device")?;
        let ours = cx.semaphore(0)?;
        cx.barrier(&[(&theirs, 1)], &[(&ours, 1)])?;
        cx.value_is(&ours, 0, "before the other device's semaphore is signalled")?;
        cx.signal(&theirs, 1)?;
        cx.wait(&ours, 1)?;
        cx.same(cx.fine(cx.wait_for(&[(&theirs, 9), (&ours, 1)], WaitMode::Any, 0), "waiting")?, 1, "which one")
    });
    suite.case("LossSemaphoreWaits", |cx| {
        let (loss, done) = (cx.fine(cx.target.loss_semaphore(&cx.device), "the loss semaphore")?, cx.semaphore(0)?);
        cx.refused(cx.target.wait(&loss, 1, SHORT), Code::DeadlineExceeded, "a loss that does not come")?;
        cx.barrier(&[], &[(&done, 1)])?;
        let waited = cx.wait_for(&[(&loss, 1), (&done, 1)], WaitMode::Any, LONG);
        cx.same(cx.fine(waited, "waiting for work or loss")?, 1, "which one")
    });
}
