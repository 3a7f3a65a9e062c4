//! Which addresses of a device's memory are free. Pure bookkeeping: no memory is touched here.
//!
//! Best fit, lowest address first among equals, with neighbours joined when a block comes back.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// The free ranges. Blocks that come back were handed out before, or were never known: ranges never overlap.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    by_address: BTreeMap<u64, u64>,
    /// Length first, so that the first entry at or above a size is the best fit.
    by_length: BTreeSet<(u64, u64)>,
}

impl Heap {
    /// Hands out `length` bytes at a multiple of `alignment`, a power of two.
    pub(crate) fn take(&mut self, length: u64, alignment: u64) -> Option<Range<u64>> {
        // A range that is long enough before alignment may be too short after it, so look on, but a range longer by the
        // alignment always does: this ends within few steps.
        let (found, address) = self.by_length.range((length, 0)..).find_map(|&(free, address)| {
            let aligned = address.checked_next_multiple_of(alignment)?;
            (aligned.checked_add(length)? <= address + free).then_some((address..address + free, aligned))
        })?;
        self.remove(found.start, found.end - found.start);
        let block = address..address + length;
        self.insert(found.start..block.start);
        self.insert(block.end..found.end);
        Some(block)
    }

    /// Takes a block back, or takes in addresses that are new.
    pub(crate) fn give(&mut self, block: Range<u64>) {
        let Range { mut start, mut end } = block;
        if let Some((&before, &length)) = self.by_address.range(..start).next_back()
            && before + length == start
        {
            self.remove(before, length);
            start = before;
        }
        if let Some(&length) = self.by_address.get(&end) {
            self.remove(end, length);
            end += length;
        }
        self.insert(start..end);
    }

    /// The free ranges, by address.
    pub(crate) fn ranges(&self) -> impl DoubleEndedIterator<Item = Range<u64>> {
        self.by_address.iter().map(|(&start, &length)| start..start + length)
    }

    /// The free range that ends at `end`, or the empty one there.
    pub(crate) fn tail(&self, end: u64) -> Range<u64> {
        self.ranges().next_back().filter(|last| last.end == end).unwrap_or(end..end)
    }

    fn insert(&mut self, range: Range<u64>) {
        if !range.is_empty() {
            self.by_address.insert(range.start, range.end - range.start);
            self.by_length.insert((range.end - range.start, range.start));
        }
    }

    fn remove(&mut self, start: u64, length: u64) {
        self.by_address.remove(&start);
        self.by_length.remove(&(length, start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SPACE: Range<u64> = 64..1 << 16;

    #[test]
    fn neighbours_join() {
        let mut heap = Heap::default();
        heap.give(SPACE);
        let blocks: Vec<_> = (0..3).map(|_| heap.take(128, 64).unwrap()).collect();
        for index in [0, 2, 1] {
            heap.give(blocks[index].clone());
        }
        assert_eq!(heap.ranges().collect::<Vec<_>>(), [SPACE]);
    }

    #[test]
    fn alignment_leaves_what_it_skips() {
        let mut heap = Heap::default();
        heap.give(SPACE);
        assert_eq!(heap.take(4096, 4096), Some(4096..8192));
        assert_eq!(heap.ranges().collect::<Vec<_>>(), [64..4096, 8192..1 << 16]);
        assert_eq!(heap.take(64, 64), Some(64..128), "the best fit is the short range");
    }

    proptest! {
        /// Against a model that knows only what is handed out.
        #[test]
        fn blocks_never_overlap_and_nothing_is_lost(steps in proptest::collection::vec((1_u64..9000, 4_u32..13, any::<u8>()), 1..200)) {
            let mut heap = Heap::default();
            heap.give(SPACE);
            let mut out: Vec<Range<u64>> = Vec::new();
            for (length, alignment, choice) in steps {
                if choice % 2 == 0 || out.is_empty() {
                    let alignment = 1 << alignment;
                    if let Some(block) = heap.take(length, alignment) {
                        prop_assert_eq!(block.end - block.start, length);
                        prop_assert_eq!(block.start % alignment, 0);
                        prop_assert!(out.iter().all(|other| other.end <= block.start || block.end <= other.start));
                        out.push(block);
                    } else {
                        // Refused only if no free range holds it.
                        prop_assert!(heap.ranges().all(|free| free.start.next_multiple_of(alignment) + length > free.end));
                    }
                } else {
                    heap.give(out.swap_remove(usize::from(choice) % out.len()));
                }
                let mut all: Vec<_> = heap.ranges().chain(out.iter().cloned()).collect();
                all.sort_by_key(|range| range.start);
                prop_assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
                prop_assert_eq!(all[0].start..all[all.len() - 1].end, SPACE);
                let free: Vec<_> = heap.ranges().collect();
                prop_assert!(free.windows(2).all(|pair| pair[0].end < pair[1].start), "neighbours were not joined");
            }
        }
    }
}
