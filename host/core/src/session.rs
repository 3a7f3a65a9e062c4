//! One tenant.
use crate::{Blob, BlobInfo, Factory, Grant, Limits, Pool, Result, Used, audit};
use std::{path::Path, sync::Arc, time::Instant};

/// Bytes to be lent to a tenant under a name.
#[derive(Clone)]
pub struct BlobSource(());

impl BlobSource {
    /// Bytes in memory.
    pub fn bytes(_name: impl Into<String>, _bytes: impl Into<Arc<[u8]>>) -> Self { todo!() }
    /// A file, opened now.
    ///
    /// # Errors
    /// What the system says, naming the blob.
    pub fn file(_name: impl Into<String>, _path: &Path) -> Result<Self> { todo!() }
}

/// Builds a [`Session`].
pub struct SessionBuilder(());

impl SessionBuilder {
    /// Adds a grant.
    #[must_use]
    pub fn grant(self, _grant: Grant) -> Self { todo!() }
    /// Where [`Grant::named`] looks.
    #[must_use]
    pub fn factories(self, _known: impl IntoIterator<Item = Arc<dyn hal_driver::Factory>>) -> Self { todo!() }
    /// Adds a blob.
    #[must_use]
    pub fn blob(self, _blob: BlobSource) -> Self { todo!() }
    /// Limits of the session as a whole.
    #[must_use]
    pub fn limits(self, _limits: Limits) -> Self { todo!() }
    /// Where what may block runs.
    #[must_use]
    pub fn pool(self, _pool: Pool) -> Self { todo!() }
    /// Where grants, refusals and revocations are told.
    #[must_use]
    pub fn audit(self, _sink: Arc<dyn audit::Sink>) -> Self { todo!() }
    /// Starts the session.
    ///
    /// # Errors
    /// `not-found` for a named grant that no factory serves; `invalid-argument` for a malformed pattern.
    pub fn start(self) -> Result<Session> { todo!() }
}

/// What a session used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// For each grant.
    pub grants: Vec<Vec<Used>>,
}

/// One tenant's session. Dropping it ends it.
pub struct Session(());

impl Session {
    /// A session for a tenant of this name (for logs and metrics).
    pub fn builder(_tenant: impl Into<String>) -> SessionBuilder { todo!() }
    /// `factories.granted`.
    pub fn granted(&self) -> Vec<Factory> { todo!() }
    /// `blobs.granted`.
    pub fn blobs(&self) -> Vec<BlobInfo> { todo!() }
    /// `blobs.open`.
    ///
    /// # Errors
    /// `not-found`, `resource-exhausted`.
    pub fn open_blob(&self, _name: &str) -> Result<Blob> { todo!() }
    /// The end of the call that is going on: no wait lasts longer.
    pub fn set_deadline(&self, _deadline: Option<Instant>) { todo!() }
    /// Takes a grant back, by its place. False if there is none.
    pub fn revoke(&self, _grant: usize) -> bool { todo!() }
    /// Ends the session. Idempotent, never blocks.
    pub fn end(&self) { todo!() }
    /// What was used.
    pub fn report(&self) -> Report { todo!() }
}
