//! Compiled code on disk.
//!
//! Loading an artefact is running native code, so whoever can write the folder owns the host. Hence: the folder is made for
//! this user alone and refused if anybody else could have put something in it or in its place; each entry carries a keyed
//! hash, under a key that is made with the folder; and an entry's name says what it was compiled from and for.

use crate::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

/// Bytes of all entries: some thousand small components, or a hundred language runtimes.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

const MAGIC: [u8; 8] = *b"halcode1";
const KEY: &str = "key";
const KEY_BYTES: usize = 32;
const TAG_BYTES: usize = 32;
const EXTENSION: &str = "cwasm";
const TEMPORARY: &str = "tmp";
/// A temporary file older than this was left by a process that died.
const TEMPORARY_S: u64 = 600;

/// A folder of compiled code.
pub(crate) struct Cache {
    folder: PathBuf,
    key: [u8; KEY_BYTES],
    max_bytes: u64,
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

    fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Cache {
    /// Opens `folder`, making it if it is not there.
    ///
    /// # Errors
    /// [`Error::Cache`] if another user owns or can write it or a folder above it, or if it cannot be used.
    pub(crate) fn open(folder: &Path, max_bytes: u64) -> Result<Self> {
        let named = folder;
        let folder = private_folder(named)?;
        let key = key(&folder, rustix::process::geteuid().as_raw())
            .map_err(|error| Error::Cache { folder: named.display().to_string(), cause: error.to_string() })?;
        Ok(Self { folder, key, max_bytes })
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
            tracing::warn!(folder = %self.folder.display(), %error, "compiled code was not cached");
        }
        if let Err(error) = self.evict() {
            tracing::warn!(folder = %self.folder.display(), %error, "the code cache was not trimmed");
        }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(key.hex()).with_extension(EXTENSION)
    }

    fn read(&self, path: &Path, key: &Key) -> io::Result<Vec<u8>> {
        let mut file = open(path)?;
        let metadata = file.metadata()?;
        private(&metadata)?;
        if metadata.len() > self.max_bytes {
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
        publish(&self.folder, |file| {
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
            block.iter_mut().zip(self.key).for_each(|(padded, key)| *padded ^= key);
            block
        };
        let inner = Sha256::new().chain_update(pad(0x36)).chain_update(key.0).chain_update(artefact).finalize();
        Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
    }

    /// Removes the entries used longest ago until the rest is under the cap.
    fn evict(&self) -> io::Result<()> {
        let mut entries = Vec::new();
        let now = SystemTime::now();
        for entry in fs::read_dir(&self.folder)? {
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
        for (_, bytes, path) in entries {
            if total <= self.max_bytes {
                break;
            }
            let _ = fs::remove_file(path);
            total -= bytes;
        }
        Ok(())
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
        match publish(folder, |file| file.write_all(&key))?.link_to(&path) {
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

/// Makes a folder that only this user can write, if it is not there, and answers where it is: for what is believed when it is read again, such as
/// compiled code, or a driver's pipelines.
///
/// # Errors
/// [`Error::Cache`] if another user owns or can write it or a folder above it, or if it cannot be used.
pub fn private_folder(folder: &Path) -> Result<PathBuf> {
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

/// A finished temporary file; removed unless it is renamed.
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
    file.sync_all()?;
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
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn key_of(text: &str) -> Key {
        Key::new(text.as_bytes(), &[7; 32])
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn refusal(result: Result<Cache>) -> String {
        result.err().expect("refused").to_string()
    }

    #[test]
    fn what_was_stored_is_found_again_also_by_another_process() {
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join("code");
        let cache = Cache::open(&folder, 1 << 20).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        cache.store(&key_of("a"), b"native code");
        assert_eq!(cache.load(&key_of("a")).as_deref(), Some(&b"native code"[..]));
        assert_eq!(cache.load(&key_of("b")), None);
        let again = Cache::open(&folder, 1 << 20).unwrap();
        assert_eq!(again.load(&key_of("a")).as_deref(), Some(&b"native code"[..]));
    }

    #[test]
    fn a_changed_entry_is_removed() {
        let at = tempfile::tempdir().unwrap();
        let cache = Cache::open(&at.path().join("code"), 1 << 20).unwrap();
        cache.store(&key_of("a"), b"native code");
        let path = cache.path(&key_of("a"));
        for cut in [0, 7, 39, 45] {
            let mut bytes = fs::read(&path).unwrap();
            bytes.truncate(cut);
            fs::write(&path, &bytes).unwrap();
            assert_eq!(cache.load(&key_of("a")), None, "cut to {cut}");
            assert!(!path.exists());
            cache.store(&key_of("a"), b"native code");
        }
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(cache.load(&key_of("a")), None);
        // An entry under another's name.
        cache.store(&key_of("a"), b"native code");
        fs::rename(&path, cache.path(&key_of("b"))).unwrap();
        assert_eq!(cache.load(&key_of("b")), None);
    }

    #[test]
    fn an_entry_of_another_installation_is_not_loaded() {
        let at = tempfile::tempdir().unwrap();
        let (one, two) = (at.path().join("one"), at.path().join("two"));
        let (one, two) = (Cache::open(&one, 1 << 20).unwrap(), Cache::open(&two, 1 << 20).unwrap());
        one.store(&key_of("a"), b"native code");
        fs::copy(one.path(&key_of("a")), two.path(&key_of("a"))).unwrap();
        assert_eq!(two.load(&key_of("a")), None);
    }

    #[test]
    fn a_link_or_a_file_that_others_can_write_is_not_loaded() {
        let at = tempfile::tempdir().unwrap();
        let cache = Cache::open(&at.path().join("code"), 1 << 20).unwrap();
        cache.store(&key_of("a"), b"native code");
        let (path, aside) = (cache.path(&key_of("a")), at.path().join("aside"));
        fs::rename(&path, &aside).unwrap();
        symlink(&aside, &path).unwrap();
        assert_eq!(cache.load(&key_of("a")), None);
        fs::rename(&aside, &path).unwrap();
        mode(&path, 0o666);
        assert_eq!(cache.load(&key_of("a")), None);
    }

    #[test]
    fn a_folder_that_others_can_write_is_refused() {
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join("code");
        Cache::open(&folder, 1).unwrap();
        mode(&folder, 0o770);
        assert!(refusal(Cache::open(&folder, 1)).contains("others can write it (mode 770)"));
        mode(&folder, 0o700);
        mode(at.path(), 0o777);
        assert!(refusal(Cache::open(&folder, 1)).contains("can be written by others (mode 777)"));
        mode(at.path(), 0o700);
        mode(&folder.join(KEY), 0o644);
        assert!(refusal(Cache::open(&folder, 1)).contains("key"));
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join("code");
        fs::create_dir(&folder).unwrap();
        if std::os::unix::fs::chown(&folder, Some(65534), None).is_err() {
            eprintln!("skipped: giving a folder to another user takes root");
            return;
        }
        assert!(refusal(Cache::open(&folder, 1)).contains("belongs to user 65534"));
        // The same for a folder above it.
        let below = folder.join("below");
        fs::create_dir(&below).unwrap();
        assert!(refusal(Cache::open(&below, 1)).contains("belongs to user 65534"));
    }

    #[test]
    fn the_entries_used_longest_ago_go_first() {
        let at = tempfile::tempdir().unwrap();
        let cache = Cache::open(&at.path().join("code"), 250).unwrap();
        for name in ["a", "b"] {
            cache.store(&key_of(name), &[0; 60]);
        }
        let old = SystemTime::now() - std::time::Duration::from_secs(60);
        for name in ["a", "b"] {
            File::options().append(true).open(cache.path(&key_of(name))).unwrap().set_modified(old).unwrap();
        }
        assert!(cache.load(&key_of("a")).is_some());
        cache.store(&key_of("c"), &[0; 60]);
        assert!(cache.load(&key_of("a")).is_some());
        assert!(cache.load(&key_of("b")).is_none());
        assert!(cache.load(&key_of("c")).is_some());
    }
}
