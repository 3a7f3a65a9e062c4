//! Read-only bytes that the host lends.

use crate::{
    budget::Charge,
    check,
    error::{Error, Result, denied, precondition},
    policy::Limit,
    tenant::Tenant,
};
use std::{
    fs::File,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A blob as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobInfo {
    /// The operator's label.
    pub name: String,
    /// Bytes.
    pub length: u64,
}

/// Bytes under a name, as the host lends them.
pub(crate) struct BlobData {
    pub(crate) name: String,
    pub(crate) length: u64,
    bytes: Bytes,
    revoked: AtomicBool,
}

enum Bytes {
    Memory(Arc<[u8]>),
    /// Read position by position, never mapped: a mapped file that shrinks kills the process.
    File(File),
}

impl BlobData {
    pub(crate) fn memory(name: String, bytes: Arc<[u8]>) -> Self {
        Self { name, length: bytes.len() as u64, bytes: Bytes::Memory(bytes), revoked: AtomicBool::new(false) }
    }

    /// The length is the file's now, for ever.
    pub(crate) fn file(name: String, file: File) -> std::io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { name, length, bytes: Bytes::File(file), revoked: AtomicBool::new(false) })
    }

    pub(crate) fn revoke(&self) {
        self.revoked.store(true, Ordering::Release);
    }

    pub(crate) fn alive(&self) -> Result<()> {
        if self.revoked.load(Ordering::Acquire) {
            return Err(denied("the host has revoked this blob"));
        }
        Ok(())
    }
}

impl hal_driver::Blob for BlobData {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> hal_driver::Result<()> {
        // A driver may be at it in pieces while the host takes the blob back.
        self.alive().map_err(|error| hal_driver::Error::from(&error))?;
        let length = into.len();
        let gone = |why: &str| {
            hal_driver::Error::new(
                hal_driver::Code::DataLoss,
                format!("the blob's {length} bytes from {offset} cannot be read any more: {why}"),
            )
        };
        match &self.bytes {
            Bytes::Memory(bytes) => {
                let start = usize::try_from(offset).ok();
                let range = start.and_then(|start| Some(start..start.checked_add(into.len())?));
                let found = range.and_then(|range| bytes.get(range)).ok_or_else(|| gone("they lie past its end"))?;
                into.copy_from_slice(found);
                Ok(())
            }
            Bytes::File(file) => read_exact_at(file, into, offset).map_err(|error| gone(&error.to_string())),
        }
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, into: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut into: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !into.is_empty() {
        let count = file.seek_read(into, offset)?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        into = into.get_mut(count..).unwrap_or_default();
        offset += count as u64;
    }
    Ok(())
}

pub(crate) struct BlobShared {
    pub(crate) data: Arc<BlobData>,
    pub(crate) tenant: Arc<Tenant>,
    closed: AtomicBool,
    _charge: Charge,
}

/// An opened blob. Clones are one handle.
#[derive(Clone)]
pub struct Blob(pub(crate) Arc<BlobShared>);

impl Blob {
    pub(crate) fn new(tenant: &Arc<Tenant>, data: &Arc<BlobData>, charge: Charge) -> Self {
        let (data, tenant) = (data.clone(), tenant.clone());
        Self(Arc::new(BlobShared { data, tenant, closed: AtomicBool::new(false), _charge: charge }))
    }

    /// The name under which the host granted it.
    pub fn name(&self) -> &str {
        &self.0.data.name
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.0.data.length
    }

    /// Copies bytes behind the end of `into`, which is given back.
    ///
    /// # Errors
    /// `out-of-range`; `resource-exhausted` above "transfer-bytes"; `data-loss` if the file shrank; `failed-precondition` once
    /// closed; `permission-denied` once revoked.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn read(&self, offset: u64, length: u64, into: Vec<u8>) -> Result<Vec<u8>> {
        let result = self.try_read(offset, length, into).await;
        if result.is_ok() {
            self.0.tenant.meter.read_bytes.add(length);
        }
        self.0.tenant.observe("blob.read", result)
    }

    async fn try_read(&self, offset: u64, length: u64, mut into: Vec<u8>) -> Result<Vec<u8>> {
        self.open()?;
        let tenant = &self.0.tenant;
        check::bound(&tenant.node, Limit::TransferBytes, length, "read in smaller pieces")?;
        check::range(self.length(), offset, length)?;
        let data = self.0.data.clone();
        let quick = matches!(data.bytes, Bytes::Memory(_));
        let read = move || {
            let start = into.len();
            // Bounded by the limit on transfers.
            into.resize(start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)), 0);
            let target = into.get_mut(start..).unwrap_or_default();
            hal_driver::Blob::read_at(&*data, offset, target).map_err(Error::from)?;
            Ok(into)
        };
        if quick { read() } else { tenant.run(&tenant.node, u64::MAX, "reading a blob", read).await }
    }

    /// Gives the blob up. Work in flight that reads it keeps what it needs.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
    }

    /// Refuses once closed, revoked, or the session is over.
    pub(crate) fn open(&self) -> Result<()> {
        if self.0.closed.load(Ordering::Acquire) {
            return Err(precondition("the blob is closed"));
        }
        self.0.data.alive()?;
        self.0.tenant.alive(&self.0.tenant.node)
    }
}
