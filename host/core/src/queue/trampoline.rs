//! Runs what became ready, one after the other.
//!
//! A device that runs work on the calling thread ends it inside `submit`, which signals, which makes the next submission ready,
//! and so on. Done by recursion, a long chain would overflow the stack; so whoever makes something ready only leaves a note, and the
//! outermost one on this thread works the notes off.

use super::Entry;
use crate::error::Error;
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// What is to be done.
pub(super) enum Task {
    /// All waits are met.
    Start(Arc<Entry>),
    /// A wait never will be.
    Fail(Arc<Entry>, Arc<Error>),
}

impl Task {
    fn run(self) {
        match self {
            Self::Start(entry) => entry.start(),
            Self::Fail(entry, error) => entry.stop(&error),
        }
    }
}

#[derive(Default)]
struct Notes {
    tasks: RefCell<VecDeque<Task>>,
    working: Cell<bool>,
}

thread_local! {
    static NOTES: Notes = Notes::default();
}

/// Runs a task: soon, if this thread is at work on others, else now.
pub(super) fn schedule(task: Task) {
    let mut task = Some(task);
    let _ = NOTES.try_with(|notes| {
        if let Ok(mut tasks) = notes.tasks.try_borrow_mut() {
            tasks.extend(task.take());
        }
    });
    // A thread that is ending has no notes any more; it is at the bottom of its stack, so recursion is short there.
    match task {
        Some(task) => task.run(),
        None => drop(Collect::begin()),
    }
}

/// While it lives, what becomes ready on this thread waits; when the outermost one goes, it runs. So all signals of a submission
/// are raised before the first of its successors starts.
pub(super) struct Collect {
    outermost: bool,
}

impl Collect {
    pub(super) fn begin() -> Self {
        Self { outermost: NOTES.try_with(|notes| !notes.working.replace(true)).unwrap_or(false) }
    }
}

impl Drop for Collect {
    fn drop(&mut self) {
        if !self.outermost {
            return;
        }
        while let Some(task) = NOTES.try_with(|notes| notes.tasks.try_borrow_mut().ok()?.pop_front()).ok().flatten() {
            // A driver that panics here, where an object of its is dropped, must not keep the other notes from being worked off: nobody
            // else on this thread may ever come by.
            if catch_unwind(AssertUnwindSafe(|| task.run())).is_err() {
                tracing::error!("a driver panicked where a submission began or ended");
            }
        }
        let _ = NOTES.try_with(|notes| notes.working.set(false));
    }
}
