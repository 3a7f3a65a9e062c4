//! Threads for what may block: listing, opening, compiling, some allocations and reads.
//!
//! Jobs wait in lanes, one for each session, and lanes take turns, so a session with a long queue delays another one by at most the
//! jobs that run already. A job is never interrupted: whoever waited for it may leave, it runs to its end, and what it
//! was charged stays charged until then.

use crate::error::{Error, Result, deadline, internal, unavailable};
use std::{
    collections::{HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Most jobs that wait in one lane. A guest waits for each of its calls, so only calls that were given up pile up.
const MAX_QUEUED_PER_LANE: usize = 64;

/// After this long without work a thread goes.
const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// A bounded pool of threads, fair among sessions. Threads come when there is work and go when there is none.
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

struct Shared {
    most: usize,
    /// Most jobs of one lane that run at once: one below all, so that a session whose jobs hang does not stop the others.
    most_per_lane: usize,
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    lanes: HashMap<u64, Lane>,
    /// Lanes with a job that may start, in the order of their turns.
    turns: VecDeque<u64>,
    threads: usize,
    /// Threads that sleep and have not been told to wake.
    idle: usize,
    /// Threads that sleep and have been told to wake.
    called: usize,
}

#[derive(Default)]
struct Lane {
    jobs: VecDeque<Job>,
    running: usize,
    /// Whether it stands in `turns`.
    waiting: bool,
}

impl Default for Pool {
    /// Four threads a core, at least 8 and at most 64: most of what runs here waits for something.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self::new((4 * cores).clamp(8, 64))
    }
}

impl Pool {
    /// A pool of at most this many threads, and at least one.
    pub fn new(threads: usize) -> Self {
        let most = threads.max(1);
        let most_per_lane = most.saturating_sub(1).max(1);
        Self(Arc::new(Shared { most, most_per_lane, state: Mutex::default(), work: Condvar::new() }))
    }

    /// Queues a job.
    ///
    /// # Errors
    /// `unavailable` if the lane is full or no thread can be had; the job is dropped then.
    pub(crate) fn spawn(&self, lane: u64, job: impl FnOnce() + Send + 'static) -> Result<()> {
        let mut state = self.0.lock();
        let queue = state.lanes.entry(lane).or_default();
        if queue.jobs.len() >= MAX_QUEUED_PER_LANE {
            return Err(unavailable("too many calls that were given up are still being worked on; try again later"));
        }
        queue.jobs.push_back(Box::new(job));
        state.offer(lane, self.0.most_per_lane);
        if state.idle > 0 {
            state.idle -= 1;
            state.called += 1;
            self.0.work.notify_one();
            return Ok(());
        }
        if state.threads < self.0.most {
            state.threads += 1;
            drop(state);
            let shared = self.0.clone();
            if std::thread::Builder::new().name("hal-blocking".into()).spawn(move || shared.run()).is_err() {
                let mut state = self.0.lock();
                state.threads -= 1;
                // Others will get to it; without any there is nobody.
                if state.threads == 0 {
                    state.lanes.remove(&lane);
                    return Err(unavailable("the host cannot start a thread now; try again later"));
                }
            }
        }
        Ok(())
    }

    /// Runs a job and waits for its outcome, at most until `until`. A panic in it is `internal`.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        lane: u64,
        until: Option<Instant>,
        what: &'static str,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        self.spawn(lane, move || {
            let outcome = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|_| Err(panicked(what)));
            // Nobody may be waiting any more.
            let _ = sender.send(outcome);
        })?;
        let received = match until {
            None => receiver.await,
            Some(until) => match timeout_at(until, receiver).await? {
                Some(received) => received,
                None => return Err(deadline(format!("{what} took too long; it goes on by itself"))),
            },
        };
        received.unwrap_or_else(|_| Err(internal(format!("{what} was dropped before it ran"))))
    }
}

fn panicked(what: &'static str) -> Error {
    internal(format!("the driver panicked during {what}; this is a bug in the driver"))
}

/// None when the time is up before the future is.
///
/// # Errors
/// `internal` outside of a tokio runtime, where tokio's timer would panic.
pub(crate) async fn timeout_at<F: Future>(until: Instant, future: F) -> Result<Option<F::Output>> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(internal("waiting needs a tokio runtime with its timer enabled"));
    }
    Ok(tokio::time::timeout_at(until.into(), future).await.ok())
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        loop {
            if let Some((lane, job)) = state.next(self.most_per_lane) {
                drop(state);
                // What matters was caught inside; this keeps the thread and the count of running jobs.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
                state.finished(lane, self.most_per_lane);
                continue;
            }
            state.idle += 1;
            let (next, timeout) = self.work.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = next;
            // Whoever wakes first answers the call.
            if state.called > 0 {
                state.called -= 1;
                continue;
            }
            state.idle -= 1;
            if timeout.timed_out() && state.turns.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}

impl State {
    /// Puts a lane into the order of turns if it has a job that may start.
    fn offer(&mut self, id: u64, most: usize) {
        if let Some(lane) = self.lanes.get_mut(&id)
            && !lane.waiting
            && !lane.jobs.is_empty()
            && lane.running < most
        {
            lane.waiting = true;
            self.turns.push_back(id);
        }
    }

    fn next(&mut self, most: usize) -> Option<(u64, Job)> {
        let id = self.turns.pop_front()?;
        let lane = self.lanes.get_mut(&id)?;
        lane.waiting = false;
        let job = lane.jobs.pop_front()?;
        lane.running += 1;
        self.offer(id, most);
        Some((id, job))
    }

    fn finished(&mut self, id: u64, most: usize) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.running -= 1;
            if lane.running == 0 && lane.jobs.is_empty() {
                self.lanes.remove(&id);
                return;
            }
        }
        self.offer(id, most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{atomic::AtomicUsize, mpsc};

    #[tokio::test]
    async fn a_job_answers_and_a_panic_is_a_value() {
        let pool = Pool::new(1);
        assert_eq!(pool.run(1, None, "adding", || Ok(1 + 1)).await, Ok(2));
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        let error = pool.run::<()>(1, None, "failing", || panic!("on purpose")).await.unwrap_err();
        std::panic::set_hook(quiet);
        assert_eq!(error.code, hal_driver::Code::Internal);
        assert_eq!(pool.run(1, None, "adding", || Ok(3)).await, Ok(3), "the thread lives on");
    }

    #[tokio::test]
    async fn a_wait_ends_and_the_job_goes_on() {
        let pool = Pool::new(2);
        let (go, gate) = mpsc::channel::<()>();
        let (told, finished) = mpsc::channel();
        let until = Instant::now() + Duration::from_millis(20);
        let job = move || {
            gate.recv().unwrap();
            told.send(()).unwrap();
            Ok(())
        };
        let error = pool.run(1, Some(until), "waiting", job).await.unwrap_err();
        assert_eq!(error.code, hal_driver::Code::DeadlineExceeded);
        go.send(()).unwrap();
        finished.recv_timeout(Duration::from_secs(10)).unwrap();
    }

    #[test]
    fn lanes_take_turns() {
        let pool = Pool::new(1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let (go, gate) = mpsc::channel::<()>();
        pool.spawn(0, move || gate.recv().unwrap()).unwrap();
        let (told, finished) = mpsc::channel();
        for (lane, times) in [(1, 4), (2, 2)] {
            for _ in 0..times {
                let (order, told) = (order.clone(), told.clone());
                pool.spawn(lane, move || {
                    order.lock().unwrap().push(lane);
                    told.send(()).unwrap();
                })
                .unwrap();
            }
        }
        go.send(()).unwrap();
        for _ in 0..6 {
            finished.recv_timeout(Duration::from_secs(10)).unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [1, 2, 1, 2, 1, 1]);
    }

    #[test]
    fn one_lane_cannot_take_every_thread_and_its_queue_ends() {
        let pool = Pool::new(3);
        let (go, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let running = Arc::new(AtomicUsize::new(0));
        for _ in 0..4 {
            let (gate, running) = (gate.clone(), running.clone());
            pool.spawn(1, move || {
                running.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let _ = gate.lock().unwrap().recv();
            })
            .unwrap();
        }
        let (told, finished) = mpsc::channel();
        pool.spawn(2, move || told.send(()).unwrap()).unwrap();
        finished.recv_timeout(Duration::from_secs(10)).unwrap();
        assert!(running.load(std::sync::atomic::Ordering::SeqCst) <= 2);
        let mut full = false;
        for _ in 0..=MAX_QUEUED_PER_LANE {
            full |= pool.spawn(1, || ()).is_err();
        }
        assert!(full);
        drop(go);
    }
}
