//! One tenant's session: where its first capabilities come from, and where they end.

use crate::{
    Blob, BlobInfo, Error, Factory, Grant, Limit, Limits, Pool, Result, Used,
    audit::{Audit, Event, Sink},
    budget::Node,
    error::{invalid, not_found},
    object::{BlobData, FactoryShared},
    tenant::Tenant,
    text::{MAX_NAME_BYTES, quote, there_are},
};
use hal_driver::Code;
use std::{
    fs::File,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// Bytes to be lent to a tenant under a name.
#[derive(Clone)]
pub struct BlobSource(Arc<BlobSpec>);

struct BlobSpec {
    name: String,
    bytes: BlobBytes,
}

enum BlobBytes {
    Memory(Arc<[u8]>),
    File(File),
}

impl BlobSource {
    /// Bytes in memory.
    pub fn bytes(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(Arc::new(BlobSpec { name: name.into(), bytes: BlobBytes::Memory(bytes.into()) }))
    }

    /// A file, opened now. Its length when a session starts is the blob's; if it shrinks afterwards, reading past its end is
    /// `data-loss`. A file that others may write to while it is lent shows the tenant what they write.
    ///
    /// # Errors
    /// `not-found`, `permission-denied` or `unavailable` with what the system says, naming blob and file.
    pub fn file(name: impl Into<String>, path: &Path) -> Result<Self> {
        let name = name.into();
        let file = File::open(path).map_err(|error| {
            let code = match error.kind() {
                std::io::ErrorKind::NotFound => Code::NotFound,
                std::io::ErrorKind::PermissionDenied => Code::PermissionDenied,
                _ => Code::Unavailable,
            };
            Error::new(
                code,
                format!("the file {} for the blob {} cannot be opened: {error}", path.display(), quote(&name)),
            )
        })?;
        Ok(Self(Arc::new(BlobSpec { name, bytes: BlobBytes::File(file) })))
    }

    fn open(&self) -> Result<BlobData> {
        let name = self.0.name.clone();
        let fails = |error: std::io::Error| {
            Error::new(Code::Unavailable, format!("the blob {} cannot be opened: {error}", quote(&self.0.name)))
        };
        match &self.0.bytes {
            BlobBytes::Memory(bytes) => Ok(BlobData::memory(name, bytes.clone())),
            BlobBytes::File(file) => BlobData::file(name, file.try_clone().map_err(fails)?).map_err(fails),
        }
    }
}

/// Builds a [`Session`].
#[must_use]
pub struct SessionBuilder {
    tenant: String,
    grants: Vec<Grant>,
    known: Vec<Arc<dyn hal_driver::Factory>>,
    blobs: Vec<BlobSource>,
    limits: Option<Limits>,
    host: Option<Arc<Node>>,
    pool: Option<Pool>,
    sink: Option<Arc<dyn Sink>>,
}

impl SessionBuilder {
    /// Adds a grant. Without one the tenant sees an empty list.
    pub fn grant(mut self, grant: Grant) -> Self {
        self.grants.push(grant);
        self
    }

    /// Where [`Grant::named`] looks for its driver.
    pub fn factories(mut self, known: impl IntoIterator<Item = Arc<dyn hal_driver::Factory>>) -> Self {
        self.known.extend(known);
        self
    }

    /// Adds a blob.
    pub fn blob(mut self, blob: BlobSource) -> Self {
        self.blobs.push(blob);
        self
    }

    /// Limits of the session as a whole, over all its grants; those of a call bound each grant's. Without this one only blobs are
    /// limited, to the default of [`Limit::Blobs`], and a read of one to the most that [`Limit::TransferBytes`] is by default or in a
    /// grant: each grant has limits of its own.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Counts the session against a node that other sessions share, made with [`Node::host`].
    pub fn host(mut self, node: Arc<Node>) -> Self {
        self.host = Some(node);
        self
    }

    /// Where what may block runs. Sessions should share one: that is what makes it fair. Without this call the session has its own.
    pub fn pool(mut self, pool: Pool) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Where grants, refusals and revocations are told.
    pub fn audit(mut self, sink: Arc<dyn Sink>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Starts the session.
    ///
    /// # Errors
    /// `not-found` for a named grant that no factory serves; `invalid-argument` for a malformed pattern, or a blob's name that is
    /// empty, over 256 bytes or there already; `unavailable` for a blob that cannot be read.
    pub fn start(self) -> Result<Session> {
        let limits = self.limits.unwrap_or_else(|| session_limits(&self.grants));
        let node = self.host.map_or_else(|| Node::root(limits.clone()), |host| host.child(limits.clone()));
        let tenant = Tenant::new(self.tenant, node, self.pool.unwrap_or_default(), Audit(self.sink));
        let mut grants = Vec::with_capacity(self.grants.len());
        for grant in self.grants {
            let name = grant.name();
            let (terms, limits) = grant.resolve(&self.known)?;
            let node = tenant.node.child(limits);
            tenant.audit.tell(&Event::Granted { tenant: &tenant.name, grant: &name });
            grants.push(Granted { name, factory: FactoryShared::new(&tenant, node, terms) });
        }
        let mut blobs: Vec<Arc<BlobData>> = Vec::with_capacity(self.blobs.len());
        for blob in self.blobs {
            let blob = blob.open()?;
            let there = blobs.iter().any(|other| other.name == blob.name);
            if there || blob.name.is_empty() || blob.name.len() > MAX_NAME_BYTES {
                return Err(invalid(format!(
                    "the blob's name {} is empty, longer than {MAX_NAME_BYTES} bytes, or given twice",
                    quote(&blob.name)
                )));
            }
            tenant.audit.tell(&Event::Blob { tenant: &tenant.name, name: &blob.name });
            blobs.push(Arc::new(blob));
        }
        Ok(Session(Remote { tenant, grants: grants.into(), blobs: blobs.into() }))
    }
}

/// Of sums, only blobs are bounded here; the grants bound the rest.
fn session_limits(grants: &[Grant]) -> Limits {
    let transfers = grants.iter().map(|grant| grant.own_limits().get(Limit::TransferBytes));
    let transfer = transfers.fold(Limit::TransferBytes.default_value(), u64::max);
    Limits::boundless().with(Limit::Blobs, Limit::Blobs.default_value()).with(Limit::TransferBytes, transfer)
}

struct Granted {
    name: String,
    factory: Arc<FactoryShared>,
}

/// How much of one limit a grant has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Which.
    pub limit: Limit,
    /// Now.
    pub used: u64,
    /// At most.
    pub peak: u64,
    /// What is allowed.
    pub allowed: u64,
}

/// What one grant has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantReport {
    /// The driver's or the factory's name.
    pub name: String,
    /// Every limit that fills up.
    pub limits: Vec<Peak>,
}

/// What a session did and used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Whose.
    pub tenant: String,
    /// Since the session started.
    pub elapsed: Duration,
    /// For each grant, in order.
    pub grants: Vec<GrantReport>,
    /// Calls that can fail.
    pub calls: u64,
    /// Those that did, by kind: `refused`, `over-budget`, `not-here`, `lost`, `deadline`, `other`.
    pub failures: Vec<(&'static str, u64)>,
    /// Work that was queued.
    pub submissions: u64,
    /// Waits that ended because the deadline of [`Session::set_deadline`] was near, not because their own timeout had passed.
    pub waits_cut: u64,
    /// How often blobs were listed or opened, whether or not there were any.
    pub blobs_asked: u64,
    /// Time that devices spent on it, as far as they can tell.
    pub kernel_ns: u64,
    /// Bytes that went from devices and blobs to the tenant.
    pub read_bytes: u64,
    /// Bytes that went from the tenant to devices.
    pub written_bytes: u64,
}

/// One tenant's session. Dropping it ends it.
pub struct Session(Remote);

/// Reaches a session from elsewhere, while its tenant runs: to revoke, to end it, to see what it uses. Does not keep it from
/// ending, nor anything that was made in it alive.
#[derive(Clone)]
pub struct Remote {
    tenant: Arc<Tenant>,
    grants: Arc<[Granted]>,
    blobs: Arc<[Arc<BlobData>]>,
}

impl Session {
    /// A session for a tenant of this name, which appears in logs and metrics.
    pub fn builder(tenant: impl Into<String>) -> SessionBuilder {
        SessionBuilder {
            tenant: tenant.into(),
            grants: Vec::new(),
            known: Vec::new(),
            blobs: Vec::new(),
            limits: None,
            host: None,
            pool: None,
            sink: None,
        }
    }

    /// Fresh handles, always to the same factories in the order of the grants.
    pub fn granted(&self) -> Vec<Factory> {
        self.grants.iter().map(|grant| Factory::new(&grant.factory, None)).collect()
    }

    /// The blobs that were granted.
    pub fn blobs(&self) -> Vec<BlobInfo> {
        self.tenant.meter.blobs_asked.add(1);
        self.blobs.iter().map(|blob| BlobInfo { name: blob.name.clone(), length: blob.length }).collect()
    }

    /// Opens a blob.
    ///
    /// # Errors
    /// `not-found` with the names there are; `resource-exhausted` for "blobs"; `permission-denied` once revoked.
    #[tracing::instrument(level = "trace", skip_all)]
    pub fn open_blob(&self, name: &str) -> Result<Blob> {
        self.tenant.meter.blobs_asked.add(1);
        self.tenant.observe("blobs.open", self.try_open_blob(name))
    }

    fn try_open_blob(&self, name: &str) -> Result<Blob> {
        self.tenant.alive(&self.tenant.node)?;
        let Some(blob) = self.blobs.iter().find(|blob| blob.name == name) else {
            let there = there_are(self.blobs.iter().map(|blob| blob.name.as_str()));
            return Err(not_found(format!("no blob is called {}; {there}", quote(name))));
        };
        blob.alive()?;
        let charge = self.tenant.node.charge(Limit::Blobs, 1)?;
        self.tenant.audit.tell(&Event::Blob { tenant: &self.tenant.name, name });
        Ok(Blob::new(&self.tenant, blob, charge))
    }

    /// The end of the call that is going on: every wait ends a little before it, as the value `deadline-exceeded`. None:
    /// waits last as long as they ask.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        self.tenant.set_deadline(deadline);
    }

    /// Reaches the session from elsewhere.
    pub fn remote(&self) -> Remote {
        self.0.clone()
    }
}

/// What can be done from elsewhere can be done here too.
impl std::ops::Deref for Session {
    type Target = Remote;

    fn deref(&self) -> &Remote {
        &self.0
    }
}

impl Remote {
    /// Takes a grant back, by its place, with everything that was made or narrowed from it. False if there is none.
    pub fn revoke(&self, grant: usize) -> bool {
        let found = self.grants.get(grant);
        if let Some(grant) = found {
            self.tenant.revoke(&grant.factory.node, &grant.name);
        }
        found.is_some()
    }

    /// Takes a blob back. False if there is none.
    pub fn revoke_blob(&self, name: &str) -> bool {
        let found = self.blobs.iter().find(|blob| blob.name == name);
        if let Some(blob) = found {
            blob.revoke();
            self.tenant.audit.tell(&Event::Revoked { tenant: &self.tenant.name, grant: name });
        }
        found.is_some()
    }

    /// Ends the session: nothing new begins, what waits is cancelled, what runs is told to stop. May be called again; never waits.
    pub fn end(&self) {
        self.tenant.end();
    }

    /// What was done and used.
    pub fn report(&self) -> Report {
        let tenant = &self.tenant;
        let peaks = |node: &Node| {
            let sums = Limit::ALL.into_iter().filter(|limit| !limit.per_call() && *limit != Limit::Blobs);
            let peak = |limit| Peak {
                limit,
                used: node.used(limit),
                peak: node.peak(limit),
                allowed: node.limits().get(limit),
            };
            sums.map(peak).collect()
        };
        let grant = |grant: &Granted| GrantReport { name: grant.name.clone(), limits: peaks(&grant.factory.node) };
        Report {
            tenant: tenant.name.clone(),
            elapsed: tenant.elapsed(),
            grants: self.grants.iter().map(grant).collect(),
            calls: tenant.meter.calls.get(),
            failures: tenant.meter.failures(),
            submissions: tenant.meter.submissions.get(),
            waits_cut: tenant.meter.waits_cut.get(),
            blobs_asked: tenant.meter.blobs_asked.get(),
            kernel_ns: tenant.meter.kernel_ns.get(),
            read_bytes: tenant.meter.read_bytes.get(),
            written_bytes: tenant.meter.written_bytes.get(),
        }
    }

    /// What a grant, by its place, uses now. None if there is no such grant.
    pub fn budget(&self, grant: usize) -> Option<Vec<Used>> {
        self.grants.get(grant).map(|grant| grant.factory.node.usage())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}
