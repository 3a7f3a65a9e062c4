//! What a device's handles share with the thread that alone talks to the native device.
//!
//! Native calls can block for as long as the device is busy, for ever if it hangs, so all of them are made on one thread for each
//! device, and nobody else waits for it without a bound. Handles put items into a queue; when the last handle is gone, the thread
//! works the rest off, lets go of the native device and ends. A thread that does not come back keeps what it holds: that is the graveyard
//! of a hung device.

use crate::{adapter::Adapter, native::Native, store::Store, watch};
use hal_driver::{Code, Done, Error, Result, Timing, Work};
use std::{
    collections::VecDeque,
    mem::ManuallyDrop,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

/// What is waited for, and so how long without progress until the device counts as hung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// A piece of work, which is stopped after eight seconds. One that hangs may keep all of its adapter.
    Work,
    /// A native compiler, which nothing can stop. It keeps a processor busy and nothing else.
    Compile,
}

impl Patience {
    /// Machines are busy.
    fn time(self) -> Duration {
        match self {
            Self::Work if cfg!(test) => Duration::from_secs(3),
            Self::Work => Duration::from_secs(30),
            Self::Compile => Duration::from_secs(120),
        }
    }
}

/// How often those who wait for the thread look whether the device was lost meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// A job for the thread.
pub(crate) type Job = Box<dyn FnOnce(&mut Native) + Send>;

/// What the thread does next.
pub(crate) enum Item {
    /// Answers somebody, or has nobody to answer.
    Job(Job),
    /// Since when it waits.
    Work(Instant, Work),
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    /// No handle is left.
    closed: bool,
}

/// What the thread does now.
struct Activity {
    /// When it counts as hung, unless there is progress.
    overdue: Instant,
    patience: Patience,
    /// Who is told, if it is work.
    dones: Vec<Done>,
}

/// Shared by the handles and the thread.
pub(crate) struct State {
    pub(crate) adapter: Adapter,
    /// Where its pipelines are kept, if they are.
    pub(crate) store: Option<Store>,
    lost: OnceLock<Error>,
    queue: Mutex<Queue>,
    more: Condvar,
    activity: Mutex<Option<Activity>>,
    /// Whether it counts among its adapter's hung devices.
    wedged: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    pub(crate) fn new(adapter: Adapter, store: Option<Store>) -> Arc<Self> {
        Arc::new(Self {
            adapter,
            store,
            lost: OnceLock::new(),
            queue: Mutex::default(),
            more: Condvar::new(),
            activity: Mutex::default(),
            wedged: AtomicBool::new(false),
        })
    }

    /// Why the device is lost.
    pub(crate) fn lost(&self) -> Option<Error> {
        self.lost.get().cloned()
    }

    /// What work is told that does not run, or not to its end, because the device is lost.
    pub(crate) fn loss(&self) -> Error {
        self.lost().unwrap_or_else(|| Error::new(Code::Unavailable, "the device is gone"))
    }

    /// Fails once the device is lost.
    pub(crate) fn alive(&self) -> Result<()> {
        self.lost().map_or(Ok(()), Err)
    }

    /// Gives the device up, for good. The first reason stands.
    pub(crate) fn lose(&self, reason: &str) {
        let error = Error::new(Code::Unavailable, reason);
        if self.lost.set(error).is_ok() {
            tracing::warn!(device = %self.adapter.info.path, reason, "a native device is lost");
        }
    }

    pub(crate) fn push(&self, item: Item) {
        lock(&self.queue).items.push_back(item);
        self.more.notify_one();
    }

    /// The last handle is gone.
    pub(crate) fn close(&self) {
        lock(&self.queue).closed = true;
        self.more.notify_one();
    }

    /// The next item; none when there will be no more. Waits.
    pub(crate) fn next(&self) -> Option<Item> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(item) = queue.items.pop_front() {
                return Some(item);
            }
            if queue.closed {
                return None;
            }
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next item, if it is there and a work that fits.
    pub(crate) fn next_work_if(&self, fits: impl FnOnce(&Work) -> bool) -> Option<(Instant, Work)> {
        let mut queue = lock(&self.queue);
        match queue.items.front() {
            Some(Item::Work(_, work)) if fits(work) => {}
            _ => return None,
        }
        match queue.items.pop_front()? {
            Item::Work(since, work) => Some((since, work)),
            Item::Job(_) => None,
        }
    }

    /// The thread begins something.
    pub(crate) fn begin(self: &Arc<Self>, patience: Patience) {
        let overdue = Instant::now() + patience.time();
        *lock(&self.activity) = Some(Activity { overdue, patience, dones: Vec::new() });
        watch::look_after(self);
    }

    /// A work is part of what it does. Gives back who is to be told, if it was given up meanwhile.
    pub(crate) fn join(&self, done: Done) -> Option<Done> {
        match &mut *lock(&self.activity) {
            Some(activity) => activity.dones.push(done),
            None => return Some(done),
        }
        None
    }

    /// It has made progress.
    pub(crate) fn renew(&self, patience: Patience) {
        if let Some(activity) = &mut *lock(&self.activity) {
            activity.overdue = Instant::now() + patience.time();
            activity.patience = patience;
        }
    }

    /// It has ended. Answers who is to be told, in order, unless they have been told that it hangs; in that case it has come back.
    pub(crate) fn end(&self) -> Vec<Done> {
        let activity = lock(&self.activity).take();
        if activity.is_none() {
            tracing::warn!(device = %self.adapter.info.path, "a device that was given up has come back");
            if self.wedged.swap(false, Ordering::AcqRel) {
                self.adapter.unwedge();
            }
        }
        activity.map(|activity| activity.dones).unwrap_or_default()
    }

    /// Whether the thread does something.
    pub(crate) fn is_busy(&self) -> bool {
        lock(&self.activity).is_some()
    }

    /// Gives up on a thread that should have come back: the device is lost, and everybody who waits for it is told.
    pub(crate) fn check_overdue(&self) {
        let activity = {
            let mut activity = lock(&self.activity);
            let Some(overdue) = activity.take_if(|activity| Instant::now() >= activity.overdue) else { return };
            // Under the lock: whoever finds it gone finds this too.
            if overdue.patience == Patience::Work {
                self.wedged.store(true, Ordering::Release);
                self.adapter.wedge();
            }
            self.lose("it did not come back from its work in time");
            overdue
        };
        for done in activity.dones {
            let text = "the device did not come back from the submission in time and is given up; open another one";
            tell(done, Err(Error::new(Code::DeadlineExceeded, text)));
        }
        self.refuse_rest();
    }

    /// Ends every work that is queued, the device being lost. Jobs stay: they hold what only the thread may drop. Whoever
    /// asked for one looks at the loss, as the host does for transfers.
    pub(crate) fn refuse_rest(&self) {
        let error = self.loss();
        let mut works = Vec::new();
        {
            let mut queue = lock(&self.queue);
            for item in std::mem::take(&mut queue.items) {
                match item {
                    Item::Job(job) => queue.items.push_back(Item::Job(job)),
                    Item::Work(_, work) => works.push(work),
                }
            }
        }
        for mut work in works {
            let done = take_done(&mut work);
            drop(work);
            tell(done, Err(error.clone()));
        }
    }

    /// Has the thread run a job, and waits for its answer, as long as the device is not lost.
    ///
    /// # Errors
    /// The job's; the loss.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Native) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.alive()?;
        let (sender, answer) = mpsc::sync_channel(1);
        self.push(Item::Job(Box::new(move |native| {
            // Whoever asked may have given up.
            let _ = sender.send(job(native));
        })));
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(mpsc::RecvTimeoutError::Timeout) => self.alive()?,
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    self.alive()?;
                    return Err(Error::new(Code::Internal, "the driver dropped a job"));
                }
            }
        }
    }
}

/// Who is to be told how a work went, once it is dropped.
pub(crate) fn take_done(work: &mut Work) -> Done {
    std::mem::replace(&mut work.done, Box::new(drop))
}

/// Says how a work went. A panic of whoever listens must not take our threads with it.
pub(crate) fn tell(done: Done, outcome: Result<Timing>) {
    if catch_unwind(AssertUnwindSafe(|| done(outcome))).is_err() {
        tracing::error!("a submission's `done` panicked");
    }
}

/// A native object that only the device's thread may drop: dropping can wait for the device.
pub(crate) struct OnThread<T: Send + 'static> {
    /// There until it is dropped.
    native: ManuallyDrop<T>,
    state: Arc<State>,
}

impl<T: Send + 'static> OnThread<T> {
    pub(crate) fn new(state: &Arc<State>, native: T) -> Self {
        Self { native: ManuallyDrop::new(native), state: state.clone() }
    }
}

impl<T: Send + 'static> std::ops::Deref for OnThread<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.native
    }
}

impl<T: Send + 'static> Drop for OnThread<T> {
    fn drop(&mut self) {
        // SAFETY: taken once, here; nothing of `self` is used afterwards.
        let native = unsafe { ManuallyDrop::take(&mut self.native) };
        self.state.push(Item::Job(Box::new(move |_| drop(native))));
    }
}
