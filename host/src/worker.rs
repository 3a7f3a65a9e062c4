//! The process that compiles.
//!
//! A compiler can be made to use any amount of memory and time, and ends its process when there is no more; so a tenant's
//! code is compiled in a process of its own, under limits. That process is the embedder's own program, started again:
//! call [`init`] first thing in `main`, where it returns at once, except in the worker, where it does the work and exits.
//!
//! ```no_run
//! // The first line of `main`, before any thread is started.
//! hal_host::worker::init();
//! ```
//!
//! The worker reads one component from its standard input and writes one compiled artefact to its standard output. It has an
//! empty environment, opens no file, and is killed when the host lets go of it.

use crate::engine;
use sha2::{Digest, Sha256};
use std::{
    hash::{Hash, Hasher},
    io::{self, Read, Write},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wasmtime::{Config, Engine, InstanceAllocationStrategy};

/// Set, to the protocol's version, in the environment of a worker.
pub(crate) const MARK: &str = "HAL_HOST_COMPILE_WORKER";
/// Changes with the protocol.
pub(crate) const PROTOCOL: &str = "1";
/// What a worker says first, so that a program that never calls [`init`] is noticed.
pub(crate) const HELLO: [u8; 8] = *b"halwork1";

/// Bytes of one answer. Compiled code is four to ten times its source.
pub(crate) const MAX_ARTEFACT_BYTES: u64 = 512 << 20;
/// Bytes of one explanation.
pub(crate) const MAX_TEXT_BYTES: u64 = 4 << 10;

static CALLED: AtomicBool = AtomicBool::new(false);

/// What a worker may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Address space in bytes. Default 2 GiB: a component that passes the default [`crate::Screen`] needs a tenth of it.
    pub memory_bytes: u64,
    /// Processor time. Default 60 s.
    pub cpu: Duration,
    /// Time in all, waiting for a processor included. Default 120 s.
    pub wall: Duration,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self { memory_bytes: 2 << 30, cpu: Duration::from_secs(60), wall: Duration::from_secs(120) }
    }
}

/// Makes this program able to compile in a child process: call it before anything else in `main`.
///
/// In the child it does not return. For an engine that is not [`crate::config`]'s, see [`init_with`].
pub fn init() {
    init_with(|config| {
        engine::compile_config(config);
    });
}

/// [`init`] for a host with an engine of the embedder's own: `configure` sets what that engine was built with. Allocation
/// is always on demand here.
pub fn init_with(configure: impl FnOnce(&mut Config)) {
    CALLED.store(true, Ordering::Relaxed);
    if std::env::var_os(MARK).is_some_and(|mark| mark == PROTOCOL) {
        let code = match serve(configure, &mut io::stdin().lock(), &mut io::stdout().lock()) {
            Ok(()) => 0,
            Err(_) => 1,
        };
        std::process::exit(code);
    }
}

/// Whether [`init`] has been called.
pub(crate) fn called() -> bool {
    CALLED.load(Ordering::Relaxed)
}

/// What the host sends ahead of the component.
pub(crate) struct Request {
    pub(crate) memory_bytes: u64,
    pub(crate) cpu_s: u64,
    pub(crate) engine: [u8; 32],
    pub(crate) length: u64,
}

impl Request {
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.memory_bytes.to_le_bytes())?;
        to.write_all(&self.cpu_s.to_le_bytes())?;
        to.write_all(&self.engine)?;
        to.write_all(&self.length.to_le_bytes())
    }

    fn read(from: &mut impl Read) -> io::Result<Self> {
        Ok(Self {
            memory_bytes: u64::from_le_bytes(array(from)?),
            cpu_s: u64::from_le_bytes(array(from)?),
            engine: array(from)?,
            length: u64::from_le_bytes(array(from)?),
        })
    }
}

/// How a worker's answer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The artefact follows.
    Compiled,
    /// The compiler's error follows.
    Refused,
    /// Why this worker cannot compile for that host follows.
    Unusable,
}

impl Status {
    fn byte(self) -> u8 {
        match self {
            Self::Compiled => 0,
            Self::Refused => 1,
            Self::Unusable => 2,
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Compiled, Self::Refused, Self::Unusable].into_iter().find(|status| status.byte() == byte)
    }
}

pub(crate) fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn serve(configure: impl FnOnce(&mut Config), input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    output.write_all(&HELLO)?;
    output.flush()?;
    let request = Request::read(input)?;
    confine(&request)?;
    let mut bytes = Vec::new();
    input.take(request.length).read_to_end(&mut bytes)?;

    let mut config = Config::new();
    configure(&mut config);
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    let engine = match Engine::new(&config) {
        Ok(engine) if fingerprint(&engine) == request.engine => engine,
        Ok(_) => {
            let text =
                "its engine is configured otherwise than the host's; pass the host's settings to worker::init_with";
            return answer(output, Status::Unusable, text.as_bytes());
        }
        Err(error) => {
            return answer(output, Status::Unusable, format!("its engine cannot be built: {error:#}").as_bytes());
        }
    };
    match engine.precompile_component(&bytes) {
        Ok(artefact) => answer(output, Status::Compiled, &artefact),
        Err(error) => answer(output, Status::Refused, format!("{error:#}").as_bytes()),
    }
}

fn answer(output: &mut impl Write, status: Status, payload: &[u8]) -> io::Result<()> {
    let cap = if status == Status::Compiled { MAX_ARTEFACT_BYTES } else { MAX_TEXT_BYTES };
    let payload = payload.get(..usize::try_from(cap).unwrap_or(usize::MAX)).unwrap_or(payload);
    output.write_all(&[status.byte()])?;
    output.write_all(&(payload.len() as u64).to_le_bytes())?;
    output.write_all(payload)?;
    output.flush()
}

/// Limits this process, before it has seen a byte of the component. What it compiles cannot undo it.
fn confine(request: &Request) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let set = |resource, limit: u64, hard: u64| {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(hard) }).map_err(io::Error::from)
    };
    set(Resource::As, request.memory_bytes, request.memory_bytes)?;
    // The soft limit ends it with a signal that tells time from memory; the hard one if that is not enough.
    set(Resource::Cpu, request.cpu_s, request.cpu_s.saturating_add(1))?;
    set(Resource::Core, 0, 0)?;
    set(Resource::Fsize, 0, 0)?;
    // No signal on the parent's death: the system sends it when the *thread* that started us ends, which a runtime may do
    // at any time. A worker whose host is gone ends with its processor time, or as it writes.
    #[cfg(target_os = "linux")]
    rustix::thread::set_no_new_privs(true).map_err(io::Error::from)?;
    Ok(())
}

/// Identifies what makes compiled code fit an engine.
pub(crate) fn fingerprint(engine: &Engine) -> [u8; 32] {
    let mut hasher = Sha(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.0.finalize().into()
}

struct Sha(Sha256);

impl Hasher for Sha {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}
