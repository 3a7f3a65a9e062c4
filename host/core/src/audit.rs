//! What an operator wants to know afterwards: grants, refusals, revocations.
//!
//! Every event goes to the session's [`Sink`], if it has one, and to `tracing` under the target `hal::audit`. Guest text in it
//! was cut to 128 bytes and escaped where the message was made.

use crate::{Code, Error};
use std::sync::Arc;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A session began with a grant.
    Granted {
        /// Whose.
        tenant: &'a str,
        /// The factory's name.
        grant: &'a str,
    },
    /// A session began with a blob, or a blob was opened.
    Blob {
        /// Whose.
        tenant: &'a str,
        /// The operator's label.
        name: &'a str,
    },
    /// A call was refused for want of rights or budget.
    Refused {
        /// Whose.
        tenant: &'a str,
        /// The WIT function, as `device.allocate`.
        call: &'static str,
        /// What was answered.
        code: Code,
        /// The limit that was hit, if one was.
        limit: Option<&'static str>,
        /// The sentence that was answered.
        message: &'a str,
    },
    /// The host took a grant or a blob back.
    Revoked {
        /// Whose.
        tenant: &'a str,
        /// The factory's or the blob's name.
        grant: &'a str,
    },
    /// A component was not loaded: what it is, what it contains or what it imports was refused, and nothing of it ran.
    LoadRefused {
        /// SHA-256 of its bytes, in hexadecimal; none of one that is too large to be looked at.
        sha256: Option<&'a str>,
        /// Its length.
        bytes: u64,
        /// The kind of refusal.
        code: Code,
        /// The sentence that was answered.
        reason: &'a str,
    },
    /// A session ended.
    Ended {
        /// Whose.
        tenant: &'a str,
    },
}

/// Takes events. Called from any thread, in the middle of a guest's call, so it must not block.
pub trait Sink: Send + Sync + 'static {
    /// Something happened.
    fn event(&self, event: &Event<'_>);
}

/// Tells an event to `tracing` and to the sink, if there is one.
pub fn tell(sink: Option<&dyn Sink>, event: &Event<'_>) {
    tracing::info!(target: "hal::audit", ?event);
    if let Some(sink) = sink {
        sink.event(event);
    }
}

/// Tells both listeners.
pub(crate) struct Audit(pub(crate) Option<Arc<dyn Sink>>);

impl Audit {
    pub(crate) fn tell(&self, event: &Event<'_>) {
        tell(self.0.as_deref(), event);
    }

    /// A refusal, if it is one: not every error is.
    pub(crate) fn refusal(&self, tenant: &str, call: &'static str, error: &Error) {
        if error.code == Code::PermissionDenied || error.limit.is_some() {
            let limit = error.limit.as_ref().map(|hit| hit.limit);
            self.tell(&Event::Refused { tenant, call, code: error.code, limit, message: &error.message });
        }
    }
}
