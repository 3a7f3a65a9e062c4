//! Threads for what may block: listing, opening, compiling, some allocations and reads.
//!
//! Jobs wait in lanes, one for each session, and lanes take turns, so a session with a long queue delays another one by at most the
//! jobs that run already. A job is never interrupted: whoever waited for it may leave, it runs to its end, and what it
//! was charged stays charged until then.

use crate::error::{Error, Result, internal, unavailable};
use std::{
    collections::{HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Most calls that wait in one lane. A guest waits for each of its calls, so only calls that were given up pile up.
const MAX_CALLS_PER_LANE: usize = 64;

/// After this long without work a thread goes.
const IDLE: Duration = Duration::from_secs(10);

struct Job {
    work: Box<dyn FnOnce() + Send>,
    /// Whether somebody waits, or waited, for it: such jobs are bounded here, others by whoever queues them.
    call: bool,
}

/// A bounded pool of threads, fair among sessions. Threads come when there is work and go when there is none.
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

struct Shared {
    most: usize,
    /// Most jobs of one lane that run at once: a quarter, so that it takes several sessions whose jobs hang to stop the others. One
    /// session rarely has two: a guest makes one call at a time.
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
    /// Those of `jobs` that are calls.
    calls: usize,
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
        let most_per_lane = most.div_ceil(4);
        Self(Arc::new(Shared { most, most_per_lane, state: Mutex::default(), work: Condvar::new() }))
    }

    /// Queues a job that nobody waits for. How many there may be is the caller's business: each is charged for.
    ///
    /// # Errors
    /// `unavailable` if no thread can be had; the job is dropped then.
    pub(crate) fn spawn(&self, lane: u64, work: impl FnOnce() + Send + 'static) -> Result<()> {
        self.queue(lane, Job { work: Box::new(work), call: false })
    }

    fn queue(&self, lane: u64, job: Job) -> Result<()> {
        let mut state = self.0.lock();
        let queue = state.lanes.entry(lane).or_default();
        if job.call && queue.calls >= MAX_CALLS_PER_LANE {
            drop(state);
            return Err(unavailable("too many calls that were given up are still being worked on; try again later"));
        }
        queue.calls += usize::from(job.call);
        queue.jobs.push_back(job);
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
                return self.0.thread_refused();
            }
        }
        Ok(())
    }

    /// Runs a job and waits for its outcome. A panic in it is `internal`.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        lane: u64,
        what: &'static str,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        let work = move || {
            let outcome = guarded(what, job);
            // Nobody may be waiting any more.
            let _ = sender.send(outcome);
        };
        self.queue(lane, Job { work: Box::new(work), call: true })?;
        receiver.await.unwrap_or_else(|_| Err(no_thread()))
    }
}

/// Why a job may be dropped before it ran.
pub(crate) fn no_thread() -> Error {
    unavailable("the host cannot start a thread now; try again later")
}

/// Calls into a driver. A panic there is `internal`, and does not unwind through whoever called.
pub(crate) fn guarded<T>(what: &'static str, call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        tracing::error!(what, "a driver panicked");
        Err(internal(format!("the driver panicked during {what}; this is a bug in the driver")))
    })
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

    /// The system gave no thread. Others will get to what is queued; without any there is nobody, and it is dropped.
    fn thread_refused(&self) -> Result<()> {
        let mut state = self.lock();
        state.threads -= 1;
        if state.threads > 0 {
            return Ok(());
        }
        state.turns.clear();
        let dropped = std::mem::take(&mut state.lanes);
        // A job that is dropped ends what it was for, which may queue another one: not under the lock.
        drop(state);
        drop(dropped);
        Err(no_thread())
    }

    fn run(&self) {
        let mut state = self.lock();
        loop {
            if let Some((lane, job)) = state.next(self.most_per_lane) {
                drop(state);
                // What matters was caught inside; this keeps the thread and the count of running jobs.
                let _ = catch_unwind(AssertUnwindSafe(job.work));
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
        lane.calls -= usize::from(job.call);
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
        assert_eq!(pool.run(1, "adding", || Ok(1 + 1)).await, Ok(2));
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        let error = pool.run::<()>(1, "failing", || panic!("on purpose")).await.unwrap_err();
        std::panic::set_hook(quiet);
        assert_eq!(error.code, hal_driver::Code::Internal);
        assert_eq!(pool.run(1, "adding", || Ok(3)).await, Ok(3), "the thread lives on");
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
        assert_eq!(timeout_at(until, pool.run(1, "waiting", job)).await, Ok(None));
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
    fn one_lane_cannot_take_every_thread_and_its_calls_end() {
        let pool = Pool::new(8);
        let (go, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let running = Arc::new(AtomicUsize::new(0));
        for _ in 0..9 {
            let (gate, running) = (gate.clone(), running.clone());
            pool.spawn(1, move || {
                running.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let _ = gate.lock().unwrap().recv();
            })
            .unwrap();
        }
        let (told, finished) = mpsc::channel();
        let other = told.clone();
        pool.spawn(2, move || other.send(()).unwrap()).unwrap();
        finished.recv_timeout(Duration::from_secs(10)).unwrap();
        assert!(running.load(std::sync::atomic::Ordering::SeqCst) <= 2);
        let call = || pool.queue(1, Job { work: Box::new(|| ()), call: true });
        assert!((0..MAX_CALLS_PER_LANE).all(|_| call().is_ok()) && call().is_err());
        // What is charged for elsewhere is not counted here.
        for _ in 0..4 * MAX_CALLS_PER_LANE {
            let told = told.clone();
            pool.spawn(1, move || told.send(()).unwrap()).unwrap();
        }
        drop(go);
        for _ in 0..4 * MAX_CALLS_PER_LANE {
            finished.recv_timeout(Duration::from_secs(10)).unwrap();
        }
        while call().is_err() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn without_threads_everything_is_dropped_and_not_under_the_lock() {
        struct Queues(Pool, mpsc::Sender<()>);
        impl Drop for Queues {
            fn drop(&mut self) {
                let told = self.1.clone();
                self.0.spawn(3, move || told.send(()).unwrap()).unwrap();
            }
        }
        let pool = Pool::new(1);
        let (told, finished) = mpsc::channel();
        let mut state = pool.0.lock();
        state.threads = 1;
        for lane in [1, 2] {
            let queues = Queues(pool.clone(), told.clone());
            let work = Box::new(move || drop(queues));
            state.lanes.entry(lane).or_default().jobs.push_back(Job { work, call: false });
            state.offer(lane, 1);
        }
        drop(state);
        assert_eq!(pool.0.thread_refused().unwrap_err().code, hal_driver::Code::Unavailable);
        for _ in 0..2 {
            finished.recv_timeout(Duration::from_secs(10)).unwrap();
        }
    }
}
