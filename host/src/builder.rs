//! How a host is put together.

use crate::{
    Host,
    cache::CodeCache,
    engine::{self, Ticker},
    error::{Error, Result},
    host::Inner,
    load::{
        Workbench,
        compile::{Compiler, Program},
        registry,
        screen::features,
    },
    program::Recent,
    worker::{self, WorkerLimits},
};
use hal_core::{Pool, audit};
use hal_driver::Factory;
use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::sync::Semaphore;
use wasmtime::{Config, Engine};

/// Programs kept in memory: those of one busy service. Each takes a few times its compiled code.
const DEFAULT_REMEMBERED: usize = 64;

/// Puts a [`Host`] together.
pub struct Builder {
    engine: Option<Engine>,
    accept_weaker: bool,
    factories: Vec<Arc<dyn Factory>>,
    registry: Option<Vec<u8>>,
    compile: Compile,
    worker_limits: WorkerLimits,
    cache: Option<CodeCache>,
    remembered: usize,
    pool: Option<Pool>,
    audit: Option<Arc<dyn audit::Sink>>,
    tick: Option<Duration>,
    max_tenants: Option<u32>,
}

enum Compile {
    ThisProgram,
    Other(Program),
    InProcess,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// The defaults:
    /// - engine: one of its own, from [`crate::config`]
    /// - drivers: none; a host without drivers runs tenants that find an empty list
    /// - registry: [`crate::bundled_registry`]
    /// - compilation: in a child process, started from this program, limited to 2 GiB, 60 s of processor time and 120 s in all
    /// - code cache: none
    /// - programs remembered in memory: 64
    /// - threads for what blocks: a [`Pool`] of the host's own
    /// - audit sink: none (events go to `tracing`)
    /// - tick of the epoch: 5 ms
    /// - tenants at one time: 10,000, or as many as `vm.max_map_count` allows
    pub fn new() -> Self {
        Self {
            engine: None,
            accept_weaker: false,
            factories: Vec::new(),
            registry: None,
            compile: Compile::ThisProgram,
            worker_limits: WorkerLimits::default(),
            cache: None,
            remembered: DEFAULT_REMEMBERED,
            pool: None,
            audit: None,
            tick: Some(engine::TICK),
            max_tenants: None,
        }
    }

    /// Lives in an embedder's own engine. Build it from [`crate::config`]; [`Builder::build`] names each setting that is weaker.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Accepts an engine that is weaker than [`crate::config`]; [`Host::weaknesses`] then says in what.
    #[must_use]
    pub fn accept_weaker_engine(mut self) -> Self {
        self.accept_weaker = true;
        self
    }

    /// Adds a driver. Tenants see what their grants name, in the order of the grants.
    #[must_use]
    pub fn driver(mut self, factory: Arc<dyn Factory>) -> Self {
        self.factories.push(factory);
        self
    }

    /// Uses another registry component than the bundled one.
    #[must_use]
    pub fn registry_component(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.registry = Some(bytes.into());
        self
    }

    /// Compiles in a child process, started from this very program, whose `main` begins with [`worker::init`]. The default.
    #[must_use]
    pub fn compile_in_child(mut self) -> Self {
        self.compile = Compile::ThisProgram;
        self
    }

    /// Compiles in a child process started from another program, which calls [`worker::init`]; `hal-compile-worker` is one.
    #[must_use]
    pub fn compile_worker<A: Into<OsString>>(
        mut self,
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        self.compile = Compile::Other(Program { path: program.into(), arguments });
        self
    }

    /// Compiles in this process. **A tenant can then end this process**: a component that passes every check can still make
    /// the compiler run out of memory, which aborts. For programs whose tenants are trusted that far, and for tests.
    #[must_use]
    pub fn compile_in_process(mut self) -> Self {
        self.compile = Compile::InProcess;
        self
    }

    /// Changes what a compiling child may use.
    #[must_use]
    pub fn worker_limits(mut self, limits: WorkerLimits) -> Self {
        self.worker_limits = limits;
        self
    }

    /// Keeps the code of components for the next process. Drivers are given theirs by whoever makes them.
    #[must_use]
    pub fn code_cache(mut self, cache: CodeCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Changes how many programs are remembered in memory.
    #[must_use]
    pub fn remembered_programs(mut self, programs: usize) -> Self {
        self.remembered = programs.max(1);
        self
    }

    /// Shares an embedder's threads for what may block.
    #[must_use]
    pub fn pool(mut self, pool: Pool) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Where grants, refusals and revocations are told.
    #[must_use]
    pub fn audit(mut self, sink: Arc<dyn audit::Sink>) -> Self {
        self.audit = Some(sink);
        self
    }

    /// Changes how often a running guest gives way, 1 to 10 ms being sensible. `None`: the embedder advances the epoch of its own
    /// engine itself.
    #[must_use]
    pub fn tick(mut self, tick: Option<Duration>) -> Self {
        self.tick = tick.map(|tick| tick.max(Duration::from_millis(1)));
        self
    }

    /// Lowers how many tenants may live at one time. An engine of the host's own then reserves address space for no more.
    #[must_use]
    pub fn max_tenants(mut self, tenants: u32) -> Self {
        self.max_tenants = Some(tenants);
        self
    }

    /// Builds the host.
    ///
    /// # Errors
    /// [`Error::Setup`] if a part is missing or wrong, saying what to do; [`Error::Engine`]; [`Error::WeakEngine`].
    pub fn build(self) -> Result<Host> {
        let compile = match self.compile {
            Compile::InProcess => None,
            Compile::Other(program) => Some(program),
            Compile::ThisProgram if worker::called() => Some(Program::this()?),
            Compile::ThisProgram => {
                return Err(Error::Setup(
                    "compiling in a child process takes a call of hal_host::worker::init() first thing in main, so that this \
                     program can be started again as the compiler; or name one with Builder::compile_worker, or choose \
                     Builder::compile_in_process"
                        .into(),
                ));
            }
        };
        let engine = match self.engine {
            Some(engine) => engine,
            None => default_engine(self.max_tenants)?,
        };
        let weaknesses = engine::probe(&engine)?;
        if !weaknesses.is_empty() && !self.accept_weaker {
            return Err(Error::WeakEngine(weaknesses));
        }
        for weakness in &weaknesses {
            tracing::warn!(weakness, "accepted a weaker engine");
        }
        let registry = match &self.registry {
            Some(bytes) => bytes.as_slice(),
            None => crate::bundled_registry().ok_or_else(|| {
                Error::Setup(
                    "no registry component is bundled; run `cargo xtask guests` and build again, or name its file in \
                     HAL_REGISTRY_COMPONENT while building, or pass its bytes to Builder::registry_component"
                        .into(),
                )
            })?,
        };
        let registry = registry::prepare(registry, features(&engine))
            .map_err(|rejection| Error::Setup(format!("the registry component: {rejection}")))?;

        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workbench = Workbench::new(cores);
        let compiler = match compile {
            None => Compiler::Here(workbench.clone()),
            Some(program) => {
                Compiler::Child { program, limits: self.worker_limits, permits: Arc::new(Semaphore::new(cores)) }
            }
        };
        let ticker = self
            .tick
            .filter(|_| engine.get_epoch_interruption())
            .map(|tick| Ticker::start(&engine, tick))
            .transpose()?;
        let (tenants, calls) = room(&engine, self.max_tenants);
        tracing::info!(tenants, calls, "a host for at most so many tenants and running calls");
        Ok(Host(Arc::new(Inner {
            engine,
            unpooled: OnceLock::new(),
            ticker,
            weaknesses,
            factories: self.factories,
            registry: registry.into(),
            workbench,
            compiler,
            cache: self.cache,
            recent: Recent::new(self.remembered),
            pool: self.pool.unwrap_or_default(),
            audit: self.audit,
            tenants: Arc::new(Semaphore::new(tenants)),
            running: Arc::new(Semaphore::new(calls)),
        })))
    }
}

/// With room for as many tenants as the system allows, or as were asked for if that is less.
fn default_engine(most: Option<u32>) -> Result<Engine> {
    let tenants = most.map_or_else(engine::tenants, |most| most.clamp(1, engine::tenants()));
    let mut config = Config::new();
    engine::config_for(&mut config, tenants);
    Engine::new(&config)
        .map_err(|error| Error::Engine { cause: format!("{error:#}"), reserves_bytes: engine::reserved_bytes(tenants) })
}

/// Tenants and running calls: as many as the pool has places for, or the mappings allow.
fn room(engine: &Engine, most: Option<u32>) -> (usize, usize) {
    let (tenants, calls) = match engine.get_pooling_config() {
        Some(pool) => (pool.get_total_component_instances(), pool.get_total_stacks()),
        None => (engine::tenants(), engine::MAX_CALLS),
    };
    (most.map_or(tenants, |most| most.min(tenants)) as usize, calls as usize)
}
