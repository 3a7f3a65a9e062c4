//! What one store may allocate.

use wasmtime::ResourceLimiter;

/// Limits on what a tenant's instances take of the host, the registry's included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreLimits {
    /// Bytes of all linear memories of the tenant's own together. Default 64 MiB.
    pub memory_bytes: u64,
    /// Core instances. Default 64: what composed components of common toolchains need, with room.
    pub instances: usize,
    /// Linear memories. Default 8.
    pub memories: usize,
    /// Tables. Default 64.
    pub tables: usize,
    /// Elements of all tables together. Default 262,144 (2 MiB).
    pub table_elements: usize,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self { memory_bytes: 64 << 20, instances: 64, memories: 8, tables: 64, table_elements: 256 << 10 }
    }
}

/// Counts over all memories and tables of a store, where wasmtime's own limiter bounds each one alone.
#[derive(Debug)]
pub(crate) struct Limiter {
    limits: StoreLimits,
    /// On top of the tenant's own memory, for a registry that was put in; its module's maximum keeps it within.
    registry_bytes: u64,
    memory_bytes: u64,
    table_elements: usize,
    /// What the last permitted growth added: given back if it fails after all.
    last: Last,
}

#[derive(Clone, Copy, Debug)]
enum Last {
    Nothing,
    Memory(u64),
    Table(usize),
}

impl Limiter {
    pub(crate) fn new(limits: StoreLimits, registry_bytes: u64) -> Self {
        Self { limits, registry_bytes, memory_bytes: 0, table_elements: 0, last: Last::Nothing }
    }

    /// Bytes of linear memory now.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current) as u64;
        let total = self.memory_bytes.saturating_add(more);
        self.last = Last::Nothing;
        if total > self.limits.memory_bytes.saturating_add(self.registry_bytes) {
            return Ok(false);
        }
        self.memory_bytes = total;
        self.last = Last::Memory(more);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        if let Last::Memory(more) = std::mem::replace(&mut self.last, Last::Nothing) {
            self.memory_bytes = self.memory_bytes.saturating_sub(more);
        }
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current);
        let total = self.table_elements.saturating_add(more);
        self.last = Last::Nothing;
        if total > self.limits.table_elements {
            return Ok(false);
        }
        self.table_elements = total;
        self.last = Last::Table(more);
        Ok(true)
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        if let Last::Table(more) = std::mem::replace(&mut self.last, Last::Nothing) {
            self.table_elements = self.table_elements.saturating_sub(more);
        }
        Ok(())
    }

    fn instances(&self) -> usize {
        self.limits.instances
    }

    fn memories(&self) -> usize {
        self.limits.memories
    }

    fn tables(&self) -> usize {
        self.limits.tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_counted_together_and_failed_growth_is_given_back() {
        let mut limiter = Limiter::new(StoreLimits { memory_bytes: 300, ..StoreLimits::default() }, 100);
        assert!(limiter.memory_growing(0, 200, None).unwrap());
        assert!(limiter.memory_growing(0, 200, None).unwrap());
        assert!(!limiter.memory_growing(200, 201, None).unwrap());
        // A refusal gives nothing back.
        limiter.memory_grow_failed(wasmtime::Error::msg("refused")).unwrap();
        assert_eq!(limiter.memory_bytes(), 400);
        let mut limiter = Limiter::new(StoreLimits { memory_bytes: 300, ..StoreLimits::default() }, 0);
        assert!(limiter.memory_growing(0, 300, None).unwrap());
        limiter.memory_grow_failed(wasmtime::Error::msg("no memory")).unwrap();
        assert!(limiter.memory_growing(0, 300, None).unwrap());
    }
}
