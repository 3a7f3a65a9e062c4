//! From numbers without meaning to a plan that is valid and whose outcome is determined.

use crate::{
    kernels::{COUNTS, KERNELS, Kernel},
    sequence::{DispatchSeed, OpSeed, PhaseSeed, RefSeed, Sequence, SlotSeed, WorkSeed},
};
use hal_core::{BufferRef, Command, Dispatch, DispatchBinding, SlotBinding, Source, Workgroups};

/// What every device's alignment of bindings divides.
pub const ALIGNMENT: u64 = 256;
/// Timelines that submissions signal.
pub const LANES: usize = 4;
/// Longest fill, update or copy, and longest binding.
const MAX_BYTES: u64 = 1024;

/// Everything that is done, in terms of indices.
#[derive(Clone, Debug)]
pub struct Plan {
    /// A size each, and whether it is allocated on the queue.
    pub buffers: Vec<(u64, bool)>,
    /// The whole buffers, and then subspans.
    pub views: Vec<View>,
    /// In order; the host waits for each to end.
    pub phases: Vec<Phase>,
}

/// A buffer or a part of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Of which buffer.
    pub buffer: usize,
    /// Where in the buffer.
    pub start: u64,
    /// How long.
    pub length: u64,
    /// The view that it is made from, and where in that; none for a whole buffer.
    pub parent: Option<(usize, u64)>,
}

/// What is submitted together.
#[derive(Clone, Debug)]
pub struct Phase {
    /// What the host writes before: to which view, where, what.
    pub writes: Vec<(usize, u64, Vec<u8>)>,
    /// Commands and how many slots they name.
    pub recordings: Vec<Recording>,
    /// Submissions, in the order in which they look as if they were done.
    pub nodes: Vec<Node>,
    /// What the host calls, in order.
    pub steps: Vec<Step>,
}

/// Commands; executables are by the index of their kernel, buffers by that of their view.
#[derive(Clone, Debug)]
pub struct Recording {
    /// In order.
    pub commands: Vec<Command>,
    /// None: to be submitted once.
    pub slots: Option<u32>,
}

/// What fills the slots of one execution: indices are those of views.
pub type Table = Vec<SlotBinding>;

/// One submission.
#[derive(Clone, Debug)]
pub struct Node {
    /// Which of the phase's recordings.
    pub recording: usize,
    /// Empty for one that is submitted.
    pub table: Table,
    /// Lanes and values.
    pub waits: Vec<(usize, u64)>,
    /// The value of the host's own timeline that it waits for.
    pub gate: Option<u64>,
    /// Lane and value.
    pub signal: (usize, u64),
}

/// What the host calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Submits a node.
    Submit(usize),
    /// Raises the host's own timeline.
    Signal(u64),
}

/// Bytes of a buffer that a command touches.
#[derive(Clone, Copy, Debug)]
struct Touch {
    buffer: usize,
    start: u64,
    end: u64,
    write: bool,
}

impl Touch {
    fn clashes(&self, other: &Self) -> bool {
        self.buffer == other.buffer && (self.write || other.write) && self.start < other.end && other.start < self.end
    }
}

fn clash(some: &[Touch], others: &[Touch]) -> bool {
    some.iter().any(|touch| others.iter().any(|other| touch.clashes(other)))
}

/// Where something lies that a reference can name.
#[derive(Clone, Copy)]
struct Extent {
    buffer: usize,
    start: u64,
    length: u64,
}

/// Makes the plan.
pub fn lower(sequence: &Sequence) -> Plan {
    let buffers: Vec<_> = sequence.buffers.iter().map(|(size, queued)| (u64::from(*size), *queued)).collect();
    let mut views: Vec<View> = (0..)
        .zip(&buffers)
        .map(|(buffer, (length, _))| View { buffer, start: 0, length: *length, parent: None })
        .collect();
    for (of, at, length) in &sequence.views {
        let parent = usize::from(*of) % views.len();
        let View { buffer, start, length: whole, .. } = views[parent];
        let at = u64::from(*at) % (whole + 1);
        let length = u64::from(*length) % (whole - at + 1);
        views.push(View { buffer, start: start + at, length, parent: Some((parent, at)) });
    }
    let mut values = [0; LANES];
    let mut phases = Vec::new();
    for (index, phase) in (1..).zip(&sequence.phases) {
        phases.push(lower_phase(&views, phase, index, &mut values));
    }
    Plan { buffers, views, phases }
}

fn lower_phase(views: &[View], seed: &PhaseSeed, gate: u64, values: &mut [u64; LANES]) -> Phase {
    let writes = seed.writes.iter().map(|(view, at, bytes)| {
        let view = usize::from(*view) % views.len();
        let at = u64::from(*at) % (views[view].length + 1);
        let most = (views[view].length - at) as usize;
        (view, at, bytes[..bytes.len().min(most)].to_vec())
    });
    let writes = writes.collect();
    let mut graph = Graph { values, nodes: Vec::new(), before: Vec::new(), touches: Vec::new() };
    let (mut recordings, mut turns) = (Vec::new(), Vec::new());
    for work in &seed.works {
        let tables = tables(views, &work.tables);
        let mut lowering = Lowering::new(views, &tables);
        for op in &work.ops {
            lowering.op(op);
        }
        let recording = recordings.len();
        for (index, (table, touches)) in tables.iter().zip(lowering.touches).enumerate() {
            turns.push((work.turn, graph.nodes.len()));
            graph.add(work, index, recording, table.clone(), touches, gate);
        }
        let slots = (!work.tables.is_empty()).then(|| tables[0].len() as u32);
        recordings.push(Recording { commands: lowering.commands, slots });
    }
    turns.sort_unstable();
    let mut steps: Vec<Step> = turns.into_iter().map(|(_, node)| Step::Submit(node)).collect();
    steps.insert(usize::from(seed.gate) % (steps.len() + 1), Step::Signal(gate));
    Phase { writes, recordings, nodes: graph.nodes, steps }
}

/// The tables of a recording, or one without slots. A slot has the same length in each, and lies equally to the alignment, so that
/// what is valid with one is with all.
fn tables(views: &[View], seeds: &[Vec<SlotSeed>]) -> Vec<Table> {
    if seeds.is_empty() {
        return vec![Vec::new()];
    }
    let slots = seeds.iter().map(Vec::len).min().unwrap_or(0);
    let mut tables = vec![Vec::new(); seeds.len()];
    for slot in 0..slots {
        let first = seeds[0][slot];
        let phase = u64::from(first.at) % ALIGNMENT;
        let mut places = Vec::new();
        for table in seeds {
            let seed = table[slot];
            let view = usize::from(seed.view) % views.len();
            let View { start, length, .. } = views[view];
            // The least offset with that phase, and then some whole alignments.
            let least = (phase + ALIGNMENT - start % ALIGNMENT) % ALIGNMENT;
            let Some(room) = length.checked_sub(least) else {
                places.push((view, length, 0));
                continue;
            };
            let offset = least + u64::from(seed.at) / ALIGNMENT % (room / ALIGNMENT + 1) * ALIGNMENT;
            places.push((view, offset, length - offset));
        }
        let room = places.iter().map(|(_, _, room)| *room).min().unwrap_or(0);
        let length = u64::from(first.length) % (room + 1);
        for (table, (view, offset, rest)) in tables.iter_mut().zip(places) {
            // Open where that is the same.
            let length = (length != rest).then_some(length);
            table.push(SlotBinding { buffer: view as u32, offset, length });
        }
    }
    tables
}

/// Submissions and what orders them.
struct Graph<'a> {
    values: &'a mut [u64; LANES],
    nodes: Vec<Node>,
    /// For each node, those that have ended when it begins: a bit each.
    before: Vec<u128>,
    touches: Vec<Vec<Touch>>,
}

impl Graph<'_> {
    fn add(&mut self, work: &WorkSeed, copy: usize, recording: usize, table: Table, touches: Vec<Touch>, gate: u64) {
        let node = self.nodes.len();
        let lane = (usize::from(work.lane) + copy) % LANES;
        let mut after: Vec<usize> = Vec::new();
        // A timeline's values are reached in order.
        after.extend(self.nodes.iter().rposition(|other| other.signal.0 == lane));
        if node > 0 {
            after.extend(work.waits.iter().map(|wait| usize::from(*wait) % node));
        }
        let mut before = 0u128;
        let reach = |before: &mut u128, other: usize, all: &[u128]| *before |= 1 << other | all[other];
        after.iter().for_each(|other| reach(&mut before, *other, &self.before));
        // What touches the same bytes is ordered, the latest first: what that waited for needs no wait of its own.
        for other in (0..node).rev() {
            if before >> other & 1 == 0 && clash(&touches, &self.touches[other]) {
                after.push(other);
                reach(&mut before, other, &self.before);
            }
        }
        self.values[lane] += 1;
        self.nodes.push(Node {
            recording,
            table,
            waits: after.into_iter().map(|other| self.nodes[other].signal).collect(),
            gate: work.gated.then_some(gate),
            signal: (lane, self.values[lane]),
        });
        self.before.push(before);
        self.touches.push(touches);
    }
}

/// Commands in the making, for all tables at once.
struct Lowering<'a> {
    views: &'a [View],
    tables: &'a [Table],
    commands: Vec<Command>,
    /// By table: since the last barrier, and in all.
    pending: Vec<Vec<Touch>>,
    touches: Vec<Vec<Touch>>,
}

impl<'a> Lowering<'a> {
    fn new(views: &'a [View], tables: &'a [Table]) -> Self {
        let none = vec![Vec::new(); tables.len()];
        Self { views, tables, commands: Vec::new(), pending: none.clone(), touches: none }
    }

    fn extent(&self, source: Source, table: usize) -> Extent {
        match source {
            Source::Direct(index) => {
                let View { buffer, start, length, .. } = self.views[index as usize];
                Extent { buffer, start, length }
            }
            Source::Slot(slot) => {
                let SlotBinding { buffer, offset, length } = self.tables[table][slot as usize];
                let view = self.views[buffer as usize];
                let length = length.unwrap_or(view.length - offset);
                Extent { buffer: view.buffer, start: view.start + offset, length }
            }
        }
    }

    fn source(&self, seed: RefSeed) -> Source {
        let slots = self.tables[0].len();
        let index = usize::from(seed.source) % (self.views.len() + slots);
        match index.checked_sub(slots) {
            None => Source::Slot(index as u32),
            Some(view) => Source::Direct(view as u32),
        }
    }

    /// A range that begins at a multiple of `alignment` and is a multiple of `multiple` long. A slot's start may differ between
    /// tables, but by whole alignments.
    fn range(&self, seed: RefSeed, alignment: u64, multiple: u64, most: u64) -> Option<BufferRef> {
        let source = self.source(seed);
        let Extent { start, length, .. } = self.extent(source, 0);
        if length == 0 && matches!(source, Source::Slot(_)) {
            // What is empty need not lie equally in all tables.
            return None;
        }
        let at = start + u64::from(seed.at) % (length + 1);
        let down = at - at % alignment;
        let at = if down >= start { down } else { start.next_multiple_of(alignment) };
        let offset = at - start;
        let rest = length.checked_sub(offset)?;
        if seed.open && rest % multiple == 0 && rest <= most {
            return Some(BufferRef { source, offset, length: None });
        }
        let length = u64::from(seed.length) % (rest.min(most) + 1);
        Some(BufferRef { source, offset, length: Some(length - length % multiple) })
    }

    /// A range of exactly so many bytes.
    fn exactly(&self, seed: RefSeed, alignment: u64, length: u64) -> Option<BufferRef> {
        let source = self.source(seed);
        let Extent { start, length: whole, .. } = self.extent(source, 0);
        let room = whole.checked_sub(length)?;
        let at = start + u64::from(seed.at) % (room + 1);
        let down = at - at % alignment;
        let at = if down >= start { down } else { start.next_multiple_of(alignment) };
        let offset = at - start;
        (offset <= room).then_some(BufferRef { source, offset, length: Some(length) })
    }

    fn length(&self, range: BufferRef) -> u64 {
        range.length.unwrap_or(self.extent(range.source, 0).length - range.offset)
    }

    fn touch(&self, range: BufferRef, table: usize, write: bool) -> Touch {
        let Extent { buffer, start, length } = self.extent(range.source, table);
        let start = start + range.offset;
        Touch { buffer, start, end: start + range.length.unwrap_or(length - range.offset), write }
    }

    /// Adds a command, behind a barrier if it touches what others have touched since the last.
    fn push(&mut self, command: Command, ranges: &[(BufferRef, bool)]) {
        let touches: Vec<Vec<Touch>> = (0..self.tables.len())
            .map(|table| ranges.iter().map(|(range, write)| self.touch(*range, table, *write)).collect())
            .collect();
        if touches.iter().zip(&self.pending).any(|(touches, pending)| clash(touches, pending)) {
            self.barrier();
        }
        self.commands.push(command);
        for (table, touches) in touches.into_iter().enumerate() {
            self.pending[table].extend_from_slice(&touches);
            self.touches[table].extend(touches);
        }
    }

    fn barrier(&mut self) {
        self.commands.push(Command::Barrier);
        self.pending.iter_mut().for_each(Vec::clear);
    }

    /// Whether, with some table, two of these overlap and one is written.
    fn overlap(&self, ranges: &[(BufferRef, bool)]) -> bool {
        (0..self.tables.len()).any(|table| {
            let touches: Vec<_> = ranges.iter().map(|(range, write)| self.touch(*range, table, *write)).collect();
            (1..touches.len()).any(|at| clash(&touches[at..=at], &touches[..at]))
        })
    }

    /// Adds what an op means, or nothing if there is no valid meaning.
    fn op(&mut self, op: &OpSeed) -> Option<()> {
        match op {
            OpSeed::Barrier => self.barrier(),
            OpSeed::Fill(target, pattern) => {
                let multiple = pattern.len() as u64;
                let target = self.range(*target, multiple, multiple, MAX_BYTES)?;
                self.push(Command::Fill { target, pattern: pattern.clone() }, &[(target, true)]);
            }
            OpSeed::Update(target, first) => {
                let target = self.range(*target, 1, 1, MAX_BYTES)?;
                let bytes = (0..self.length(target)).map(|at| first.wrapping_add(at as u8)).collect();
                self.push(Command::Update { target, bytes }, &[(target, true)]);
            }
            OpSeed::Copy(source, target) => {
                let source = self.range(*source, 1, 1, MAX_BYTES)?;
                let room = self.range(RefSeed { open: false, length: u16::MAX, ..*target }, 1, 1, MAX_BYTES)?;
                let whole = self.extent(room.source, 0).length - room.offset;
                let length = self.length(source).min(whole);
                let source = BufferRef { length: Some(length), ..source };
                let target = BufferRef { length: (!target.open || whole != length).then_some(length), ..room };
                if self.overlap(&[(source, false), (target, true)]) {
                    return None;
                }
                self.push(Command::Copy { source, target }, &[(source, false), (target, true)]);
            }
            OpSeed::Dispatch(seed) => self.dispatch(seed)?,
        }
        Some(())
    }

    fn dispatch(&mut self, seed: &DispatchSeed) -> Option<()> {
        let kernel = usize::from(seed.kernel) % KERNELS.len();
        let Kernel { uses, constants, .. } = &KERNELS[kernel];
        let mut groups = [u32::from(seed.groups.0), u32::from(seed.groups.1), 1];
        let mut words = seed.constants;
        if kernel == COUNTS {
            words = words.map(|word| word % 3);
        }
        let mut ranges = Vec::new();
        let mut bindings = Vec::new();
        for (used, seed) in uses.iter().zip(&seed.bindings) {
            // An open one need not be a multiple of 4: it is rounded down.
            let multiple = if seed.open { 1 } else { 4 };
            let mut range = self.range(*seed, ALIGNMENT, multiple, MAX_BYTES)?;
            range.length = range.length.map(|length| length / 4 * 4);
            if range.length.is_some_and(|length| length < used.min_length) {
                range = self.exactly(*seed, ALIGNMENT, used.min_length)?;
            }
            if self.length(range) / 4 * 4 < used.min_length {
                return None;
            }
            ranges.push((range, used.writes));
            bindings.push(DispatchBinding { binding: used.binding, buffer: range });
        }
        let mut workgroups = Workgroups::Direct(groups);
        if let Some((at, by_kernel)) = seed.indirect {
            let counts = self.exactly(at, if by_kernel { ALIGNMENT } else { 4 }, 12)?;
            ranges.push((counts, false));
            if self.overlap(&ranges) {
                return None;
            }
            // One workgroup at least: none is what the host may do with direct counts.
            groups = groups.map(|count| count.max(1));
            self.counts(counts, groups, by_kernel);
            workgroups = Workgroups::Indirect(counts);
        } else if self.overlap(&ranges) {
            return None;
        }
        let constants = words.iter().take(*constants).flat_map(|word| word.to_le_bytes()).collect();
        let dispatch =
            Dispatch { executable: kernel as u32, function: 0, workgroups, constants, bindings: bindings.into() };
        self.push(Command::Dispatch(dispatch), &ranges);
        Some(())
    }

    /// Writes workgroup counts to a buffer.
    fn counts(&mut self, target: BufferRef, groups: [u32; 3], by_kernel: bool) {
        let bytes: Vec<u8> = groups.iter().flat_map(|count| count.to_le_bytes()).collect();
        let command = if by_kernel {
            Command::Dispatch(Dispatch {
                executable: COUNTS as u32,
                function: 0,
                workgroups: Workgroups::Direct([1, 1, 1]),
                constants: bytes.into(),
                bindings: Box::new([DispatchBinding { binding: 0, buffer: target }]),
            })
        } else {
            Command::Update { target, bytes: bytes.into() }
        };
        self.push(command, &[(target, true)]);
    }
}
