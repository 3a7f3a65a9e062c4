//! A list of things that others own.

use std::sync::{Arc, Weak};

/// Weak references, purged as they grow, so that the dead ones are never more than the living and a few.
pub(crate) struct Weaks<T> {
    list: Vec<Weak<T>>,
    purge_at: usize,
}

impl<T> Default for Weaks<T> {
    fn default() -> Self {
        Self { list: Vec::new(), purge_at: 32 }
    }
}

impl<T> Weaks<T> {
    pub(crate) fn add(&mut self, item: &Arc<T>) {
        if self.list.len() >= self.purge_at {
            self.list.retain(|item| item.strong_count() > 0);
            self.purge_at = 2 * self.list.len() + 32;
        }
        self.list.push(Arc::downgrade(item));
    }

    pub(crate) fn live(&self) -> Vec<Arc<T>> {
        self.list.iter().filter_map(Weak::upgrade).collect()
    }
}
