//! Compiles screened and composed bytes, in a child process or in this one.

use super::{Workbench, quote};
use crate::{
    error::{Error, Rejection, Result},
    worker::{self, Request, Status, WorkerLimits},
};
use std::{
    ffi::OsString,
    io::Write,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::{Semaphore, oneshot};
use wasmtime::Engine;

/// Threads that one worker compiles on. More would take address space, for stacks and allocator arenas, that the limit
/// means for the compiler.
const WORKER_THREADS: usize = 4;
/// How long a worker may take to say that it is one.
const HELLO_PATIENCE: Duration = Duration::from_secs(10);
/// How long a worker that has answered may take to exit.
const EXIT_PATIENCE: Duration = Duration::from_secs(2);

/// Where tenant code is compiled.
pub(crate) enum Compiler {
    /// In this process.
    Here(Workbench),
    /// In a process started for each component, at most one per core.
    Child { program: Program, limits: WorkerLimits, permits: Arc<Semaphore> },
}

/// A program that calls [`worker::init`].
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) arguments: Vec<OsString>,
}

impl Program {
    /// This program again: by its inode where that can be, in case the file was replaced.
    pub(crate) fn this() -> Result<Self> {
        let link = PathBuf::from("/proc/self/exe");
        let path = if link.exists() {
            link
        } else {
            std::env::current_exe()
                .map_err(|error| Error::Worker(format!("where this program lies is unknown: {error}")))?
        };
        Ok(Self { path, arguments: Vec::new() })
    }
}

impl Compiler {
    /// The artefact for `bytes`, to be loaded by `engine` or one of its configuration.
    pub(crate) async fn compile(&self, engine: &Engine, bytes: Arc<[u8]>) -> Result<Vec<u8>> {
        match self {
            Self::Here(workbench) => {
                let engine = engine.clone();
                workbench
                    .run("compile", move || engine.precompile_component(&bytes).map_err(|e| refused(&format!("{e:#}"))))
                    .await
            }
            Self::Child { program, limits, permits } => {
                let permit = Arc::clone(permits).acquire_owned().await.map_err(|_| Error::Internal("closed".into()))?;
                let running = Running::start(program)?;
                let reap = KillOnDrop(Arc::clone(&running));
                let (limits, fingerprint) = (*limits, worker::fingerprint(engine));
                let (greet, greeted) = oneshot::channel();
                let job = tokio::task::spawn_blocking(move || {
                    let outcome = running.talk(&bytes, &limits, fingerprint, greet);
                    running.end();
                    drop(permit);
                    outcome
                });
                // An error here is the thread's end, whose outcome says why.
                if tokio::time::timeout(HELLO_PATIENCE, greeted).await.is_err() {
                    return Err(no_worker());
                }
                let outcome = tokio::time::timeout(limits.wall, job).await;
                drop(reap);
                match outcome {
                    Ok(Ok(result)) => result,
                    Ok(Err(_)) => Err(Error::Internal("the thread that talks to the compile worker failed".into())),
                    Err(_) => Err(over(format!("more than {} s to compile, waiting included", limits.wall.as_secs()))),
                }
            }
        }
    }
}

fn no_worker() -> Error {
    Error::Worker("the program is no compile worker; call hal_host::worker::init() first thing in its main".into())
}

fn refused(text: &str) -> Error {
    Rejection::invalid(format!("the compiler refused it: {}", quote(text))).into()
}

fn over(needs: String) -> Error {
    Rejection::exhausted(format!("it needs {needs}; make it smaller, or raise the worker's limits for it")).into()
}

/// A worker process; shared by the thread that talks to it and whoever may have to kill it.
struct Running {
    child: Mutex<Child>,
    pipes: Mutex<Option<(ChildStdin, ChildStdout)>>,
}

struct KillOnDrop(Arc<Running>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
    }
}

impl Running {
    fn start(program: &Program) -> Result<Arc<Self>> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(WORKER_THREADS);
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .env_clear()
            .env(worker::MARK, worker::PROTOCOL)
            .env("RAYON_NUM_THREADS", threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // The dynamic loader's, without which some programs do not start.
        if let Some(libraries) = std::env::var_os("LD_LIBRARY_PATH") {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        let mut child = command.spawn().map_err(|error| {
            Error::Worker(format!(
                "{} cannot be started: {error}; name another with Builder::compile_worker",
                program.path.display()
            ))
        })?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        Ok(Arc::new(Self { child: Mutex::new(child), pipes: Mutex::new(pipes) }))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kill(&self) {
        // It may have ended already.
        let _ = self.lock().kill();
    }

    /// Waits for the exit, not for long: it has answered, or broken its pipes.
    fn end(&self) -> Option<ExitStatus> {
        let patience = Instant::now() + EXIT_PATIENCE;
        loop {
            let mut child = self.lock();
            match child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < patience => {}
                _ => {
                    let _ = child.kill();
                    return child.wait().ok();
                }
            }
            drop(child);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn talk(
        &self,
        bytes: &[u8],
        limits: &WorkerLimits,
        engine: [u8; 32],
        greet: oneshot::Sender<()>,
    ) -> Result<Vec<u8>> {
        let pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((mut input, mut output)) = pipes else { return Err(Error::Internal("a worker without pipes".into())) };
        match worker::array(&mut output) {
            // Nobody listens any more if the load was given up.
            Ok(worker::HELLO) => drop(greet.send(())),
            Ok(_) | Err(_) => {
                self.kill();
                return Err(no_worker());
            }
        }
        let request = Request {
            memory_bytes: limits.memory_bytes,
            cpu_s: limits.cpu.as_secs().max(1),
            engine,
            length: bytes.len() as u64,
        };
        // A worker that dies while it reads shows in what it answers.
        let _ = request.write(&mut input).and_then(|()| input.write_all(bytes));
        drop(input);
        match read_answer(&mut output) {
            Ok((Status::Compiled, artefact)) => Ok(artefact),
            Ok((Status::Refused, text)) => Err(refused(&String::from_utf8_lossy(&text))),
            Ok((Status::Unusable, text)) => Err(Error::Worker(String::from_utf8_lossy(&text).into_owned())),
            Err(_) => Err(self.cause_of_death(limits)),
        }
    }

    fn cause_of_death(&self, limits: &WorkerLimits) -> Error {
        const SIGABRT: i32 = 6;
        const SIGBUS: i32 = 7;
        const SIGKILL: i32 = 9;
        const SIGSEGV: i32 = 11;
        const SIGXCPU: i32 = 24;
        match self.end().map(|status| (status.signal(), status.code())) {
            Some((Some(SIGXCPU), _)) => {
                over(format!("more than {} s of processor time to compile", limits.cpu.as_secs()))
            }
            // Out of memory ends in an abort, or in a fault where a stack cannot grow; 101 is a panic.
            Some((Some(SIGABRT | SIGSEGV | SIGBUS), _) | (_, Some(101))) => over(format!(
                "more than {} MiB of memory to compile, or what the compiler cannot do",
                limits.memory_bytes >> 20
            )),
            Some((Some(SIGKILL), _)) => over("more time or memory to compile than the system gave".into()),
            other => Error::Worker(format!("it ended without an answer ({other:?})")),
        }
    }
}

fn read_answer(output: &mut ChildStdout) -> std::io::Result<(Status, Vec<u8>)> {
    use std::io::{Error, ErrorKind, Read};
    let status = Status::from_byte(worker::array::<1>(output)?[0]).ok_or(ErrorKind::InvalidData)?;
    let length = u64::from_le_bytes(worker::array(output)?);
    if length > worker::MAX_ARTEFACT_BYTES {
        return Err(Error::from(ErrorKind::InvalidData));
    }
    let mut payload = Vec::new();
    output.take(length).read_to_end(&mut payload)?;
    if payload.len() as u64 != length {
        return Err(Error::from(ErrorKind::UnexpectedEof));
    }
    Ok((status, payload))
}
