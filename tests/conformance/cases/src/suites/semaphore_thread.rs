//! Semaphores between two threads of one tenant.

use crate::{
    Context, LONG, Outcome, SHORT,
    case::Suite,
    target::{Code, Result, Target, WaitMode},
};
use std::{thread, time::Duration};

/// Long enough that the other thread waits by then, on most machines; where it does not yet, the case is merely easier.
const HEAD_START: Duration = Duration::from_millis(30);

/// Runs `here` beside `there`, which begins a little later. Both outcomes count.
fn beside(there: impl FnOnce() -> Outcome + Send, here: impl FnOnce() -> Outcome) -> Outcome {
    thread::scope(|scope| {
        let there = scope.spawn(|| {
            thread::sleep(HEAD_START);
            there()
        });
        let here = here();
        there.join().map_err(|_| "the other thread panicked".to_owned())??;
        here
    })
}

/// What waits is told of a failure that comes later.
fn fails_while<T: Target>(cx: &Context<'_, T>, failing: &T::Semaphore, wait: impl FnOnce() -> Result<()>) -> Outcome {
    let fail = || {
        cx.target.fail(failing, Code::Cancelled, "on purpose");
        Ok(())
    };
    beside(fail, || cx.refused(wait(), Code::Cancelled, "a wait whose semaphore fails").map(|_| ()))
}

pub(super) fn threads<T: Target>(suite: &mut Suite<'_, T>) {
    suite.threads("WaitLaterSignaledBeyond", |cx| {
        let semaphore = cx.semaphore(2)?;
        beside(|| cx.signal(&semaphore, 10), || cx.wait(&semaphore, 3))?;
        cx.value_is(&semaphore, 10, "its value")
    });
    suite.threads("WaitAnyLaterSignaled", |cx| {
        let (a, b) = (cx.semaphore(0)?, cx.semaphore(0)?);
        beside(
            || cx.signal(&b, 1),
            || {
                let waited = cx.wait_for(&[(&a, 1), (&b, 1)], WaitMode::Any, LONG);
                cx.same(cx.fine(waited, "waiting for any")?, 1, "which one")
            },
        )
    });
    suite.threads("PingPong", |cx| {
        let (ping, pong) = (cx.semaphore(0)?, cx.semaphore(0)?);
        let rounds = 1..=50;
        beside(
            || rounds.clone().try_for_each(|round| cx.wait(&ping, round).and_then(|()| cx.signal(&pong, round))),
            || rounds.clone().try_for_each(|round| cx.signal(&ping, round).and_then(|()| cx.wait(&pong, round))),
        )?;
        cx.value_is(&pong, 50, "the last answer")
    });
    suite.threads("WaitOnTheSameValueMultipleTimes", |cx| {
        let semaphore = cx.semaphore(0)?;
        let wait = || (0..3).try_for_each(|_| cx.wait(&semaphore, 1));
        beside(|| cx.signal(&semaphore, 1).and_then(|()| wait()), wait)?;
        cx.value_is(&semaphore, 1, "its value")
    });
    suite.threads("WaitForFiniteTime", |cx| {
        let semaphore = cx.semaphore(0)?;
        for timeout in [0, SHORT] {
            cx.refused(cx.target.wait(&semaphore, 1, timeout), Code::DeadlineExceeded, "too early")?;
            cx.value_is(&semaphore, 0, "its value after that")?;
        }
        beside(|| cx.signal(&semaphore, 1), || cx.wait(&semaphore, 1))
    });
    suite.threads("SimultaneousMultiWaitAll", |cx| {
        let (a, b) = (cx.semaphore(0)?, cx.semaphore(0)?);
        let wait = || cx.succeeds(cx.wait_for(&[(&a, 1), (&b, 1)], WaitMode::All, LONG), "both").map(|_| ());
        thread::scope(|scope| {
            let waiters = [scope.spawn(wait), scope.spawn(wait)];
            thread::sleep(HEAD_START);
            cx.signal(&a, 1)?;
            thread::sleep(HEAD_START);
            cx.same(waiters.iter().any(thread::ScopedJoinHandle::is_finished), false, "whether one wait ended early")?;
            cx.signal(&b, 1)?;
            waiters.into_iter().try_for_each(|waiter| waiter.join().map_err(|_| "a waiter panicked".to_owned())?)
        })
    });
    suite.threads("WaitThenFail", |cx| {
        let semaphore = cx.semaphore(0)?;
        fails_while(cx, &semaphore, || cx.target.wait(&semaphore, 1, LONG))
    });
    suite.threads("MultiWaitThenFail", |cx| {
        let (a, b) = (cx.semaphore(0)?, cx.semaphore(0)?);
        for mode in [WaitMode::All, WaitMode::Any] {
            let failing = cx.semaphore(0)?;
            fails_while(cx, &failing, || cx.wait_for(&[(&a, 1), (&failing, 1), (&b, 1)], mode, LONG).map(|_| ()))?;
        }
        cx.value_is(&a, 0, "the other's value")
    });
    suite.threads("DeviceMultiWaitThenFail", |cx| {
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        cx.barrier(&[(&gate, 1)], &[(&done, 1)])?;
        let other = cx.semaphore(0)?;
        fails_while(cx, &gate, || cx.wait_for(&[(&other, 1), (&done, 1)], WaitMode::All, LONG).map(|_| ()))?;
        cx.value_is(&other, 0, "the other's value")
    });
    // Five seconds are longer than some hosts look at once.
    suite.threads("WaitOverFiveSecondsIsNotEarly", |cx| {
        let (semaphore, begun) = (cx.semaphore(0)?, std::time::Instant::now());
        cx.refused(cx.target.wait(&semaphore, 1, 5_500_000_000), Code::DeadlineExceeded, "waiting in vain")?;
        let took = begun.elapsed();
        cx.ensure(took >= Duration::from_millis(5_500), || format!("it gave up after {took:?} of 5.5 s"))?;
        cx.value_is(&semaphore, 0, "its value after that")
    });
}
