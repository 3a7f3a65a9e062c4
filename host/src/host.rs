//! The host: an engine, the drivers an embedder chose, and the way from bytes to tenants.

use crate::{
    Inspection, LoadOptions, Program, State, Tenant, TenantOptions,
    builder::Builder,
    cache::{CodeCache, Key},
    engine::{self, Ticker},
    error::{Error, Rejection, Result},
    load::{
        Workbench,
        compile::Compiler,
        compose,
        imports::{Allowed, Name},
        registry::REGISTRY_MEMORY_BYTES,
        screen::{Shape, features, screen, validate},
    },
    program::{Loaded, Recent, link_error},
    tenant::Room,
    wit, worker,
};
use hal_core::{Pool, Session, SessionBuilder, audit};
use sha2::{Digest, Sha256};
use std::{
    hash::{Hash, Hasher},
    sync::{Arc, OnceLock},
};
use tokio::sync::Semaphore;
use wasmtime::{
    Engine,
    component::{Component, InstancePre, Linker},
};

/// Loads programs and runs tenants. Cheap to clone; everything ends with the last clone, its programs and its tenants.
#[derive(Clone)]
pub struct Host(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    /// For components that exceed the pool's shape.
    pub(crate) unpooled: OnceLock<Engine>,
    pub(crate) ticker: Option<Ticker>,
    pub(crate) weaknesses: Vec<String>,
    pub(crate) factories: Vec<Arc<dyn hal_driver::Factory>>,
    /// Prepared by [`crate::load::registry::prepare`].
    pub(crate) registry: Arc<[u8]>,
    pub(crate) workbench: Workbench,
    pub(crate) compiler: Compiler,
    pub(crate) cache: Option<CodeCache>,
    pub(crate) recent: Recent,
    pub(crate) pool: Pool,
    pub(crate) audit: Option<Arc<dyn audit::Sink>>,
    pub(crate) tenants: Arc<Semaphore>,
    pub(crate) running: Arc<Semaphore>,
}

impl Host {
    /// Starts a host; [`Builder::new`] lists the defaults.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// The engine, for an embedder's own linkers.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// What the embedder accepted of an engine of its own; empty for the default engine.
    pub fn weaknesses(&self) -> &[String] {
        &self.0.weaknesses
    }

    /// The factories that grants are made from.
    pub fn factories(&self) -> &[Arc<dyn hal_driver::Factory>] {
        &self.0.factories
    }

    /// Begins a session for a tenant of this name (for logs and metrics), on this host's drivers, threads and audit sink: add
    /// grants and blobs, then start it.
    pub fn session(&self, tenant: impl Into<String>) -> SessionBuilder {
        let session = Session::builder(tenant).factories(self.0.factories.iter().cloned()).pool(self.0.pool.clone());
        match &self.0.audit {
            Some(sink) => session.audit(Arc::clone(sink)),
            None => session,
        }
    }

    /// Loads a tenant's component under the default [`LoadOptions`].
    ///
    /// # Errors
    /// [`Error::Rejected`] with the reason; [`Error::Worker`] if the compile worker is not what it should be.
    pub async fn load(&self, bytes: &[u8]) -> Result<Program> {
        self.load_with(bytes, &LoadOptions::default()).await
    }

    /// Loads a tenant's component: looks at it, joins it with the registry if it asks for one, compiles it. What was loaded before
    /// is found again; what is being loaded is waited for.
    ///
    /// # Errors
    /// As [`Host::load`].
    pub async fn load_with(&self, bytes: &[u8], options: &LoadOptions) -> Result<Program> {
        let result = self.try_load(bytes, options).await;
        if let Err(Error::Rejected(rejection)) = &result {
            let digest = (bytes.len() <= options.screen.total_bytes).then(|| digest(bytes));
            self.refused(digest.as_ref(), bytes.len(), rejection);
        }
        result
    }

    /// Tells of a component that was refused.
    fn refused(&self, digest: Option<&[u8; 32]>, bytes: usize, rejection: &Rejection) {
        let sha256 = digest.map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        let event = audit::Event::LoadRefused {
            sha256: sha256.as_deref(),
            bytes: bytes as u64,
            code: rejection.code,
            reason: &rejection.reason,
        };
        audit::tell(self.0.audit.as_deref(), &event);
    }

    async fn try_load(&self, bytes: &[u8], options: &LoadOptions) -> Result<Program> {
        // Before the bytes are hashed or copied.
        if bytes.len() > options.screen.total_bytes {
            screen(bytes, &options.screen)?;
        }
        let slot = self.0.recent.slot(self.key(bytes, options));
        slot.get_or_try_init(|| self.load_anew(bytes.into(), options)).await.cloned()
    }

    fn key(&self, bytes: &[u8], options: &LoadOptions) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut hasher = std::hash::DefaultHasher::new();
        options.hash(&mut hasher);
        hash.update(hasher.finish().to_le_bytes());
        hash.update(bytes);
        hash.finalize().into()
    }

    async fn load_anew(&self, bytes: Arc<[u8]>, options: &LoadOptions) -> Result<Program> {
        let inner = Arc::clone(&self.0);
        let options = options.clone();
        let digest = digest(&bytes);
        let joined = self.0.workbench.run("compose", move || inner.join(&bytes, &options)).await?;
        let component = self.compiled(joined.bytes).await?;
        Ok(Program(Arc::new(Loaded {
            component,
            shape: joined.shape,
            imports: joined.imports,
            composed: joined.composed,
            digest,
            pre: OnceLock::new(),
        })))
    }

    async fn compiled(&self, bytes: Arc<[u8]>) -> Result<Component> {
        let Inner { engine, cache, .. } = &*self.0;
        let key = Key::new(&bytes, &worker::fingerprint(engine));
        if let Some(cache) = cache {
            let (cache, inner) = (cache.clone(), Arc::clone(&self.0));
            let found =
                blocking(move || Ok(cache.load(&key).and_then(|artefact| inner.deserialize(&artefact).ok()))).await?;
            if let Some(component) = found {
                metrics::counter!("hal_host_code_cache", "result" => "hit").increment(1);
                return Ok(component);
            }
            metrics::counter!("hal_host_code_cache", "result" => "miss").increment(1);
        }
        let artefact = self.0.compiler.compile(engine, bytes).await?;
        let (cache, inner) = (cache.clone(), Arc::clone(&self.0));
        blocking(move || {
            let component = inner.deserialize(&artefact)?;
            if let Some(cache) = cache {
                cache.store(&key, &artefact);
            }
            Ok(component)
        })
        .await
    }

    /// Says what `bytes` are and why they would be refused, without compiling them.
    ///
    /// # Errors
    /// Only this host's own: a refusal is part of the answer.
    pub async fn inspect(&self, bytes: &[u8], options: &LoadOptions) -> Result<Inspection> {
        let (inner, options) = (Arc::clone(&self.0), options.clone());
        if bytes.len() > options.screen.total_bytes {
            let rejections = screen(bytes, &options.screen).err().into_iter().collect();
            return Ok(Inspection { shape: None, uses_registry: false, rejections });
        }
        let bytes: Arc<[u8]> = bytes.into();
        self.0.workbench.run("inspect", move || Ok(inner.inspect(&bytes, &options))).await
    }

    /// Defines every interface this host implements in an embedder's linker, over the [`State`] that its store data hands out:
    /// what [`Host::tenant_with`] gives to make it around.
    ///
    /// # Errors
    /// [`Error::Setup`] if the linker has one of them already.
    pub fn add_to_linker<T: AsMut<State> + Send + 'static>(&self, linker: &mut Linker<T>) -> Result<()> {
        wit::add_to_linker(linker, |data: &mut T| data.as_mut().view())
            .map_err(|error| Error::Setup(format!("{error:#}")))
    }

    /// Prepares `program` for instances with store data of the embedder's own; `add` defines what else it imports. Keep the result:
    /// it is what makes an instance cost microseconds.
    ///
    /// # Errors
    /// [`Error::Rejected`] if an import is defined by nobody, or with another type.
    pub fn instance_pre<T: AsMut<State> + Send + 'static>(
        &self,
        program: &Program,
        add: impl FnOnce(&mut Linker<T>) -> wasmtime::Result<()>,
    ) -> Result<InstancePre<T>> {
        let mut linker = Linker::new(program.engine());
        self.add_to_linker(&mut linker)?;
        add(&mut linker).map_err(|error| Error::Setup(format!("the embedder's imports: {error:#}")))?;
        linker.instantiate_pre(program.component()).map_err(|error| {
            let rejection = link_error(&error);
            self.refused(Some(&program.0.digest), program.shape().bytes, &rejection);
            rejection.into()
        })
    }

    /// Starts a tenant that imports nothing but this host's interfaces.
    ///
    /// # Errors
    /// [`Error::Exhausted`] if there is no room for one more; [`Error::Rejected`] if it imports more; otherwise as
    /// [`Tenant::run`], since an instance may run code as it starts.
    pub async fn tenant(&self, program: &Program, session: Session, options: &TenantOptions) -> Result<Tenant> {
        let pre = match program.0.pre.get() {
            Some(pre) => pre,
            None => {
                let pre = self.instance_pre(program, |_| Ok(()))?;
                program.0.pre.get_or_init(|| pre)
            }
        };
        self.tenant_with(pre, program, session, options, |state| state).await
    }

    /// Starts a tenant with store data of the embedder's own, which `data` makes around the [`State`].
    ///
    /// # Errors
    /// As [`Host::tenant`].
    pub async fn tenant_with<T: AsMut<State> + Send + 'static>(
        &self,
        pre: &InstancePre<T>,
        program: &Program,
        session: Session,
        options: &TenantOptions,
        data: impl FnOnce(State) -> T,
    ) -> Result<Tenant<T>> {
        let tenant = Arc::clone(&self.0.tenants).try_acquire_owned().map_err(|_| {
            Error::Exhausted("as many tenants live as this host has places for; vm.max_map_count bounds them".into())
        })?;
        let registry_bytes = if program.composed() { REGISTRY_MEMORY_BYTES } else { 0 };
        let state = State::new(session, options, registry_bytes);
        Tenant::start(pre, data(state), options, Room { tenant, running: Arc::clone(&self.0.running) }).await
    }
}

/// Ready to be compiled.
struct Joined {
    bytes: Arc<[u8]>,
    shape: Shape,
    imports: Vec<crate::load::screen::Item>,
    composed: bool,
}

impl Inner {
    /// Everything before compilation. On a large stack, under `catch_unwind`.
    fn join(&self, bytes: &Arc<[u8]>, options: &LoadOptions) -> Result<Joined> {
        let shape = screen(bytes, &options.screen)?;
        let features = features(&self.engine);
        validate(bytes, features)?;
        let allowed = Allowed::new(options.wasi, &options.imports);
        let Some(composed) = compose::compose(bytes, &shape, &self.registry)? else {
            allowed.check(&shape.imports)?;
            let imports = shape.imports.clone();
            return Ok(Joined { bytes: Arc::clone(bytes), shape, imports, composed: false });
        };
        // The composer is other people's code, fed by a guest.
        validate(&composed, features)?;
        let whole = screen(&composed, &crate::Screen::unlimited())?;
        compose::require_gone(&whole)?;
        allowed.check(&whole.imports)?;
        Ok(Joined { bytes: composed.into(), shape, imports: whole.imports, composed: true })
    }

    fn inspect(&self, bytes: &Arc<[u8]>, options: &LoadOptions) -> Inspection {
        let shape = match screen(bytes, &options.screen) {
            Ok(shape) => shape,
            Err(rejection) => return Inspection { shape: None, uses_registry: false, rejections: vec![rejection] },
        };
        let uses_registry = shape.imports.iter().any(|import| Name::parse(&import.name).path == compose::REGISTRY);
        let mut rejections: Vec<Rejection> = Vec::new();
        match validate(bytes, features(&self.engine)) {
            Err(rejection) => rejections.push(rejection),
            Ok(()) => rejections.extend(compose::compose(bytes, &shape, &self.registry).err()),
        }
        let others = shape.imports.iter().filter(|import| Name::parse(&import.name).path != compose::REGISTRY);
        let others: Vec<_> = others.cloned().collect();
        rejections.extend(Allowed::new(options.wasi, &options.imports).check(&others).err());
        Inspection { shape: Some(shape), uses_registry, rejections }
    }

    /// Loads an artefact that this host's own worker wrote, from its pipe or from the cache that vouches for it.
    fn deserialize(&self, artefact: &[u8]) -> Result<Component> {
        let load = |engine: &Engine| {
            // SAFETY: the bytes are what `Engine::precompile_component` returned, in this process or in a worker that this
            // process started and whose pipe nobody else holds; or they come from the cache, which checks a keyed hash over
            // bytes of that origin. An artefact for another engine or version is refused by its header.
            unsafe { Component::deserialize(engine, artefact) }
                .map_err(|error| Error::Internal(format!("the compiled code does not load: {error:#}")))
        };
        match load(&self.engine) {
            // What does not fit the pool is refused as it loads; on demand it may still run.
            Err(_) if self.engine.get_pooling_config().is_some() => load(self.unpooled()?),
            loaded => loaded,
        }
    }

    fn unpooled(&self) -> Result<&Engine> {
        if let Some(engine) = self.unpooled.get() {
            return Ok(engine);
        }
        let engine = engine::on_demand(&self.engine)?;
        let engine = self.unpooled.get_or_init(|| engine);
        if let Some(ticker) = &self.ticker {
            ticker.add(engine);
        }
        Ok(engine)
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

async fn blocking<R: Send + 'static>(job: impl FnOnce() -> Result<R> + Send + 'static) -> Result<R> {
    tokio::task::spawn_blocking(job)
        .await
        .map_err(|error| Error::Internal(format!("a blocking task failed: {error}")))?
}
