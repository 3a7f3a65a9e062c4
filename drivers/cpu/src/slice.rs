//! How much work a kernel does between two looks at deadline, stop and loss.
//!
//! A kernel counts in work units, and what one takes is not known before: a sum takes a tenth of a nanosecond, a read that misses all caches a
//! hundred, the first touch of a page more. So the number of units follows the clock.

use std::time::{Duration, Instant};

/// Units of the first slice, and the fewest: some microseconds of sums, about a millisecond of what takes longest.
const LEAST: i64 = 1 << 13;

/// Most units, of which a kernel that is fast first and slow then has one slice: some milliseconds of reads that miss all caches.
const MOST: i64 = 1 << 18;

/// After a slice that took less the next one is twice as large: below, what a look costs begins to show.
const SHORT: Duration = Duration::from_micros(100);

/// After a slice that took longer the next one is a quarter.
const LONG: Duration = Duration::from_micros(500);

/// The slices of one instance.
pub(crate) struct Slice {
    units: i64,
    begin: Instant,
}

impl Slice {
    /// The first one of a dispatch.
    pub(crate) fn new() -> Self {
        Self { units: LEAST, begin: Instant::now() }
    }

    /// Begins one of the size that the one before had. Answers its units.
    pub(crate) fn begin(&mut self, now: Instant) -> i64 {
        self.begin = now;
        self.units
    }

    /// Ends one and begins the next. Answers its units.
    pub(crate) fn next(&mut self, now: Instant) -> i64 {
        let took = now.saturating_duration_since(self.begin);
        if took < SHORT {
            self.units = (self.units * 2).min(MOST);
        } else if took > LONG {
            self.units = (self.units / 4).max(LEAST);
        }
        self.begin(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of `count` slices of a kernel whose units take so many nanoseconds each, after one that grew to the most.
    fn sizes(unit_ns: u64, count: usize) -> Vec<i64> {
        let mut slice = Slice { units: MOST, ..Slice::new() };
        let mut now = slice.begin;
        let mut size = MOST;
        (0..count)
            .map(|_| {
                now += Duration::from_nanos(unit_ns * size as u64);
                size = slice.next(now);
                size
            })
            .collect()
    }

    #[test]
    fn slices_follow_the_clock() {
        assert_eq!(sizes(0, 3), [MOST; 3]);
        // 2.6 ms are too long, and 0.16 ms are neither.
        assert_eq!(sizes(10, 3), [MOST / 4, MOST / 16, MOST / 16]);
        assert_eq!(sizes(1000, 9).last(), Some(&LEAST));
    }

    #[test]
    fn slices_grow_from_the_least() {
        let mut slice = Slice::new();
        let now = slice.begin;
        let first = slice.begin(now);
        assert_eq!((first, slice.next(now), slice.next(now)), (LEAST, 2 * LEAST, 4 * LEAST));
        let much = (0..10).map(|_| slice.next(now)).last();
        assert_eq!(much, Some(MOST));
    }
}
