//! A caller's wait: for all points or for any, until a time, or until something makes it pointless.

use super::{
    Timeline, Waiter,
    timeline::{Place, Registered},
};
use crate::{
    WaitMode,
    error::{Error, Result},
    object::DeviceShared,
    pool::timeout_at,
    tenant::Until,
};
use std::{
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
    time::{Duration, Instant},
};

/// How often a wait asks whether its device is lost: drivers do not tell by themselves.
const LOOK: Duration = Duration::from_millis(100);

/// The index under which a timeline is watched for failure only.
const WATCHED: u32 = u32::MAX;

/// One pending wait, as its timelines see it.
pub(crate) struct HostWait {
    any: bool,
    state: Mutex<State>,
}

struct State {
    remaining: usize,
    met: Option<u32>,
    failure: Option<Arc<Error>>,
    waker: Option<Waker>,
}

impl HostWait {
    /// A wait for so many points, or for any of them.
    pub(super) fn new(points: usize, any: bool) -> Arc<Self> {
        let state = State { remaining: points, met: None, failure: None, waker: None };
        Arc::new(Self { any, state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, index: u32, outcome: Result<(), &Arc<Error>>) {
        let mut state = self.lock();
        match outcome {
            Ok(()) => {
                state.remaining = state.remaining.saturating_sub(1);
                state.met.get_or_insert(index);
            }
            Err(error) => {
                state.failure.get_or_insert_with(|| error.clone());
            }
        }
        let waker = if self.over(&state) { state.waker.take() } else { None };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn over(&self, state: &State) -> bool {
        state.failure.is_some() || if self.any { state.met.is_some() } else { state.remaining == 0 }
    }

    fn outcome(&self, state: &State) -> Option<Result<u32>> {
        match (self.any, state.met) {
            (true, Some(index)) => Some(Ok(index)),
            (false, _) if state.remaining == 0 => Some(Ok(0)),
            _ => state.failure.as_deref().map(|failure| Err(failure.clone())),
        }
    }
}

/// Takes the wait off its timelines, however it ends.
struct Registrations<'a>(Vec<(&'a Timeline, Place)>);

impl Drop for Registrations<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|(timeline, place)| timeline.forget(*place));
    }
}

/// Waits, as `what` says. Answers the index of a point that is met; 0 for `all`, and for no points. It also ends with the device. For `any` a point that is met
/// counts before one that has failed, in whatever order they stand, so that the answer does not depend on it.
///
/// # Errors
/// The failure of a point; why the device ended; `deadline-exceeded`.
pub(crate) async fn wait(
    points: &[(Arc<Timeline>, u64)],
    mode: WaitMode,
    until: Until,
    device: &DeviceShared,
    what: &str,
) -> Result<u32> {
    if let Some(known) = known(points, mode) {
        return known;
    }
    let pending = HostWait::new(points.len(), mode == WaitMode::Any);
    let mut registrations = Registrations(Vec::with_capacity(points.len() + 1));
    let watched = [(device.end(), u64::MAX, WATCHED)];
    let points = points.iter().zip(0..).map(|((timeline, value), index)| (&**timeline, *value, index));
    for (timeline, value, index) in points.chain(watched) {
        match timeline.register(value, Waiter::Host(pending.clone(), index)) {
            Registered::Met => pending.tell(index, Ok(())),
            Registered::Failed(error) => pending.tell(index, Err(&error)),
            Registered::Pending(place) | Registered::Promised(place) => registrations.0.push((timeline, place)),
        }
    }
    loop {
        let met = poll_fn(|context| {
            let mut state = pending.lock();
            match pending.outcome(&state) {
                Some(outcome) => Poll::Ready(outcome),
                None => {
                    state.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        });
        let now = Instant::now();
        if until.at.is_some_and(|at| at <= now) {
            let outcome = pending.outcome(&pending.lock());
            return outcome.unwrap_or_else(|| Err(device.tenant.late(until, what)));
        }
        let look = now + LOOK;
        if let Some(outcome) = timeout_at(until.at.map_or(look, |at| at.min(look)), met).await? {
            return outcome;
        }
        device.look();
    }
}

/// What can be said without waiting.
fn known(points: &[(Arc<Timeline>, u64)], mode: WaitMode) -> Option<Result<u32>> {
    let (mut all, mut failure) = (true, None);
    for ((timeline, value), index) in points.iter().zip(0..) {
        match timeline.check(*value) {
            None => all = false,
            Some(Ok(())) if mode == WaitMode::Any => return Some(Ok(index)),
            Some(Ok(())) => (),
            Some(Err(error)) if mode == WaitMode::Any => drop(failure.get_or_insert(error)),
            Some(Err(error)) => return Some(Err(error)),
        }
    }
    failure.map(Err).or_else(|| all.then_some(Ok(0)))
}
