//! What all handles of a device, and all objects made from it, share: its rights, its end, its queue.

use super::{DeviceInfo, Timing};
use crate::{
    WaitMode,
    budget::{Charge, Node},
    error::{Error, Result, cancelled, precondition},
    pool::guarded,
    queue::{Entry, QueueId, Timeline, Weaks, wait},
    tenant::{Tenant, nanoseconds},
};
use hal_driver::{Code, Transfer};
use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

/// Most timings that are kept until somebody takes them; older ones go.
const MAX_TIMINGS: usize = 1024;

/// Timings are rounded to this many nanoseconds unless the grant says exact: a precise clock is a side channel.
const ROUND_NS: u64 = 1000;

pub(crate) struct DeviceShared {
    pub(crate) tenant: Arc<Tenant>,
    /// The grant it came from.
    pub(crate) node: Arc<Node>,
    pub(crate) native: Arc<dyn hal_driver::Device>,
    /// As the tenant sees it.
    pub(crate) info: DeviceInfo,
    exact_timing: bool,
    closed: AtomicBool,
    lost: OnceLock<Error>,
    /// Fails when the device is lost, closed, revoked or its session ends; every wait watches it.
    end: Arc<Timeline>,
    /// Every timeline of the device's semaphores.
    semaphores: Mutex<Weaks<Timeline>>,
    /// Those that fail together with `end`.
    losses: Mutex<Weaks<Timeline>>,
    /// Submissions that have not ended.
    entries: Mutex<HashMap<u64, Arc<Entry>>>,
    timings: Mutex<VecDeque<Timing>>,
    _charge: Charge,
}

/// What a device is made with.
pub(crate) struct DeviceParts {
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) node: Arc<Node>,
    pub(crate) native: Arc<dyn hal_driver::Device>,
    pub(crate) info: DeviceInfo,
    pub(crate) exact_timing: bool,
    pub(crate) charge: Charge,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DeviceShared {
    pub(crate) fn new(parts: DeviceParts) -> Arc<Self> {
        let DeviceParts { tenant, node, native, info, exact_timing, charge } = parts;
        let end = Timeline::new(0, tenant.lane, 0, None);
        let device = Arc::new(Self {
            tenant,
            node,
            native,
            info,
            exact_timing,
            closed: AtomicBool::new(false),
            lost: OnceLock::new(),
            end,
            semaphores: Mutex::default(),
            losses: Mutex::default(),
            entries: Mutex::default(),
            timings: Mutex::default(),
            _charge: charge,
        });
        device.tenant.add_device(&device);
        device
    }

    /// Its native queue, if that keeps its order.
    pub(crate) fn queue(&self) -> Option<QueueId> {
        // The address tells queues apart as long as something is in them: that keeps them alive.
        self.native.in_order().then(|| QueueId(std::ptr::from_ref(self).addr()))
    }

    pub(crate) fn end(&self) -> &Timeline {
        &self.end
    }

    /// Refuses once closed, revoked, or the session is over.
    pub(crate) fn usable(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(closed());
        }
        self.tenant.alive(&self.node)
    }

    /// Refuses once unusable or lost: for whatever needs the device itself.
    pub(crate) fn gate(&self) -> Result<()> {
        self.usable()?;
        self.look();
        self.lost.get().cloned().map_or(Ok(()), Err)
    }

    /// Refuses what was queued before and may not run any more. Closing does not take work back whose waits are met.
    pub(crate) fn ready(&self) -> Result<()> {
        self.tenant.alive(&self.node)?;
        self.look();
        self.lost.get().cloned().map_or(Ok(()), Err)
    }

    /// Why it is lost.
    pub(crate) fn lost(&self) -> Option<Error> {
        self.look();
        self.lost.get().cloned()
    }

    /// Asks the driver whether the device is lost, and if so, ends what waits for it.
    pub(crate) fn look(&self) {
        if self.lost.get().is_some() {
            return;
        }
        let Some(error) = self.native.lost() else { return };
        let error = Error::new(Code::Unavailable, format!("the device is lost: {}; open another one", error.message));
        if self.lost.set(error.clone()).is_ok() {
            tracing::warn!(tenant = %self.tenant.name, device = %self.info.path, %error, "device lost");
            self.pending().iter().for_each(|entry| entry.give_up(&error));
            self.finish_off(&error);
        }
    }

    /// Gives the device up: work whose waits are unmet is cancelled, running work is finished.
    pub(crate) fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            let reason = cancelled("the device was closed before the waits were met");
            self.pending().iter().for_each(|entry| entry.cancel(&reason));
            self.finish_off(&closed());
        }
    }

    /// Takes the device away: nothing of it goes on.
    pub(crate) fn stop(&self, reason: &Error) {
        self.pending().iter().for_each(|entry| entry.stop(reason));
        self.finish_off(reason);
        let semaphores = lock(&self.semaphores).live();
        semaphores.iter().for_each(|timeline| timeline.fail(reason));
    }

    fn finish_off(&self, reason: &Error) {
        self.end.fail(reason);
        let losses = lock(&self.losses).live();
        losses.iter().for_each(|timeline| timeline.fail(reason));
    }

    fn pending(&self) -> Vec<Arc<Entry>> {
        lock(&self.entries).values().cloned().collect()
    }

    pub(crate) fn add_entry(&self, id: u64, entry: &Arc<Entry>) {
        lock(&self.entries).insert(id, entry.clone());
        // What ends a device goes through its entries once; one that comes too late ends itself.
        if let Err(error) = self.usable().and_then(|()| self.lost.get().cloned().map_or(Ok(()), Err)) {
            entry.give_up(&error);
        }
    }

    pub(crate) fn remove_entry(&self, id: u64) {
        let entry = lock(&self.entries).remove(&id);
        drop(entry);
    }

    pub(crate) fn add_semaphore(&self, timeline: &Arc<Timeline>, loss: bool) {
        lock(if loss { &self.losses } else { &self.semaphores }).add(timeline);
        if loss {
            // It may have ended between the check and now.
            if let Some(Err(error)) = self.end.check(u64::MAX) {
                timeline.fail(&error);
            }
        } else if let Err(error) = self.tenant.alive(&self.node) {
            timeline.fail(&error);
        }
    }

    /// A submission has ended, with these times if it went well.
    pub(crate) fn ended(&self, tag: Option<u64>, timing: Option<&hal_driver::Timing>) {
        let Some(timing) = timing else { return self.look() };
        let device_ns = timing.device.map(nanoseconds);
        self.tenant.meter.kernel_ns.add(device_ns.unwrap_or(0));
        if let Some(tag) = tag {
            let round = |ns: u64| if self.exact_timing { ns } else { ns / ROUND_NS * ROUND_NS };
            let queue_ns = round(nanoseconds(timing.queue));
            let mut timings = lock(&self.timings);
            if timings.len() >= MAX_TIMINGS {
                timings.pop_front();
            }
            timings.push_back(Timing { tag, queue_ns, device_ns: device_ns.map(round) });
        }
    }

    pub(crate) fn take_timings(&self) -> Vec<Timing> {
        std::mem::take(&mut *lock(&self.timings)).into()
    }

    /// Makes a transfer and waits for it, at most until the call's deadline or the device's end. A panic of the driver's is `internal`.
    pub(crate) async fn transfer<T>(&self, what: &'static str, make: impl FnOnce() -> Transfer<T>) -> Result<T> {
        let mut pending = match guarded(what, || Ok(make()))? {
            Transfer::Done(outcome) => return outcome.map_err(Error::from),
            Transfer::Pending(pending) => pending,
        };
        let outcome = poll_fn(|context| match guarded(what, || Ok(pending.as_mut().poll(context))) {
            Ok(poll) => poll.map(|outcome| outcome.map_err(Error::from)),
            Err(panicked) => Poll::Ready(Err(panicked)),
        });
        tokio::select! {
            biased;
            outcome = outcome => outcome,
            error = self.interrupted(what) => Err(error),
        }
    }

    /// Runs what may block, and waits for it in the same way. Whoever gives the wait up leaves the job to its end.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        what: &'static str,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let outcome = tokio::select! {
            biased;
            outcome = self.tenant.pool.run(self.tenant.lane, what, job) => outcome,
            error = self.interrupted(what) => Err(error),
        };
        if outcome.is_err() {
            self.look();
        }
        outcome
    }

    /// Comes back when a call of this device, which does what `what` says, has to end.
    async fn interrupted(&self, what: &str) -> Error {
        let never = [(self.end.clone(), u64::MAX)];
        match wait(&never, WaitMode::All, self.tenant.until(u64::MAX), self, what).await {
            Err(error) => error,
            Ok(_) => closed(),
        }
    }
}

fn closed() -> Error {
    precondition("the device is closed")
}
