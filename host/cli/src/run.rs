//! `hal run`: one component, one session, one exit code.

mod grants;
mod stats;
mod wasi;

use crate::{
    args::Run,
    component::{self, Examined},
    drivers::BuiltIn,
    exit::Exit,
    terminal::{OutputClosed, Terminal},
    text,
};
use grants::Grants;
use hal_host::{CodeCache, Error, Host, Program, StoreLimits, TenantOptions, worker::WorkerLimits};
use std::time::Duration;
use wasi::Data;
use wasmtime_wasi::{I32Exit, p2::bindings::Command};

/// How long a reader may keep us after the tenant has ended well. A reader who is stuck longer is no reason to hang.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same, if the tenant was stopped.
const PATIENCE_WHEN_STOPPED: Duration = Duration::from_millis(500);

/// What compiling may take with `--large`. A JavaScript engine of 12 MiB takes half a minute of processor time in a
/// build with debug assertions on two slow cores; others are larger.
const LARGE: WorkerLimits =
    WorkerLimits { memory_bytes: 4 << 30, cpu: Duration::from_secs(300), wall: Duration::from_secs(600) };

/// `hal run`.
///
/// # Errors
/// What lies outside the component: files, policies, drivers, this machine.
pub async fn run(arguments: &Run) -> anyhow::Result<Exit> {
    let kernels = arguments.kernel_cache.as_ref().map(CodeCache::open).transpose()?;
    let built_in = BuiltIn::with_kernels(kernels.as_ref());
    let grants = Grants::new(arguments, &built_in)?;
    let bytes = component::read(&arguments.file)?;
    let host = host(arguments, &built_in)?;

    let examined = component::examine(&host, &bytes, grants.wasi).await?;
    if let Some(refusal) = refusal(&examined, arguments.large) {
        text::note(&format!("error: {} is refused: {refusal}", arguments.file.display()));
        return Ok(Exit::Refused);
    }
    let program = match host.load_with(&bytes, &component::options(grants.wasi, arguments.large)).await {
        Ok(program) => program,
        Err(error) => return failed(arguments, error),
    };
    start(arguments, grants, &built_in, &host, &program).await
}

fn host(arguments: &Run, built_in: &BuiltIn) -> anyhow::Result<Host> {
    let mut builder =
        built_in.factories.iter().fold(component::host(), |builder, factory| builder.driver(factory.clone()));
    if arguments.large {
        builder = builder.worker_limits(LARGE);
    }
    if let Some(folder) = &arguments.cache {
        builder = builder.code_cache(CodeCache::open(folder)?);
    }
    component::built(builder.build())
}

/// Why a component will not be run, with every reason.
fn refusal(examined: &Examined, large: bool) -> Option<String> {
    let reasons: Vec<&str> = examined.refusals.iter().map(|refusal| refusal.reason.as_str()).collect();
    if !reasons.is_empty() {
        return Some(reasons.join("; "));
    }
    let too_large = examined.needs_large && !large;
    let shape = examined.shape.as_ref().filter(|_| too_large)?;
    Some(format!(
        "it is as large as a language runtime ({}, with {} of code); if you trust it with a minute of compiling, add --large",
        text::bytes(shape.bytes as u64),
        text::bytes(shape.code_bytes as u64)
    ))
}

async fn start(
    arguments: &Run,
    grants: Grants,
    built_in: &BuiltIn,
    host: &Host,
    program: &Program,
) -> anyhow::Result<Exit> {
    let name = wasi::program_name(&arguments.file);
    let mut limits = StoreLimits::default();
    if let Some(bytes) = grants.guest_memory {
        limits.memory_bytes = bytes;
    }
    let timeout = grants.timeout;
    let options = TenantOptions::new().call_timeout(timeout.unwrap_or(Duration::MAX)).memory_bytes(limits.memory_bytes);
    let hints = Hints::new(program, &grants, built_in);

    let mut session = host.session(name.as_str());
    for grant in grants.grants {
        session = session.grant(grant);
    }
    for blob in grants.blobs {
        session = session.blob(blob);
    }
    let session = session.start().map_err(|error| anyhow::anyhow!(error.message))?;
    let terminal = Terminal::start()?;
    let pre = match host.instance_pre(program, wasi::add_to_linker) {
        Ok(pre) => pre,
        Err(error) => return failed(arguments, error),
    };
    let context = wasi::context(&name, &arguments.args, &terminal);
    let started = host.tenant_with(&pre, program, session, &options, |hal| Data::new(hal, context)).await;
    let mut tenant = match started {
        Ok(tenant) => tenant,
        Err(error) => return failed(arguments, error),
    };

    let outcome = tenant
        .run(async |store, instance| {
            let command = Command::new(&mut *store, instance)?;
            command.wasi_cli_run().call_run(store).await
        })
        .await;
    let report = tenant.report();
    // Everything native is released before we wait for whoever reads the output.
    drop(tenant);
    let exit = end(arguments, outcome, &terminal, report.memory_bytes, limits.memory_bytes)?;
    let late = in_time(exit, timeout, report.busy, report.session.waits_cut);
    let exit = late.map_or(exit, |(late, sentence)| {
        text::note(&format!("error: {}: {sentence}", arguments.file.display()));
        late
    });
    if exit != Exit::Success {
        hints.line(report.session.blobs_asked > 0).iter().for_each(|line| text::note(line));
    }
    if let Some(format) = arguments.stats {
        text::note(&stats::render(&report, exit, format)?);
    }
    Ok(exit)
}

/// What the tenant may have missed, in case it ends badly.
struct Hints {
    /// It looks for drivers and has none; these are there.
    drivers: Option<String>,
    /// It can look for blobs and has none.
    blobs: bool,
}

impl Hints {
    fn new(program: &Program, grants: &Grants, built_in: &BuiltIn) -> Self {
        let drivers = component::wants_drivers(program.shape()) && grants.grants.is_empty();
        let names = || text::list(built_in.drivers.iter().map(|driver| driver.info.name.as_str()));
        Self { drivers: drivers.then(names), blobs: component::wants_blobs(program.shape()) && grants.blobs.is_empty() }
    }

    /// `asked`: whether it did look for blobs, so that their absence may be why it failed.
    fn line(&self, asked: bool) -> Option<String> {
        match (&self.drivers, self.blobs && asked) {
            (Some(names), true) => Some(format!(
                "hint: it was granted neither drivers nor blobs; add --grant DRIVER (there are: {names}) and --blob NAME=FILE"
            )),
            (Some(names), false) => {
                Some(format!("hint: it was granted no driver; add --grant DRIVER (there are: {names})"))
            }
            (None, true) => Some("hint: it asked for a blob and was granted none; add --blob NAME=FILE".to_owned()),
            (None, false) => None,
        }
    }
}

/// A tenant whose time was up has not ended by itself, whatever it did last: a wait that its deadline cuts short is an error that it may
/// pass on, or pass over. Answers the exit that stands for that, and a sentence, unless both were said already.
fn in_time(exit: Exit, timeout: Option<Duration>, busy: Duration, waits_cut: u64) -> Option<(Exit, String)> {
    let timeout = timeout?;
    let how = match (waits_cut > 0, busy >= timeout) {
        (true, _) => "a wait was cut short for it",
        (false, true) => "it was in a part of the host that cannot be interrupted",
        (false, false) => return None,
    };
    let with = match exit {
        Exit::Timeout | Exit::OutputClosed => return None,
        Exit::Success => "success".to_owned(),
        Exit::Trap => "a trap".to_owned(),
        other => format!("code {}", other.code()),
    };
    let sentence = format!(
        "its time, {timeout:?}, was up ({how}); it then ended by itself, after {busy:.1?}, with {with}; --timeout allows more"
    );
    Some((Exit::Timeout, sentence))
}

/// From how the call ended to our exit code, after what was printed has come out.
fn end(
    arguments: &Run,
    outcome: hal_host::Result<Result<(), ()>>,
    terminal: &Terminal,
    memory: u64,
    memory_allowed: u64,
) -> anyhow::Result<Exit> {
    let stopped = matches!(outcome, Err(Error::Deadline { .. }));
    let unwritten = terminal.finish(if stopped { PATIENCE_WHEN_STOPPED } else { PATIENCE });
    if let Some(closed) = unwritten.filter(|_| !stopped) {
        if !closed.is_broken_pipe() {
            text::note(&format!("error: {closed}"));
        }
        return Ok(Exit::OutputClosed);
    }
    let error = match outcome {
        Ok(Ok(())) => return Ok(Exit::Success),
        Ok(Err(())) => return Ok(Exit::Tenant(1)),
        Err(error) => error,
    };
    if let Error::Trapped { source, .. } = &error
        && let Some(I32Exit(code)) = source.downcast_ref::<I32Exit>()
    {
        // WASI 0.2 has codes of one byte.
        return Ok(match u8::try_from(*code).unwrap_or(u8::MAX) {
            0 => Exit::Success,
            code => Exit::Tenant(code),
        });
    }
    let exit = failed(arguments, error)?;
    // A page more than this would not have been granted.
    if exit == Exit::Trap && memory.saturating_add(1 << 20) > memory_allowed {
        text::note(&format!(
            "hint: it had grown to {} of the {} of memory it may have; --guest-memory allows more",
            text::bytes(memory),
            text::bytes(memory_allowed)
        ));
    }
    Ok(exit)
}

/// An error that has a code of its own, or is ours.
fn failed(arguments: &Run, error: Error) -> anyhow::Result<Exit> {
    let file = arguments.file.display();
    Ok(match error {
        Error::Rejected(rejection) => {
            text::note(&format!("error: {file} is refused: {}", rejection.reason));
            Exit::Refused
        }
        Error::Deadline { timeout, elapsed } => {
            text::note(&format!(
                "error: {file} was stopped after {elapsed:.1?}: its time, {timeout:?}, was up; --timeout allows more"
            ));
            Exit::Timeout
        }
        Error::Trapped { source, .. } if source.is::<OutputClosed>() => Exit::OutputClosed,
        Error::Trapped { trap, .. } => {
            text::note(&format!("error: {file} trapped: {trap}; what it printed may say why"));
            Exit::Trap
        }
        other => return Err(other.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_whose_time_was_up_has_not_ended_well() {
        let [short, long] = [1, 5].map(Duration::from_secs);
        let late = |exit, busy, cut| in_time(exit, Some(long), busy, cut);
        assert_eq!(late(Exit::Success, short, 0), None);
        assert_eq!(in_time(Exit::Success, None, long, 0), None);
        let (exit, sentence) = late(Exit::Success, Duration::from_millis(4900), 1).unwrap();
        assert_eq!(exit.code(), 124);
        assert!(sentence.contains("5s, was up (a wait") && sentence.contains("after 4.9s, with success"), "{sentence}");
        // On a device that works on the calling thread.
        let (exit, sentence) = late(Exit::Tenant(3), long * 2, 0).unwrap();
        assert_eq!(exit, Exit::Timeout);
        assert!(
            sentence.contains("cannot be interrupted") && sentence.contains("after 10.0s, with code 3"),
            "{sentence}"
        );
        assert_eq!(late(Exit::Trap, short, 1).unwrap().0, Exit::Timeout);
        assert_eq!(late(Exit::Timeout, long, 1), None, "that was said");
        assert_eq!(late(Exit::OutputClosed, long, 1), None);
    }
}
