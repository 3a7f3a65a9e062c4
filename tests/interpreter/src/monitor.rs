//! What is legal and all the same a mistake: looked for on demand, while a kernel runs.

use crate::{
    Finding, FindingKind,
    error::Result,
    group::Shared,
    layout::{Pointer, Root},
};
use naga::{AddressSpace, Barrier, GlobalVariable, Handle};
use std::collections::{HashMap, HashSet};

/// Findings that are kept. What is wrong once is often wrong in every invocation.
const MAX_FINDINGS: usize = 64;

/// How memory is touched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Access {
    Read,
    Write,
    Atomic,
}

/// Who touched a byte since the last barrier that orders it.
#[derive(Default)]
struct Touched {
    writer: Option<u32>,
    reader: Option<u32>,
    /// A second reader, so that a writer that is also a reader is not taken for the only one.
    other_reader: bool,
    atomic: Option<u32>,
}

/// Looks on while a workgroup runs.
#[derive(Default)]
pub(crate) struct Monitor {
    pub(crate) findings: Vec<Finding>,
    seen: HashSet<(FindingKind, Option<std::ops::Range<usize>>)>,
    touched: HashMap<(Handle<GlobalVariable>, usize), Touched>,
    /// Bytes of workgroup memory that were written at all.
    written: HashSet<(Handle<GlobalVariable>, usize)>,
    group: [u32; 3],
}

impl Monitor {
    pub(crate) fn begin(&mut self, group: [u32; 3]) {
        self.group = group;
        self.touched.clear();
        self.written.clear();
    }

    fn byte(&mut self, variable: Handle<GlobalVariable>, at: usize, invocation: u32, access: Access) -> bool {
        let touched = self.touched.entry((variable, at)).or_default();
        let other = |who: Option<u32>| who.is_some_and(|who| who != invocation);
        let read = other(touched.reader) || touched.other_reader;
        match access {
            Access::Read => {
                touched.other_reader |= other(touched.reader);
                touched.reader = Some(invocation);
                other(touched.writer) || other(touched.atomic)
            }
            Access::Write => {
                let race = other(touched.writer) || read || other(touched.atomic);
                touched.writer = Some(invocation);
                race
            }
            Access::Atomic => {
                let race = other(touched.writer) || read;
                touched.atomic = Some(invocation);
                race
            }
        }
    }
}

impl Shared<'_> {
    /// After a barrier, what it orders is no race.
    pub(crate) fn ordered(&mut self, barrier: Barrier) {
        let module = self.module;
        if let Some(monitor) = &mut self.monitor {
            monitor.touched.retain(|(variable, _), _| match module.global_variables[*variable].space {
                AddressSpace::WorkGroup => !barrier.contains(Barrier::WORK_GROUP),
                _ => !barrier.contains(Barrier::STORAGE),
            });
        }
    }

    /// Notes that something with `count` parts was indexed.
    pub(crate) fn indexed(&mut self, invocation: u32, index: u32, count: u32) {
        if index >= count {
            self.found(FindingKind::OutOfBounds { index, count }, invocation);
        }
    }

    /// Notes that memory was touched.
    pub(crate) fn touched(&mut self, invocation: u32, pointer: Pointer, access: Access) -> Result<()> {
        let (Some(monitor), Root::Global(variable)) = (&mut self.monitor, pointer.root) else { return Ok(()) };
        let space = self.module.global_variables[variable].space;
        if !matches!(space, AddressSpace::WorkGroup | AddressSpace::Storage { .. }) {
            return Ok(());
        }
        let (mut race, mut unwritten) = (false, false);
        pointer.target.leaves(self.module, pointer.offset, &mut |start, length| {
            for at in start..start + length {
                race |= monitor.byte(variable, at, invocation, access);
                if space == AddressSpace::WorkGroup {
                    if access == Access::Read {
                        unwritten |= !monitor.written.contains(&(variable, at));
                    } else {
                        monitor.written.insert((variable, at));
                    }
                }
            }
        })?;
        if race {
            self.found(FindingKind::Race, invocation);
        }
        if unwritten {
            self.found(FindingKind::Unwritten, invocation);
        }
        Ok(())
    }

    fn found(&mut self, kind: FindingKind, invocation: u32) {
        let (place, span) = (self.program.place(self.span), self.span.to_range());
        let Some(monitor) = &mut self.monitor else { return };
        // One of each kind for each place.
        let key = match kind {
            FindingKind::OutOfBounds { .. } => FindingKind::OutOfBounds { index: 0, count: 0 },
            other => other,
        };
        if monitor.findings.len() < MAX_FINDINGS && monitor.seen.insert((key, span)) {
            monitor.findings.push(Finding { kind, place, group: monitor.group, invocation });
        }
    }
}
