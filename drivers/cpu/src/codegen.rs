//! From a module that the kernel compiler emitted to machine code, or to what was made of the same module before.

use crate::engine;
use hal_driver::{CodeCache, Result};
use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};
use wasmtime::{Engine, Module};

/// The engine, and where its code is kept, if it is.
#[derive(Clone)]
pub(crate) struct Codegen {
    pub(crate) engine: Engine,
    kept: Option<Kept>,
}

#[derive(Clone)]
struct Kept {
    cache: Arc<dyn CodeCache>,
    /// Of the engine, its version and settings, and of the processor that it compiles for.
    engine: Arc<[u8]>,
}

impl Codegen {
    /// # Errors
    /// `Unavailable` on a processor for which there is no code generator.
    pub(crate) fn new(cache: Option<Arc<dyn CodeCache>>) -> Result<Self> {
        let engine = engine::new()?;
        let kept = cache.map(|cache| {
            let mut bytes = Bytes(Vec::new());
            engine.precompile_compatibility_hash().hash(&mut bytes);
            Kept { cache, engine: bytes.0.into() }
        });
        Ok(Self { engine, kept })
    }

    /// The machine code of a module. Keyed by the module and not by its source: whatever decides how a source is compiled is in the module, so
    /// that a changed kernel compiler never meets what an older one left. *Blocking.*
    ///
    /// # Errors
    /// The code generator's.
    pub(crate) fn module(&self, wasm: &[u8]) -> wasmtime::Result<Module> {
        let Some(Kept { cache, engine }) = &self.kept else { return Module::new(&self.engine, wasm) };
        let parts = [&b"hal-driver-cpu"[..], engine, wasm];
        if let Some(module) = cache.load(&parts).and_then(|code| self.deserialize(&code)) {
            return Ok(module);
        }
        let module = Module::new(&self.engine, wasm)?;
        // Kernels are small enough to be serialised if they could be compiled; one that is not is compiled again.
        if let Ok(code) = module.serialize() {
            cache.store(&parts, &code);
        }
        Ok(module)
    }

    fn deserialize(&self, code: &[u8]) -> Option<Module> {
        // SAFETY: a `CodeCache` answers nothing but the whole of what it was given under the same parts, which name this driver: the outcome of
        // `Module::serialize` above. Code for another engine would have other parts, and is refused by its header all the same.
        let module = unsafe { Module::deserialize(&self.engine, code) };
        module.inspect_err(|error| tracing::warn!("a kernel that was kept is compiled again: {error:#}")).ok()
    }
}

/// Collects what a hasher is given: of a hash alone, two might be equal.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}
