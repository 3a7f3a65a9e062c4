//! A value that only grows, or a failure that stays.

use super::{Entry, trampoline::Collect, wait::HostWait};
use crate::{
    budget::Charge,
    error::{Error, Result, invalid},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
    fn tell(self, outcome: Result<(), &Arc<Error>>) {
        match self {
            Self::Entry(entry) => entry.wait_over(outcome),
            Self::Host(wait, index) => wait.tell(index, outcome),
        }
    }
}

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
}

/// A timeline. The lock is held for its own fields only: nobody is told anything under it.
pub(crate) struct Timeline {
    /// For messages; counted per session.
    pub(crate) id: u64,
    /// The session it belongs to.
    pub(crate) lane: u64,
    state: Mutex<State>,
    /// None for what the host makes for itself.
    _charge: Option<Charge>,
}

struct State {
    value: u64,
    /// Shared by all that wait: a guest may have very many waits fail at once, each of which would copy the text.
    failure: Option<Arc<Error>>,
    waiters: BTreeMap<Place, Waiter>,
    next: u64,
}

impl Timeline {
    pub(crate) fn new(id: u64, lane: u64, value: u64, charge: Option<Charge>) -> Arc<Self> {
        let state = State { value, failure: None, waiters: BTreeMap::new(), next: 0 };
        Arc::new(Self { id, lane, state: Mutex::new(state), _charge: charge })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let later = match value.checked_add(1) {
            Some(next) => state.waiters.split_off(&(next, 0)),
            None => BTreeMap::new(),
        };
        let met = std::mem::replace(&mut state.waiters, later);
        drop(state);
        let _collect = Collect::begin();
        met.into_values().for_each(|waiter| waiter.tell(Ok(())));
        Ok(())
    }

    /// Fails for ever and tells everybody who waits. The first failure stands.
    pub(crate) fn fail(&self, error: &Error) {
        let mut state = self.lock();
        if state.failure.is_some() {
            return;
        }
        let error = Arc::new(error.clone());
        state.failure = Some(error.clone());
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        let _collect = Collect::begin();
        waiters.into_values().for_each(|waiter| waiter.tell(Err(&error)));
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
        let place = (value, state.next);
        state.next += 1;
        state.waiters.insert(place, waiter);
        Registered::Pending(place)
    }

    /// Forgets a waiter.
    pub(crate) fn forget(&self, place: Place) {
        // Taken out first: what a waiter holds is not dropped under the lock.
        let waiter = self.lock().waiters.remove(&place);
        drop(waiter);
    }
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
            Registered::Met | Registered::Pending(_) => unreachable!("it has failed"),
        };
        assert!(Arc::ptr_eq(&failure(), &failure()));
        assert_eq!(failure().message, "the first");
    }
}
