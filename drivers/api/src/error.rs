//! Status codes and the error that carries one.

/// A result with our [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure it is. The eighteen codes and their meanings are IREE's status codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The work was stopped by whoever asked for it.
    Cancelled,
    /// A failure with no better code.
    Unknown,
    /// The same call will always fail.
    InvalidArgument,
    /// The time given was too short.
    DeadlineExceeded,
    /// No such thing.
    NotFound,
    /// Such a thing is there already.
    AlreadyExists,
    /// This requester may not.
    PermissionDenied,
    /// A quota, or the system, is used up.
    ResourceExhausted,
    /// Legal in another state.
    FailedPrecondition,
    /// Given up half way.
    Aborted,
    /// A number lies outside a range that depends on state.
    OutOfRange,
    /// Cannot be done here.
    Unimplemented,
    /// An invariant broke.
    Internal,
    /// Not now; trying again may work. Also: the device is lost.
    Unavailable,
    /// Stored data is gone or damaged.
    DataLoss,
    /// The requester is unknown.
    Unauthenticated,
    /// Goes on elsewhere.
    Deferred,
    /// Well formed, but not for this device.
    Incompatible,
}

impl Code {
    /// Every code, in IREE's order.
    pub const ALL: [Self; 18] = [
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
        Self::Deferred,
        Self::Incompatible,
    ];

    /// A stable name, for metrics and text: `"resource-exhausted"`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
            Self::InvalidArgument => "invalid-argument",
            Self::DeadlineExceeded => "deadline-exceeded",
            Self::NotFound => "not-found",
            Self::AlreadyExists => "already-exists",
            Self::PermissionDenied => "permission-denied",
            Self::ResourceExhausted => "resource-exhausted",
            Self::FailedPrecondition => "failed-precondition",
            Self::Aborted => "aborted",
            Self::OutOfRange => "out-of-range",
            Self::Unimplemented => "unimplemented",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::DataLoss => "data-loss",
            Self::Unauthenticated => "unauthenticated",
            Self::Deferred => "deferred",
            Self::Incompatible => "incompatible",
        }
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.label())
    }
}

/// A failure that a driver reports: a code and a sentence that says what was asked, what was found and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Error {
    /// What kind of failure it is.
    pub code: Code,
    /// For a person. Quotes at most 128 bytes of a guest's text, escaped. Names no file or library of the host, and of a device nothing
    /// but its path and name as listed, which the host cuts from errors of `open` where a grant does not reveal them.
    pub message: String,
}

impl Error {
    /// An error with a code and a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
