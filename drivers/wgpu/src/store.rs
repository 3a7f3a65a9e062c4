//! Native pipelines on disk, a file for each adapter, so that what one process had compiled the next one need not.
//!
//! A native driver trusts what it is given: whoever can write the folder owns the process. Hence the folder is the operator's choice, it is made for
//! this user alone and not used if others can write it, and what a file holds is handed on only if it is whole and was written by this version of
//! ours for the same adapter with the same version of its driver. The digest finds damage, not malice. Whatever is wrong with the folder or a file
//! costs time and nothing else, so it is said in the log.

use sha2::{Digest, Sha256};
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

/// Bytes of what a native driver keeps. It only grows, so that above this it is begun anew. A pipeline is some tens of kilobytes.
const MAX_DATA_BYTES: u64 = 64 << 20;

const MAGIC: [u8; 8] = *b"halpipe1";
const DIGEST_BYTES: usize = 32;
/// What stands before the data: the mark, whose data it is, and the digest of all of that.
const HEADER_BYTES: usize = MAGIC.len() + 2 * DIGEST_BYTES;

type Sum = [u8; DIGEST_BYTES];

/// The file of one adapter.
pub(crate) struct Store {
    path: PathBuf,
    /// Of everything that decides whether the data may be handed on.
    identity: Sum,
}

impl Store {
    /// The file in `folder` of the adapter at `adapter`, a device path, for data that only makes sense beside the same `identity`. None if the folder
    /// is not to be trusted.
    pub(crate) fn new(folder: &Path, adapter: &str, identity: &str) -> Option<Self> {
        if let Err(error) = private(folder) {
            tracing::warn!(folder = %folder.display(), %error, "pipelines are not kept");
            return None;
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+') { c } else { '_' };
        let name: String = adapter.chars().map(plain).collect();
        let mut hash = Sha256::new();
        for part in [env!("CARGO_PKG_VERSION"), adapter, identity] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Some(Self { path: folder.join(format!("{name}.pipelines")), identity: hash.finalize().into() })
    }

    /// What was kept, if it is whole and of the same adapter, driver and version.
    pub(crate) fn load(&self) -> Option<Vec<u8>> {
        match self.read() {
            Ok(data) => Some(data),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(file = %self.path.display(), %error, "pipelines that were kept are not used");
                None
            }
        }
    }

    /// Keeps `data` instead of what was kept, unless that is more. Whoever reads meanwhile finds the one or the other.
    ///
    /// What a process keeps is what it found and what it added, and native interfaces cannot be asked to join two of these. So of two processes that
    /// add at one time the one with more is kept, and the next one adds to that: all of it is there in the end.
    pub(crate) fn save(&self, data: &[u8]) {
        if let Err(error) = self.write(data) {
            tracing::warn!(file = %self.path.display(), %error, "pipelines were not kept");
        }
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let file = File::open(&self.path)?;
        let mut all = Vec::new();
        file.take(MAX_DATA_BYTES + HEADER_BYTES as u64 + 1).read_to_end(&mut all)?;
        if all.len() as u64 > MAX_DATA_BYTES + HEADER_BYTES as u64 {
            return Err(wrong("it is too large"));
        }
        let (head, data) = all.split_at_checked(HEADER_BYTES).ok_or_else(|| wrong("it is too short"))?;
        let Some(rest) = head.strip_prefix(&MAGIC) else { return Err(wrong("it is no such file")) };
        if !rest.starts_with(&self.identity) {
            return Err(wrong("it was written for another adapter or with another version of the driver"));
        }
        if !rest.ends_with(&self.sum(data)) {
            return Err(wrong("it is damaged"));
        }
        all.drain(..HEADER_BYTES);
        Ok(all)
    }

    fn write(&self, data: &[u8]) -> io::Result<()> {
        // One that writes is enough, and only one may use the temporary file.
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        for_us_alone(&mut options);
        let lock = options.open(self.path.with_extension("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if data.len() as u64 > MAX_DATA_BYTES {
            tracing::info!(file = %self.path.display(), bytes = data.len(), "pipelines have become too many to keep; they are begun anew");
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        if self.read().is_ok_and(|kept| kept.len() > data.len()) {
            return Ok(());
        }
        let temporary = self.path.with_extension("tmp");
        let mut file = options.truncate(true).open(&temporary)?;
        file.write_all(&MAGIC)?;
        file.write_all(&self.identity)?;
        file.write_all(&self.sum(data))?;
        file.write_all(data)?;
        file.sync_all()?;
        fs::rename(&temporary, &self.path)
    }

    fn sum(&self, data: &[u8]) -> Sum {
        let mut hash = Sha256::new();
        hash.update(MAGIC);
        hash.update(self.identity);
        hash.update((data.len() as u64).to_le_bytes());
        hash.update(data);
        hash.finalize().into()
    }
}

/// Makes the folder if it is not there, for this user alone, and refuses one that is another's or that others can write. What lies above it is the
/// business of whoever named it.
fn private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = fs::symlink_metadata(folder)?;
    if !metadata.is_dir() {
        return Err(wrong("it is not a folder"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(wrong("the folder is another user's"));
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(wrong("others can write the folder"));
        }
    }
    Ok(())
}

fn for_us_alone(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

fn wrong(text: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("hal-wgpu-store-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            Self(folder)
        }

        fn store(&self, adapter: &str, identity: &str) -> Store {
            Store::new(&self.0, adapter, identity).unwrap()
        }

        fn file(&self) -> PathBuf {
            self.0.join("pci-0000_01_00.0.pipelines")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const ADAPTER: &str = "pci-0000:01:00.0";

    #[test]
    fn what_is_kept_comes_back_for_the_same_adapter_and_driver_only() {
        let folder = Folder::new("identity");
        let store = folder.store(ADAPTER, "driver 1");
        assert_eq!(store.load(), None);
        for data in [&b""[..], b"first", b"the second one"] {
            store.save(data);
            assert_eq!(folder.store(ADAPTER, "driver 1").load().unwrap(), data);
        }
        assert_eq!(folder.store(ADAPTER, "driver 2").load(), None);
        assert_eq!(
            folder.store(ADAPTER, "driver 2").read().unwrap_err().to_string(),
            "it was written for another adapter or with another version of the driver"
        );
        assert_eq!(folder.store("pci-0000:02:00.0", "driver 1").load(), None);
        // Nor if it is put in another adapter's place.
        fs::copy(folder.file(), folder.0.join("pci-0000_02_00.0.pipelines")).unwrap();
        assert_eq!(folder.store("pci-0000:02:00.0", "driver 1").load(), None);
        // Whoever has the other driver now begins anew.
        folder.store(ADAPTER, "driver 2").save(b"third");
        assert_eq!((store.load(), folder.store(ADAPTER, "driver 2").load()), (None, Some(b"third".to_vec())));
    }

    #[test]
    fn what_is_damaged_in_any_byte_or_cut_anywhere_is_not_used() {
        let folder = Folder::new("damage");
        let store = folder.store(ADAPTER, "driver");
        store.save(b"pipelines");
        let whole = fs::read(folder.file()).unwrap();
        for length in 0..whole.len() {
            fs::write(folder.file(), &whole[..length]).unwrap();
            assert_eq!(store.load(), None, "the first {length} bytes");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(folder.file(), damaged).unwrap();
            assert_eq!(store.load(), None, "byte {at}");
        }
        fs::write(folder.file(), [&whole[..], b"x"].concat()).unwrap();
        assert_eq!(store.read().unwrap_err().to_string(), "it is damaged");
        fs::write(folder.file(), whole).unwrap();
        assert_eq!(store.load().unwrap(), b"pipelines");
    }

    #[test]
    fn a_file_has_a_size() {
        let folder = Folder::new("size");
        let store = folder.store(ADAPTER, "driver");
        store.save(b"small");
        store.save(&vec![7; MAX_DATA_BYTES as usize + 1]);
        assert!(!folder.file().exists(), "it is begun anew");
        File::create(folder.file()).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(store.read().unwrap_err().to_string(), "it is too large");
    }

    #[test]
    fn one_writes_at_a_time() {
        let folder = Folder::new("lock");
        let store = folder.store(ADAPTER, "driver");
        store.save(b"a");
        let other = File::open(folder.file().with_extension("lock")).unwrap();
        other.lock().unwrap();
        store.save(b"second");
        assert_eq!(store.load().unwrap(), b"a");
        drop(other);
        // One that died while it wrote leaves its temporary file behind.
        fs::write(folder.file().with_extension("tmp"), vec![0; 1000]).unwrap();
        store.save(b"third");
        assert_eq!(store.load().unwrap(), b"third");
    }

    #[test]
    fn who_writes_last_does_not_forget_what_others_added() {
        let folder = Folder::new("less");
        let (one, two) = (folder.store(ADAPTER, "driver"), folder.store(ADAPTER, "driver"));
        one.save(b"found, and much more");
        two.save(b"found, and more");
        assert_eq!(two.load().unwrap(), b"found, and much more");
        // What is damaged, or another's, is not in the way.
        fs::write(folder.file(), [0; 1000]).unwrap();
        two.save(b"found");
        assert_eq!(one.load().unwrap(), b"found");
        one.save(b"again");
        assert_eq!(two.load().unwrap(), b"again", "as much is as good");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_write_what_is_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("mode");
        folder.store(ADAPTER, "driver").save(b"data");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder.0), mode(&folder.file())), (0o700, 0o600));
        for shared in [0o770, 0o702] {
            fs::set_permissions(&folder.0, fs::Permissions::from_mode(shared)).unwrap();
            assert!(Store::new(&folder.0, ADAPTER, "driver").is_none(), "{shared:o}");
        }
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o700)).unwrap();
        // Only the superuser can give a folder away; for others there is nothing to try.
        if std::os::unix::fs::chown(&folder.0, Some(12_345), None).is_ok() {
            assert!(Store::new(&folder.0, ADAPTER, "driver").is_none());
            std::os::unix::fs::chown(&folder.0, Some(rustix::process::geteuid().as_raw()), None).unwrap();
        }
        let link = folder.0.join("link");
        std::os::unix::fs::symlink(&folder.0, &link).unwrap();
        assert!(Store::new(&link, ADAPTER, "driver").is_none());
        assert!(Store::new(&folder.file(), ADAPTER, "driver").is_none());
    }
}
