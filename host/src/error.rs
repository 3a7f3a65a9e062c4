//! What can go wrong, by whose doing it is.

use hal_driver::Code;
use std::{fmt, time::Duration};

/// A result with our [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose doing an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Culprit {
    /// The program that embeds the host: a setting, a file, a missing call.
    Embedder,
    /// The guest: its bytes or its behaviour.
    Guest,
    /// The machine, or this crate.
    Host,
}

/// Why a tenant's bytes were not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// `ResourceExhausted` above a cap, `Incompatible` for what this host does not offer, else `InvalidArgument`.
    pub code: Code,
    /// What was found, and what would be accepted.
    pub reason: String,
}

impl Rejection {
    pub(crate) fn new(code: Code, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }

    pub(crate) fn exhausted(reason: impl Into<String>) -> Self {
        Self::new(Code::ResourceExhausted, reason)
    }

    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, reason)
    }

    pub(crate) fn incompatible(reason: impl Into<String>) -> Self {
        Self::new(Code::Incompatible, reason)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.reason, self.code.label())
    }
}

impl std::error::Error for Rejection {}

/// Everything that building a host, loading a program or running a tenant can end with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The host was put together wrongly. Cause and remedy are in the text.
    #[error("{0}")]
    Setup(String),

    /// The embedder's engine weakens what the host promises. Build it from [`crate::engine::config`], or accept what is named
    /// with [`crate::Builder::accept_weaker_engine`].
    #[error("the engine weakens the sandbox: {}; build it from hal_host::config, or accept this explicitly", .0.join("; "))]
    WeakEngine(Vec<String>),

    /// The engine cannot be built here. Nearly always it is address space that is short: raise the process's limit (`ulimit -v`), or
    /// build an engine with a smaller pool and pass it to [`crate::Builder::engine`].
    #[error(
        "the engine cannot be built here ({cause}); it reserves {} GiB of address space, which takes no memory; raise the limit on it, \
         or pass an engine to Builder::engine", .reserves_bytes >> 30
    )]
    Engine {
        /// What the engine says.
        cause: String,
        /// The address space that the engine of [`crate::config`] reserves for tenants, in bytes.
        reserves_bytes: u64,
    },

    /// The folder for compiled code cannot be trusted or used. Name one that only this user can write.
    #[error(
        "the cache folder {folder} cannot be used: {cause}; name a folder that only this user can write, below folders that only this user or root can write"
    )]
    Cache {
        /// The folder.
        folder: String,
        /// What is wrong with it.
        cause: String,
    },

    /// The compiling process could not be started or did not speak our protocol. See [`crate::worker`].
    #[error("the compile worker failed: {0}")]
    Worker(String),

    /// The bytes were not accepted: nothing of them ran.
    #[error("the component was refused: {0}")]
    Rejected(#[from] Rejection),

    /// The guest trapped, and its session is over. Start a new tenant.
    #[error("the guest trapped: {trap}")]
    Trapped {
        /// The trap, without the guest's backtrace.
        trap: String,
        /// All that is known.
        source: wasmtime::Error,
    },

    /// A call ran longer than it may, and its session is over. Start a new tenant, with a longer call timeout if it needs one.
    #[error("the call ran past its {timeout:?} and was stopped after {elapsed:?}")]
    Deadline {
        /// How long it may have taken.
        timeout: Duration,
        /// How long it took: longer, if it was in a part of the host that cannot be interrupted, such as a device that runs work on the
        /// calling thread.
        elapsed: Duration,
    },

    /// An earlier call ended badly, so that the session's state cannot be relied on. Start a new tenant.
    #[error("this tenant is over: {0}; start a new one")]
    Poisoned(String),

    /// The component does not export what was asked for.
    #[error("the component exports no function {name:?} of the expected type: {cause}")]
    MissingExport {
        /// The name asked for.
        name: String,
        /// What is there instead.
        cause: String,
    },

    /// A session could not be started: a grant names what is not there.
    #[error("session: {0}")]
    Session(#[from] hal_core::Error),

    /// The host is out of room for tenants. Try again when others have ended, or raise the limit that is named.
    #[error("the host is out of room: {0}")]
    Exhausted(String),

    /// Not expected to happen: a bug here or below.
    #[error("internal: {0}")]
    Internal(String),
}

impl Error {
    /// Whose doing it is.
    pub fn culprit(&self) -> Culprit {
        match self {
            Self::Setup(_)
            | Self::WeakEngine(_)
            | Self::Engine { .. }
            | Self::Cache { .. }
            | Self::Worker(_)
            | Self::Session(_) => Culprit::Embedder,
            Self::Rejected(_)
            | Self::Trapped { .. }
            | Self::Deadline { .. }
            | Self::Poisoned(_)
            | Self::MissingExport { .. } => Culprit::Guest,
            Self::Exhausted(_) | Self::Internal(_) => Culprit::Host,
        }
    }

    /// The status code, with a stable label for metrics.
    pub fn code(&self) -> Code {
        match self {
            Self::Setup(_) | Self::WeakEngine(_) | Self::Poisoned(_) => Code::FailedPrecondition,
            Self::Engine { .. } => Code::ResourceExhausted,
            Self::Cache { .. } => Code::PermissionDenied,
            Self::Rejected(rejection) => rejection.code,
            Self::Trapped { .. } => Code::Aborted,
            Self::Deadline { .. } => Code::DeadlineExceeded,
            Self::MissingExport { .. } => Code::NotFound,
            Self::Session(error) => error.code,
            Self::Exhausted(_) => Code::Unavailable,
            Self::Worker(_) | Self::Internal(_) => Code::Internal,
        }
    }
}
