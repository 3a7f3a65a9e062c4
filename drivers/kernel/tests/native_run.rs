//! What a native module does: the same as the kernel while the budget lasts, however it is split, and an end in any case.
//!
//! It runs in the interpreter, as WGSL whose driver bindings were moved to where a kernel may have some.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::corpus::CORPUS;
use common::{native, program, wgsl};
use hal_interpreter::{Bound, Dispatch, ErrorKind, Options, run};
use hal_kernel::native::{
    ERROR_DISPATCH, ERROR_INVOCATION, LAUNCH_BASE_OFFSET, LAUNCH_BYTES, LAUNCH_CHUNK_OFFSET, LAUNCH_CHUNKS_OFFSET,
    LAUNCH_CHUNKS_PER_INVOCATION_OFFSET, LAUNCH_GROUPS_OFFSET, STATUS_BYTES, STATUS_ERROR_OFFSET, STATUS_SPENT_OFFSET,
};
use hal_kernel::{Function, Program};

const LAUNCH: u32 = 60;
const STATUS: u32 = 61;

/// The same kernel with `workgroupUniformLoad` where it says barrier, load, barrier: the one form of it in which the front end sees that
/// all invocations leave a loop together. That it then finds nothing else to refuse is tested along the way.
fn with_uniform_loads(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    let mut out = String::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let load = match lines[at..] {
            [before, load, after, ..] if before.trim() == "workgroupBarrier();" && before == after => {
                load.contains(" = atomicLoad((&hal_stop").then(|| load.replace("atomicLoad", "workgroupUniformLoad"))
            }
            _ => None,
        };
        at += if load.is_some() { 3 } else { 1 };
        out.push_str(load.as_deref().unwrap_or(line));
        out.push('\n');
    }
    out
}

#[derive(Clone, Copy)]
struct Limits {
    chunk: u32,
    chunks_per_invocation: u32,
    chunks: u32,
}

const AMPLE: Limits = Limits { chunk: 1 << 20, chunks_per_invocation: 1000, chunks: 1000 };

struct Native {
    program: Program,
    function: String,
}

impl Native {
    #[track_caller]
    fn new(source: &str) -> Self {
        let native = native(source);
        let text = wgsl(&native.module)
            .replace("@group(1) @binding(0)", &format!("@group(0) @binding({LAUNCH})"))
            .replace("@group(1) @binding(1)", &format!("@group(0) @binding({STATUS})"));
        let text = with_uniform_loads(&text);
        Self { program: program(&text), function: native.module.entry_points[0].name.clone() }
    }

    /// Runs the part of a dispatch that begins at `base`.
    #[track_caller]
    fn part(&self, base: [u32; 3], part: [u32; 3], whole: [u32; 3], limits: Limits, data: &mut Data) {
        let mut bindings = vec![
            Bound { binding: 0, bytes: std::mem::take(&mut data.bytes) },
            Bound { binding: LAUNCH, bytes: launch(base, whole, limits) },
            Bound { binding: STATUS, bytes: std::mem::take(&mut data.status) },
        ];
        self.dispatch(&mut bindings, part, &[]);
        data.status = vec![0; STATUS_BYTES as usize];
        for bound in bindings {
            match bound.binding {
                0 => data.bytes = bound.bytes,
                STATUS => data.status = bound.bytes,
                _ => {}
            }
        }
    }

    /// Runs a whole dispatch, with an ample budget.
    #[track_caller]
    fn run(&self, bindings: &mut Vec<Bound>, groups: [u32; 3], constants: &[u8]) {
        bindings.push(Bound { binding: LAUNCH, bytes: launch([0; 3], groups, AMPLE) });
        bindings.push(Bound { binding: STATUS, bytes: vec![0; STATUS_BYTES as usize] });
        self.dispatch(bindings, groups, constants);
        bindings.retain(|bound| bound.binding < LAUNCH);
    }

    #[track_caller]
    fn dispatch(&self, bindings: &mut Vec<Bound>, groups: [u32; 3], constants: &[u8]) {
        let used = self.program.function(&self.function).unwrap();
        bindings.retain(|bound| bound.binding < LAUNCH || used.bindings.iter().any(|it| it.binding == bound.binding));
        let dispatch = Dispatch { function: &self.function, groups, constants };
        run(&self.program, &dispatch, bindings, &Options::default()).unwrap();
    }
}

fn launch(base: [u32; 3], groups: [u32; 3], limits: Limits) -> Vec<u8> {
    let mut launch = vec![0; LAUNCH_BYTES as usize];
    let mut put = |offset: u32, words: &[u32]| {
        for (at, word) in words.iter().enumerate() {
            launch[offset as usize + 4 * at..][..4].copy_from_slice(&word.to_le_bytes());
        }
    };
    put(LAUNCH_BASE_OFFSET, &base);
    put(LAUNCH_CHUNK_OFFSET, &[limits.chunk]);
    put(LAUNCH_GROUPS_OFFSET, &groups);
    put(LAUNCH_CHUNKS_PER_INVOCATION_OFFSET, &[limits.chunks_per_invocation]);
    put(LAUNCH_CHUNKS_OFFSET, &[limits.chunks]);
    launch
}

#[derive(Clone, Debug)]
struct Data {
    bytes: Vec<u8>,
    status: Vec<u8>,
}

impl Data {
    fn new(words: usize) -> Self {
        Self { bytes: vec![0; 4 * words], status: vec![0; STATUS_BYTES as usize] }
    }

    fn words(&self) -> Vec<u32> {
        self.bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn status(&self, offset: u32) -> u32 {
        u32::from_le_bytes(self.status[offset as usize..][..4].try_into().unwrap())
    }

    fn error(&self) -> u32 {
        self.status(STATUS_ERROR_OFFSET)
    }

    fn spent(&self) -> u32 {
        self.status(STATUS_SPENT_OFFSET)
    }
}

/// What the kernel itself leaves.
#[track_caller]
fn plain(source: &str, groups: [u32; 3], words: usize) -> Vec<u32> {
    let program = program(source);
    let mut data = Data::new(words);
    let mut bindings = [Bound { binding: 0, bytes: std::mem::take(&mut data.bytes) }];
    let function = &program.functions()[0].name;
    run(&program, &Dispatch { function, groups, constants: &[] }, &mut bindings, &Options::default()).unwrap();
    data.bytes = std::mem::take(&mut bindings[0].bytes);
    data.words()
}

/// Every built-in value of every invocation, as arguments and in structures.
const VALUES: [&str; 2] = [
    "
    @group(0) @binding(0) var<storage, read_write> o: array<array<u32, 8>>;
    @compute @workgroup_size(2, 1, 3) fn values(@builtin(num_workgroups) groups: vec3<u32>,
        @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>,
        @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) index: u32) {
        let size = groups * vec3(2u, 1u, 3u);
        let at = (id.z * size.y + id.y) * size.x + id.x;
        o[at][0] = group.x * 100u + group.y * 10u + group.z;
        o[at][1] = id.x * 100u + id.y * 10u + id.z;
        o[at][2] = groups.x * 100u + groups.y * 10u + groups.z;
        o[at][3] = local.x * 100u + local.y * 10u + local.z;
        o[at][4] = index;
        for (var i = 0u; i < id.x; i++) { o[at][5] += i + group.z; }
    }",
    "
    struct A { @builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) group: vec3<u32> }
    struct B { @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) index: u32,
        @builtin(global_invocation_id) id: vec3<u32> }
    @group(0) @binding(0) var<storage, read_write> o: array<array<u32, 8>>;
    fn size_of(b: B) -> vec3<u32> { return b.groups * vec3(2u, 1u, 3u); }
    @compute @workgroup_size(2, 1, 3) fn values(a: A, b: B) {
        let size = size_of(b);
        let at = (b.id.z * size.y + b.id.y) * size.x + b.id.x;
        o[at][0] = a.group.x * 100u + a.group.y * 10u + a.group.z;
        o[at][1] = b.id.x * 100u + b.id.y * 10u + b.id.z;
        o[at][2] = b.groups.x * 100u + b.groups.y * 10u + b.groups.z;
        o[at][3] = a.local.x * 100u + a.local.y * 10u + a.local.z;
        o[at][4] = b.index;
        for (var i = 0u; i < b.id.x; i++) { o[at][5] += i + a.group.z; }
    }",
];

#[test]
fn a_dispatch_in_parts_leaves_what_the_whole_does() {
    let groups = [3, 2, 2];
    let words = 3 * 2 * 2 * 6 * 8;
    let expected = plain(VALUES[0], groups, words);
    for source in VALUES {
        assert_eq!(plain(source, groups, words), expected);
        let native = Native::new(source);
        for part in [[3, 2, 2], [1, 1, 1], [2, 1, 2], [3, 1, 1]] {
            let mut data = Data::new(words);
            for z in (0..groups[2]).step_by(part[2] as usize) {
                for y in (0..groups[1]).step_by(part[1] as usize) {
                    for x in (0..groups[0]).step_by(part[0] as usize) {
                        let size = [0, 1, 2].map(|at| part[at].min(groups[at] - [x, y, z][at]));
                        native.part([x, y, z], size, groups, AMPLE, &mut data);
                        assert_eq!(data.error(), 0);
                    }
                }
            }
            assert_eq!(data.words(), expected, "{part:?}");
        }
    }
}

/// A buffer for each binding, with numbers in it.
fn buffers(function: &Function) -> Vec<Bound> {
    let bound = |binding: &hal_kernel::Binding| {
        let tail = binding.runtime_array.map_or(0, |array| array.stride * 300);
        let words = (binding.min_length + tail).div_ceil(4);
        let bytes = (0..words).flat_map(|at| (at * 7 % 11).to_le_bytes()).collect();
        Bound { binding: binding.binding, bytes }
    };
    function.bindings.iter().map(bound).collect()
}

#[test]
fn kernels_of_every_shape_compute_the_same() {
    let mut ran = 0;
    // What a subgroup does depends on its size, and on who is there: that of the native form is not the kernel's.
    for (about, source) in CORPUS.iter().filter(|(_, source)| !source.contains("subgroup")) {
        let program = program(source);
        let [function] = program.functions() else { panic!("{about}") };
        let constants: Vec<u8> = (0..function.constant_bytes / 4).flat_map(|_| 3u32.to_le_bytes()).collect();
        let dispatch = Dispatch { function: &function.name, groups: [2, 2, 1], constants: &constants };
        let mut expected = buffers(function);
        match run(&program, &dispatch, &mut expected, &Options { steps: 5_000_000, ..Options::default() }) {
            Ok(_) => ran += 1,
            Err(error) if error.kind == ErrorKind::Unsupported => continue,
            Err(error) => panic!("{about}: {error}"),
        }
        let native = Native::new(source);
        let mut bindings = buffers(function);
        native.run(&mut bindings, [2, 2, 1], &constants);
        assert_eq!(bindings, expected, "{about}");
    }
    assert!(ran > 10, "{ran}");
}

/// Counts to the number in the buffer.
const COUNTS: &str = "
    @group(0) @binding(0) var<storage, read_write> o: array<u32, 4>;
    @compute @workgroup_size(1) fn counts() {
        for (var i = 0u; i < o[0]; i++) { o[1] += 1u; }
        for (var i = 0u; i < 5u; i++) { o[2] += 1u; }
        o[3] = 7u;
    }";

#[track_caller]
fn count_to(limit: u32, limits: Limits) -> Data {
    let native = Native::new(COUNTS);
    let mut data = Data::new(4);
    data.bytes[..4].copy_from_slice(&limit.to_le_bytes());
    native.part([0; 3], [1; 3], [1; 3], limits, &mut data);
    data
}

#[test]
fn an_invocation_ends_when_its_budget_does() {
    let limits = Limits { chunk: 10, chunks_per_invocation: 3, chunks: 1000 };
    // The loop enters its body once more than it runs, to find that it is over: 30 of 30. The other does not count.
    let data = count_to(29, limits);
    assert_eq!((data.words(), data.error(), data.spent()), (vec![29, 29, 5, 7], 0, 2));
    // One too many: it loses its last look, not the statement behind it.
    let data = count_to(30, limits);
    assert_eq!((data.words(), data.error(), data.spent()), (vec![30, 30, 5, 7], ERROR_INVOCATION, 2));
    let data = count_to(1_000_000_000, limits);
    assert_eq!((data.words()[1..].to_vec(), data.error()), (vec![30, 5, 7], ERROR_INVOCATION));
}

#[test]
fn all_invocations_end_when_the_dispatch_has_spent_its_budget() {
    // The first chunk is free, two more are there, the next is refused.
    let limits = Limits { chunk: 10, chunks_per_invocation: 1000, chunks: 2 };
    let data = count_to(1_000_000_000, limits);
    assert_eq!((data.words()[1..].to_vec(), data.error(), data.spent()), (vec![30, 5, 7], ERROR_DISPATCH, 3));
    // What comes later in the dispatch has its first chunk.
    let native = Native::new(COUNTS);
    let mut data = Data::new(4);
    data.bytes[..4].copy_from_slice(&u32::MAX.to_le_bytes());
    for _ in 0..3 {
        native.part([0; 3], [1; 3], [1; 3], limits, &mut data);
    }
    assert_eq!((data.words()[1..].to_vec(), data.error(), data.spent()), (vec![50, 15, 7], ERROR_DISPATCH, 5));
}

#[test]
fn without_chunks_there_is_the_first() {
    let both = [
        (Limits { chunk: 10, chunks_per_invocation: 0, chunks: 1000 }, ERROR_INVOCATION),
        (Limits { chunk: 10, chunks_per_invocation: 10, chunks: 0 }, ERROR_DISPATCH),
    ];
    for (limits, error) in both {
        let data = count_to(9, limits);
        assert_eq!((data.words(), data.error()), (vec![9, 9, 5, 7], 0));
        let data = count_to(10, limits);
        assert_eq!((data.words(), data.error()), (vec![10, 10, 5, 7], error));
    }
}

#[test]
fn a_round_may_cost_more_than_a_chunk() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32, 4>;
        @compute @workgroup_size(1) fn counts() {
            for (var i = 0u; i < o[0]; i++) { for (var j = 0u; j < 24u; j++) { o[1] += 1u; } }
            o[2] = 7u;
        }";
    let native = Native::new(source);
    let run = |chunks_per_invocation: u32| {
        let mut data = Data::new(4);
        data.bytes[..4].copy_from_slice(&2u32.to_le_bytes());
        native.part([0; 3], [1; 3], [1; 3], Limits { chunk: 10, chunks_per_invocation, chunks: 1000 }, &mut data);
        (data.words(), data.error(), data.spent())
    };
    // Three rounds, the last to find that it is over, of 1 + 25 each: eight chunks of ten.
    assert_eq!(run(8), (vec![2, 48, 7, 0], 0, 7));
    assert_eq!(run(7), (vec![2, 48, 7, 0], ERROR_INVOCATION, 6));
    assert_eq!(run(5), (vec![2, 24, 7, 0], ERROR_INVOCATION, 4));
}

#[test]
fn an_entry_point_returns_from_inside_of_loops() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<array<u32, 4>>;
        @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let n = id.x;
            if n == 0u { return; }
            for (var i = 0u; i < n; i++) {
                o[n][0] += 1u;
                switch i {
                    case 2u: { if n == 5u { return; } }
                    case 3u: { loop { o[n][1] += 1u; if o[n][1] == n { break; } if n == 7u { return; } } }
                    default: { if n == 9u && i == 6u { return; } }
                }
                for (var j = 0u; j < i; j++) { if j == 8u { if n == 12u { return; } break; } o[n][2] += 1u; }
                if n == 14u { loop { loop { return; } } }
            }
            o[n][3] = 7u;
        }";
    let expected = plain(source, [1; 3], 64);
    assert!(expected.iter().skip(3).step_by(4).filter(|word| **word == 7).count() == 10);
    for chunk in [1, 3, 1000] {
        let mut data = Data::new(64);
        let limits = Limits { chunk, chunks_per_invocation: 1000, chunks: 10_000 };
        Native::new(source).part([0; 3], [1; 3], [1; 3], limits, &mut data);
        assert_eq!((data.words(), data.error()), (expected.clone(), 0), "{chunk}");
    }
    // Whoever is stopped says so, whichever way it goes out.
    for chunk in 1..20 {
        let mut data = Data::new(64);
        let limits = Limits { chunk, chunks_per_invocation: 1, chunks: 10_000 };
        Native::new(source).part([0; 3], [1; 3], [1; 3], limits, &mut data);
        assert_eq!(data.error(), ERROR_INVOCATION, "{chunk}");
    }
}

#[test]
fn endless_loops_end_wherever_they_are() {
    for body in [
        "loop { o[0] += 1u; }",
        "loop { loop { loop { o[0] += 1u; } } }",
        "while true { if o[0] == 0xffffffffu { break; } }",
        "loop { continue; continuing { o[0] += 1u; } }",
        "loop { switch o[1] { case 1: { break; } default: { continue; } } }",
        "for (;;) { spin(); }",
        "o[1] = spin() + spin();",
    ] {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32, 4>;
             fn spin() -> u32 {{ loop {{ o[0] += 1u; if o[0] == 0u {{ return 3u; }} }} return 1u; }}
             @compute @workgroup_size(2) fn main() {{ {body} o[3] += 1u; }}"
        );
        let native = Native::new(&source);
        let mut data = Data::new(4);
        native.part(
            [0; 3],
            [2, 1, 1],
            [2, 1, 1],
            Limits { chunk: 64, chunks_per_invocation: 3, chunks: 50 },
            &mut data,
        );
        // All four invocations came to their last statement.
        assert_eq!(data.words()[3], 4, "{body}");
        assert_ne!(data.error(), 0, "{body}");
    }
}

/// A sum over the workgroup, with barriers in a loop.
const SUMS: &str = "
    @group(0) @binding(0) var<storage, read_write> o: array<u32>;
    var<workgroup> tile: array<u32, 16>;
    @compute @workgroup_size(16) fn sums(@builtin(local_invocation_index) i: u32,
        @builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
        for (var round = 0u; round < groups.x + 2u; round++) {
            tile[i] = id.x + round;
            workgroupBarrier();
            for (var s = groups.x + 5u; s > 0u; s /= 2u) {
                if i < s { for (var k = 0u; k < 1u; k++) { tile[i] += tile[i + s]; } }
                workgroupBarrier();
            }
            o[id.x] += tile[0];
            workgroupBarrier();
        }
    }";

#[test]
fn loops_with_barriers_compute_the_same() {
    let expected = plain(SUMS, [3, 1, 1], 48);
    let native = Native::new(SUMS);
    // Refills in the middle, too.
    for chunk in [1, 2, 3, 7, 1000] {
        let mut data = Data::new(48);
        let limits = Limits { chunk, chunks_per_invocation: 100, chunks: 10_000 };
        native.part([0; 3], [3, 1, 1], [3, 1, 1], limits, &mut data);
        assert_eq!((data.words(), data.error()), (expected.clone(), 0), "{chunk}");
    }
}

#[test]
fn a_workgroup_leaves_a_loop_with_a_barrier_together() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            loop { o[id.x] += 1u; workgroupBarrier(); }
            loop { storageBarrier(); o[id.x] += 1u; }
        }";
    let native = Native::new(source);
    // Each invocation counts for itself: the eight want more when three of them have had the last.
    let mut data = Data::new(16);
    let limits = Limits { chunk: 10, chunks_per_invocation: 100, chunks: 11 };
    native.part([0; 3], [2, 1, 1], [2, 1, 1], limits, &mut data);
    let words = data.words();
    assert_eq!(words[..8], [20; 8], "{words:?}");
    // The other group has its first chunk.
    assert_eq!(words[8..], [10; 8], "{words:?}");
    assert_eq!(data.error(), ERROR_DISPATCH);
    let mut data = Data::new(16);
    let limits = Limits { chunk: 10, chunks_per_invocation: 4, chunks: 1000 };
    native.part([0; 3], [2, 1, 1], [2, 1, 1], limits, &mut data);
    assert_eq!(data.words(), [40; 16]);
    assert_eq!(data.error(), ERROR_INVOCATION);
}
