//! Just enough of a timeline semaphore to order the work of cases on bare drivers: drivers have none.

use hal_conformance_cases::target::{Code, Error, Result};
use std::{
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

/// How often a wait for any of several looks at each.
const POLL_NS: u64 = 1_000_000;

/// A value that rises, or an end.
#[derive(Debug)]
pub struct Timeline {
    state: Mutex<Result<u64>>,
    changed: Condvar,
}

impl Timeline {
    /// At a value.
    pub fn new(initial: u64) -> Self {
        Self { state: Mutex::new(Ok(initial)), changed: Condvar::new() }
    }

    /// The value.
    ///
    /// # Errors
    /// Its end.
    pub fn value(&self) -> Result<u64> {
        self.state.lock().unwrap().clone()
    }

    /// Raises it to `value`, or ends it. The first end stands.
    pub fn end(&self, value: u64, result: Result<()>) {
        let mut state = self.state.lock().unwrap();
        if let Ok(reached) = *state {
            *state = result.map(|()| reached.max(value));
        }
        self.changed.notify_all();
    }

    /// Waits until it is at `value`.
    ///
    /// # Errors
    /// Its end; `deadline-exceeded`.
    pub fn wait(&self, value: u64, timeout_ns: u64) -> Result<()> {
        let state = self.state.lock().unwrap();
        let waiting = |state: &mut Result<u64>| state.as_ref().is_ok_and(|reached| *reached < value);
        let (state, _) = self.changed.wait_timeout_while(state, Duration::from_nanos(timeout_ns), waiting).unwrap();
        match &*state {
            Ok(reached) if *reached < value => Err(late()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.clone()),
        }
    }
}

fn late() -> Error {
    Error { code: Code::DeadlineExceeded, message: "the wait took too long".into(), limit: None }
}

/// Whether all points are met.
pub fn all_met(points: &[(Arc<Timeline>, u64)]) -> bool {
    points.iter().all(|(timeline, value)| timeline.value().is_ok_and(|reached| reached >= *value))
}

/// Waits for all points.
///
/// # Errors
/// As [`Timeline::wait`].
pub fn wait_all(points: &[(Arc<Timeline>, u64)], timeout_ns: u64) -> Result<()> {
    let until = Instant::now() + Duration::from_nanos(timeout_ns);
    let left = || until.saturating_duration_since(Instant::now()).as_nanos() as u64;
    points.iter().try_for_each(|(timeline, value)| timeline.wait(*value, left()))
}

/// Waits for one of the points, and answers which.
///
/// # Errors
/// As [`Timeline::wait`].
pub fn wait_any(points: &[(Arc<Timeline>, u64)], timeout_ns: u64) -> Result<u32> {
    let until = Instant::now() + Duration::from_nanos(timeout_ns);
    loop {
        for (at, (timeline, value)) in (0..).zip(points) {
            match timeline.wait(*value, POLL_NS) {
                Err(error) if error.code == Code::DeadlineExceeded => (),
                ended => return ended.map(|()| at),
            }
        }
        if Instant::now() >= until {
            return Err(late());
        }
    }
}
