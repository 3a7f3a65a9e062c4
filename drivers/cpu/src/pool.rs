//! The workers that devices share.
//!
//! Devices that have work stand in one line, each at most once, and a worker takes one piece of work from the first: no device waits
//! for more than one piece of each other one. Workers with nothing else to do help with dispatches that others run, and leave at the next
//! boundary when a device stands in line.
//!
//! A kernel cannot be put aside half way. If all workers are held by kernels that do not end, while a device stands in line, one of the
//! held workers ([`Pool::relieve`]) starts a substitute: the operating system divides time among them from there. Substitutes go when
//! the line is empty.

use crate::{dispatch::Job, state::DeviceState};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How long a device stands in line before a substitute starts: several times what a piece of a dispatch takes.
const PATIENCE: Duration = Duration::from_millis(10);

/// Most substitutes: so many tenants can hold a kernel that never ends, each until its deadline, before others wait for them. Each costs
/// a stack, of which little is touched.
const SUBSTITUTES: usize = 64;

/// Something to do for a device.
pub(crate) enum Task {
    /// Run what its queue holds.
    Work(Arc<DeviceState>),
    /// Clear the memory of buffers that were dropped.
    Scrub(Arc<DeviceState>),
}

/// No thread could be started.
pub(crate) struct NoThread;

/// The owners' side. Dropping the last one ends the threads.
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    line: Mutex<Line>,
    wake: Condvar,
    workers: usize,
    /// Length of [`Line::tasks`], to be looked at without the lock.
    waiting: AtomicUsize,
    /// Length of [`Line::jobs`].
    offers: AtomicUsize,
}

#[derive(Default)]
struct Line {
    tasks: VecDeque<(Instant, Task)>,
    jobs: VecDeque<Arc<Job>>,
    threads: usize,
    /// Threads that sleep and have not been told to wake.
    idle: usize,
    /// How many are told to wake, and have not woken.
    woken: usize,
    closed: bool,
}

impl Pool {
    pub(crate) fn new(workers: u32) -> Self {
        Self(Arc::new(Shared {
            line: Mutex::default(),
            wake: Condvar::new(),
            workers: workers as usize,
            waiting: AtomicUsize::new(0),
            offers: AtomicUsize::new(0),
        }))
    }

    /// Puts a task at the end of the line. The caller sees to it that a device stands there once for its work.
    pub(crate) fn push(&self, task: Task) -> Result<(), NoThread> {
        let mut line = self.0.lock();
        if !self.0.rouse(&mut line) && line.threads == 0 {
            return Err(NoThread);
        }
        self.0.push(&mut line, task);
        Ok(())
    }

    /// Offers a job with so many workgroups left to whoever is free.
    pub(crate) fn offer(&self, job: &Arc<Job>, groups: u64) {
        let mut line = self.0.lock();
        line.jobs.push_back(job.clone());
        self.0.offers.store(line.jobs.len(), Ordering::Relaxed);
        for _ in 1..groups.min(self.0.workers as u64) {
            if !self.0.rouse(&mut line) {
                break;
            }
        }
    }

    /// Takes an offer back: nobody joins afterwards.
    pub(crate) fn withdraw(&self, job: &Arc<Job>) {
        let mut line = self.0.lock();
        line.jobs.retain(|other| !Arc::ptr_eq(other, job));
        self.0.offers.store(line.jobs.len(), Ordering::Relaxed);
    }

    /// Called by workers that are held, between slices of work.
    pub(crate) fn relieve(&self) {
        if self.0.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut line = self.0.lock();
        let late = line.tasks.front().is_some_and(|(since, _)| since.elapsed() > PATIENCE);
        if late && line.idle == 0 && line.woken == 0 && line.threads < self.0.workers + SUBSTITUTES {
            self.0.spawn(&mut line);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.wake.notify_all();
    }
}

impl Shared {
    fn push(&self, line: &mut Line, task: Task) {
        line.tasks.push_back((Instant::now(), task));
        self.waiting.store(line.tasks.len(), Ordering::Relaxed);
    }

    /// Wakes or starts one thread. False if all there may be are awake.
    fn rouse(self: &Arc<Self>, line: &mut Line) -> bool {
        if line.idle > 0 {
            line.idle -= 1;
            line.woken += 1;
            self.wake.notify_one();
            return true;
        }
        line.threads < self.workers && self.spawn(line)
    }

    fn spawn(self: &Arc<Self>, line: &mut Line) -> bool {
        let shared = self.clone();
        let thread = thread::Builder::new().name("hal-cpu".into()).spawn(move || shared.serve());
        if let Err(error) = &thread {
            tracing::warn!(%error, "cannot start a worker thread of the cpu driver");
            return false;
        }
        line.threads += 1;
        true
    }

    fn serve(self: &Arc<Self>) {
        while let Some(next) = self.next() {
            match next {
                Next::Task(Task::Scrub(state)) => state.memory.scrub(),
                Next::Task(Task::Work(state)) => self.work(state),
                Next::Job(job, slot) => job.help(slot, || {
                    // Where two jobs are offered, change between them.
                    self.waiting.load(Ordering::Relaxed) == 0 && self.offers.load(Ordering::Relaxed) < 2
                }),
            }
        }
    }

    fn work(&self, state: Arc<DeviceState>) {
        while state.run_next() {
            let mut line = self.lock();
            if !line.tasks.is_empty() {
                return self.push(&mut line, Task::Work(state));
            }
        }
    }

    /// What to do next, as soon as there is something. None: the thread ends.
    fn next(&self) -> Option<Next> {
        let mut line = self.lock();
        loop {
            if let Some((_, task)) = line.tasks.pop_front() {
                self.waiting.store(line.tasks.len(), Ordering::Relaxed);
                return Some(Next::Task(task));
            }
            if let Some((job, slot)) = line.join() {
                return Some(Next::Job(job, slot));
            }
            self.offers.store(line.jobs.len(), Ordering::Relaxed);
            if line.closed || line.threads > self.workers {
                line.threads -= 1;
                return None;
            }
            line.idle += 1;
            while line.woken == 0 && !line.closed {
                line = self.wake.wait(line).unwrap_or_else(PoisonError::into_inner);
            }
            if line.woken > 0 {
                line.woken -= 1;
            } else {
                line.idle -= 1;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Next {
    Task(Task),
    Job(Arc<Job>, u32),
}

impl Line {
    /// Joins the job that waited longest and has room; forgets those that need nobody.
    fn join(&mut self) -> Option<(Arc<Job>, u32)> {
        for _ in 0..self.jobs.len() {
            let job = self.jobs.pop_front()?;
            let slot = job.join();
            // A job without room is kept: a helper may leave it later.
            if job.has_more() {
                self.jobs.push_back(job.clone());
            }
            if let Some(slot) = slot {
                return Some((job, slot));
            }
        }
        None
    }
}
