//! Components as `cargo xtask guests` left them, refused when they are missing or stale.

use anyhow::{Context, Result};
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};
use xtask::manifest::Manifest;

/// The workspace's root.
pub fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_path_buf).unwrap_or_default()
    })
}

/// What was built.
///
/// # Errors
/// If nothing was, with the command that does.
pub fn manifest() -> Result<&'static Manifest> {
    static MANIFEST: OnceLock<Manifest> = OnceLock::new();
    if let Some(manifest) = MANIFEST.get() {
        return Ok(manifest);
    }
    let manifest = Manifest::read(root())?;
    Ok(MANIFEST.get_or_init(|| manifest))
}

/// The bytes of a component.
///
/// # Errors
/// If it is missing or older than its sources, with the command that builds it.
pub fn component(name: &str) -> Result<Vec<u8>> {
    let path = manifest()?.fresh(root(), name)?;
    std::fs::read(&path).with_context(|| format!("reading {}", path.display()))
}
