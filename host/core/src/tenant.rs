//! What all objects of one session share.

use crate::{
    audit::{Audit, Event},
    budget::Node,
    error::{Error, Result, cancelled, deadline},
    meter::Meter,
    object::DeviceShared,
    pool::{Pool, timeout_at},
    queue::Weaks,
};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::Notify;

/// How much earlier than the embedder's deadline for a call a wait ends, so that it ends as a value and not as a dead session: a
/// tenth of the call's time, but no less than a wake-up takes on an idle machine, and no more than it takes on a crowded one.
const LEAST_MARGIN: Duration = Duration::from_millis(5);
const MOST_MARGIN: Duration = Duration::from_millis(100);

/// Longest time that is computed with: beyond it a timeout means for ever.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// When a wait has to end, and by whose limit.
#[derive(Clone, Copy)]
pub(crate) struct Until {
    /// None: never.
    pub(crate) at: Option<Instant>,
    /// It is the end of the guest's run, which comes before that of the timeout.
    run: bool,
    /// What was asked for.
    timeout_ns: u64,
}

/// What all objects of one session share.
pub(crate) struct Tenant {
    pub(crate) name: String,
    /// Parent of the grants' nodes; also what blobs are charged to.
    pub(crate) node: Arc<Node>,
    pub(crate) pool: Pool,
    /// Tells sessions apart, in the pool and where objects of two of them meet.
    pub(crate) lane: u64,
    pub(crate) meter: Meter,
    pub(crate) audit: Audit,
    devices: Mutex<Weaks<DeviceShared>>,
    started: Instant,
    /// When waits end: nanoseconds since `started`; the largest number for never.
    deadline_ns: AtomicU64,
    ended: AtomicBool,
    /// Told when the session ends or a grant is taken back.
    taken: Notify,
    factory_ids: AtomicU64,
    semaphore_ids: AtomicU64,
}

impl Tenant {
    pub(crate) fn new(name: String, node: Arc<Node>, pool: Pool, audit: Audit) -> Arc<Self> {
        static LANES: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            meter: Meter::new(&name),
            name,
            node,
            pool,
            lane: LANES.fetch_add(1, Ordering::Relaxed),
            audit,
            devices: Mutex::default(),
            started: Instant::now(),
            deadline_ns: AtomicU64::new(u64::MAX),
            ended: AtomicBool::new(false),
            taken: Notify::new(),
            factory_ids: AtomicU64::new(0),
            semaphore_ids: AtomicU64::new(0),
        })
    }

    /// Counted from 1 per session.
    pub(crate) fn factory_id(&self) -> u64 {
        self.factory_ids.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counted from 1 per session, for messages.
    pub(crate) fn semaphore_id(&self) -> u64 {
        self.semaphore_ids.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts a call and what came of it, and audits refusals.
    pub(crate) fn observe<T>(&self, call: &'static str, result: Result<T>) -> Result<T> {
        self.meter.calls.add(1);
        if let Err(error) = &result {
            self.meter.failed(error);
            self.audit.refusal(&self.name, call, error);
        }
        result
    }

    pub(crate) fn add_device(&self, device: &Arc<DeviceShared>) {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner).add(device);
        // The session may have ended between the check and now.
        if self.ended() {
            device.stop(&self.ending());
        }
    }

    pub(crate) fn devices(&self) -> Vec<Arc<DeviceShared>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner).live()
    }

    pub(crate) fn set_deadline(&self, deadline: Option<Instant>) {
        let ns = deadline.map_or(u64::MAX, |deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            let margin = (left / 10).clamp(LEAST_MARGIN, MOST_MARGIN);
            nanoseconds(deadline.saturating_duration_since(self.started).saturating_sub(margin))
        });
        self.deadline_ns.store(ns, Ordering::Release);
    }

    /// When a wait of `timeout_ns` that begins now has to end: a little before the guest's run at the latest.
    pub(crate) fn until(&self, timeout_ns: u64) -> Until {
        let asked = Duration::from_nanos(timeout_ns);
        let asked = (asked < FOR_EVER).then(|| Instant::now().checked_add(asked)).flatten();
        let deadline = Duration::from_nanos(self.deadline_ns.load(Ordering::Acquire));
        let deadline = (deadline < FOR_EVER).then(|| self.started.checked_add(deadline)).flatten();
        let run = deadline.is_some_and(|deadline| asked.is_none_or(|asked| deadline < asked));
        Until { at: if run { deadline } else { asked }, run, timeout_ns }
    }

    /// What a wait answers that ended at its time. `what` was going on.
    pub(crate) fn late(&self, until: Until, what: &str) -> Error {
        if until.run {
            self.meter.waits_cut.add(1);
            return deadline(format!(
                "the host's limit on how long the guest may run at a stretch is reached, while {what}; it ends what waits"
            ));
        }
        let timeout = Duration::from_nanos(until.timeout_ns);
        deadline(format!("the call's own timeout, {timeout:?}, passed while {what}"))
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// What everything of an ended session answers.
    pub(crate) fn ending(&self) -> Error {
        cancelled("the session has ended")
    }

    /// Refuses if the grant was taken back or the session is over.
    pub(crate) fn alive(&self, node: &Node) -> Result<()> {
        if node.revoked() {
            return Err(revoked());
        }
        if self.ended() { Err(self.ending()) } else { Ok(()) }
    }

    /// Runs what may block, and waits for it: as long as the time, the grant and the session last. Whoever gives the wait up leaves
    /// the job to its end, of which nothing comes.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        node: &Node,
        timeout_ns: u64,
        what: &'static str,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.alive(node)?;
        let until = self.until(timeout_ns);
        let outcome = self.pool.run(self.lane, what, job);
        tokio::pin!(outcome);
        loop {
            // It hears of what happens from here on; what happened before is looked at next.
            let taken = self.taken.notified();
            self.alive(node)?;
            let next = async {
                tokio::select! {
                    biased;
                    outcome = &mut outcome => Some(outcome),
                    () = taken => None,
                }
            };
            let next = match until.at {
                None => next.await,
                Some(at) => match timeout_at(at, next).await? {
                    Some(next) => next,
                    None => return Err(self.overdue(until, what)),
                },
            };
            if let Some(outcome) = next {
                return self.alive(node).and(outcome);
            }
        }
    }

    /// What a call answers that took longer than the host gives it.
    fn overdue(&self, until: Until, what: &str) -> Error {
        if until.run {
            return self.late(until, what);
        }
        let limit = Duration::from_nanos(until.timeout_ns);
        deadline(format!("{what} took longer than {limit:?}, the host's limit for it; it goes on by itself"))
    }

    /// Ends the session, once: nothing new begins, what waits is cancelled, what runs is told to stop.
    pub(crate) fn end(&self) {
        if !self.ended.swap(true, Ordering::AcqRel) {
            self.taken.notify_waiters();
            self.devices().iter().for_each(|device| device.stop(&self.ending()));
            self.audit.tell(&Event::Ended { tenant: &self.name });
        }
    }

    /// Takes a grant and everything below it back.
    pub(crate) fn revoke(&self, node: &Arc<Node>, grant: &str) {
        node.revoke();
        self.taken.notify_waiters();
        let devices = self.devices();
        devices.iter().filter(|device| device.node.within(node)).for_each(|device| device.stop(&revoked()));
        self.audit.tell(&Event::Revoked { tenant: &self.name, grant });
    }
}

/// What everything below a revoked grant answers.
pub(crate) fn revoked() -> Error {
    crate::error::denied("the host has revoked the grant this came from")
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
