//! One session of one tenant: a store, an instance in it, and the rule that a call which ended badly ends the session.

use crate::{
    error::{Error, Result},
    limiter::{Limiter, StoreLimits},
    load::quote,
    wit,
};
use hal_core::{Limit, Session, policy::Unit};
use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::{
    Store,
    component::{ComponentNamedList, Instance, InstancePre, Lift, Lower, Resource, ResourceTable},
};

/// How long one call may take unless the options say otherwise: three times the longest submission of a default grant.
pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Handles of one store: above what the quotas of a default grant, which are values, let a guest reach.
const MIN_HANDLES: usize = 65_536;
/// Handles for what no quota counts.
const HANDLES_FOR_OTHERS: usize = 1_024;
/// Bytes that one call may bring beyond twice the largest transfer, so that a transfer one byte too long is still an
/// error value and not the end of the session.
const CALL_SLACK_BYTES: u64 = 1 << 20;
/// How much of the host one tenant takes, beyond what its grants say of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TenantOptions {
    /// The longest a call may take. Default [`DEFAULT_CALL_TIMEOUT`].
    pub call_timeout: Duration,
    /// What its instances may allocate.
    pub limits: StoreLimits,
    /// Handles it may hold or lend, more than which is a trap. Default: the quotas of its grants together, at least 65,536, and as many
    /// as the bytes of one call can lend, so that the quotas and the bound on a call's lists, which are values, are met first.
    pub handles: Option<usize>,
    /// Bytes that one call may hand to the host, more than which is a trap. Default: twice the largest transfer of its
    /// grants and 1 MiB.
    pub call_bytes: Option<usize>,
}

impl Default for TenantOptions {
    fn default() -> Self {
        Self { call_timeout: DEFAULT_CALL_TIMEOUT, limits: StoreLimits::default(), handles: None, call_bytes: None }
    }
}

impl TenantOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes the longest a call may take.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = timeout;
        self
    }

    /// Changes the bytes of linear memory it may grow to.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.limits.memory_bytes = bytes;
        self
    }
}

/// What a tenant's store holds for this crate. An embedder with data of its own keeps one inside it and hands it out with
/// `AsMut`.
pub struct State {
    wit: wit::State,
    limiter: Limiter,
}

impl State {
    pub(crate) fn new(session: Session, options: &TenantOptions, registry_bytes: u64) -> Self {
        let mut wit = wit::State::new(session);
        wit.table.set_max_capacity(held(&wit.session, options));
        Self { wit, limiter: Limiter::new(options.limits, registry_bytes) }
    }

    /// The tenant's session.
    pub fn session(&self) -> &Session {
        &self.wit.session
    }

    /// The table behind its handles, where an embedder's own resources may live too.
    pub fn table(&mut self) -> &mut ResourceTable {
        &mut self.wit.table
    }

    pub(crate) fn view(&mut self) -> wit::View<'_> {
        self.wit.view()
    }
}

impl AsMut<State> for State {
    fn as_mut(&mut self) -> &mut State {
        self
    }
}

/// The limits of every grant.
fn limits(session: &Session) -> impl Iterator<Item = (Limit, u64)> {
    let amounts: Vec<_> = session.granted().iter().flat_map(hal_core::Factory::limits).collect();
    amounts.into_iter().filter_map(|amount| Some((Limit::named(&amount.name).ok()?, amount.value)))
}

/// Handles that it may hold to what the host made.
fn held(session: &Session, options: &TenantOptions) -> usize {
    options.handles.unwrap_or_else(|| {
        let objects = limits(session).filter(|(limit, _)| limit.unit() == Unit::Count && !limit.per_call());
        let quotas = objects.fold(0_u64, |sum, (_, value)| sum.saturating_add(value));
        let quotas = usize::try_from(quotas).unwrap_or(usize::MAX);
        quotas.saturating_add(HANDLES_FOR_OTHERS).max(MIN_HANDLES)
    })
}

/// The engine's bound, which counts a handle once more each time that a call lends it. A list of borrows is lent before any code of ours
/// sees how long it is, and then refused as a value; so what bounds it here is the bytes of a call. Counting costs nothing: a lent
/// handle is not a new one.
fn handles(session: &Session, options: &TenantOptions) -> usize {
    let lent = call_bytes(session, options) / size_of::<Resource<hal_core::Buffer>>().max(1);
    options.handles.unwrap_or_else(|| held(session, options).saturating_add(lent))
}

fn call_bytes(session: &Session, options: &TenantOptions) -> usize {
    options.call_bytes.unwrap_or_else(|| {
        let transfers = limits(session).filter(|(limit, _)| *limit == Limit::TransferBytes).map(|(_, value)| value);
        let largest = transfers.fold(Limit::TransferBytes.default_value(), u64::max);
        usize::try_from(largest.saturating_mul(2).saturating_add(CALL_SLACK_BYTES)).unwrap_or(usize::MAX)
    })
}

/// What a tenant has used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Its grants.
    pub session: hal_core::Report,
    /// Calls that were begun.
    pub calls: u64,
    /// Time in calls.
    pub busy: Duration,
    /// Bytes of linear memory now, the registry's included.
    pub memory_bytes: u64,
    /// Why it takes no more calls, if so.
    pub over: Option<String>,
}

/// A tenant's session: an instance in a store of its own.
///
/// A trap, a timeout or a call that was dropped half way ends it: every later call is an error that says why. Dropping it ends
/// the session, cancels its work and frees everything native, without waiting.
pub struct Tenant<T: AsMut<State> + Send + 'static = State> {
    store: Store<T>,
    instance: Instance,
    timeout: Duration,
    calls: u64,
    busy: Duration,
    over: Option<String>,
    running: Arc<Semaphore>,
    _room: OwnedSemaphorePermit,
}

/// What the host lends a tenant of its own.
pub(crate) struct Room {
    /// Keeps a place among the host's tenants.
    pub(crate) tenant: OwnedSemaphorePermit,
    /// Places among the host's running calls.
    pub(crate) running: Arc<Semaphore>,
}

impl<T: AsMut<State> + Send + 'static> Tenant<T> {
    pub(crate) async fn start(pre: &InstancePre<T>, data: T, options: &TenantOptions, room: Room) -> Result<Self> {
        let mut store = Store::new(pre.engine(), data);
        store.limiter(|data| &mut data.as_mut().limiter);
        let session = &store.data_mut().as_mut().wit.session;
        let (handles, bytes) = (handles(session, options), call_bytes(session, options));
        store.set_max_component_handles(handles);
        store.set_hostcall_fuel(bytes);
        if store.engine().get_epoch_interruption() {
            store.set_epoch_deadline(1);
            store.epoch_deadline_async_yield_and_update(1);
        }
        let permit = running(&room.running).await?;
        let instance =
            bounded(options.call_timeout, &mut store, async |store| pre.instantiate_async(store).await).await?;
        drop(permit);
        Ok(Self {
            store,
            instance,
            timeout: options.call_timeout,
            calls: 0,
            busy: Duration::ZERO,
            over: None,
            running: room.running,
            _room: room.tenant,
        })
    }

    /// Calls the exported function `name`, or `interface@version#name`.
    ///
    /// For more than one plain function, use an embedder's own `bindgen!` inside [`Tenant::run`].
    ///
    /// # Errors
    /// [`Error::MissingExport`]; otherwise as [`Tenant::run`].
    pub async fn call<P, R>(&mut self, name: &str, parameters: P) -> Result<R>
    where
        P: ComponentNamedList + Lower + Send + Sync + 'static,
        R: ComponentNamedList + Lift + Send + Sync + 'static,
    {
        let missing = |cause: String| Error::MissingExport { name: quote(name), cause };
        let (interface, function) = match name.split_once('#') {
            Some((interface, function)) => (Some(interface), function),
            None => (None, name),
        };
        let mut parent = None;
        if let Some(interface) = interface {
            let found = self.instance.get_export_index(&mut self.store, None, interface);
            parent = Some(found.ok_or_else(|| missing(self.exports()))?);
        }
        let index = self.instance.get_export_index(&mut self.store, parent.as_ref(), function);
        let index = index.ok_or_else(|| missing(self.exports()))?;
        let function = self
            .instance
            .get_typed_func::<P, R>(&mut self.store, index)
            .map_err(|error| missing(quote(&format!("{error:#}"))))?;
        self.run(async move |store: &mut Store<T>, _: &Instance| function.call_async(store, parameters).await).await
    }

    fn exports(&self) -> String {
        let component = self.instance.instance_pre(&self.store);
        let exports = component.component().component_type();
        let names: Vec<_> = exports.exports(self.store.engine()).map(|(name, _)| quote(name)).take(16).collect();
        if names.is_empty() { "it exports nothing".into() } else { format!("it exports {}", names.join(", ")) }
    }

    /// Gives `call` the store and the instance, within the call timeout: for typed access with an embedder's own `bindgen!`.
    ///
    /// # Errors
    /// [`Error::Trapped`] for any error of wasmtime's, and [`Error::Deadline`], both of which end the session;
    /// [`Error::Poisoned`] once it has ended.
    pub async fn run<R>(
        &mut self,
        call: impl AsyncFnOnce(&mut Store<T>, &Instance) -> wasmtime::Result<R>,
    ) -> Result<R> {
        if let Some(reason) = &self.over {
            return Err(Error::Poisoned(reason.clone()));
        }
        let _permit = running(&self.running).await?;
        self.calls += 1;
        // Stays, if this future is dropped before the call has ended.
        self.over = Some("a call was dropped half way".into());
        let began = Instant::now();
        let instance = self.instance;
        let outcome = bounded(self.timeout, &mut self.store, async |store| call(store, &instance).await).await;
        self.busy += began.elapsed();
        self.over = match &outcome {
            Ok(_) => None,
            Err(error) => {
                self.store.data_mut().as_mut().wit.session.end();
                Some(error.to_string())
            }
        };
        outcome
    }

    /// What it has used.
    pub fn report(&mut self) -> Report {
        let state = self.store.data_mut().as_mut();
        Report {
            session: state.wit.session.report(),
            memory_bytes: state.limiter.memory_bytes(),
            calls: self.calls,
            busy: self.busy,
            over: self.over.clone(),
        }
    }

    /// Takes the grant at this place back, with everything derived from it: the guest gets `permission-denied` from now on, its
    /// work is stopped. False if there is no such grant.
    pub fn revoke(&mut self, grant: usize) -> bool {
        self.store.data_mut().as_mut().wit.session.revoke(grant)
    }

    /// The store's data.
    pub fn data(&mut self) -> &mut T {
        self.store.data_mut()
    }

    /// Gives the store and the instance away. Timeouts, poisoning and the end of the session are the caller's from here on.
    pub fn into_store(self) -> (Store<T>, Instance) {
        (self.store, self.instance)
    }
}

/// A place among the calls that run.
async fn running(places: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit> {
    Arc::clone(places).acquire_owned().await.map_err(|_| Error::Internal("the host's call places are closed".into()))
}

/// Runs `call` for at most `timeout`; waits inside it end a little earlier.
async fn bounded<T: AsMut<State> + Send + 'static, R>(
    timeout: Duration,
    store: &mut Store<T>,
    call: impl AsyncFnOnce(&mut Store<T>) -> wasmtime::Result<R>,
) -> Result<R> {
    let begun = Instant::now();
    // A timeout past what a clock can say is none.
    let deadline = begun.checked_add(timeout);
    // The session ends waits a little earlier, so that a wait for ever is an error value.
    store.data_mut().as_mut().wit.session.set_deadline(deadline);
    let outcome = {
        let mut call = pin!(call(store));
        let mut sleep = pin!(deadline.map(|deadline| tokio::time::sleep_until(deadline.into())));
        poll_fn(|context| {
            if let Poll::Ready(result) = call.as_mut().poll(context) {
                return Poll::Ready(Some(result));
            }
            // A guest that computes wakes this task at every tick, and may keep a single-threaded runtime from looking at its
            // timers; so the clock is asked here as well.
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Poll::Ready(None);
            }
            match sleep.as_mut().as_pin_mut() {
                Some(sleep) => sleep.poll(context).map(|()| None),
                None => Poll::Pending,
            }
        })
        .await
    };
    match outcome {
        Some(Ok(result)) => {
            store.data_mut().as_mut().wit.session.set_deadline(None);
            Ok(result)
        }
        Some(Err(error)) => Err(failed(error)),
        None => Err(Error::Deadline { timeout, elapsed: begun.elapsed() }),
    }
}

fn failed(error: wasmtime::Error) -> Error {
    if error.is::<wasmtime::PoolConcurrencyLimitError>() {
        return Error::Exhausted(format!("{error:#}; raise the pool's limits in the engine's configuration"));
    }
    let trap = match error.downcast_ref::<wasmtime::Trap>() {
        Some(trap) => trap.to_string().trim_start_matches("wasm trap: ").to_owned(),
        None => quote(&error.root_cause().to_string()),
    };
    Error::Trapped { trap, source: error }
}
