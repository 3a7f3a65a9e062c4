//! Policy files.

use super::{Grant, Limits, Reveal, bytes, duration_ns};
use crate::error::{Error, Result, invalid};
use serde::Deserialize;
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// How much of WASI a tenant gets besides its devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wasi {
    /// Nothing.
    #[default]
    None,
    /// The `wasi:cli` imports with nothing behind them but output streams and arguments.
    Cli,
}

/// A blob of a policy: a label and the file behind it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobEntry {
    /// The name the tenant sees.
    pub name: String,
    /// The file, as written: relative to whatever the embedder decides, usually the policy file's folder.
    pub file: PathBuf,
}

/// What a policy file says.
///
/// ```toml
/// wasi = "cli"                 # "none" without the line
/// call-timeout = "30s"
/// guest-memory = "256MiB"
///
/// [[grant]]
/// driver = "cpu"
/// devices = ["cpu/0"]          # all without the line
/// reveal = "model"             # or "none", "all"
/// exact-timing = false
/// memory = "64MiB"             # any limit, with or without its unit in the name
/// buffers = 16
///
/// [[blob]]
/// name = "weights"
/// file = "weights.safetensors"
/// ```
#[derive(Clone, Default)]
pub struct Policy {
    /// In the order of the file; by driver name.
    pub grants: Vec<Grant>,
    /// In the order of the file.
    pub blobs: Vec<BlobEntry>,
    /// How much of WASI.
    pub wasi: Wasi,
    /// How long one call into the tenant may take; none: the embedder's default.
    pub call_timeout: Option<Duration>,
    /// How long the tenant may run in all; none: the embedder's default.
    pub timeout: Option<Duration>,
    /// Bytes of linear memory the tenant may grow to; none: the embedder's default.
    pub guest_memory: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    grant: Vec<toml::Spanned<GrantEntry>>,
    #[serde(default)]
    blob: Vec<BlobEntry>,
    #[serde(default)]
    wasi: Wasi,
    call_timeout: Option<toml::Spanned<String>>,
    timeout: Option<toml::Spanned<String>>,
    guest_memory: Option<toml::Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct GrantEntry {
    driver: String,
    devices: Option<Vec<String>>,
    #[serde(default)]
    reveal: Reveal,
    #[serde(default)]
    exact_timing: bool,
    /// Every other key is a limit; one that is not is refused below, with its line.
    #[serde(flatten)]
    limits: BTreeMap<String, toml::Value>,
}

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    /// `invalid-argument` with the line of what is wrong: no TOML, an unknown key, an unknown limit, a value that is not of its kind.
    pub fn from_toml(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line(text, span.start));
            invalid(format!("policy, line {line}: {}", error.message()))
        })?;
        let grants = file.grant.into_iter().map(|entry| grant(text, entry)).collect::<Result<_>>()?;
        let time = |value: Option<toml::Spanned<String>>| {
            spanned(text, value, duration_ns).map(|ns| ns.map(Duration::from_nanos))
        };
        Ok(Self {
            grants,
            blobs: file.blob,
            wasi: file.wasi,
            call_timeout: time(file.call_timeout)?,
            timeout: time(file.timeout)?,
            guest_memory: spanned(text, file.guest_memory, bytes)?,
        })
    }
}

fn spanned(text: &str, value: Option<toml::Spanned<String>>, read: fn(&str) -> Result<u64>) -> Result<Option<u64>> {
    value.map(|value| read(value.get_ref()).map_err(|error| at(text, value.span().start, error))).transpose()
}

fn grant(text: &str, entry: toml::Spanned<GrantEntry>) -> Result<Grant> {
    let start = entry.span().start;
    let entry = entry.into_inner();
    let (mut limits, mut seen) = (Limits::new(), Vec::new());
    for (name, value) in &entry.limits {
        let written = match value {
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::String(text) => text.clone(),
            other => format!("a {}", other.type_str()),
        };
        let here = |error| at(text, key(text, start, name), error);
        let limit = limits.set_written(name, &written).map_err(here)?;
        if seen.contains(&limit) {
            return Err(here(invalid(format!("the limit \"{}\" is given twice, under two names", limit.label()))));
        }
        seen.push(limit);
    }
    // Malformed patterns are found here, where the line is known, rather than when a session starts.
    if let Some(devices) = &entry.devices {
        super::Patterns::parse(devices).map_err(|error| at(text, key(text, start, "devices"), error))?;
    }
    let grant = Grant::named(entry.driver).limits(limits).reveal(entry.reveal).exact_timing(entry.exact_timing);
    Ok(match entry.devices {
        Some(devices) => grant.devices(devices),
        None => grant,
    })
}

fn at(text: &str, position: usize, error: Error) -> Error {
    Error { message: format!("policy, line {}: {}", line(text, position), error.message), ..error }
}

/// The line of a byte, from 1.
fn line(text: &str, position: usize) -> usize {
    text.bytes().take(position).filter(|byte| *byte == b'\n').count() + 1
}

/// Where a key of the table at `start` stands. Flattened keys come without their spans.
fn key(text: &str, start: usize, name: &str) -> usize {
    let mut position = start;
    for (index, line) in text.get(start..).unwrap_or_default().split_inclusive('\n').enumerate() {
        let trimmed = line.trim_start();
        if index > 0 && trimmed.starts_with('[') {
            break;
        }
        let unquoted = trimmed.trim_start_matches(['"', '\'']);
        let found = unquoted
            .strip_prefix(name)
            .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with('='));
        if found {
            return position;
        }
        position += line.len();
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Limit;

    #[test]
    fn a_whole_policy_is_read() {
        let policy = Policy::from_toml(
            "wasi = \"cli\"\ncall-timeout = \"30s\"\nguest-memory = \"64MiB\"\n\n[[grant]]\ndriver = \"cpu\"\ndevices = [\"cpu/0\"]\n\
             memory = \"64MiB\"\nbuffers = 16\nreveal = \"all\"\nexact-timing = true\n\n[[blob]]\nname = \"w\"\nfile = \"w.bin\"\n",
        )
        .unwrap();
        assert_eq!(policy.wasi, Wasi::Cli);
        assert_eq!(policy.call_timeout, Some(Duration::from_secs(30)));
        assert_eq!(policy.guest_memory, Some(64 << 20));
        assert_eq!(policy.blobs, [BlobEntry { name: "w".into(), file: "w.bin".into() }]);
        let mut grant = policy.grants.into_iter().next().unwrap();
        assert_eq!(grant.name(), "cpu");
        assert_eq!(grant.limits_mut().get(Limit::MemoryBytes), 64 << 20);
        assert_eq!(grant.limits_mut().get(Limit::Buffers), 16);
    }

    #[test]
    fn mistakes_name_their_line() {
        for (text, line, word) in [
            ("wasi = \"cli\"\ngrants = 1\n", 2, "grants"),
            ("\n[[grant]]\ndriver = \"cpu\"\n\nmemroy = \"1MiB\"\n", 5, "memroy"),
            ("[[grant]]\ndriver = \"cpu\"\nmemory = \"1 MB\"\n", 3, "1 MB"),
            ("[[grant]]\ndriver = \"cpu\"\n[[grant]]\ndriver = \"cpu\"\ndevices = [\"\"]\n", 5, "pattern"),
            ("[[grant]]\ndriver = \"cpu\"\nbuffers = [1]\n", 3, "array"),
            ("\n\ntimeout = \"1 fortnight\"\n", 3, "fortnight"),
            ("[[blob]]\nname = \"a\"\nfile = \"b\"\npath = \"c\"\n", 4, "path"),
            ("wasi = \"http\"\n", 1, "http"),
            ("a b\n", 1, ""),
        ] {
            let error = Policy::from_toml(text).err().unwrap();
            assert!(error.message.contains(&format!("line {line}:")), "{text:?}: {error}");
            assert!(error.message.contains(word), "{text:?}: {error}");
        }
    }
}
