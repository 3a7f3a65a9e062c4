//! Files that are named on the command line.

use crate::text;
use anyhow::{Context, bail};
use std::{
    fs::{File, Metadata},
    io::Read,
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
    let mut file = File::open(path).with_context(|| format!("{shown} cannot be opened"))?;
    // It may have grown since.
    file.by_ref().take(most + 1).read_to_end(&mut bytes).with_context(|| format!("{shown} cannot be read"))?;
    if bytes.len() as u64 > most {
        bail!("{shown} has more than {}", text::bytes(most));
    }
    Ok(bytes)
}
