//! Files that are named on the command line.

use crate::text;
use anyhow::{Context, bail, ensure};
use std::{
    fs::{File, Metadata},
    io::{Read, Write},
    path::Path,
};

/// Requires a file that ends: a device or a pipe may not, and a directory has no bytes.
///
/// # Errors
/// One sentence with the path.
pub fn require_regular(path: &Path) -> anyhow::Result<Metadata> {
    let shown = path.display();
    let found = std::fs::metadata(path).with_context(|| format!("{shown} cannot be opened"))?;
    if found.is_dir() {
        bail!("{shown} is a directory; name a file");
    }
    if !found.is_file() {
        bail!("{shown} is not a regular file; copy what it holds to one");
    }
    Ok(found)
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// One sentence with the path for each way in which that can fail.
pub fn read(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let found = require_regular(path)?;
    if found.len() > most {
        bail!("{shown} has {}; at most {} are read", text::bytes(found.len()), text::bytes(most));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(|| format!("{shown} cannot be opened"))?;
    // It may have grown since.
    file.take(most + 1).read_to_end(&mut bytes).with_context(|| format!("{shown} cannot be read"))?;
    if bytes.len() as u64 > most {
        bail!("{shown} has more than {}", text::bytes(most));
    }
    Ok(bytes)
}

/// Requires that a file can be written at a path: there is a folder for it, and what is there is a regular file. A device that was named
/// by mistake is not to be replaced by a file.
///
/// # Errors
/// One sentence with the path.
pub fn require_writable(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    ensure!(path.file_name().is_some(), "{shown} names no file");
    ensure!(folder(path).is_dir(), "{shown} cannot be written: its folder is not there");
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => bail!("{shown} is no regular file, and is not written over"),
        _ => Ok(()),
    }
}

/// Writes a file, all of it or nothing: whoever reads it finds what was there before or what is there afterwards.
///
/// # Errors
/// One sentence with the path.
pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    require_writable(path)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hal-");
    // As any new file: readable for whom the umask lets.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let fill = || {
        let mut file = builder.tempfile_in(folder(path))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        std::io::Result::Ok(())
    };
    fill().with_context(|| format!("{} cannot be written", path.display()))
}

fn folder(path: &Path) -> &Path {
    // The parent of a bare name is empty.
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
