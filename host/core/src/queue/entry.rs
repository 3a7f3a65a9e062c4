//! A submission, from the call that made it to its end.

use super::{
    QueueId, Range, Timeline, Waiter,
    timeline::{Place, Registered},
    trampoline::{Collect, Task, schedule},
};
use crate::{
    budget::Charge,
    error::{Error, Result, internal},
    object::{BufferShared, DeviceShared, Memory, Storage},
    policy::Limit,
    pool::{guarded, no_thread},
};
use hal_driver::{BufferParams, BufferView, Code, Command, Control, Executable, Timing, Work};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Timelines and the values they are raised to.
pub(crate) type Signals = Vec<(Arc<Timeline>, u64)>;

/// A range of a buffer, as a table holds it.
pub(crate) struct View {
    pub(crate) buffer: Arc<BufferShared>,
    /// Start inside the buffer.
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// What is done once the waits are met.
pub(crate) enum Action {
    /// Nothing: a queue barrier.
    Barrier,
    /// Commands run.
    Work { commands: Arc<[Command]>, executables: Arc<[Arc<dyn Executable>]> },
    /// A transient buffer gets its memory.
    Alloca { storage: Arc<Storage>, params: BufferParams },
    /// A transient buffer loses its memory.
    Dealloca { storage: Arc<Storage> },
}

/// A submission before it is queued.
pub(crate) struct Job {
    pub(crate) action: Action,
    pub(crate) rest: Rest,
}

/// What a submission holds until it has ended.
#[derive(Default)]
pub(crate) struct Rest {
    pub(crate) signals: Signals,
    /// Allocations and the ranges of them that are in use.
    pub(crate) uses: Vec<(Arc<Storage>, Arc<[Range]>)>,
    /// The table of buffers.
    pub(crate) buffers: Arc<[Arc<BufferShared>]>,
    /// What fills the slots.
    pub(crate) slots: Vec<View>,
    /// Kept alive.
    pub(crate) keep: Vec<Arc<dyn Any + Send + Sync>>,
    /// Memory of transient buffers, which a release does not take from under running work.
    pub(crate) memory: Vec<Arc<Memory>>,
    pub(crate) charges: Vec<Charge>,
    /// Under which its times are kept.
    pub(crate) tag: Option<u64>,
}

enum Phase {
    Waiting(Box<Job>),
    Running(Arc<Control>),
    Ended,
}

/// A submission in the queue.
///
/// It starts when each of its waits is met or, if it is work for a queue that keeps its order, promised: what meets it is in the same
/// queue before it. Its time begins when all are met. If one fails after all, it fails too, though its driver may have to be told to leave it, so that
/// its signals only fail when the driver comes to it.
pub(crate) struct Entry {
    id: u64,
    device: Arc<DeviceShared>,
    /// The queue whose order may stand for its waits.
    queue: Option<QueueId>,
    /// Waits that keep it from starting, and one for the call that still counts them.
    hindering: AtomicUsize,
    /// Waits that are not met, and one for the call.
    unmet: AtomicUsize,
    /// Of a wait, if one failed.
    failure: OnceLock<Arc<Error>>,
    phase: Mutex<Phase>,
    /// Where it stands in timelines, to be taken off if it ends early.
    places: Mutex<Vec<(Arc<Timeline>, Place)>>,
}

/// Queues a job: it runs when every wait is met.
pub(crate) fn enqueue(device: &Arc<DeviceShared>, waits: Signals, job: Job) {
    static IDS: AtomicU64 = AtomicU64::new(0);
    let id = IDS.fetch_add(1, Ordering::Relaxed);
    job.rest.uses.iter().for_each(|(storage, ranges)| storage.uses.add(id, ranges, &job.rest.signals));
    let entry = Arc::new(Entry {
        id,
        device: device.clone(),
        // All else is done by the host itself, and has to wait for the end of what was before.
        queue: device.queue().filter(|_| matches!(job.action, Action::Work { .. })),
        hindering: AtomicUsize::new(waits.len() + 1),
        unmet: AtomicUsize::new(waits.len() + 1),
        failure: OnceLock::new(),
        phase: Mutex::new(Phase::Waiting(Box::new(job))),
        places: Mutex::default(),
    });
    device.tenant.meter.submissions.add(1);
    device.add_entry(id, &entry);
    let mut places = Vec::new();
    for (timeline, value) in waits {
        match timeline.register(value, Waiter::Entry(entry.clone())) {
            // Never the last one: the call's own is still counted.
            Registered::Met => entry.wait_over(Ok(()), false),
            Registered::Failed(error) => {
                entry.give_up(&error);
                break;
            }
            Registered::Pending(place) => places.push((timeline, place)),
            Registered::Promised(place) => {
                entry.wait_promised();
                places.push((timeline, place));
            }
        }
    }
    *entry.lock_places() = places;
    // It may have been given up while the places were gathered, and then nobody else takes them off.
    if matches!(*entry.lock(), Phase::Ended) {
        entry.forget_places();
    }
    entry.wait_over(Ok(()), false);
}

impl Entry {
    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_places(&self) -> MutexGuard<'_, Vec<(Arc<Timeline>, Place)>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget_places(&self) {
        let places = std::mem::take(&mut *self.lock_places());
        places.iter().for_each(|(timeline, place)| timeline.forget(*place));
    }

    /// The queue whose order may stand for its waits.
    pub(super) fn queue(&self) -> Option<QueueId> {
        self.queue
    }

    /// One of its waits is over. `promised`: it has been told of that one.
    pub(super) fn wait_over(self: &Arc<Self>, outcome: Result<(), &Arc<Error>>, promised: bool) {
        if let Err(error) = outcome {
            self.failure.get_or_init(|| error.clone());
            // At once: its driver may be about to begin it.
            self.stop_running(error);
            return schedule(Task::Fail(self.clone(), error.clone()));
        }
        if self.unmet.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(control) = self.running()
        {
            control.begin();
        }
        if !promised {
            self.wait_promised();
        }
    }

    /// One of its waits will be over before its turn comes in its queue.
    pub(super) fn wait_promised(self: &Arc<Self>) {
        if self.hindering.fetch_sub(1, Ordering::AcqRel) == 1 {
            schedule(Task::Start(self.clone()));
        }
    }

    /// Whether some of its waits are not met.
    fn is_early(&self) -> bool {
        self.unmet.load(Ordering::Acquire) > 0
    }

    /// Takes the job, if it still waits.
    fn take(&self, next: Phase) -> Option<Job> {
        let mut phase = self.lock();
        match std::mem::replace(&mut *phase, next) {
            Phase::Waiting(job) => Some(*job),
            other => {
                *phase = other;
                None
            }
        }
    }

    /// Ends it with an error, if it still waits.
    pub(crate) fn give_up(self: &Arc<Self>, error: &Error) {
        if let Some(Job { action, rest }) = self.take(Phase::Ended) {
            self.forget_places();
            match &action {
                Action::Alloca { storage, .. } => storage.failed(error),
                Action::Dealloca { storage } => storage.kept(),
                Action::Barrier | Action::Work { .. } => (),
            }
            // Before the news, here and below: whoever hears it finds what it cost given back.
            drop(action);
            self.end(rest, Err(error.clone()));
        }
    }

    /// Ends it with an error if it still waits, and tells it to stop if it runs.
    pub(crate) fn stop(self: &Arc<Self>, error: &Error) {
        self.give_up(error);
        self.stop_running(error);
    }

    /// The same, but lets it run if its waits are met.
    pub(crate) fn cancel(self: &Arc<Self>, error: &Error) {
        if self.is_early() { self.stop(error) } else { self.give_up(error) }
    }

    fn stop_running(&self, error: &Error) {
        if let Some(control) = self.running() {
            control.stop(error.into());
        }
    }

    fn running(&self) -> Option<Arc<Control>> {
        match &*self.lock() {
            Phase::Running(control) => Some(control.clone()),
            Phase::Waiting(_) | Phase::Ended => None,
        }
    }

    /// Runs it, its waits being met or promised.
    pub(super) fn start(self: Arc<Self>) {
        let time = Duration::from_nanos(self.device.node.allowed(Limit::SubmissionTimeNs));
        let control = Arc::new(Control::waiting(time));
        let Some(Job { action, rest }) = self.take(Phase::Running(control.clone())) else { return };
        // Whoever meets the last wait from here on finds the control.
        if !self.is_early() {
            control.begin();
            self.lock_places().clear();
        }
        let promises = self.queue.map(|queue| (queue, rest.signals.clone()));
        let alive = self.device.ready();
        let mut finish = Finish { entry: self.clone(), rest: Some(rest), pending: None };
        match action {
            Action::Barrier => finish.end(alive.map(|()| Timing::default())),
            Action::Work { commands, executables } => match alive.and_then(|()| finish.views()) {
                Ok((buffers, slots)) => {
                    let control_at_end = control.clone();
                    let done = Box::new(move |outcome: hal_driver::Result<Timing>| {
                        finish.end(outcome.map_err(|error| late(error.into(), &control_at_end, time)));
                    });
                    let work = Work { commands, buffers, slots, executables, control, done };
                    // A panic would unwind through whoever made the work ready, perhaps another driver's thread. The work, dropped
                    // on the way, has ended by then.
                    let submit = AssertUnwindSafe(|| self.device.native.submit(work));
                    if catch_unwind(submit).is_err() {
                        tracing::error!(device = %self.device.info.path, "the driver panicked in submit");
                    }
                    // What waits for it may follow it now.
                    if let Some((queue, signals)) = promises {
                        signals.iter().for_each(|(timeline, value)| timeline.promise(*value, queue));
                    }
                }
                Err(error) => {
                    drop((commands, executables));
                    finish.end(Err(error));
                }
            },
            Action::Alloca { storage, params } => match alive {
                Ok(()) => self.alloca(storage, params, finish),
                Err(error) => {
                    storage.failed(&error);
                    drop(storage);
                    finish.end(Err(error));
                }
            },
            Action::Dealloca { storage } => {
                let released = alive.and_then(|()| storage.release());
                if released.is_err() {
                    storage.kept();
                }
                drop(storage);
                finish.end(released.map(|()| Timing::default()));
            }
        }
    }

    fn alloca(&self, storage: Arc<Storage>, params: BufferParams, mut finish: Finish) {
        let device = self.device.clone();
        finish.pending = Some(storage.clone());
        let allocate = move || {
            let native = || device.native.allocate(&params, storage.size).map_err(Error::from);
            let outcome = guarded("an allocation", native);
            finish.pending = None;
            let committed =
                outcome.and_then(|native| storage.commit(native)).inspect_err(|error| storage.failed(error));
            drop((storage, device));
            finish.end(committed.map(|()| Timing::default()));
        };
        if self.device.native.allocates_at_once() {
            allocate();
        } else {
            // Without a thread the job is dropped, and with it `finish`, which then ends the submission. How many there are is bounded
            // by the limit on submissions.
            let _ = self.device.tenant.pool.spawn(self.device.tenant.lane, allocate);
        }
    }

    /// Gives everything back, and only then raises the signals: whoever waits for them finds it free.
    fn end(&self, rest: Rest, outcome: Result<Timing>) {
        let _collect = Collect::begin();
        // Whatever its driver made of it.
        let outcome = match self.failure.get() {
            Some(failure) => Err(Error::clone(failure)),
            None => outcome,
        };
        let Rest { signals, uses, buffers, slots, keep, memory, charges, tag } = rest;
        uses.iter().for_each(|(storage, _)| storage.uses.remove(self.id));
        *self.lock() = Phase::Ended;
        self.forget_places();
        self.device.remove_entry(self.id);
        self.device.ended(tag, outcome.as_ref().ok());
        drop((uses, buffers, slots, keep, memory, charges));
        for (timeline, value) in signals {
            match &outcome {
                // One that does not advance any more has been overtaken: whoever waits for it has been told.
                Ok(_) => drop(timeline.signal(value)),
                Err(error) => timeline.fail(error),
            }
        }
    }
}

/// A driver's error, with the limit that it comes from if it is that the submission's time was up.
fn late(mut error: Error, control: &Control, time: Duration) -> Error {
    let over = control.deadline().is_some_and(|deadline| Instant::now() >= deadline);
    if over && error.code == Code::DeadlineExceeded {
        let limit = Limit::SubmissionTimeNs.label();
        error
            .message
            .push_str(&format!("; a submission has {time:?}, the limit \"{limit}\" (`submission-time` in a grant)"));
    }
    error
}

/// Ends a submission exactly once, also when a driver forgets to.
struct Finish {
    entry: Arc<Entry>,
    rest: Option<Rest>,
    /// A transient buffer whose memory is on its way.
    pending: Option<Arc<Storage>>,
}

impl Finish {
    /// The native side of the tables. Memory that transient buffers have now is held until the end.
    fn views(&mut self) -> Result<(Vec<BufferView>, Vec<BufferView>)> {
        let Some(rest) = &mut self.rest else { return Ok(Default::default()) };
        let memory = &mut rest.memory;
        let mut view = |buffer: &BufferShared, offset: u64, length: u64| -> Result<BufferView> {
            let (native, held) = buffer.storage.native()?;
            memory.extend(held);
            Ok(BufferView { buffer: native, offset: buffer.offset.saturating_add(offset), length })
        };
        let buffers = rest.buffers.iter().map(|buffer| view(buffer, 0, buffer.size)).collect::<Result<_>>()?;
        let slots =
            rest.slots.iter().map(|slot| view(&slot.buffer, slot.offset, slot.length)).collect::<Result<_>>()?;
        Ok((buffers, slots))
    }

    fn end(mut self, outcome: Result<Timing>) {
        if let Some(rest) = self.rest.take() {
            self.entry.end(rest, outcome);
        }
    }
}

impl Drop for Finish {
    fn drop(&mut self) {
        let Some(rest) = self.rest.take() else { return };
        let error = match self.pending.take() {
            Some(storage) => {
                let error = no_thread();
                storage.failed(&error);
                error
            }
            None => internal("the driver dropped the work without a word; this is a bug in the driver"),
        };
        self.entry.end(rest, Err(error));
    }
}
