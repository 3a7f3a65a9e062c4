//! Errors: a code to act on, a sentence for a person, the numbers of a limit.

use crate::bindings::hal::device::types;
use std::fmt;

pub use types::{LimitHit, StatusCode as Code};

/// What every call of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure: what was asked, what was found, what to do.
///
/// Displayed as `code: message`, for instance ``not-found: no driver 'cuda'; there are: cpu, null``.
#[derive(Clone)]
pub struct Error(Box<types::Error>);

impl Error {
    /// An error that hit no limit of a grant.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        types::Error { code, message: message.into(), limit: None }.into()
    }

    /// What a program may act on.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The code as the WIT writes it, such as `resource-exhausted`.
    pub fn code_name(&self) -> &'static str {
        code_name(self.0.code)
    }

    /// One or two sentences for a person.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The limit that was hit and its numbers, exactly if a limit of the grant was hit.
    pub fn limit(&self) -> Option<&LimitHit> {
        self.0.limit.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code_name(), self.message())?;
        // The host's own sentences have the numbers already.
        match self.limit().filter(|hit| !self.message().contains(&format!("\"{}\"", hit.limit))) {
            Some(LimitHit { limit, asked, available, allowed }) => {
                write!(f, " (limit {limit}: asked for {asked}, {available} left of {allowed})")
            }
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

impl From<types::Error> for Error {
    fn from(error: types::Error) -> Self {
        Self(Box::new(error))
    }
}

/// For a component that exports functions of its own which return the WIT's error.
impl From<Error> for types::Error {
    fn from(error: Error) -> Self {
        *error.0
    }
}

fn code_name(code: Code) -> &'static str {
    match code {
        Code::Cancelled => "cancelled",
        Code::Unknown => "unknown",
        Code::InvalidArgument => "invalid-argument",
        Code::DeadlineExceeded => "deadline-exceeded",
        Code::NotFound => "not-found",
        Code::AlreadyExists => "already-exists",
        Code::PermissionDenied => "permission-denied",
        Code::ResourceExhausted => "resource-exhausted",
        Code::FailedPrecondition => "failed-precondition",
        Code::Aborted => "aborted",
        Code::OutOfRange => "out-of-range",
        Code::Unimplemented => "unimplemented",
        Code::Internal => "internal",
        Code::Unavailable => "unavailable",
        Code::DataLoss => "data-loss",
        Code::Unauthenticated => "unauthenticated",
        Code::Deferred => "deferred",
        Code::Incompatible => "incompatible",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_limit_are_said_once() {
        let text = |message: &str| {
            let limit = LimitHit { limit: "buffers".into(), asked: 1, available: 0, allowed: 4 };
            Error::from(types::Error { code: Code::ResourceExhausted, message: message.into(), limit: Some(limit) })
                .to_string()
        };
        let said = "1 asked for, but of the limit \"buffers\" only 0 of 4 are left";
        assert_eq!(text(said), format!("resource-exhausted: {said}"));
        assert_eq!(text("no more"), "resource-exhausted: no more (limit buffers: asked for 1, 0 left of 4)");
    }
}
