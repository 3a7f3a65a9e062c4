//! A value that only grows, or a failure that stays.

use super::{Entry, trampoline::Collect, wait::HostWait};
use crate::{
    budget::Charge,
    error::{Error, Result, invalid},
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// Who is told when a value is reached, or never will be.
#[derive(Clone)]
pub(crate) enum Waiter {
    /// A submission.
    Entry(Arc<Entry>),
    /// A caller, and which of its points this is.
    Host(Arc<HostWait>, u32),
}

impl Waiter {
    fn tell(self, outcome: Result<(), &Arc<Error>>, promised: bool) {
        match self {
            Self::Entry(entry) => entry.wait_over(outcome, promised),
            Self::Host(wait, index) => wait.tell(index, outcome),
        }
    }

    /// The queue whose order can stand for the wait.
    fn queue(&self) -> Option<QueueId> {
        match self {
            Self::Entry(entry) => entry.queue(),
            Self::Host(..) => None,
        }
    }
}

/// A native queue that keeps its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueId(pub(crate) usize);

/// Where a waiter stands in a timeline: the value, and a number that makes it unique.
pub(crate) type Place = (u64, u64);

/// What came of a wish to wait.
pub(crate) enum Registered {
    /// The value is reached already.
    Met,
    /// It never will be.
    Failed(Arc<Error>),
    /// The waiter will be told.
    Pending(Place),
    /// The same; and what reaches the value is in the waiter's own queue already.
    Promised(Place),
}

/// A timeline. The lock is held for its own fields only: nobody is told anything under it.
pub(crate) struct Timeline {
    /// For messages; counted per session.
    pub(crate) id: u64,
    /// The session it belongs to.
    pub(crate) lane: u64,
    state: Mutex<State>,
    /// Nobody has a handle to wait with any more.
    forsaken: AtomicBool,
    /// None for what the host makes for itself.
    _charge: Option<Charge>,
}

#[derive(Default)]
struct State {
    value: u64,
    /// Shared by all that wait: a guest may have very many waits fail at once, each of which would copy the text.
    failure: Option<Arc<Error>>,
    waiters: BTreeMap<Place, Waiter>,
    /// Those of them that have been told that what reaches their value is in their own queue.
    promised: BTreeMap<Place, Waiter>,
    /// Values above the current one to which work raises it that is in a queue, and which queue.
    promises: BTreeMap<Place, QueueId>,
    next: u64,
}

impl State {
    fn unique(&mut self, value: u64) -> Place {
        self.next += 1;
        (value, self.next)
    }

    /// Whether work in this queue raises it at least so far.
    fn promises(&self, value: u64, queue: QueueId) -> bool {
        self.promises.range((value, 0)..).any(|(_, of)| *of == queue)
    }
}

impl Timeline {
    pub(crate) fn new(id: u64, lane: u64, value: u64, charge: Option<Charge>) -> Arc<Self> {
        let state = State { value, ..State::default() };
        Arc::new(Self { id, lane, state: Mutex::new(state), forsaken: AtomicBool::new(false), _charge: charge })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last handle was dropped or closed. Work goes on raising it.
    pub(crate) fn forsake(&self) {
        self.forsaken.store(true, Ordering::Release);
    }

    /// Whether somebody who waits for it can hear that it is raised.
    pub(super) fn tells(&self) -> bool {
        !self.forsaken.load(Ordering::Acquire) && self.lock().failure.is_none()
    }

    /// The value.
    ///
    /// # Errors
    /// The failure.
    pub(crate) fn value(&self) -> Result<u64> {
        let state = self.lock();
        state.failure.as_deref().map_or(Ok(state.value), |failure| Err(failure.clone()))
    }

    /// Raises the value and tells who waited for it.
    ///
    /// # Errors
    /// The failure; `invalid-argument` if the value is not above the current one, which then stays.
    pub(crate) fn signal(&self, value: u64) -> Result<()> {
        let mut state = self.lock();
        if let Some(failure) = &state.failure {
            return Err(Error::clone(failure));
        }
        if value <= state.value {
            return Err(not_above(value, state.value));
        }
        state.value = value;
        let met = up_to(&mut state.waiters, value);
        let promised = up_to(&mut state.promised, value);
        up_to(&mut state.promises, value);
        drop(state);
        let _collect = Collect::begin();
        met.into_values().for_each(|waiter| waiter.tell(Ok(()), false));
        promised.into_values().for_each(|waiter| waiter.tell(Ok(()), true));
        Ok(())
    }

    /// Work that raises it to `value`, or fails it, is in a queue that keeps its order: tells those who wait for it in the same queue.
    /// Nothing if that has happened already.
    pub(crate) fn promise(&self, value: u64, queue: QueueId) {
        let mut state = self.lock();
        if state.failure.is_some() || value <= state.value {
            return;
        }
        let place = state.unique(value);
        state.promises.insert(place, queue);
        let places: Vec<Place> = state
            .waiters
            .range(..=(value, u64::MAX))
            .filter(|(_, waiter)| waiter.queue() == Some(queue))
            .map(|(place, _)| *place)
            .collect();
        let mut told = Vec::with_capacity(places.len());
        for place in places {
            if let Some(Waiter::Entry(entry)) = state.waiters.remove(&place) {
                told.push(entry.clone());
                state.promised.insert(place, Waiter::Entry(entry));
            }
        }
        drop(state);
        let _collect = Collect::begin();
        told.iter().for_each(Entry::wait_promised);
    }

    /// Fails for ever and tells everybody who waits. The first failure stands.
    pub(crate) fn fail(&self, error: &Error) {
        let mut state = self.lock();
        if state.failure.is_some() {
            return;
        }
        let error = Arc::new(error.clone());
        state.failure = Some(error.clone());
        let (waiters, promised) = (std::mem::take(&mut state.waiters), std::mem::take(&mut state.promised));
        state.promises.clear();
        drop(state);
        let _collect = Collect::begin();
        waiters.into_values().for_each(|waiter| waiter.tell(Err(&error), false));
        promised.into_values().for_each(|waiter| waiter.tell(Err(&error), true));
    }

    /// Whether `value` is reached: none while it may still be.
    pub(crate) fn check(&self, value: u64) -> Option<Result<()>> {
        let state = self.lock();
        match &state.failure {
            Some(failure) => Some(Err(Error::clone(failure))),
            None => (value <= state.value).then_some(Ok(())),
        }
    }

    /// Has `waiter` told once, when `value` is reached or never will be, unless that is known now.
    pub(crate) fn register(&self, value: u64, waiter: Waiter) -> Registered {
        let mut state = self.lock();
        if let Some(failure) = &state.failure {
            return Registered::Failed(failure.clone());
        }
        if value <= state.value {
            return Registered::Met;
        }
        let place = state.unique(value);
        if waiter.queue().is_some_and(|queue| state.promises(value, queue)) {
            state.promised.insert(place, waiter);
            return Registered::Promised(place);
        }
        state.waiters.insert(place, waiter);
        Registered::Pending(place)
    }

    /// Forgets a waiter.
    pub(crate) fn forget(&self, place: Place) {
        // Taken out first: what a waiter holds is not dropped under the lock.
        let waiter = {
            let mut state = self.lock();
            state.waiters.remove(&place).or_else(|| state.promised.remove(&place))
        };
        drop(waiter);
    }
}

/// Takes what stands at this value or before.
fn up_to<T>(places: &mut BTreeMap<Place, T>, value: u64) -> BTreeMap<Place, T> {
    let later = match value.checked_add(1) {
        Some(next) => places.split_off(&(next, 0)),
        None => BTreeMap::new(),
    };
    std::mem::replace(places, later)
}

/// A signal that does not advance.
pub(crate) fn not_above(value: u64, current: u64) -> Error {
    invalid(format!("a signal has to advance: {value} is not above the current value {current}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::cancelled;

    #[test]
    fn the_text_of_a_failure_is_kept_once() {
        let timeline = Timeline::new(1, 0, 0, None);
        timeline.fail(&cancelled("the first"));
        timeline.fail(&cancelled("the second"));
        let failure = || match timeline.register(1, Waiter::Host(HostWait::new(1, false), 0)) {
            Registered::Failed(error) => error,
            Registered::Met | Registered::Pending(_) | Registered::Promised(_) => unreachable!("it has failed"),
        };
        assert!(Arc::ptr_eq(&failure(), &failure()));
        assert_eq!(failure().message, "the first");
    }
}
