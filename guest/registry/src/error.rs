//! Errors as values: a code, a sentence, and the numbers of a limit that was hit.

use alloc::{format, string::String};
use core::fmt;

/// What kind of failure an [`Error`] reports: `status-code` of `hal:device/types`, which documents each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, in wit/device/types.wit")]
pub enum Code {
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
    Deferred,
    Incompatible,
}

/// A limit of the caller's grant that was hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitHit {
    /// A stable label, such as "memory-bytes".
    pub limit: String,
    /// What the call asked for.
    pub asked: u64,
    /// What was left.
    pub available: u64,
    /// What the grant allows in all.
    pub allowed: u64,
}

/// A failure: what was asked, what was found, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What a program may act on.
    pub code: Code,
    /// For a person. Quotes at most 128 bytes of any text of the caller's.
    pub message: String,
    /// Present exactly when a limit was hit, of the caller's grant or of the device.
    pub limit: Option<LimitHit>,
}

impl Error {
    /// An error that hit no limit.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), limit: None }
    }

    /// Says in front of the message what was being done. Code and limit stay: they are the cause.
    pub(crate) fn doing(mut self, what: fmt::Arguments<'_>) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Error {}
