//! What everything that belongs to a device shares: its memory, its queue, and whether it is lost.
//!
//! A device runs its works one after the other, in the order in which they were submitted. Works of different devices overlap.

use crate::{
    memory::Memory,
    pool::{Pool, Task},
    work,
};
use hal_driver::{Code, Control, Error, Result, Timing, Work};
use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Instant,
};

/// Works that one call of `submit` runs on its own thread before the pool takes over. Each is small (see [`work::is_small`]), and works that
/// their `done` submits in turn come on top.
const INLINE_WORKS: u32 = 4;

pub(crate) struct DeviceState {
    pub(crate) memory: Memory,
    /// None: everything runs on the calling thread.
    pub(crate) pool: Option<Arc<Pool>>,
    /// Scratch slots: the most threads that run one dispatch.
    pub(crate) slots: u32,
    queue: Mutex<Queue>,
    lost: OnceLock<Error>,
}

#[derive(Default)]
struct Queue {
    works: VecDeque<(Instant, Work)>,
    /// Some thread runs the works, or the pool has been asked to.
    running: bool,
}

impl DeviceState {
    pub(crate) fn new(memory: Memory, pool: Option<Arc<Pool>>, slots: u32) -> Self {
        Self { memory, pool, slots, queue: Mutex::default(), lost: OnceLock::new() }
    }

    pub(crate) fn lost(&self) -> Option<Error> {
        self.lost.get().cloned()
    }

    /// Latches the loss; the first reason stands.
    pub(crate) fn lose(&self, reason: Error) {
        tracing::error!(%reason, "a cpu device is lost");
        let _ = self.lost.set(reason);
    }

    /// Fails once the device is lost.
    pub(crate) fn alive(&self) -> Result<()> {
        match self.lost.get() {
            None => Ok(()),
            Some(reason) => {
                Err(Error::new(Code::Unavailable, format!("the device is lost; open it again ({})", reason.message)))
            }
        }
    }

    /// Why work has to stop, if it has to.
    pub(crate) fn stopped(&self, control: &Control) -> Option<Error> {
        self.alive().err().or_else(|| control.stopped())
    }

    pub(crate) fn submit(self: &Arc<Self>, work: Work) {
        {
            let mut queue = self.lock();
            queue.works.push_back((Instant::now(), work));
            if queue.running {
                return;
            }
            queue.running = true;
        }
        self.go_on();
    }

    /// Gives memory back to the system; scratch too, if no work runs meanwhile.
    pub(crate) fn trim(self: &Arc<Self>) {
        let idle = !std::mem::replace(&mut self.lock().running, true);
        self.memory.trim(idle);
        if idle {
            self.go_on();
        }
    }

    /// Runs the next work on a thread of the pool. False if there is none; then whoever submits next sees to it.
    pub(crate) fn run_next(self: &Arc<Self>) -> bool {
        match self.take(|_| true) {
            Taken::Work(since, work) => {
                self.run(since, work, true);
                true
            }
            Taken::Refused | Taken::None => false,
        }
    }

    /// Clears the memory of dropped buffers where there is time for it.
    pub(crate) fn scrub_soon(self: &Arc<Self>) {
        let later = self.pool.as_ref().is_some_and(|pool| pool.push(Task::Scrub(self.clone())).is_ok());
        if !later {
            self.memory.scrub();
        }
    }

    /// Called by the one who set `running`: runs what may run here, and leaves the rest to the pool.
    fn go_on(self: &Arc<Self>) {
        let Some(pool) = &self.pool else {
            while let Taken::Work(since, work) = self.take(|_| true) {
                self.run(since, work, false);
            }
            return;
        };
        for _ in 0..INLINE_WORKS {
            match self.take(work::is_small) {
                Taken::Work(since, work) => self.run(since, work, false),
                Taken::Refused => break,
                Taken::None => return,
            }
        }
        if pool.push(Task::Work(self.clone())).is_err() {
            while let Taken::Work(_, mut work) = self.take(|_| true) {
                let done = std::mem::replace(&mut work.done, Box::new(drop));
                drop(work);
                done(Err(Error::new(Code::ResourceExhausted, "the system refuses to start a worker thread")));
            }
        }
    }

    /// The next work if `accept` says so. If there is none, `running` ends under the same lock.
    fn take(&self, accept: impl FnOnce(&Work) -> bool) -> Taken {
        let mut queue = self.lock();
        match queue.works.front() {
            None => {
                queue.running = false;
                Taken::None
            }
            Some((_, work)) if !accept(work) => Taken::Refused,
            Some(_) => queue.works.pop_front().map_or(Taken::None, |(since, work)| Taken::Work(since, work)),
        }
    }

    /// Runs one work and says how it went. No lock is held.
    fn run(self: &Arc<Self>, since: Instant, mut work: Work, shared: bool) {
        let begin = Instant::now();
        let done = std::mem::replace(&mut work.done, Box::new(drop));
        let outcome = catch_unwind(AssertUnwindSafe(|| match self.stopped(&work.control) {
            Some(reason) => Err(reason),
            None => work::run(self, &work, shared),
        }));
        let outcome = outcome.unwrap_or_else(|_| {
            let error = Error::new(Code::Internal, "the driver panicked in a work");
            self.lose(error.clone());
            Err(error)
        });
        let timing = Timing { queue: begin - since, device: Some(begin.elapsed()) };
        // Buffers go before the news does: whoever hears it may count on their memory.
        drop(work);
        let told = catch_unwind(AssertUnwindSafe(|| done(outcome.map(|()| timing))));
        if told.is_err() {
            tracing::error!("a submission's `done` panicked");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Taken {
    Work(Instant, Work),
    /// There is one, and it was not accepted.
    Refused,
    None,
}
