//! Why a run came to nothing.

use crate::Finding;
use hal_kernel::Place;
use std::fmt;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The dispatch does not fit the function: no such function, a binding is missing or short, constants have the wrong length.
    Dispatch,
    /// The kernel uses what the interpreter has no meaning for, such as a texture.
    Unsupported,
    /// The steps that were allowed are used up.
    Steps,
    /// The time that was allowed is up.
    Time,
    /// More memory is needed than was allowed, or one value is larger than any may be.
    Memory,
    /// Some invocations of a workgroup reached a barrier and others another one, or the end.
    Barrier,
    /// The interpreter is wrong, or was given IR that is not valid.
    Defect,
}

/// A failure, and where in the source.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}{message}", Prefix(*place))]
pub struct Error {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// For a person.
    pub message: String,
    /// Where in the source, if that is known.
    pub place: Option<Place>,
    /// What had been found by then.
    pub findings: Vec<Finding>,
}

/// A result with our [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

struct Prefix(Option<Place>);

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |place| write!(f, "{place}: "))
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), place: None, findings: Vec::new() }
    }

    /// The same, at a place unless it has one.
    pub(crate) fn or_at(mut self, place: Option<Place>) -> Self {
        self.place = self.place.or(place);
        self
    }
}

pub(crate) fn unsupported<T>(what: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Unsupported, format!("{what} cannot be interpreted")))
}

pub(crate) fn defect(what: &str) -> Error {
    Error::new(ErrorKind::Defect, format!("the interpreter cannot go on: {what}"))
}
