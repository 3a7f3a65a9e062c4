//! From a tenant's bytes to something that can be instantiated: look, compose, compile, in that order.
//!
//! Every stage assumes what the one before it refused: nothing but [`screen`] sees bytes that have not been screened.

pub mod compile;
pub mod compose;
pub mod imports;
pub(crate) mod registry;
pub mod screen;

use crate::error::{Error, Rejection, Result};
use std::{panic::AssertUnwindSafe, sync::Arc, thread};
use tokio::sync::{Semaphore, oneshot};

/// Bytes of guest text that an error quotes.
const QUOTED_BYTES: usize = 128;

/// A guest's text, escaped and cut.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::new();
    for (at, character) in text.char_indices() {
        if at >= QUOTED_BYTES {
            quoted.push('…');
            break;
        }
        match character {
            ' '..='~' => quoted.push(character),
            other => quoted.extend(other.escape_default()),
        }
    }
    quoted
}

/// An error and its causes, each of them quoted: they may name what a guest named.
pub(crate) fn quote_causes<'e>(causes: impl IntoIterator<Item = &'e (dyn std::error::Error + 'static)>) -> String {
    causes.into_iter().map(|cause| quote(&cause.to_string())).collect::<Vec<_>>().join(": ")
}

/// Stack for work whose recursion follows a guest's bytes. Reserved, not used, until something does recurse.
const STACK_BYTES: usize = 64 << 20;

/// Threads with a large stack, at most so many at once, on which a panic is an error.
#[derive(Clone)]
pub(crate) struct Workbench {
    permits: Arc<Semaphore>,
}

impl Workbench {
    pub(crate) fn new(at_once: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(at_once)) }
    }

    /// Runs `job` to its end, even if the caller stops waiting.
    pub(crate) async fn run<R: Send + 'static>(
        &self,
        what: &'static str,
        job: impl FnOnce() -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| Error::Internal("closed".into()))?;
        let (answer, result) = oneshot::channel();
        thread::Builder::new()
            .name(format!("hal-{what}"))
            .stack_size(STACK_BYTES)
            .spawn(move || {
                let outcome = std::panic::catch_unwind(AssertUnwindSafe(job));
                drop(permit);
                // The receiver is gone if the caller stopped waiting.
                let _ = answer.send(outcome.unwrap_or_else(|_| {
                    Err(Rejection::invalid(format!("the {what} stage cannot handle this component")).into())
                }));
            })
            .map_err(|error| Error::Exhausted(format!("no thread to {what} a component: {error}")))?;
        result.await.map_err(|_| Error::Internal(format!("the {what} thread ended without an answer")))?
    }
}
