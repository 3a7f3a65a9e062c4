//! The one error that a guest can see.

use hal_driver::Code;

/// A result with our [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A limit that was hit. The numbers speak of the caller's own grant only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitHit {
    /// The stable label, as in [`crate::Limit::label`] or in a device's limits.
    pub limit: &'static str,
    /// What the call asked for, in the unit that the label names.
    pub asked: u64,
    /// What was left, at most: how much a grant above the caller's has left is not told.
    pub available: u64,
    /// What the grant allows in all.
    pub allowed: u64,
}

/// A failure as a guest sees it: what was asked, what was found, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Error {
    /// What kind of failure it is.
    pub code: Code,
    /// One or two sentences for a person. Quotes at most 128 bytes of a guest's text, escaped.
    pub message: String,
    /// Present exactly when a limit was hit.
    pub limit: Option<LimitHit>,
}

impl Error {
    /// An error without a limit.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), limit: None }
    }

    /// `resource-exhausted` with the numbers of the limit that was hit.
    pub fn limit(hit: LimitHit, message: impl Into<String>) -> Self {
        Self { code: Code::ResourceExhausted, message: message.into(), limit: Some(hit) }
    }

    /// A bound on one call (not a budget that fills up): all of it is always available.
    pub(crate) fn bound(limit: &'static str, asked: u64, allowed: u64, advice: &str) -> Self {
        Self::limit(
            LimitHit { limit, asked, available: allowed, allowed },
            format!("asked for {asked}, but the limit \"{limit}\" is {allowed}; {advice}"),
        )
    }
}

/// Most bytes of a driver's message: it is copied to whatever waits, and may quote a compiler.
const MAX_DRIVER_MESSAGE_BYTES: usize = 4096;

impl From<hal_driver::Error> for Error {
    fn from(error: hal_driver::Error) -> Self {
        let hal_driver::Error { code, mut message } = error;
        crate::text::cut(&mut message, MAX_DRIVER_MESSAGE_BYTES);
        Self::new(code, message)
    }
}

/// For the way down: a reason that stops work in a driver. The limit stays behind; drivers do not know limits.
impl From<&Error> for hal_driver::Error {
    fn from(error: &Error) -> Self {
        Self::new(error.code, error.message.clone())
    }
}

macro_rules! shorthand {
    ($($(#[$doc:meta])* $name:ident => $code:ident,)*) => {
        $($(#[$doc])* pub(crate) fn $name(message: impl Into<String>) -> Error {
            Error::new(Code::$code, message)
        })*
    };
}

shorthand! {
    /// The same call will always fail.
    invalid => InvalidArgument,
    /// A number lies outside a range that depends on state.
    out_of_range => OutOfRange,
    /// Legal in another state.
    precondition => FailedPrecondition,
    /// Revoked, or not among the rights.
    denied => PermissionDenied,
    /// No such thing for this caller.
    not_found => NotFound,
    /// Not now.
    unavailable => Unavailable,
    /// Somebody gave the work up.
    cancelled => Cancelled,
    /// A rule of our own or of a driver's broke.
    internal => Internal,
    /// The time was too short.
    deadline => DeadlineExceeded,
}
