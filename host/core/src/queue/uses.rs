//! Which bytes of an allocation pending submissions touch.

use super::{Signals, Timeline};
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
    /// The semaphore and value that say when it is over, if it signals any that somebody can wait for.
    point: Option<(Arc<Timeline>, u64)>,
}

/// All pending submissions' uses of one allocation.
#[derive(Default)]
pub(crate) struct Uses(Mutex<HashMap<u64, Vec<Use>>>);

impl Uses {
    /// Submissions are numbered in the order of their making; this one raises `signals` when it is over.
    pub(crate) fn add(&self, entry: u64, ranges: &Arc<[Range]>, signals: &Signals) {
        let point = signals.iter().find(|(timeline, _)| timeline.tells()).cloned();
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
    /// `failed-precondition` naming what to wait for: of the newest such submission the semaphore, and of those that signal the same one the highest
    /// value, so that one wait is enough for all of them.
    pub(crate) fn check(&self, start: u64, end: u64, write: bool) -> Result<()> {
        let uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let clashes = || {
            uses.iter().flat_map(|(entry, used)| used.iter().map(move |used| (*entry, used))).filter_map(
                |(entry, used)| {
                    let range =
                        used.ranges.iter().find(|range| (write || range.write) && range.overlaps(start, end))?;
                    let point = used.point.as_ref().filter(|(timeline, _)| timeline.tells());
                    Some((entry, range, point))
                },
            )
        };
        // One that tells of its end, if there is any.
        let Some((_, mut range, newest)) = clashes().max_by_key(|(entry, _, point)| (point.is_some(), *entry)) else {
            return Ok(());
        };
        let advice = match newest {
            Some((timeline, value)) => {
                let mut last = *value;
                for (_, other, point) in clashes() {
                    if let Some((of, value)) = point
                        && Arc::ptr_eq(of, timeline)
                        && *value > last
                    {
                        (range, last) = (other, *value);
                    }
                }
                let id = timeline.id;
                format!("wait until semaphore {id} of this session (counted by creation) reaches {last}")
            }
            None => "it signals nothing that can be waited for; give it a semaphore to wait for".to_owned(),
        };
        let verb = if range.write { "writes" } else { "reads" };
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
        uses.add(7, &Arc::from([range(false, 0, 8), range(true, 8, 16)]), &vec![(Timeline::new(3, 0, 0, None), 9)]);
        assert!(uses.check(0, 8, false).is_ok());
        assert!(uses.check(16, 32, true).is_ok() && uses.check(8, 8, true).is_ok());
        assert!(uses.check(0, 8, true).unwrap_err().message.contains("semaphore 3"));
        assert!(uses.check(15, 16, false).unwrap_err().message.contains("reaches 9"));
        uses.remove(7);
        assert!(uses.check(0, 16, true).is_ok());
    }
    #[test]
    fn what_is_named_is_the_last_that_can_be_waited_for() {
        let uses = Uses::default();
        let ranges = Arc::from([range(true, 0, 8)]);
        let timelines: Vec<_> = (0..5).map(|id| Timeline::new(id, 0, 0, None)).collect();
        let says = |text: &str| {
            let error = uses.check(0, 8, false).unwrap_err();
            assert!(error.message.contains(text), "{error}");
        };
        let add = |entry, points: &[(usize, u64)]| {
            uses.add(entry, &ranges, &points.iter().map(|&(at, value)| (timelines[at].clone(), value)).collect());
        };
        add(9, &[]);
        says("nothing that can be waited for");
        add(1, &[(1, 70)]);
        says("semaphore 1 of this session (counted by creation) reaches 70");
        add(2, &[(2, 5)]);
        add(4, &[(2, 3)]);
        says("semaphore 2 of this session (counted by creation) reaches 5");
        // Nobody will hear of these two.
        timelines[3].fail(&crate::error::cancelled("on purpose"));
        timelines[4].forsake();
        add(5, &[(3, 100)]);
        add(6, &[(4, 100)]);
        says("semaphore 2 of this session (counted by creation) reaches 5");
        add(7, &[(4, 100), (1, 2)]);
        says("semaphore 1 of this session (counted by creation) reaches 70");
        // What it says is looked at anew.
        timelines[1].forsake();
        says("semaphore 2 of this session (counted by creation) reaches 5");
    }
}
