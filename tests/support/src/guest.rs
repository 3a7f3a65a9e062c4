//! A guest with its grants, run on the host that all tests of a process share.

use crate::{Counts, Fake, component, counted, root};
use hal_core::{BlobSource, Grant, Limits, Remote, Reveal};
use hal_driver::Factory;
use hal_driver_cpu::CpuFactory;
use hal_driver_null::NullFactory;
use hal_host::{CodeCache, Error, Host, Tenant, TenantOptions};
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinHandle,
};

/// How long native release may take after a session has ended.
const RELEASE: Duration = Duration::from_secs(15);
/// How long a call may take unless a test says otherwise: guests of tests take milliseconds, and machines are slow.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The runtime that all tests of a process share.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Builder::new_multi_thread().worker_threads(4).enable_all().build().expect("a runtime"))
}

/// The host that all tests of a process share. It compiles in this process, and keeps the code in `target/`.
pub fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let registry = component("registry").expect("the registry component");
        let builder = Host::builder().compile_in_process().registry_component(registry).remembered_programs(256);
        let builder = match CodeCache::open(root().join("target/test-code")) {
            Ok(cache) => builder.code_cache(cache),
            Err(error) => {
                eprintln!("compiled guests are not kept, so tests are slower: {error}");
                builder
            }
        };
        builder.build().expect("a host")
    })
}

/// The null driver's factory.
pub fn null() -> Arc<dyn Factory> {
    Arc::new(NullFactory::new())
}

/// A factory of the cpu driver, with workers of its own.
pub fn cpu() -> Arc<dyn Factory> {
    Arc::new(CpuFactory::new(hal_driver_cpu::Config::new().workers(2)).expect("the cpu driver"))
}

/// A guest program of the crate `test-guests`, to be run once (or as often as [`Guest::times`] says) in a session of its own.
///
/// Whatever a test grants is counted; after the run nothing of it may be alive, however the guest ended.
pub struct Guest {
    name: String,
    grants: Vec<Grant>,
    counts: Vec<Arc<Counts>>,
    blobs: Vec<BlobSource>,
    limits: Option<Limits>,
    input: String,
    options: TenantOptions,
    times: usize,
    revoked: Vec<usize>,
}

impl Guest {
    /// Nothing granted, no input.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            grants: Vec::new(),
            counts: Vec::new(),
            blobs: Vec::new(),
            limits: None,
            input: String::new(),
            options: TenantOptions::new().call_timeout(TIMEOUT),
            times: 1,
            revoked: Vec::new(),
        }
    }

    /// Grants a share of a factory, on the terms that `terms` sets.
    #[must_use]
    pub fn with(mut self, factory: Arc<dyn Factory>, terms: impl FnOnce(Grant) -> Grant) -> Self {
        let (factory, counts) = counted(factory);
        self.grants.push(terms(Grant::new(factory)));
        self.counts.push(counts);
        self
    }

    /// Grants the null driver on the default terms.
    #[must_use]
    pub fn null(self) -> Self {
        self.with(null(), |grant| grant)
    }

    /// Grants the cpu driver on the default terms.
    #[must_use]
    pub fn cpu(self) -> Self {
        self.with(cpu(), |grant| grant)
    }

    /// Grants a test's own factory, with everything revealed.
    #[must_use]
    pub fn fake(self, factory: Fake) -> Self {
        self.with(factory.arc(), |grant| grant.reveal(Reveal::All))
    }

    /// Grants a blob.
    #[must_use]
    pub fn blob(mut self, name: &str, bytes: Vec<u8>) -> Self {
        self.blobs.push(BlobSource::bytes(name, bytes));
        self
    }

    /// Limits the session as a whole.
    #[must_use]
    pub fn session_limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// What the guest gets as its input.
    #[must_use]
    pub fn input(mut self, input: impl Into<String>) -> Self {
        self.input = input.into();
        self
    }

    /// How long the call may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.call_timeout(timeout);
        self
    }

    /// How far its linear memory may grow.
    #[must_use]
    pub fn guest_memory(mut self, bytes: u64) -> Self {
        self.options = self.options.memory_bytes(bytes);
        self
    }

    /// How many handles it may hold or lend, instead of what follows from its grants.
    #[must_use]
    pub fn handles(mut self, handles: usize) -> Self {
        self.options.handles = Some(handles);
        self
    }

    /// How often it is called, in one session.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// Revokes a grant, by its place, before the guest starts.
    #[must_use]
    pub fn revoked(mut self, grant: usize) -> Self {
        self.revoked.push(grant);
        self
    }

    /// Runs it to its end.
    pub fn run(self) -> Ended {
        self.start().end()
    }

    /// Starts it and goes on.
    pub fn start(self) -> Running {
        let (name, counts) = (self.name.clone(), self.counts.clone());
        let remote = Arc::new(OnceLock::new());
        let reached = remote.clone();
        let task = runtime().spawn(async move {
            let (input, times) = (self.input.clone(), self.times);
            let (mut tenant, session) = self.tenant().await?;
            // Nobody else fills it.
            let _ = reached.set(session);
            let mut answer = Ok(String::new());
            for _ in 0..times {
                answer = call(&mut tenant, &input).await?;
                if answer.is_err() {
                    break;
                }
            }
            Ok(answer)
        });
        Running { name, task: Some(task), counts, remote }
    }
}

impl Guest {
    /// Loads the program and starts the session.
    async fn tenant(self) -> Result<(Tenant, Remote), Error> {
        let host = host();
        let bytes = component(&self.name).unwrap_or_else(|error| panic!("{error:#}"));
        let program = host.load(&bytes).await?;
        let mut session = host.session(&self.name);
        for grant in self.grants {
            session = session.grant(grant);
        }
        for blob in self.blobs {
            session = session.blob(blob);
        }
        if let Some(limits) = self.limits {
            session = session.limits(limits);
        }
        let session = session.start().unwrap_or_else(|error| panic!("the session of {}: {error}", self.name));
        for grant in self.revoked {
            assert!(session.revoke(grant), "{}: no grant {grant} to revoke", self.name);
        }
        let remote = session.remote();
        Ok((host.tenant(&program, session, &self.options).await?, remote))
    }

    /// Runs it, and when that ended badly calls it again in the same session: the error of the second call.
    pub fn call_again(self) -> Error {
        let (name, counts, input) = (self.name.clone(), self.counts.clone(), self.input.clone());
        let error = runtime().block_on(async {
            let (mut tenant, _) = self.tenant().await.unwrap_or_else(|error| panic!("{name}: {error}"));
            let first = call(&mut tenant, &input).await;
            assert!(first.is_err(), "{name}: expected a bad end, got {first:?}");
            call(&mut tenant, &input).await.expect_err("a call in a session that is over")
        });
        none_left(&name, &counts);
        error
    }

    /// Drops the future of a call after a while, keeps the tenant, and calls it again: the error of the second call.
    pub fn call_after_dropping(self, after: Duration) -> Error {
        let (name, counts, input) = (self.name.clone(), self.counts.clone(), self.input.clone());
        let error = runtime().block_on(async {
            let (mut tenant, _) = self.tenant().await.unwrap_or_else(|error| panic!("{name}: {error}"));
            let first = tokio::time::timeout(after, call(&mut tenant, &input)).await;
            assert!(first.is_err(), "{name}: expected to be cut off, got {first:?}");
            call(&mut tenant, &input).await.expect_err("a call in a session that is over")
        });
        none_left(&name, &counts);
        error
    }
}

type Answer = Result<String, String>;

async fn call(tenant: &mut Tenant, input: &str) -> Result<Answer, Error> {
    let (answer,) = tenant.call::<_, (Answer,)>("run", (input.to_owned(),)).await?;
    Ok(answer)
}

fn none_left(name: &str, counts: &[Arc<Counts>]) {
    for counts in counts {
        if let Err(error) = counts.wait_for_none(RELEASE) {
            panic!("{name} left something behind: {error}");
        }
    }
}

/// A guest that runs.
pub struct Running {
    name: String,
    task: Option<JoinHandle<Result<Answer, Error>>>,
    counts: Vec<Arc<Counts>>,
    remote: Arc<OnceLock<Remote>>,
}

impl Running {
    /// Takes a grant back, by its place, while the guest runs. Waits until it has started.
    pub fn revoke(&self, grant: usize) -> bool {
        let until = std::time::Instant::now() + TIMEOUT;
        loop {
            match self.remote.get() {
                Some(remote) => return remote.revoke(grant),
                None => assert!(std::time::Instant::now() < until, "{} did not start", self.name),
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// What its drivers hold now, one for each grant.
    pub fn counts(&self) -> &[Arc<Counts>] {
        &self.counts
    }

    /// Waits until it has made something that lives: until it runs.
    pub fn wait_until_it_works(&self) {
        self.wait_until("opened no device", |counts| counts.iter().any(|counts| counts.devices() > 0));
    }

    /// Waits until something is so of what its drivers hold. The complaint is what a test says that waited in vain.
    pub fn wait_until(&self, complaint: &str, so: impl Fn(&[Arc<Counts>]) -> bool) {
        let until = std::time::Instant::now() + TIMEOUT;
        while !so(&self.counts) {
            assert!(std::time::Instant::now() < until, "{} {complaint}", self.name);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for its end, and until nothing native is left of it.
    pub fn end(mut self) -> Ended {
        let task = self.task.take().expect("it runs until it is ended once");
        let outcome = runtime().block_on(task).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        none_left(&self.name, &self.counts);
        Ended { name: self.name.clone(), outcome }
    }

    /// Drops the call's future and the session, wherever it is, and waits until nothing native is left.
    pub fn cancel(mut self) {
        let task = self.task.take().expect("it runs until it is ended once");
        assert!(!task.is_finished(), "{} ended by itself: {:?}", self.name, runtime().block_on(task));
        task.abort();
        let error = runtime().block_on(task).expect_err("an aborted task");
        assert!(error.is_cancelled(), "{}: {error}", self.name);
        none_left(&self.name, &self.counts);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

/// How a guest ended.
#[derive(Debug)]
pub struct Ended {
    name: String,
    outcome: Result<Answer, Error>,
}

impl Ended {
    /// Its report; it must have ended well.
    #[track_caller]
    pub fn well(self) -> String {
        match self.outcome {
            Ok(Ok(report)) => report,
            Ok(Err(complaint)) => panic!("{}: {complaint}", self.name),
            Err(error) => panic!("{} did not return: {error}", self.name),
        }
    }

    /// It must have trapped, and the trap must hold `text`.
    #[track_caller]
    pub fn trapped(self, text: &str) {
        match self.outcome {
            Err(Error::Trapped { trap, source }) => {
                let all = format!("{trap} {source:#}");
                assert!(all.contains(text), "{}: expected a trap with {text:?}, got {all}", self.name);
            }
            other => panic!("{}: expected a trap with {text:?}, got {other:?}", self.name),
        }
    }

    /// It must have been stopped by its deadline.
    #[track_caller]
    pub fn stopped(self) {
        assert!(
            matches!(self.outcome, Err(Error::Deadline { .. })),
            "{}: expected its deadline, got {:?}",
            self.name,
            self.outcome
        );
    }
}
