//! The manifest beside the built components: which there are, from what they were built, and whether they still match their sources.
//!
//! A component's *inputs* are the directories and files that its build reads, relative to the workspace's root. Their hash also covers the
//! compiler's version. Both are written down per component, so that a test can compute the hash again without knowing how guests are built.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Where the components and their manifest are written, relative to the workspace's root. It does not move with `CARGO_TARGET_DIR`, so
/// that tests find it from their own `CARGO_MANIFEST_DIR`.
pub const COMPONENTS: &str = "target/components";

/// The manifest's file name, in [`COMPONENTS`].
pub const FILE: &str = "manifest.json";

/// What to type when a component is missing or stale.
pub const REMEDY: &str = "run `cargo xtask guests`";

/// Every component that is built, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The components, by name.
    pub components: BTreeMap<String, Entry>,
}

/// One component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The file's name, in the manifest's directory.
    pub file: String,
    /// The package it was built from.
    pub package: String,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// The compiler that built it, as it names itself.
    pub toolchain: String,
    /// The directories and files that the build reads, relative to the workspace's root.
    pub inputs: Vec<String>,
    /// SHA-256 over the inputs and the compiler's name, in hexadecimal: see [`hash_inputs`].
    pub inputs_sha256: String,
}

impl Manifest {
    /// Reads the manifest of the workspace at `root`; an error says how to make one.
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join(COMPONENTS).join(FILE);
        let text = fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}: no guest has been built yet? {REMEDY}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a manifest: {REMEDY}", path.display()))
    }

    /// Writes the manifest of the workspace at `root`, whole or not at all.
    pub fn write(&self, root: &Path) -> Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        replace(&root.join(COMPONENTS).join(FILE), text.as_bytes())
    }

    /// The file of the component called `name`, which must be there and match its sources.
    pub fn fresh(&self, root: &Path, name: &str) -> Result<PathBuf> {
        let entry = self.components.get(name).ok_or_else(|| anyhow!("no component is called `{name}`: {REMEDY}"))?;
        match entry.stale(root)? {
            None => Ok(root.join(COMPONENTS).join(&entry.file)),
            Some(why) => bail!("component `{name}` is stale ({why}): {REMEDY}"),
        }
    }

    /// Every component that does not match its sources any more, with the reason.
    pub fn stale(&self, root: &Path) -> Result<Vec<(String, String)>> {
        let mut stale = Vec::new();
        for (name, entry) in &self.components {
            if let Some(why) = entry.stale(root)? {
                stale.push((name.clone(), why));
            }
        }
        Ok(stale)
    }
}

impl Entry {
    /// Why the component does not match its sources, or `None` if it does.
    pub fn stale(&self, root: &Path) -> Result<Option<String>> {
        if let Some(gone) = self.inputs.iter().find(|input| !root.join(input).exists()) {
            return Ok(Some(format!("{gone} is gone")));
        }
        if hash_inputs(root, &self.inputs, &self.toolchain)? != self.inputs_sha256 {
            return Ok(Some(format!("something changed in {}", self.inputs.join(", "))));
        }
        let file = root.join(COMPONENTS).join(&self.file);
        let Ok(bytes) = fs::read(&file) else {
            return Ok(Some(format!("{} is gone", self.file)));
        };
        if sha256(&bytes) != self.sha256 {
            return Ok(Some(format!("{} is not what was built", self.file)));
        }
        Ok(None)
    }
}

/// SHA-256 over `toolchain` and over the path and content of every file in `inputs` (files, or directories with all that is in them),
/// which are relative to `root`. What no build reads is left out: names that start with a dot, `target` and `__pycache__`.
pub fn hash_inputs(root: &Path, inputs: &[String], toolchain: &str) -> Result<String> {
    let mut files = Vec::new();
    for input in inputs {
        collect(root, input, &mut files)?;
    }
    files.sort();
    files.dedup();

    let mut hash = Sha256::new();
    update(&mut hash, toolchain.as_bytes());
    for file in files {
        let path = root.join(&file);
        let content = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        update(&mut hash, file.as_bytes());
        update(&mut hash, &content);
    }
    Ok(hex(&hash.finalize()))
}

/// SHA-256 of `bytes`, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Writes `bytes` to `path` so that a reader sees the old file or the new one, never half of it.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let staged = path.with_extension(format!("tmp{}", std::process::id()));
    fs::write(&staged, bytes).with_context(|| format!("cannot write {}", staged.display()))?;
    fs::rename(&staged, path).with_context(|| format!("cannot write {}", path.display()))
}

/// Length first, so that no two lists of fields hash alike.
fn update(hash: &mut Sha256, field: &[u8]) {
    hash.update((field.len() as u64).to_le_bytes());
    hash.update(field);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn collect(root: &Path, relative: &str, files: &mut Vec<String>) -> Result<()> {
    let path = root.join(relative);
    let kind = fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
    if !kind.is_dir() {
        files.push(relative.to_owned());
        return Ok(());
    }
    for child in fs::read_dir(&path).with_context(|| format!("cannot list {}", path.display()))? {
        let name = child?.file_name();
        let name = name.to_str().ok_or_else(|| anyhow!("a file name in {} is not UTF-8", path.display()))?;
        if !(name.starts_with('.') || name == "target" || name == "__pycache__") {
            collect(root, &format!("{relative}/{name}"), files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/src")).unwrap();
        fs::create_dir_all(dir.path().join(COMPONENTS)).unwrap();
        fs::write(dir.path().join("a/src/lib.rs"), "one").unwrap();
        fs::write(dir.path().join("a/x"), "two").unwrap();
        fs::write(dir.path().join("lock"), "three").unwrap();
        dir
    }

    fn hash(dir: &Path) -> String {
        hash_inputs(dir, &["a".into(), "lock".into()], "rustc 1").unwrap()
    }

    #[test]
    fn the_hash_is_of_paths_contents_and_toolchain() {
        let dir = tree();
        let before = hash(dir.path());
        assert_eq!(before, hash(dir.path()));
        assert_eq!(before, hash_inputs(dir.path(), &["lock".into(), "a".into(), "a/x".into()], "rustc 1").unwrap());
        assert_ne!(before, hash_inputs(dir.path(), &["a".into(), "lock".into()], "rustc 2").unwrap());

        fs::write(dir.path().join("a/src/lib.rs"), "uno").unwrap();
        let changed = hash(dir.path());
        assert_ne!(before, changed);
        fs::rename(dir.path().join("a/src/lib.rs"), dir.path().join("a/src/main.rs")).unwrap();
        assert_ne!(changed, hash(dir.path()));
    }

    #[test]
    fn bytes_cannot_move_between_files() {
        let dir = tree();
        let before = hash(dir.path());
        fs::write(dir.path().join("a/x"), "tw").unwrap();
        fs::write(dir.path().join("lock"), "othree").unwrap();
        assert_ne!(before, hash(dir.path()));
    }

    #[test]
    fn what_no_build_reads_does_not_count() {
        let dir = tree();
        let before = hash(dir.path());
        fs::create_dir_all(dir.path().join("a/target")).unwrap();
        fs::create_dir_all(dir.path().join("a/__pycache__")).unwrap();
        for file in ["a/target/x", "a/__pycache__/y", "a/.swap"] {
            fs::write(dir.path().join(file), "noise").unwrap();
        }
        assert_eq!(before, hash(dir.path()));
    }

    #[test]
    fn a_missing_input_is_an_error_with_its_path() {
        let dir = tree();
        let error = hash_inputs(dir.path(), &["b".into()], "").unwrap_err();
        assert!(error.to_string().contains("/b"), "{error}");
    }

    #[test]
    fn staleness_names_its_reason() {
        let dir = tree();
        let root = dir.path();
        let wasm = root.join(COMPONENTS).join("a.wasm");
        fs::write(&wasm, "wasm").unwrap();
        let mut manifest = Manifest::default();
        let entry = Entry {
            file: "a.wasm".into(),
            package: "a".into(),
            sha256: sha256(b"wasm"),
            toolchain: "rustc 1".into(),
            inputs: vec!["a".into(), "lock".into()],
            inputs_sha256: hash(root),
        };
        manifest.components.insert("a".into(), entry);
        manifest.write(root).unwrap();
        let manifest = Manifest::read(root).unwrap();
        assert_eq!(manifest.fresh(root, "a").unwrap(), wasm);
        assert_eq!(manifest.stale(root).unwrap(), vec![]);
        assert!(manifest.fresh(root, "b").unwrap_err().to_string().contains("`b`: run `cargo xtask guests`"));

        fs::write(&wasm, "other").unwrap();
        assert_eq!(manifest.stale(root).unwrap(), vec![("a".into(), "a.wasm is not what was built".into())]);
        fs::remove_file(&wasm).unwrap();
        assert_eq!(manifest.stale(root).unwrap(), vec![("a".into(), "a.wasm is gone".into())]);
        fs::write(root.join("a/new"), "").unwrap();
        assert_eq!(manifest.stale(root).unwrap(), vec![("a".into(), "something changed in a, lock".into())]);
        fs::remove_file(root.join("lock")).unwrap();
        assert!(manifest.fresh(root, "a").unwrap_err().to_string().contains("lock is gone"));
    }

    #[test]
    fn an_unreadable_manifest_says_what_to_type() {
        let dir = tree();
        assert!(format!("{:#}", Manifest::read(dir.path()).unwrap_err()).contains("cargo xtask guests"));
        fs::write(dir.path().join(COMPONENTS).join(FILE), "{").unwrap();
        assert!(format!("{:#}", Manifest::read(dir.path()).unwrap_err()).contains("cargo xtask guests"));
    }
}
