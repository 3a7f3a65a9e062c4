//! Compiled code on disk.
//!
//! Loading an artefact is running native code, so whoever can write the folder owns the host. Hence: the folder is made for
//! this user alone and refused if anybody else could have put something in it or in its place; each entry carries a keyed
//! hash, under a key that is made with the folder; and an entry's name says what it was compiled from and for.

use crate::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::{
    fmt,
    fs::{self, DirBuilder, File, Metadata, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

/// Bytes of all entries: some thousand small components, or a hundred language runtimes.
const DEFAULT_MAX_BYTES: u64 = 1 << 30;

/// Entries. Kernels are some tens of kilobytes, and each that is added has the folder listed, which takes some milliseconds with this many.
const MAX_ENTRIES: usize = 4096;

const MAGIC: [u8; 8] = *b"halcode1";
const KEY: &str = "key";
const KEY_BYTES: usize = 32;
const TAG_BYTES: usize = 32;
const EXTENSION: &str = "cwasm";
const TEMPORARY: &str = "tmp";
/// A temporary file older than this was left by a process that died.
const TEMPORARY_S: u64 = 600;

/// A folder of compiled code: of a host's components ([`Builder::code_cache`](crate::Builder::code_cache)), of a driver's kernels (as a
/// [`hal_driver::CodeCache`]), or of both. Processes may share it; clones are one.
///
/// It keeps at most 1 GiB, or what [`CodeCache::max_bytes`] says, in at most 4,096 files; what was used longest ago goes first. Whatever is wrong with a
/// file costs a compilation and nothing else.
///
/// Given to a driver, it is shared by all tenants of that driver: how fast a kernel loads tells a tenant whether anybody has loaded it before. Keep one for
/// each tenant, or none, where that matters.
#[derive(Clone)]
pub struct CodeCache(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    folder: PathBuf,
    key: [u8; KEY_BYTES],
    max_bytes: u64,
    max_entries: usize,
}

/// What an entry was compiled from and for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(pub(crate) [u8; 32]);

impl Key {
    /// `engine` is [`crate::worker::fingerprint`]'s.
    pub(crate) fn new(bytes: &[u8], engine: &[u8; 32]) -> Self {
        let mut hash = Sha256::new();
        hash.update(engine);
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update([0]);
        hash.update(bytes);
        Self(hash.finalize().into())
    }

    /// Of a driver's code. No component's key is one: those begin with a hash that no driver chooses.
    fn of_driver(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"driver\0");
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl CodeCache {
    /// Opens `folder`, making it if it is not there. Only this user may be able to write it.
    ///
    /// # Errors
    /// [`Error::Cache`] if another user owns or can write it or a folder above it, or if it cannot be used.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let named = folder.as_ref();
        let folder = private_folder(named)?;
        let key = key(&folder, rustix::process::geteuid().as_raw())
            .map_err(|error| Error::Cache { folder: named.display().to_string(), cause: error.to_string() })?;
        Ok(Self(Arc::new(Inner { folder, key, max_bytes: DEFAULT_MAX_BYTES, max_entries: MAX_ENTRIES })))
    }

    /// Changes how many bytes this handle, and its clones from now on, leave in the folder.
    #[must_use]
    pub fn max_bytes(self, max_bytes: u64) -> Self {
        Self(Arc::new(Inner { max_bytes, ..Inner::clone(&self.0) }))
    }

    /// Where it is, without links: a folder that only this user can write, and so good for other things that are believed when they are read
    /// again, such as a GPU driver's pipelines. Files with other endings than the cache's own are left alone.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// The artefact of `key`, if this installation wrote it. Anything else under that name is removed.
    pub(crate) fn load(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        match self.read(&path, key) {
            Ok(artefact) => Some(artefact),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(entry = %path.display(), %error, "removing a cache entry that cannot be trusted");
                // If it cannot be removed it stays refused.
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Keeps `artefact`. A failure costs the next start a compilation, so it is only logged.
    pub(crate) fn store(&self, key: &Key, artefact: &[u8]) {
        if let Err(error) = self.write(key, artefact) {
            tracing::warn!(folder = %self.0.folder.display(), %error, "compiled code was not cached");
        }
        if let Err(error) = self.evict() {
            tracing::warn!(folder = %self.0.folder.display(), %error, "the code cache was not trimmed");
        }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.0.folder.join(key.hex()).with_extension(EXTENSION)
    }

    fn read(&self, path: &Path, key: &Key) -> io::Result<Vec<u8>> {
        let mut file = open(path)?;
        let metadata = file.metadata()?;
        private(&metadata)?;
        if metadata.len() > self.0.max_bytes {
            return Err(invalid("it is larger than the cache"));
        }
        let mut head = [0; MAGIC.len() + TAG_BYTES];
        file.read_exact(&mut head)?;
        let mut artefact = Vec::new();
        file.read_to_end(&mut artefact)?;
        let (magic, tag) = head.split_at(MAGIC.len());
        if magic != MAGIC || !same(tag, &self.tag(key, &artefact)) {
            return Err(invalid("its keyed hash is wrong"));
        }
        // For eviction; a failure only makes it look older.
        let _ = file.set_modified(SystemTime::now());
        Ok(artefact)
    }

    fn write(&self, key: &Key, artefact: &[u8]) -> io::Result<()> {
        let tag = self.tag(key, artefact);
        publish(&self.0.folder, |file| {
            file.write_all(&MAGIC)?;
            file.write_all(&tag)?;
            file.write_all(artefact)
        })?
        .rename_to(&self.path(key))
    }

    /// HMAC-SHA256 over the name and the artefact.
    fn tag(&self, key: &Key, artefact: &[u8]) -> [u8; TAG_BYTES] {
        const BLOCK: usize = 64;
        let pad = |byte: u8| {
            let mut block = [byte; BLOCK];
            block.iter_mut().zip(self.0.key).for_each(|(padded, key)| *padded ^= key);
            block
        };
        let inner = Sha256::new().chain_update(pad(0x36)).chain_update(key.0).chain_update(artefact).finalize();
        Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
    }

    /// Removes the entries used longest ago until the rest is under both caps.
    fn evict(&self) -> io::Result<()> {
        let mut entries = Vec::new();
        let now = SystemTime::now();
        for entry in fs::read_dir(&self.0.folder)? {
            let path = entry?.path();
            // Another process may have removed it meanwhile.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let used = metadata.modified()?;
            match path.extension().and_then(|extension| extension.to_str()) {
                Some(EXTENSION) => entries.push((used, metadata.len(), path)),
                Some(TEMPORARY) if now.duration_since(used).is_ok_and(|age| age.as_secs() > TEMPORARY_S) => {
                    let _ = fs::remove_file(&path);
                }
                _ => {}
            }
        }
        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        let mut left = entries.len();
        for (_, bytes, path) in entries {
            if total <= self.0.max_bytes && left <= self.0.max_entries {
                break;
            }
            let _ = fs::remove_file(path);
            total -= bytes;
            left -= 1;
        }
        Ok(())
    }
}

// SAFETY: `load` answers only what carries a keyed hash over the key of these parts and all of the code, under a key that only this user can read, from a
// folder in which only this user can write.
unsafe impl hal_driver::CodeCache for CodeCache {
    fn load(&self, parts: &[&[u8]]) -> Option<Vec<u8>> {
        let found = self.load(&Key::of_driver(parts));
        let result = if found.is_some() { "hit" } else { "miss" };
        metrics::counter!("hal_host_kernel_cache", "result" => result).increment(1);
        found
    }

    fn store(&self, parts: &[&[u8]], code: &[u8]) {
        self.store(&Key::of_driver(parts), code);
    }
}

impl fmt::Debug for CodeCache {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeCache").field("folder", &self.0.folder).finish_non_exhaustive()
    }
}

/// Whether nobody but `user` and root can replace what lies below `parent`.
fn trusted_parent(parent: &Path, user: u32) -> Result<(), String> {
    let metadata = fs::metadata(parent).map_err(|error| error.to_string())?;
    if metadata.uid() != user && metadata.uid() != 0 {
        return Err(format!("belongs to user {}", metadata.uid()));
    }
    // In a sticky folder of root's, such as /tmp, others can add entries but not replace ours.
    let sticky = metadata.uid() == 0 && metadata.mode() & 0o1000 != 0;
    if metadata.mode() & 0o022 != 0 && !sticky {
        return Err(format!("can be written by others (mode {:o})", metadata.mode() & 0o7777));
    }
    Ok(())
}

/// The installation's key: random, made once. Whoever comes second takes the first one's.
fn key(folder: &Path, user: u32) -> io::Result<[u8; KEY_BYTES]> {
    let path = folder.join(KEY);
    if !path.exists() {
        let mut key = [0; KEY_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        // A key that a crash left half-written would have the whole folder refused.
        let made = publish(folder, |file| file.write_all(&key).and_then(|()| file.sync_all()))?;
        match made.link_to(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    let mut file = open(&path)?;
    let metadata = file.metadata()?;
    private(&metadata)?;
    if metadata.uid() != user || metadata.mode() & 0o077 != 0 || metadata.len() != KEY_BYTES as u64 {
        return Err(invalid("its key can be read by others or is damaged; remove the folder"));
    }
    let mut key = [0; KEY_BYTES];
    file.read_exact(&mut key)?;
    Ok(key)
}

/// Makes a folder that only this user can write, if it is not there, and answers where it is.
fn private_folder(folder: &Path) -> Result<PathBuf> {
    let refuse = |cause: String| Error::Cache { folder: folder.display().to_string(), cause };
    let failed = |error: io::Error| refuse(error.to_string());
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    let folder = folder.canonicalize().map_err(failed)?;
    let user = rustix::process::geteuid().as_raw();
    let metadata = fs::metadata(&folder).map_err(failed)?;
    if !metadata.is_dir() {
        return Err(refuse("it is not a folder".into()));
    }
    if metadata.uid() != user {
        return Err(refuse(format!("it belongs to user {}", metadata.uid())));
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(refuse(format!("others can write it (mode {:o})", metadata.mode() & 0o7777)));
    }
    for parent in folder.ancestors().skip(1) {
        trusted_parent(parent, user).map_err(|cause| refuse(format!("{} {cause}", parent.display())))?;
    }
    Ok(folder)
}

fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW.bits() | rustix::fs::OFlags::NONBLOCK.bits();
    OpenOptions::new().read(true).custom_flags(flags as i32).open(path)
}

fn private(metadata: &Metadata) -> io::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    if !metadata.is_file() || metadata.uid() != user || metadata.permissions().mode() & 0o022 != 0 {
        return Err(invalid("it is not a file that only this user can write"));
    }
    Ok(())
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

/// Compares without telling where the first difference is.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

/// A finished temporary file, not synced: what a crash leaves half-written is told by its keyed hash. Removed unless it is renamed.
struct Unpublished(PathBuf);

fn publish(folder: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<Unpublished> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let path = folder.join(name).with_extension(TEMPORARY);
    // Left by a process that had our id.
    let _ = fs::remove_file(&path);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let unpublished = Unpublished(path);
    fill(&mut file)?;
    Ok(unpublished)
}

impl Unpublished {
    fn rename_to(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)
    }

    fn link_to(self, path: &Path) -> io::Result<()> {
        fs::hard_link(&self.0, path)
    }
}

impl Drop for Unpublished {
    fn drop(&mut self) {
        // Not there any more after a rename.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests;
