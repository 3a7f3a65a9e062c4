//! What one `hal run` line grants: the policy file's part and the flags' part, checked before anything else happens.

use crate::{args::Run, drivers::BuiltIn, file};
use anyhow::{Context, bail};
use hal_host::{
    Wasi,
    hal_core::{BlobSource, Grant, Limits, Policy, policy},
};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    time::Duration,
};

/// A policy file is written by hand: this is far more than anyone writes.
const MAX_POLICY_BYTES: u64 = 1 << 20;

/// All that the tenant gets.
pub struct Grants {
    /// By driver.
    pub grants: Vec<Grant>,
    /// By name, opened.
    pub blobs: Vec<BlobSource>,
    /// How much of WASI: the command interfaces, unless a policy grants less.
    pub wasi: Wasi,
    /// The shortest of all that was said; none if nothing was.
    pub timeout: Option<Duration>,
    /// Linear memory in bytes, if anything was said.
    pub guest_memory: Option<u64>,
}

impl Grants {
    /// From the command line and the policy file it names.
    ///
    /// # Errors
    /// A driver that is not built in or is granted twice, a malformed limit or pattern, an unknown key (with its line), a
    /// blob without a name, named twice, or without a regular file behind it.
    pub fn new(arguments: &Run, built_in: &BuiltIn) -> anyhow::Result<Self> {
        let (policy, folder) = match &arguments.policy {
            Some(file) => read(file)?,
            None => (Policy { wasi: policy::Wasi::Cli, ..Policy::default() }, PathBuf::new()),
        };
        let mut grants = policy.grants;
        for text in &arguments.grants {
            grants.push(grant(text, built_in).with_context(|| format!("--grant {text:?}"))?);
        }
        check(&grants, built_in)?;
        // As in other configuration files, paths are relative to the file that holds them.
        let mut blobs: Vec<_> = policy.blobs.into_iter().map(|blob| (blob.name, folder.join(blob.file))).collect();
        for text in &arguments.blobs {
            blobs.push(blob(text)?);
        }
        Ok(Self {
            grants,
            blobs: open(blobs)?,
            wasi: match policy.wasi {
                policy::Wasi::None => Wasi::None,
                policy::Wasi::Cli => Wasi::Cli,
            },
            timeout: [policy.call_timeout, policy.timeout, arguments.timeout].into_iter().flatten().min(),
            guest_memory: [policy.guest_memory, arguments.guest_memory].into_iter().flatten().min(),
        })
    }
}

/// A policy, and the folder it lies in.
fn read(path: &Path) -> anyhow::Result<(Policy, PathBuf)> {
    let shown = path.display();
    let bytes = file::read(path, MAX_POLICY_BYTES).context("the policy cannot be used")?;
    let Ok(text) = String::from_utf8(bytes) else { bail!("the policy {shown} is not UTF-8 text; write it as TOML") };
    match Policy::from_toml(&text) {
        Ok(policy) => Ok((policy, path.parent().unwrap_or(Path::new("")).to_owned())),
        Err(error) => bail!("{shown}: {}", error.message),
    }
}

fn check(grants: &[Grant], built_in: &BuiltIn) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    for grant in grants {
        let name = grant.name();
        built_in.require(&name)?;
        if seen.contains(&name) {
            bail!("driver {name:?} is granted twice; grant it once, with all its limits");
        }
        seen.insert(name);
    }
    Ok(())
}

/// `cpu`, `cpu=memory=64MiB,buffers=16`, `cpu/0`, `cpu/0=memory=1GiB`.
fn grant(text: &str, built_in: &BuiltIn) -> anyhow::Result<Grant> {
    let (what, limits) = text.split_once('=').map_or((text, None), |(what, limits)| (what, Some(limits)));
    let driver = what.split_once('/').map_or(what, |(driver, _device)| driver);
    built_in.require(driver)?;
    let mut allowed = Limits::new();
    if let Some(Err(error)) = limits.map(|limits| allowed.parse(limits)) {
        bail!(error.message);
    }
    let grant = Grant::named(driver).limits(allowed);
    if what == driver {
        return Ok(grant);
    }
    policy::check_pattern(what).map_err(|error| anyhow::anyhow!(error.message))?;
    Ok(grant.devices([what]))
}

fn blob(text: &str) -> anyhow::Result<(String, PathBuf)> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => bail!("--blob {text:?}: write a name for the tenant and a file, such as weights=model.safetensors"),
    }
}

fn open(blobs: Vec<(String, PathBuf)>) -> anyhow::Result<Vec<BlobSource>> {
    let mut seen = HashSet::new();
    for (name, path) in &blobs {
        if !seen.insert(name) {
            bail!("two blobs are called {name:?}; give each a name of its own");
        }
        // Opening a pipe would wait for its writer.
        file::require_regular(path).with_context(|| format!("the blob {name:?} cannot be lent"))?;
    }
    blobs
        .into_iter()
        .map(|(name, path)| BlobSource::file(name, &path).map_err(|error| anyhow::anyhow!(error.message)))
        .collect()
}
