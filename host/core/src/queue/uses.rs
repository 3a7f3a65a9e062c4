//! Which bytes of an allocation pending submissions touch.

use crate::error::{Result, precondition};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Most ranges that are kept apart for one buffer of one submission. Beyond it they become the one range around them all: the
/// check then says "in use" for bytes between, and never the other way round.
const MAX_RANGES: usize = 64;

/// Bytes of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Range {
    /// Whether they are written; sorts first, so that equal kinds stand together.
    pub(crate) write: bool,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Range {
    pub(crate) fn overlaps(&self, start: u64, end: u64) -> bool {
        self.start < end && start < self.end
    }
}

/// The ranges that one buffer of a table is used with.
#[derive(Clone)]
pub(crate) struct Touch {
    /// Index into the table of buffers.
    pub(crate) buffer: usize,
    pub(crate) ranges: Arc<[Range]>,
}

/// Brings what was found command by command into a short form: sorted, joined, one entry a buffer.
pub(crate) fn merge(mut found: Vec<(usize, Range)>) -> Vec<Touch> {
    found.retain(|(_, range)| range.start < range.end);
    found.sort_unstable();
    let mut touches: Vec<Touch> = Vec::new();
    for group in found.chunk_by(|a, b| a.0 == b.0) {
        let mut ranges: Vec<Range> = Vec::new();
        for (_, range) in group {
            match ranges.last_mut() {
                Some(last) if last.write == range.write && range.start <= last.end => {
                    last.end = last.end.max(range.end)
                }
                _ => ranges.push(*range),
            }
        }
        if ranges.len() > MAX_RANGES {
            ranges = [false, true].into_iter().filter_map(|write| around(&ranges, write)).collect();
        }
        if let Some((buffer, _)) = group.first() {
            touches.push(Touch { buffer: *buffer, ranges: ranges.into() });
        }
    }
    touches
}

fn around(ranges: &[Range], write: bool) -> Option<Range> {
    let of_kind = || ranges.iter().filter(|range| range.write == write);
    let start = of_kind().map(|range| range.start).min()?;
    let end = of_kind().map(|range| range.end).max()?;
    Some(Range { write, start, end })
}

/// One submission's use of an allocation.
struct Use {
    ranges: Arc<[Range]>,
    /// The semaphore and value that say when it is over, if it signals any.
    point: Option<(u64, u64)>,
}

/// All pending submissions' uses of one allocation.
#[derive(Default)]
pub(crate) struct Uses(Mutex<HashMap<u64, Vec<Use>>>);

impl Uses {
    pub(crate) fn add(&self, entry: u64, ranges: &Arc<[Range]>, point: Option<(u64, u64)>) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One of a table as a rule: a first push would make room for four.
        uses.entry(entry).or_insert_with(|| Vec::with_capacity(1)).push(Use { ranges: ranges.clone(), point });
    }

    pub(crate) fn remove(&self, entry: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&entry);
    }

    /// Refuses if a pending submission writes the range, or, for a `write`, touches it at all.
    ///
    /// # Errors
    /// `failed-precondition` naming what to wait for.
    pub(crate) fn check(&self, start: u64, end: u64, write: bool) -> Result<()> {
        let uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let clash = uses
            .values()
            .flatten()
            .flat_map(|used| used.ranges.iter().map(move |range| (used, range)))
            .find(|(_, range)| (write || range.write) && range.overlaps(start, end));
        let Some((used, range)) = clash else { return Ok(()) };
        let verb = if range.write { "writes" } else { "reads" };
        let advice = match used.point {
            Some((id, value)) => {
                format!("wait until semaphore {id} of this session (counted by creation) reaches {value}")
            }
            None => "it signals nothing; give it a semaphore to wait for".to_owned(),
        };
        Err(precondition(format!(
            "a pending submission {verb} bytes {}..{} of the allocation, and this call needs {start}..{end}: {advice}",
            range.start, range.end
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(write: bool, start: u64, end: u64) -> Range {
        Range { write, start, end }
    }

    #[test]
    fn neighbours_join_and_kinds_stay_apart() {
        let touches = merge(vec![
            (1, range(true, 4, 8)),
            (0, range(false, 0, 4)),
            (0, range(false, 4, 6)),
            (0, range(true, 5, 7)),
            (0, range(false, 9, 9)),
            (1, range(true, 10, 12)),
        ]);
        assert_eq!(touches.len(), 2);
        assert_eq!(*touches[0].ranges, [range(false, 0, 6), range(true, 5, 7)]);
        assert_eq!(*touches[1].ranges, [range(true, 4, 8), range(true, 10, 12)]);
    }

    #[test]
    fn very_many_ranges_become_one_of_each_kind() {
        let many = (0..1000).map(|n| (0, range(n % 2 == 0, 4 * n, 4 * n + 1))).collect();
        let touches = merge(many);
        assert_eq!(*touches[0].ranges, [range(false, 4, 3997), range(true, 0, 3993)]);
    }

    #[test]
    fn reads_clash_with_writes_only() {
        let uses = Uses::default();
        uses.add(7, &Arc::from([range(false, 0, 8), range(true, 8, 16)]), Some((3, 9)));
        assert!(uses.check(0, 8, false).is_ok());
        assert!(uses.check(16, 32, true).is_ok() && uses.check(8, 8, true).is_ok());
        assert!(uses.check(0, 8, true).unwrap_err().message.contains("semaphore 3"));
        assert!(uses.check(15, 16, false).unwrap_err().message.contains("reaches 9"));
        uses.remove(7);
        assert!(uses.check(0, 16, true).is_ok());
    }
}
