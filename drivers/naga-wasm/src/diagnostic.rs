//! Why a kernel could not be compiled.

/// The kinds of refusal.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// Legal, but this compiler cannot do it.
    Unimplemented,
    /// The kernel is wrong: no such entry point, a barrier in non-uniform control flow, an unresolved override.
    Invalid,
    /// The kernel exceeds a limit of [`Options`](crate::Options) or of the compiler.
    Limit,
}

/// A kernel that could not be compiled: what was found and, where known, where.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Diagnostic {
    /// What kind of refusal.
    pub kind: Kind,
    /// What was found and what to do.
    pub message: String,
    /// Where, in the source that the module was parsed from.
    pub span: Option<naga::Span>,
}

impl Diagnostic {
    pub(crate) fn new(kind: Kind, message: impl Into<String>, span: Option<naga::Span>) -> Self {
        Self { kind, message: message.into(), span: span.filter(naga::Span::is_defined) }
    }
}

impl Diagnostic {
    /// The same, at `span` if it has no place yet.
    pub(crate) fn or_at(mut self, span: naga::Span) -> Self {
        if self.span.is_none() && span.is_defined() {
            self.span = Some(span);
        }
        self
    }
}
