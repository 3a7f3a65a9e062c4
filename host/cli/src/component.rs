//! A component file, and whether it could be run: what `hal inspect` and `hal run` have in common.

use crate::{file, text};
use hal_host::{Host, Inspection, LoadOptions, Screen, Shape, Wasi};
use std::path::Path;

/// What `hal run` starts, without its version.
const ENTRY: &str = "wasi:cli/run";
/// The versions of it that work.
const ENTRY_TRACK: &str = "wasi:cli/run@0.2.";
/// Reads a file, however large a component `--large` takes.
///
/// # Errors
/// As [`file::read`].
pub fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    file::read(path, Screen::large().total_bytes as u64)
}

/// A builder for a host that runs one tenant: with room for more it would reserve terabytes of address space.
pub fn host() -> hal_host::Builder {
    Host::builder().max_tenants(1)
}

/// The host, or what the person at the command line can do about it.
///
/// # Errors
/// The host's own, in other words where its own are for programmers.
pub fn built(host: hal_host::Result<Host>) -> anyhow::Result<Host> {
    host.map_err(|error| match error {
        hal_host::Error::Engine { cause, reserves_bytes } => anyhow::anyhow!(
            "the engine cannot be set up here: {cause}. It needs {} of address space (which is no memory), and some for each device; \
             if this shell limits it (`ulimit -v` says so), raise the limit or start hal where there is none",
            text::bytes(reserves_bytes)
        ),
        other => other.into(),
    })
}

/// What was found out without compiling.
pub struct Examined {
    /// What it is made of; none if it could not even be read.
    pub shape: Option<Shape>,
    /// Why it would be refused. Empty if only the compiler could still object.
    pub refusals: Vec<Refusal>,
    /// Whether it needs `--large`, and would pass with it.
    pub needs_large: bool,
}

/// One reason to refuse a component.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Refusal {
    /// A stable label.
    pub code: &'static str,
    /// What was found, and what to do.
    pub reason: String,
}

impl From<&hal_host::Rejection> for Refusal {
    fn from(rejection: &hal_host::Rejection) -> Self {
        Self { code: rejection.code.label(), reason: rejection.reason.clone() }
    }
}

/// Looks at a component as `hal run` would, with and without `--large`.
///
/// # Errors
/// The host's own.
pub async fn examine(host: &Host, bytes: &[u8], wasi: Wasi) -> hal_host::Result<Examined> {
    let small = host.inspect(bytes, &options(wasi, false)).await?;
    if small.shape.is_some() {
        return Ok(judged(small, false));
    }
    let large = host.inspect(bytes, &options(wasi, true)).await?;
    let grew = large.shape.is_some();
    Ok(judged(if grew { large } else { small }, grew))
}

/// What a component may be, on either size of screen.
pub fn options(wasi: Wasi, large: bool) -> LoadOptions {
    let screen = if large { Screen::large() } else { Screen::default() };
    LoadOptions { screen, wasi, imports: Vec::new() }
}

fn judged(inspection: Inspection, needs_large: bool) -> Examined {
    let mut refusals: Vec<Refusal> = inspection.rejections.iter().map(Refusal::from).collect();
    refusals.extend(inspection.shape.as_ref().and_then(|shape| entry(shape).err()));
    Examined { shape: inspection.shape, refusals, needs_large }
}

/// Requires something to start.
fn entry(shape: &Shape) -> Result<(), Refusal> {
    let names = || shape.exports.iter().map(|export| export.name.as_str());
    if names().any(|name| name.starts_with(ENTRY_TRACK)) {
        return Ok(());
    }
    let other = names().find(|name| name.strip_prefix(ENTRY).is_some_and(|rest| rest.starts_with('@')));
    let (code, reason) = match other {
        Some(name) => {
            ("incompatible", format!("it exports {name}; `hal run` starts version 0.2: build it for WASI 0.2"))
        }
        None => {
            const SHOWN: usize = 16;
            let exports = text::list(names().take(SHOWN));
            let reason = format!(
                "it exports no {ENTRY}@0.2, so there is nothing to start; it exports: {exports}. Build it as a program \
                 (in Rust: a `main` for wasm32-wasip2, or `hal_guest::run!`), or call its exports from a host built on hal-host"
            );
            ("not-found", reason)
        }
    };
    Err(Refusal { code, reason })
}

/// Whether a component looks for drivers.
pub fn wants_drivers(shape: &Shape) -> bool {
    imports(shape, "hal:registry/registry") || imports(shape, "hal:registry/factories")
}

/// Whether a component looks for blobs.
pub fn wants_blobs(shape: &Shape) -> bool {
    imports(shape, "hal:registry/blobs")
}

fn imports(shape: &Shape, interface: &str) -> bool {
    let same = |name: &str| name.strip_prefix(interface).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'));
    shape.imports.iter().any(|import| same(&import.name))
}
