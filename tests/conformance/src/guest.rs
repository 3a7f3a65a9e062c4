//! A driver reached through WIT: one guest, compiled once, in a session of its own for each case.

use crate::{
    drivers::{Registered, blob, limits},
    spirv::spirv,
};
use hal_core::{BlobSource, Grant, Limit, Limits, Reveal};
use hal_host::{Program, TenantOptions};
use hal_test_support::{Counts, component, counted, host, runtime};
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

/// The guest, in `tests/conformance/guest`.
pub const GUEST: &str = "conformance_case_runs";

/// How long a case may take in the guest.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The compiled program, or why there is none.
fn program() -> Result<&'static Program, String> {
    static PROGRAM: OnceLock<Result<Program, String>> = OnceLock::new();
    let load = || {
        let bytes = component(GUEST).map_err(|error| format!("{error:#}"))?;
        runtime().block_on(host().load(&bytes)).map_err(|error| format!("loading {GUEST}: {error}"))
    };
    PROGRAM.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// Runs a case by its name, and gives the counts of what it made.
///
/// # Errors
/// What the case found, or how the guest ended.
pub fn run(registered: &Registered, case: &str) -> Result<Arc<Counts>, String> {
    let program = program()?;
    let (factory, counts) = counted(registered.factory.clone());
    let grant = Grant::new(factory).drivers([registered.name]).limits(limits()).reveal(Reveal::All);
    let mut session = host().session("conformance").grant(grant).blob(blob());
    // As many blobs may be open as there are kernels and one.
    session = session.limits(wide());
    for (name, bytes) in spirv() {
        session = session.blob(BlobSource::bytes(format!("{name}.spirv"), bytes.clone()));
    }
    let session = session.start().map_err(|error| format!("starting a session: {error}"))?;
    let input = format!("{}\n{case}", registered.name);
    runtime().block_on(async {
        let options = TenantOptions::new().call_timeout(TIMEOUT);
        let tenant = host().tenant(program, session, &options).await;
        let mut tenant = tenant.map_err(|error| format!("starting the guest: {error}"))?;
        let answer = tenant.call::<_, (Result<String, String>,)>("run", (input,)).await;
        match answer.map_err(|error| format!("the guest did not return: {error}"))? {
            (Ok(said),) if said == "passed" => Ok(counts),
            (Ok(said),) => Err(format!("expected \"passed\", got {said:?}")),
            (Err(found),) => Err(found),
        }
    })
}

/// The session's own limits: all that the grant's add up to, and the blobs.
fn wide() -> Limits {
    let mut all = limits();
    for limit in Limit::ALL {
        if !matches!(limit, Limit::TransferBytes | Limit::UpdateBytes | Limit::SourceBytes | Limit::SubmissionTimeNs) {
            all = all.with(limit, u64::MAX);
        }
    }
    all
}
