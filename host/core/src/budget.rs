//! What is used, against what is allowed: a tree of nodes with counters.
//!
//! A grant is a node; narrowing makes a child. A charge is made on a node and on every ancestor, all or nothing, before the
//! thing it pays for exists. It is a value, [`Charge`], owned by the native object itself, so it comes back when the last
//! reference to that is gone, and not when some handle is.
//!
//! Counters are atomics; there is no lock. While a charge that will fail is being taken back from the lower nodes, another one at
//! the very edge may be refused although it would have fitted a moment later.

use crate::{
    error::{Error, LimitHit, Result, unavailable},
    object::{Amount, Used},
    policy::{Limit, Limits},
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

#[derive(Default)]
struct Counter {
    used: AtomicU64,
    peak: AtomicU64,
}

impl Counter {
    /// Adds if the sum stays within `allowed`; otherwise says what is used.
    fn add(&self, amount: u64, allowed: u64) -> Result<(), u64> {
        let add = |used: u64| used.checked_add(amount).filter(|sum| *sum <= allowed);
        let before = self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, add)?;
        self.peak.fetch_max(before.saturating_add(amount), Ordering::Relaxed);
        Ok(())
    }

    fn subtract(&self, amount: u64) {
        self.used.fetch_sub(amount, Ordering::AcqRel);
    }
}

/// One node of the tree.
pub struct Node {
    parent: Option<Arc<Node>>,
    limits: Limits,
    counters: [Counter; Limit::COUNT],
    /// Whether it speaks for the host as a whole, whose numbers are nobody's business.
    host: bool,
    revoked: AtomicBool,
    /// What this node itself costs its parent.
    _own: Option<Charge>,
}

impl Node {
    /// A node for everything a host lends out together. When it is short, tenants are told `unavailable`, without numbers: those
    /// would tell them about each other.
    pub fn host(limits: Limits) -> Arc<Self> {
        Arc::new(Self::make(None, limits, true, None))
    }

    /// A node below this one, with limits of its own.
    pub(crate) fn child(self: &Arc<Self>, limits: Limits) -> Arc<Self> {
        Arc::new(Self::make(Some(self.clone()), limits, false, None))
    }

    /// A node for a tenant that belongs to no host-wide node.
    pub(crate) fn root(limits: Limits) -> Arc<Self> {
        Arc::new(Self::make(None, limits, false, None))
    }

    /// A child that costs this node one of `limit` for as long as it exists, so that chains of them stay short.
    pub(crate) fn narrowed(self: &Arc<Self>, mut limits: Limits, limit: Limit) -> Result<Arc<Self>> {
        limits.cut_to(&self.limits);
        let own = self.charge(limit, 1)?;
        Ok(Arc::new(Self::make(Some(self.clone()), limits, false, Some(own))))
    }

    fn make(parent: Option<Arc<Node>>, limits: Limits, host: bool, own: Option<Charge>) -> Self {
        let counters = std::array::from_fn(|_| Counter::default());
        Self { parent, limits, counters, host, revoked: AtomicBool::new(false), _own: own }
    }

    /// What this node allows; what its ancestors allow may be less.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What a per-call limit comes to, or how much of a sum there is at most: the least of this node's and its ancestors'. Of the
    /// host's only sums count, since a call is never the host's as a whole.
    pub(crate) fn allowed(&self, limit: Limit) -> u64 {
        let counts = |node: &&Self| !(node.host && limit.per_call());
        self.line().filter(counts).map(|node| node.limits.get(limit)).min().unwrap_or(0)
    }

    /// Takes `amount` on this node and all its ancestors, or nothing.
    ///
    /// # Errors
    /// `resource-exhausted` with this node's numbers, whichever node is short, but never with more left than was refused; `unavailable` if it is the host's.
    pub fn charge(self: &Arc<Self>, limit: Limit, amount: u64) -> Result<Charge> {
        if amount == 0 {
            return Ok(Charge { node: None, limit, amount });
        }
        for (depth, node) in self.line().enumerate() {
            if node.counter(limit).is_some_and(|counter| counter.add(amount, node.limits.get(limit)).is_err()) {
                let taken = self.line().take(depth).filter_map(|node| node.counter(limit));
                taken.for_each(|counter| counter.subtract(amount));
                return Err(self.refusal(node, limit, amount));
            }
        }
        Ok(Charge { node: Some(self.clone()), limit, amount })
    }

    fn refusal(&self, short: &Self, limit: Limit, asked: u64) -> Error {
        if short.host {
            return unavailable("the host as a whole is short now; try again later");
        }
        let (used, allowed) = (self.used(limit), self.limits.get(limit));
        // How much another node has left is not the caller's business; that it is less than was asked for, the refusal says.
        let own = std::ptr::eq(self, short);
        let available = allowed.saturating_sub(used).min(if own { u64::MAX } else { asked.saturating_sub(1) });
        let label = limit.label();
        let message = if own {
            format!(
                "{asked} asked for, but of the limit \"{label}\" only {available} of {allowed} are left; release something, \
                 or have the operator grant more"
            )
        } else {
            format!(
                "{asked} asked for, but of the limit \"{label}\" less is left in what this grant is a part of; release something \
                 that was made from it, or have the operator grant more"
            )
        };
        Error::limit(LimitHit { limit: label, asked, available, allowed }, message)
    }

    /// What is charged now.
    pub fn used(&self, limit: Limit) -> u64 {
        self.counter(limit).map_or(0, |counter| counter.used.load(Ordering::Acquire))
    }

    /// The most that was ever charged at once.
    pub fn peak(&self, limit: Limit) -> u64 {
        self.counter(limit).map_or(0, |counter| counter.peak.load(Ordering::Relaxed))
    }

    /// Every limit that fills up, with its use.
    pub fn usage(&self) -> Vec<Used> {
        self.limits
            .iter()
            .filter(|(limit, _)| !limit.per_call())
            .map(|(limit, allowed)| Used { name: limit.label().to_owned(), used: self.used(limit), allowed })
            .collect()
    }

    /// Every limit.
    pub fn amounts(&self) -> Vec<Amount> {
        self.limits.iter().map(|(limit, value)| Amount { name: limit.label().to_owned(), value }).collect()
    }

    /// Takes the rights of this node and of everything below it away.
    pub(crate) fn revoke(&self) {
        self.revoked.store(true, Ordering::Release);
    }

    /// Whether this node or one above it was revoked.
    pub fn revoked(&self) -> bool {
        self.line().any(|node| node.revoked.load(Ordering::Acquire))
    }

    /// Whether this node is `other` or below it.
    pub(crate) fn within(&self, other: &Arc<Node>) -> bool {
        self.line().any(|node| std::ptr::eq(node, Arc::as_ptr(other)))
    }

    /// This node, its parent, and so on.
    fn line(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |node| node.parent.as_deref())
    }

    fn counter(&self, limit: Limit) -> Option<&Counter> {
        self.counters.get(limit as usize)
    }
}

/// A part of a budget, in use for as long as this value lives.
#[must_use = "a charge that is dropped is given back"]
pub struct Charge {
    node: Option<Arc<Node>>,
    limit: Limit,
    amount: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(node) = &self.node {
            node.line().filter_map(|node| node.counter(self.limit)).for_each(|counter| counter.subtract(self.amount));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hal_driver::Code;
    use proptest::prelude::*;

    fn limits(memory: u64) -> Limits {
        Limits::new().with(Limit::MemoryBytes, memory)
    }

    #[test]
    fn the_edge_is_exact_and_usable_again() {
        let node = Node::root(limits(100));
        let charge = node.charge(Limit::MemoryBytes, 100).unwrap();
        let error = node.charge(Limit::MemoryBytes, 1).err().unwrap();
        let hit = error.limit.unwrap();
        assert_eq!((error.code, hit.limit), (Code::ResourceExhausted, "memory-bytes"));
        assert_eq!((hit.asked, hit.available, hit.allowed), (1, 0, 100));
        assert!(node.charge(Limit::MemoryBytes, 0).is_ok());
        drop(charge);
        assert_eq!((node.used(Limit::MemoryBytes), node.peak(Limit::MemoryBytes)), (0, 100));
        assert!(node.charge(Limit::MemoryBytes, 100).is_ok());
        assert!(node.charge(Limit::MemoryBytes, u64::MAX).is_err());
    }

    #[test]
    fn ten_narrowed_grants_cannot_exceed_their_parent() {
        let parent = Node::root(limits(100));
        let children: Vec<_> = (0..10).map(|_| parent.narrowed(limits(1000), Limit::Factories).unwrap()).collect();
        assert_eq!(children[0].limits().get(Limit::MemoryBytes), 100, "a child's limit is cut to its parent's");
        let charges: Vec<_> = children.iter().filter_map(|child| child.charge(Limit::MemoryBytes, 30).ok()).collect();
        assert_eq!(charges.len(), 3);
        // What the parent has left is not told, and the numbers do not say that there is enough.
        let hit = children[9].charge(Limit::MemoryBytes, 30).err().unwrap().limit.unwrap();
        assert_eq!((hit.asked, hit.available, hit.allowed), (30, 29, 100));
        assert_eq!(children[9].used(Limit::MemoryBytes), 0, "a refused charge leaves nothing behind");
    }

    #[test]
    fn a_host_that_is_short_tells_no_numbers() {
        let host = Node::host(limits(10));
        let error = host.child(limits(100)).charge(Limit::MemoryBytes, 11).err().unwrap();
        assert_eq!((error.code, error.limit), (Code::Unavailable, None));
    }

    #[test]
    fn chains_of_narrowed_grants_are_bounded() {
        let root = Node::root(Limits::new().with(Limit::Factories, 3));
        let mut node = root.clone();
        for _ in 0..3 {
            node = node.narrowed(Limits::new(), Limit::Factories).unwrap();
        }
        let hit = node.narrowed(Limits::new(), Limit::Factories).err().unwrap().limit.unwrap();
        assert_eq!(
            (hit.asked, hit.available, hit.allowed),
            (1, 0, 3),
            "it has none, but what it is a part of is used up"
        );
        drop(node);
        assert_eq!(root.used(Limit::Factories), 0);
    }

    #[test]
    fn revocation_reaches_down_only() {
        let parent = Node::root(Limits::new());
        let child = parent.child(Limits::new());
        let other = parent.child(Limits::new());
        child.revoke();
        assert!(child.revoked() && !parent.revoked() && !other.revoked());
        parent.revoke();
        assert!(other.revoked() && other.within(&parent) && !parent.within(&other));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// The counters of a random tree are at any time the sums of the charges that live, and never above their limits.
        #[test]
        fn counters_are_sums(steps in prop::collection::vec((0usize..6, 0u64..60, any::<bool>()), 1..200)) {
            let root = Node::root(limits(100));
            let mut nodes = vec![root.clone()];
            for parent in [0usize, 0, 1, 2, 3] {
                let node = nodes[parent].child(limits(40 + 10 * parent as u64));
                nodes.push(node);
            }
            let mut live: Vec<(usize, u64, Charge)> = Vec::new();
            for (node, amount, release) in steps {
                if release && !live.is_empty() {
                    drop(live.swap_remove(amount as usize % live.len()));
                } else if let Ok(charge) = nodes[node].charge(Limit::MemoryBytes, amount) {
                    live.push((node, amount, charge));
                }
                for node in &nodes {
                    let sum: u64 = live.iter().filter(|(at, ..)| nodes[*at].within(node)).map(|(_, amount, _)| amount).sum();
                    prop_assert_eq!(node.used(Limit::MemoryBytes), sum);
                    prop_assert!(sum <= node.limits().get(Limit::MemoryBytes));
                }
            }
        }
    }
}
