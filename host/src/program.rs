//! A tenant's code, ready to be instantiated any number of times.

use crate::{
    error::Rejection,
    load::{
        imports::Wasi,
        screen::{Item, Screen, Shape},
    },
    tenant::State,
};
use std::sync::{Arc, OnceLock};
use wasmtime::{
    Engine,
    component::{Component, InstancePre},
};

/// What a tenant's code may be and import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LoadOptions {
    /// Caps on the bytes. The defaults suit compiled programs; [`Screen::large`] suits language runtimes.
    pub screen: Screen,
    /// WASI imports it may have. Default none.
    pub wasi: Wasi,
    /// Further imports it may have, which the embedder's linker defines: `acme:clock@1`, `acme:clock/now@1`, `log`. Versions are
    /// tracks: `1`, `0.2`.
    pub imports: Vec<String>,
}

/// A loaded component: screened, composed with the registry if it asks for one, compiled. Cheap to clone.
#[derive(Clone)]
pub struct Program(pub(crate) Arc<Loaded>);

pub(crate) struct Loaded {
    pub(crate) component: Component,
    /// As it came; its imports decide whether it was composed.
    pub(crate) shape: Shape,
    /// What the host has to define, after composition.
    pub(crate) imports: Vec<Item>,
    pub(crate) composed: bool,
    /// SHA-256 of the bytes it came as.
    pub(crate) digest: [u8; 32],
    pub(crate) pre: OnceLock<InstancePre<State>>,
}

impl Program {
    /// What it was made of, before composition.
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// What it still imports, and a linker has to define.
    pub fn imports(&self) -> &[Item] {
        &self.0.imports
    }

    /// Whether the registry component was put in.
    pub fn composed(&self) -> bool {
        self.0.composed
    }

    /// The compiled component, for an embedder's own linker.
    pub fn component(&self) -> &Component {
        &self.0.component
    }

    /// The engine it was compiled for: the host's, or the host's twin without a pool if it does not fit the pool.
    pub fn engine(&self) -> &Engine {
        self.0.component.engine()
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("shape", &self.0.shape)
            .field("composed", &self.0.composed)
            .finish_non_exhaustive()
    }
}

/// Programs that were loaded before, the ones used last.
pub(crate) struct Recent {
    most: usize,
    entries: std::sync::Mutex<Vec<([u8; 32], Slot)>>,
}

/// Filled by the first who loads it; others wait.
pub(crate) type Slot = Arc<tokio::sync::OnceCell<Program>>;

impl Recent {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, entries: std::sync::Mutex::default() }
    }

    /// The place for `key`, made if it is not there, in front of all others.
    pub(crate) fn slot(&self, key: [u8; 32]) -> Slot {
        let mut entries = self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = entries.iter().position(|(other, _)| *other == key).map(|at| entries.remove(at));
        let (key, slot) = found.unwrap_or_else(|| (key, Slot::default()));
        entries.insert(0, (key, Arc::clone(&slot)));
        entries.truncate(self.most);
        slot
    }
}

/// What stands in the way of a component, and what it is, without compiling it.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// As far as it could be read.
    pub shape: Option<Shape>,
    /// Whether it asks for the registry.
    pub uses_registry: bool,
    /// Why it would be refused; empty if nothing but the compiler could still object.
    pub rejections: Vec<Rejection>,
}

pub(crate) fn link_error(error: &wasmtime::Error) -> Rejection {
    Rejection::incompatible(format!("it cannot be linked: {}", crate::load::quote_causes(error.chain())))
}
