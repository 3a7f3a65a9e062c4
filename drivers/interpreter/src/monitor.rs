//! What is legal and all the same a mistake: looked for on demand, while a kernel runs.

use crate::{
    Finding, FindingKind,
    error::Result,
    group::Shared,
    layout::{Pointer, Root},
    subgroup,
};
use naga::{AddressSpace, Barrier, GlobalVariable, Handle};
use std::collections::{HashMap, HashSet, hash_map::Entry};

/// Findings that are kept, one of each kind for each place. What is wrong once is often wrong in every invocation.
const MAX_FINDINGS: usize = 256;

/// Bytes that are counted for each entry of [`Monitor::touched`] and [`Monitor::written`], in tables that may be half full.
const TOUCHED_BYTES: u64 = 112;
const WRITTEN_BYTES: u64 = 48;

/// How memory is touched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Access {
    Read,
    Write,
    Atomic,
}

/// Who touched a scalar since the last barrier that orders it.
#[derive(Default)]
struct Touched {
    writer: Option<u32>,
    reader: Option<u32>,
    /// Another reader, so that a writer that is also a reader is not taken for the only one.
    other_reader: Option<u32>,
    atomic: Option<u32>,
    /// Whether an index out of range led here.
    clamped: bool,
}

impl Touched {
    /// Forgets what some invocations did.
    fn forget(&mut self, some: impl Fn(u32) -> bool) {
        for who in [&mut self.writer, &mut self.reader, &mut self.other_reader, &mut self.atomic] {
            *who = who.filter(|who| !some(*who));
        }
    }

    /// Notes an access, and answers with the invocation that it races with.
    fn note(&mut self, invocation: u32, access: Access) -> Option<u32> {
        let other = |who: Option<u32>| who.filter(|who| *who != invocation);
        let read = other(self.reader).or_else(|| other(self.other_reader));
        let write = other(self.writer);
        match access {
            Access::Read => {
                if let Some(reader) = other(self.reader) {
                    self.other_reader = Some(reader);
                }
                self.reader = Some(invocation);
                write.or_else(|| other(self.atomic))
            }
            Access::Write => {
                self.writer = Some(invocation);
                write.or(read).or_else(|| other(self.atomic))
            }
            Access::Atomic => {
                self.atomic = Some(invocation);
                write.or(read)
            }
        }
    }
}

/// A scalar in memory: the variable and the byte where it begins. What is in one place is always of one type, so that no two overlap.
type Word = (Handle<GlobalVariable>, usize);

/// What there is one finding for: a kind, whether an index out of range led there, and a place.
type Key = (FindingKind, bool, Option<std::ops::Range<usize>>);

/// Looks on while a workgroup runs.
#[derive(Default)]
pub(crate) struct Monitor {
    pub(crate) findings: Vec<Finding>,
    /// Where in [`Self::findings`] it is.
    seen: HashMap<Key, usize>,
    touched: HashMap<Word, Touched>,
    /// Workgroup memory that was written at all.
    written: HashSet<Word>,
    group: [u32; 3],
}

impl Monitor {
    pub(crate) fn begin(&mut self, group: [u32; 3]) {
        self.group = group;
        self.touched.clear();
        self.written.clear();
    }
}

impl Shared<'_> {
    /// After a barrier, what it orders is no race.
    pub(crate) fn ordered(&mut self, barrier: Barrier) {
        let module = self.module;
        if let Some(monitor) = &mut self.monitor {
            let before = monitor.touched.len();
            monitor.touched.retain(|(variable, _), _| match module.global_variables[*variable].space {
                AddressSpace::WorkGroup => !barrier.contains(Barrier::WORK_GROUP),
                _ => !barrier.contains(Barrier::STORAGE),
            });
            let gone = before.saturating_sub(monitor.touched.len()) as u64;
            self.budget.give(gone.saturating_mul(TOUCHED_BYTES));
        }
    }

    /// After a barrier of a subgroup, nothing that its invocations did before is a race between them.
    pub(crate) fn ordered_among(&mut self, subgroup: u32) {
        let Some(monitor) = &mut self.monitor else { return };
        for touched in monitor.touched.values_mut() {
            touched.forget(|invocation| invocation / subgroup::SIZE == subgroup);
        }
    }

    /// Notes that something with `count` parts, perhaps in a variable of this name, was indexed.
    pub(crate) fn indexed(&mut self, invocation: u32, index: u32, count: u32, name: Option<&str>) {
        if index >= count {
            self.found(FindingKind::OutOfBounds { index, count }, invocation, None, name);
        }
    }

    /// Notes that an invocation read memory that nothing had written.
    pub(crate) fn unwritten(&mut self, invocation: u32, name: Option<&str>) {
        self.found(FindingKind::Unwritten, invocation, None, name);
    }

    /// Notes that shared memory was touched.
    pub(crate) fn touched(&mut self, invocation: u32, pointer: Pointer, access: Access) -> Result<()> {
        let (Some(monitor), Root::Global(handle)) = (&mut self.monitor, pointer.root) else { return Ok(()) };
        let variable = &self.module.global_variables[handle];
        if !matches!(variable.space, AddressSpace::WorkGroup | AddressSpace::Storage { .. }) {
            return Ok(());
        }
        let (mut race, mut unwritten, mut bytes) = (None, false, 0u64);
        pointer.target.leaves(self.module, pointer.offset, &mut |start, _| {
            let word = (handle, start);
            let touched = match monitor.touched.entry(word) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    bytes += TOUCHED_BYTES;
                    entry.insert(Touched::default())
                }
            };
            touched.clamped |= pointer.clamped;
            let with = touched.note(invocation, access).map(|other| (other, touched.clamped));
            // Rather one that is a mistake of its own.
            race = race.filter(|(_, clamped)| !clamped).or(with).or(race);
            if variable.space == AddressSpace::WorkGroup {
                match access {
                    Access::Read => unwritten |= !pointer.clamped && !monitor.written.contains(&word),
                    Access::Write | Access::Atomic => {
                        bytes += if monitor.written.insert(word) { WRITTEN_BYTES } else { 0 };
                    }
                }
            }
        })?;
        self.budget.take(bytes)?;
        let name = variable.name.as_deref();
        if race.is_some() {
            self.found(FindingKind::Race, invocation, race, name);
        }
        if unwritten {
            self.unwritten(invocation, name);
        }
        Ok(())
    }

    /// `race` is the other invocation, and whether an index out of range led one of them there.
    fn found(&mut self, kind: FindingKind, invocation: u32, race: Option<(u32, bool)>, name: Option<&str>) {
        let (place, span) = (self.program.place(self.span), self.span.to_range());
        let Some(monitor) = &mut self.monitor else { return };
        let any = match kind {
            FindingKind::OutOfBounds { .. } => FindingKind::OutOfBounds { index: 0, count: 0 },
            other => other,
        };
        let clamped = race.is_some_and(|(_, clamped)| clamped);
        let key = (any, clamped, span);
        if let Some(known) = monitor.seen.get(&key).and_then(|at| monitor.findings.get_mut(*at)) {
            known.times = known.times.saturating_add(1);
        } else if monitor.findings.len() < MAX_FINDINGS {
            monitor.seen.insert(key, monitor.findings.len());
            monitor.findings.push(Finding {
                kind,
                place,
                times: 1,
                group: monitor.group,
                invocation,
                other: race.map(|(other, _)| other),
                clamped,
                variable: name.filter(|name| !name.is_empty()).map(str::to_owned),
            });
        }
    }
}
