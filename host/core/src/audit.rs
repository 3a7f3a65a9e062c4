//! What an operator wants to know afterwards: grants, refusals, revocations.

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
}

/// Takes events. Called from any thread, so it must not block.
pub trait Sink: Send + Sync + 'static {
    /// Something happened.
    fn event(&self, event: &Event<'_>);
}
