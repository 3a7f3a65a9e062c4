//! Conformance Part 2: refusals, each with its code, and everything unharmed afterwards.

use crate::*;
use hal_core::SlotBinding;

/// A device with buffers of every kind of right, and a kernel.
struct Bench {
    world: World,
    device: Device,
    all: Buffer,
    small: Buffer,
    bare: Buffer,
    read_only: Buffer,
    kernel: Executable,
}

impl Bench {
    async fn new() -> Self {
        let world = World::new(Mode::Inline);
        let device = world.device().await;
        let with = |usage, access| BufferParams { usage, access, ..params() };
        let bare = device.allocate(with(Usage::MAPPING_SCOPED, MemoryAccess::empty()), 64).await.unwrap();
        let read_only = device.allocate(with(Usage::all(), MemoryAccess::READ), 64).await.unwrap();
        Self {
            all: buffer(&device, 128).await,
            small: buffer(&device, 6).await,
            kernel: executable(&device).await,
            world,
            device,
            bare,
            read_only,
        }
    }

    /// Buffers 0 all (128 bytes), 1 small (6), 2 without usages (64), 3 read-only (64).
    fn batch(&self, command: Command) -> Batch {
        Batch {
            buffers: [&self.all, &self.small, &self.bare, &self.read_only].map(Clone::clone).into(),
            executables: vec![self.kernel.clone()],
            commands: vec![Command::Barrier, command],
        }
    }

    /// Refused by `submit`, and by `create_recording`, and nothing stays behind.
    async fn refuses(&self, expected: Code, command: Command) -> Error {
        let name = format!("{command:?}");
        let used = [Limit::Submissions, Limit::HostBytes, Limit::Recordings].map(|limit| self.world.used(limit));
        let error = self.device.submit(vec![], self.batch(command.clone()), vec![], None).await.expect_err(&name);
        assert_eq!(error.code, expected, "{name}: {error}");
        assert!(error.message.starts_with("command 1 ("), "{error}");
        assert_eq!(code(self.device.create_recording(self.batch(command), 0, "").await), expected, "{name}");
        assert_eq!(used, [Limit::Submissions, Limit::HostBytes, Limit::Recordings].map(|limit| self.world.used(limit)));
        error
    }

    async fn accepts(&self, command: Command) {
        let name = format!("{command:?}");
        let done = self.device.create_semaphore(0).unwrap();
        self.device.submit(vec![], self.batch(command), vec![point(&done, 1)], None).await.expect(&name);
        assert_eq!(done.query(), Ok(1), "{name}");
    }

    async fn unharmed(&self) {
        self.all.write(0, &[1, 2]).await.unwrap();
        assert_eq!(self.all.read(0, 2, Vec::new()).await.unwrap(), [1, 2]);
        self.accepts(fill(whole(0), 0)).await;
        self.accepts(Command::Dispatch(scale(range(0, 0, 16), range(0, 16, 16)))).await;
    }
}

#[tokio::test]
async fn ranges() {
    let bench = Bench::new().await;
    for (index, offset, length) in
        [(0, 0, 129), (0, 128, 1), (0, 129, 0), (0, 8, u64::MAX - 7), (0, u64::MAX, u64::MAX), (4, 0, 1)]
    {
        let target = range(index, offset, length);
        bench.refuses(Code::OutOfRange, fill(target, 1)).await;
        bench.refuses(Code::OutOfRange, Command::Copy { source: target, target: range(0, 0, 1) }).await;
    }
    bench.refuses(Code::OutOfRange, fill(BufferRef { offset: 129, ..whole(0) }, 1)).await;
    bench.accepts(fill(range(0, 128, 0), 1)).await;
    bench.accepts(fill(BufferRef { offset: 128, ..whole(0) }, 1)).await;
    for (offset, length) in [(0, 129), (128, 1), (u64::MAX, 1)] {
        assert_eq!(code(bench.all.read(offset, length, Vec::new()).await), Code::OutOfRange);
        assert_eq!(code(bench.all.subspan(offset, length)), Code::OutOfRange);
    }
    assert_eq!(code(bench.all.write(127, &[0; 2]).await), Code::OutOfRange);
    assert!(bench.all.subspan(128, 0).is_ok() && bench.all.read(128, 0, Vec::new()).await.is_ok());
    let part = bench.all.subspan(64, 32).unwrap();
    assert_eq!(code(part.read(32, 1, Vec::new()).await), Code::OutOfRange);
    bench.unharmed().await;
}

#[tokio::test]
async fn fills_updates_and_copies() {
    let bench = Bench::new().await;
    let pattern = |target, bytes: &[u8]| Command::Fill { target, pattern: bytes.to_vec() };
    for length in [0, 3, 5, 8] {
        bench.refuses(Code::InvalidArgument, pattern(whole(0), &vec![0; length])).await;
    }
    bench.refuses(Code::InvalidArgument, pattern(range(0, 1, 2), &[1, 2])).await;
    bench.refuses(Code::InvalidArgument, pattern(range(0, 0, 3), &[1, 2])).await;
    bench.refuses(Code::InvalidArgument, pattern(range(0, 2, 4), &[1, 2, 3, 4])).await;
    bench.accepts(pattern(range(0, 2, 4), &[1, 2])).await;
    let update = |target, length| Command::Update { target, bytes: vec![0; length].into() };
    bench.refuses(Code::InvalidArgument, update(range(0, 0, 4), 5)).await;
    bench.refuses(Code::InvalidArgument, update(whole(0), 5)).await;
    let error = bench.refuses(Code::ResourceExhausted, update(range(0, 0, 4), (1 << 20) + 1)).await;
    assert_eq!(error.limit.unwrap().limit, "update-bytes");
    let copy = |source, target| Command::Copy { source, target };
    bench.refuses(Code::InvalidArgument, copy(range(0, 0, 4), range(0, 8, 5))).await;
    bench.refuses(Code::InvalidArgument, copy(range(0, 0, 8), range(0, 7, 8))).await;
    bench.refuses(Code::InvalidArgument, copy(range(0, 7, 8), range(0, 0, 8))).await;
    bench.accepts(copy(range(0, 0, 8), range(0, 8, 8))).await;
    bench.accepts(copy(range(0, 4, 0), range(0, 4, 0))).await;
    bench.unharmed().await;
}

#[tokio::test]
async fn usage_and_access() {
    let bench = Bench::new().await;
    bench.refuses(Code::PermissionDenied, fill(whole(2), 1)).await;
    bench.refuses(Code::PermissionDenied, fill(whole(3), 1)).await;
    let copy = |source, target| Command::Copy { source: range(source, 0, 4), target: range(target, 8, 4) };
    bench.refuses(Code::PermissionDenied, copy(2, 0)).await;
    bench.refuses(Code::PermissionDenied, copy(0, 3)).await;
    bench.accepts(copy(3, 0)).await;
    bench.refuses(Code::PermissionDenied, Command::Dispatch(scale(range(2, 0, 4), range(0, 0, 4)))).await;
    bench.refuses(Code::PermissionDenied, Command::Dispatch(scale(range(0, 0, 4), range(3, 0, 4)))).await;
    bench.accepts(Command::Dispatch(scale(range(3, 0, 4), range(0, 0, 4)))).await;
    let indirect =
        Dispatch { workgroups: Workgroups::Indirect(range(2, 0, 12)), ..scale(range(0, 0, 4), range(0, 16, 4)) };
    bench.refuses(Code::PermissionDenied, Command::Dispatch(indirect)).await;
    assert_eq!(code(bench.bare.read(0, 1, Vec::new()).await), Code::PermissionDenied);
    assert_eq!(code(bench.bare.write(0, &[1]).await), Code::PermissionDenied);
    assert_eq!(code(bench.read_only.write(0, &[1]).await), Code::PermissionDenied);
    bench.read_only.read(0, 1, Vec::new()).await.unwrap();
    assert_eq!(bench.read_only.info().access, MemoryAccess::READ);
    assert_eq!(bench.all.info().access, MemoryAccess::all(), "no bits mean all of them");
    bench.unharmed().await;
}

#[tokio::test]
async fn dispatches() {
    let bench = Bench::new().await;
    let good = || scale(range(0, 0, 16), range(0, 16, 16));
    let binding = |binding, buffer| DispatchBinding { binding, buffer };
    let bound = |bindings: &[DispatchBinding]| Dispatch { bindings: bindings.into(), ..good() };
    let (from, to) = (range(0, 0, 16), range(0, 16, 16));
    for (expected, dispatch) in [
        (Code::OutOfRange, Dispatch { executable: 1, ..good() }),
        (Code::OutOfRange, Dispatch { function: 2, ..good() }),
        (Code::InvalidArgument, Dispatch { constants: Box::new([0; 4]), ..good() }),
        (Code::InvalidArgument, Dispatch { constants: Box::new([0; 12]), ..good() }),
        (Code::InvalidArgument, bound(&[])),
        (Code::InvalidArgument, bound(&[binding(0, from)])),
        (Code::InvalidArgument, bound(&[binding(0, from), binding(2, to), binding(2, to)])),
        (Code::InvalidArgument, bound(&[binding(0, from), binding(2, to), binding(64, to)])),
        (Code::InvalidArgument, bound(&[0; 9].map(|_| binding(0, from)))),
        // Alignment of offset and length, least length.
        (Code::InvalidArgument, scale(range(0, 4, 16), to)),
        (Code::InvalidArgument, scale(range(0, 0, 6), to)),
        (Code::InvalidArgument, scale(range(0, 0, 0), to)),
        (Code::InvalidArgument, scale(BufferRef { offset: 0, ..range(1, 0, 3) }, to)),
        // Overlap with what is written.
        (Code::InvalidArgument, scale(range(0, 0, 20), to)),
        (Code::InvalidArgument, Dispatch { workgroups: Workgroups::Indirect(range(0, 20, 12)), ..good() }),
        // Counts.
        (Code::ResourceExhausted, Dispatch { workgroups: Workgroups::Direct([101, 1, 1]), ..good() }),
        (Code::ResourceExhausted, Dispatch { workgroups: Workgroups::Direct([100, 100, 1]), ..good() }),
        (Code::InvalidArgument, Dispatch { workgroups: Workgroups::Indirect(range(0, 34, 12)), ..good() }),
        (Code::OutOfRange, Dispatch { workgroups: Workgroups::Indirect(range(0, 64, 8)), ..good() }),
        (Code::OutOfRange, Dispatch { workgroups: Workgroups::Indirect(range(0, 120, 12)), ..good() }),
    ] {
        bench.refuses(expected, Command::Dispatch(dispatch)).await;
    }
    for (bindings, given) in [(&[][..], "there is none"), (&[binding(7, to), binding(2, to)], "there are 2, 7")] {
        let work = bench.batch(Command::Dispatch(bound(bindings)));
        let error = bench.device.submit(vec![], work, vec![], None).await.unwrap_err();
        let text = format!("function \"scale\" uses binding 0, which the dispatch does not give; {given}");
        assert!(error.message.ends_with(&text), "{error}");
    }
    let uniform = |length| Dispatch {
        function: 1,
        constants: Box::new([]),
        bindings: Box::new([binding(0, range(0, 0, length))]),
        ..good()
    };
    bench.refuses(Code::InvalidArgument, Command::Dispatch(uniform(12))).await;
    let error = bench.refuses(Code::ResourceExhausted, Command::Dispatch(uniform(68))).await;
    assert_eq!(error.limit.unwrap().limit, "max-uniform-bytes");
    bench.accepts(Command::Dispatch(uniform(64))).await;
    // Edges that are legal: counts at the limit, indirect to the end, an open length rounded down, a binding nobody uses.
    for workgroups in [
        Workgroups::Direct([100, 10, 1]),
        Workgroups::Direct([0, 0, 0]),
        Workgroups::Indirect(range(0, 116, 12)),
        Workgroups::Indirect(BufferRef { offset: 64, ..whole(0) }),
    ] {
        bench.accepts(Command::Dispatch(Dispatch { workgroups, ..good() })).await;
    }
    bench.accepts(Command::Dispatch(scale(whole(1), to))).await;
    bench.accepts(Command::Dispatch(bound(&[binding(2, to), binding(1, to), binding(0, from)]))).await;
    bench.accepts(Command::Dispatch(scale(from, BufferRef { offset: 16, ..whole(0) }))).await;
    bench.unharmed().await;
}

#[tokio::test]
async fn slots() {
    let bench = Bench::new().await;
    let submit = bench.device.submit(vec![], bench.batch(fill(slot(0), 1)), vec![], None).await;
    assert_eq!(code(submit), Code::InvalidArgument);
    let record = |command, slots| bench.device.create_recording(bench.batch(command), slots, "");
    assert_eq!(code(record(fill(slot(0), 1), 0).await), Code::OutOfRange);
    assert_eq!(code(record(fill(slot(2), 1), 2).await), Code::OutOfRange);
    assert_eq!(code(record(fill(slot(64), 1), 65).await), Code::InvalidArgument);
    assert_eq!(code(bench.device.create_recording(Batch::default(), 0, &"x".repeat(65)).await), Code::InvalidArgument);
    let recording = record(fill(BufferRef { offset: 4, length: Some(4), ..slot(1) }, 1), 3).await.unwrap();
    let table = [&bench.all, &bench.bare, &bench.small].map(Clone::clone);
    let bind = |buffer, offset, length| SlotBinding { buffer, offset, length };
    let anything = bind(0, 0, None);
    for (expected, bindings) in [
        (Code::InvalidArgument, vec![]),
        (Code::InvalidArgument, vec![anything]),
        (Code::OutOfRange, vec![anything, bind(3, 0, None)]),
        (Code::OutOfRange, vec![anything, bind(0, 129, None)]),
        (Code::OutOfRange, vec![anything, bind(0, 0, Some(7))]),
        (Code::OutOfRange, vec![anything, bind(0, 124, Some(8))]),
        (Code::OutOfRange, vec![anything, bind(2, 0, None)]),
        (Code::PermissionDenied, vec![anything, bind(1, 0, None)]),
        (Code::InvalidArgument, vec![anything; 65]),
    ] {
        let result = bench.device.execute(vec![], &recording, table.to_vec(), bindings.clone(), vec![], None).await;
        assert_eq!(code(result), expected, "{bindings:?}");
    }
    // Alignment and overlap come out only when the slot is filled.
    let fill2 = record(Command::Fill { target: slot(0), pattern: vec![1, 2] }, 1).await.unwrap();
    let copy = record(Command::Copy { source: range(0, 0, 8), target: slot(0) }, 1).await.unwrap();
    let kernel = record(Command::Dispatch(scale(range(0, 0, 16), slot(0))), 1).await.unwrap();
    for (recording, good, bad) in [
        (&fill2, bind(0, 2, Some(2)), bind(0, 1, Some(2))),
        (&copy, bind(0, 8, Some(8)), bind(0, 4, Some(8))),
        (&kernel, bind(0, 16, Some(16)), bind(0, 0, Some(16))),
        (&kernel, bind(0, 16, Some(16)), bind(0, 20, Some(16))),
    ] {
        let run = |binding| bench.device.execute(vec![], recording, table.to_vec(), vec![binding], vec![], None);
        assert_eq!(code(run(bad).await), Code::InvalidArgument);
        run(good).await.unwrap();
    }
    recording.close();
    let again = bench.device.execute(vec![], &recording, table.to_vec(), vec![anything; 2], vec![], None).await;
    assert_eq!(code(again), Code::FailedPrecondition);
    bench.unharmed().await;
}

#[tokio::test]
async fn objects_of_other_devices_and_closed_ones() {
    let bench = Bench::new().await;
    let other = bench.world.device().await;
    let (foreign, foreign_kernel) = (buffer(&other, 16).await, executable(&other).await);
    let submit = |batch| bench.device.submit(vec![], batch, vec![], None);
    assert_eq!(code(submit(batch(&[&foreign], vec![])).await), Code::InvalidArgument);
    let kernels = Batch { executables: vec![foreign_kernel], ..Batch::default() };
    assert_eq!(code(submit(kernels).await), Code::InvalidArgument);
    let recording = other.create_recording(batch(&[&foreign], vec![fill(whole(0), 1)]), 0, "").await.unwrap();
    assert_eq!(
        code(bench.device.execute(vec![], &recording, vec![], vec![], vec![], None).await),
        Code::InvalidArgument
    );
    assert_eq!(code(bench.device.dealloca(vec![], &foreign, vec![])), Code::InvalidArgument);
    assert_eq!(code(bench.device.dealloca(vec![], &bench.all, vec![])), Code::InvalidArgument, "no transient buffer");
    bench.small.close();
    bench.small.close();
    assert_eq!(code(submit(batch(&[&bench.small], vec![])).await), Code::FailedPrecondition);
    assert_eq!(code(bench.small.read(0, 1, Vec::new()).await), Code::FailedPrecondition);
    assert_eq!(code(bench.small.subspan(0, 1)), Code::FailedPrecondition);
    assert_eq!(bench.small.info().size, 6);
    bench.kernel.close();
    let kernels = Batch { executables: vec![bench.kernel.clone()], ..Batch::default() };
    assert_eq!(code(submit(kernels).await), Code::FailedPrecondition);
    assert_eq!(bench.kernel.functions().len(), 2);
    bench.all.write(0, &[1]).await.unwrap();
}

#[tokio::test]
async fn signals_that_do_not_advance() {
    let bench = Bench::new().await;
    let semaphore = bench.device.create_semaphore(5).unwrap();
    for value in [0, 5] {
        let result = bench.device.submit(vec![], Batch::default(), vec![point(&semaphore, value)], None).await;
        assert_eq!(code(result), Code::InvalidArgument);
    }
    assert_eq!(semaphore.query(), Ok(5));
    semaphore.close();
    for points in [(vec![point(&semaphore, 6)], vec![]), (vec![], vec![point(&semaphore, 6)])] {
        assert_eq!(
            code(bench.device.submit(points.0, Batch::default(), points.1, None).await),
            Code::FailedPrecondition
        );
    }
    bench.unharmed().await;
}

#[tokio::test]
async fn allocations_and_loads() {
    let bench = Bench::new().await;
    let device = &bench.device;
    let memory = |memory| BufferParams { memory, ..params() };
    assert_eq!(code(device.allocate(memory(MemoryType::HOST_CACHED), 1).await), Code::InvalidArgument);
    device.allocate(memory(MemoryType::OPTIMAL | MemoryType::DEVICE_LOCAL), 0).await.unwrap();
    let label = BufferParams { label: "x".repeat(65), ..params() };
    assert_eq!(code(device.allocate(label, 1).await), Code::InvalidArgument);
    let error = device.allocate(params(), (1 << 20) + 1).await.err().unwrap();
    assert_eq!((error.code, error.limit.unwrap().limit), (Code::ResourceExhausted, "max-buffer-bytes"));
    let compatibility = device.buffer_compatibility(&params(), (1 << 20) + 1);
    assert!(!compatibility.allocatable && !compatibility.transferable && !compatibility.dispatchable);
    let compatibility = device.buffer_compatibility(&params(), 1 << 20);
    assert!(compatibility.allocatable && compatibility.transferable && compatibility.dispatchable);
    assert!(!device.buffer_compatibility(&memory(MemoryType::HOST_CACHED), 1).allocatable);
    let load = |format: &str, bytes: usize| {
        let params = ExecutableParams { format: format.into(), ..Default::default() };
        device.load_executable(params, vec![b'x'; bytes])
    };
    assert!(device.can_load("wgsl") && !device.can_load("FOO?"));
    assert_eq!(code(load("FOO?", 1).await), Code::Incompatible);
    assert_eq!(load("wgsl", 0).await.err().unwrap().message, "line 1, column 1: nothing here");
    let labelled = ExecutableParams { format: "wgsl".into(), label: "gemm\n".into(), ..Default::default() };
    let error = device.load_executable(labelled, Vec::new()).await.err().unwrap();
    assert_eq!(error.message, "gemm?: line 1, column 1: nothing here");
    assert_eq!(load("wgsl", (256 << 10) + 1).await.err().unwrap().limit.unwrap().limit, "max-source-bytes");
    load("wgsl", 256 << 10).await.unwrap();
    let many = ExecutableParams {
        format: "wgsl".into(),
        overrides: (0..257).map(|n| (n.to_string(), hal_core::OverrideValue::U32(n))).collect(),
        ..Default::default()
    };
    assert_eq!(code(device.load_executable(many, vec![b'x']).await), Code::InvalidArgument);
    assert_eq!(device.query("hal.limits", "binding-offset-alignment").await, Ok(16));
    assert_eq!(device.query("hal.features", "subgroup").await, Ok(1));
    assert_eq!(device.query("hal.features", "shader-f16").await, Ok(0));
    for (category, key) in [("hal.features", "flying"), ("hal.limits", "x"), ("x", "id"), ("", "")] {
        assert_eq!(code(device.query(category, key).await), Code::NotFound);
    }
    bench.unharmed().await;
}
