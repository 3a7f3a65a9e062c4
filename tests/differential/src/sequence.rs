//! What proptest makes up: numbers that mean something only once they are lowered, so that whatever it changes stays valid.

use proptest::prelude::*;

/// Work on a few buffers, in phases between which the host looks at them.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// A size each, and whether it is allocated on the queue.
    pub buffers: Vec<(u16, bool)>,
    /// Subspans: of which view, where, how long.
    pub views: Vec<(u8, u16, u16)>,
    /// In order.
    pub phases: Vec<PhaseSeed>,
}

/// What is submitted together.
#[derive(Clone, Debug)]
pub struct PhaseSeed {
    /// What the host writes before: which view, where, what.
    pub writes: Vec<(u8, u16, Vec<u8>)>,
    /// In the order in which it has to look as if it were done.
    pub works: Vec<WorkSeed>,
    /// After how many submissions the host signals what some of them wait for.
    pub gate: u8,
}

/// A submission, or a recording and its executions.
#[derive(Clone, Debug)]
pub struct WorkSeed {
    /// What it does.
    pub ops: Vec<OpSeed>,
    /// For each execution of a recording, what fills its slots; empty for a submission.
    pub tables: Vec<Vec<SlotSeed>>,
    /// Which timeline it signals.
    pub lane: u8,
    /// Earlier ones that it waits for though it need not.
    pub waits: Vec<u8>,
    /// Whether it waits for the host's signal.
    pub gated: bool,
    /// Sorts the calls: work may be submitted before what it waits for.
    pub turn: u8,
}

/// What fills a slot.
#[derive(Clone, Copy, Debug)]
pub struct SlotSeed {
    /// Of which view.
    pub view: u8,
    /// Where.
    pub at: u16,
    /// How much of it, where it is the first table that says so.
    pub length: u16,
}

/// A range of one of the buffers that can be named.
#[derive(Clone, Copy, Debug)]
pub struct RefSeed {
    /// Which view or slot.
    pub source: u8,
    /// Where.
    pub at: u16,
    /// How long.
    pub length: u16,
    /// To the end instead.
    pub open: bool,
}

/// A command.
#[derive(Clone, Debug)]
pub enum OpSeed {
    /// One that need not be there.
    Barrier,
    /// A pattern of 1, 2 or 4 bytes.
    Fill(RefSeed, Vec<u8>),
    /// Bytes that count up from this one.
    Update(RefSeed, u8),
    /// From, to.
    Copy(RefSeed, RefSeed),
    /// A kernel.
    Dispatch(DispatchSeed),
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct DispatchSeed {
    /// Which.
    pub kernel: u8,
    /// Workgroups along x and y.
    pub groups: (u8, u8),
    /// Words.
    pub constants: [u32; 3],
    /// For each binding.
    pub bindings: [RefSeed; 3],
    /// Where the counts are, if they are in a buffer, and whether a kernel writes them there.
    pub indirect: Option<(RefSeed, bool)>,
}

fn range() -> impl Strategy<Value = RefSeed> {
    let parts = (any::<u8>(), any::<u16>(), any::<u16>(), prop::bool::weighted(0.2));
    parts.prop_map(|(source, at, length, open)| RefSeed { source, at, length, open })
}

fn pattern() -> impl Strategy<Value = Vec<u8>> {
    let some = prop_oneof![Just(1usize), Just(2), Just(4)];
    some.prop_flat_map(|length| prop::collection::vec(any::<u8>(), length))
}

fn dispatch() -> impl Strategy<Value = DispatchSeed> {
    let bindings = [range(), range(), range()];
    let indirect = prop::option::weighted(0.25, (range(), any::<bool>()));
    let constants = [any::<u32>(), any::<u32>(), any::<u32>()];
    (any::<u8>(), (0u8..4, 0u8..3), constants, bindings, indirect).prop_map(
        |(kernel, groups, constants, bindings, indirect)| DispatchSeed {
            kernel,
            groups,
            constants,
            bindings,
            indirect,
        },
    )
}

fn op() -> impl Strategy<Value = OpSeed> {
    prop_oneof![
        1 => Just(OpSeed::Barrier),
        3 => (range(), pattern()).prop_map(|(target, pattern)| OpSeed::Fill(target, pattern)),
        3 => (range(), any::<u8>()).prop_map(|(target, first)| OpSeed::Update(target, first)),
        4 => (range(), range()).prop_map(|(source, target)| OpSeed::Copy(source, target)),
        9 => dispatch().prop_map(OpSeed::Dispatch),
    ]
}

fn work() -> impl Strategy<Value = WorkSeed> {
    let slot = (any::<u8>(), any::<u16>(), any::<u16>()).prop_map(|(view, at, length)| SlotSeed { view, at, length });
    let tables = prop_oneof![
        3 => Just(Vec::new()),
        2 => prop::collection::vec(prop::collection::vec(slot, 3), 1..3),
    ];
    let ops = prop::collection::vec(op(), 1..8);
    let waits = prop::collection::vec(any::<u8>(), 0..3);
    (ops, tables, any::<u8>(), waits, prop::bool::weighted(0.25), any::<u8>())
        .prop_map(|(ops, tables, lane, waits, gated, turn)| WorkSeed { ops, tables, lane, waits, gated, turn })
}

fn phase() -> impl Strategy<Value = PhaseSeed> {
    let bytes = prop::collection::vec(any::<u8>(), 0..64);
    let writes = prop::collection::vec((any::<u8>(), any::<u16>(), bytes), 0..4);
    (writes, prop::collection::vec(work(), 1..6), any::<u8>()).prop_map(|(writes, works, gate)| PhaseSeed {
        writes,
        works,
        gate,
    })
}

/// Any work.
pub fn sequence() -> impl Strategy<Value = Sequence> {
    let buffers = prop::collection::vec((1u16..3000, prop::bool::weighted(0.2)), 1..4);
    let views = prop::collection::vec(any::<(u8, u16, u16)>(), 0..4);
    (buffers, views, prop::collection::vec(phase(), 1..4)).prop_map(|(buffers, views, phases)| Sequence {
        buffers,
        views,
        phases,
    })
}
