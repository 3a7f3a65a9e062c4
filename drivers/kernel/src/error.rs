//! Why a kernel was refused, and where.

use std::fmt;

/// The longest piece of the tenant's source that a message repeats, in bytes. Enough to recognise a line, too little to
/// fill a log.
pub const MAX_QUOTED_BYTES: usize = 128;

/// What kind of refusal this is; drivers map it one to one onto their own error codes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ErrorCode {
    /// The source, an override or a name is wrong whatever the device.
    InvalidArgument,
    /// The source is legal, but no kernel of this system may use what it uses.
    Incompatible,
    /// The source exceeds a limit, or the compile threads are all busy.
    ResourceExhausted,
    /// The front end cannot do this yet.
    Unimplemented,
    /// A defect of the front end: it was caught, the process lives on.
    Internal,
}

impl ErrorCode {
    /// The stable label, for logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid-argument",
            Self::Incompatible => "incompatible",
            Self::ResourceExhausted => "resource-exhausted",
            Self::Unimplemented => "unimplemented",
            Self::Internal => "internal",
        }
    }
}

/// A place in WGSL source. SPIR-V has none: its messages name the word offset instead.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A refused kernel: what was found, where, and what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}{message}", place.map(|place| format!("{place}: ")).unwrap_or_default())]
pub struct KernelError {
    /// What kind of refusal.
    pub code: ErrorCode,
    /// One or more sentences: what was found and what to do. At most [`MAX_QUOTED_BYTES`] of source, escaped.
    pub message: String,
    /// Where in the source, when it is WGSL and the place is known.
    pub place: Option<Place>,
}

impl KernelError {
    /// A refusal without a place.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: None }
    }

    /// The same refusal, at a place.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }
}

/// `text` with control characters escaped and cut to [`MAX_QUOTED_BYTES`].
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        let escaped: String = character.escape_debug().collect();
        if out.len() + escaped.len() > MAX_QUOTED_BYTES {
            out.push('…');
            break;
        }
        out.push_str(&escaped);
    }
    out
}
