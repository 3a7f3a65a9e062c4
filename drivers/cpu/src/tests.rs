//! Dispatches of kernels that no compiler would emit, through the whole driver.

use crate::{
    codegen::Codegen,
    config::Config,
    device::CpuDevice,
    driver::Flavour,
    executable::{CpuExecutable, Loaded},
    kernel::Kernel,
    pool::Pool,
};
use hal_driver::{
    Buffer, BufferParams, BufferRef, BufferView, Code, Command, Control, Device, DeviceInfo, DeviceKind, Dispatch,
    DispatchBinding, Error, Result, Source, Timing, Transfer, Work, Workgroups,
};
use naga_wasm::{Abi, BindingAbi, Features};
use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

/// A kernel with one binding, around what it does for each workgroup `$g`.
fn kernel(body: &str, loops: bool) -> naga_wasm::Kernel {
    let text = format!(
        r#"(module
            (import "hal" "memory" (memory 1 65536 shared))
            (import "hal" "refill" (func $refill (result i64)))
            (global $scratch (export "scratch") (mut i32) (i32.const 0))
            (global $budget (export "budget") (mut i64) (i64.const 0))
            (global $base (export "base") (mut i32) (i32.const 0))
            (global $length (export "length") (mut i32) (i32.const 0))
            (global $constant (export "constant") (mut i32) (i32.const 0))
            (func $spend (param $units i64) (result i32)
                (global.set $budget (i64.sub (global.get $budget) (local.get $units)))
                (if (i64.le_s (global.get $budget) (i64.const 0)) (then (global.set $budget (call $refill))))
                (i64.le_s (global.get $budget) (i64.const 0)))
            (func (export "run") (param $g i64) (param $end i64) (param $x i32) (param $y i32) (param $z i32) (result i32)
                (loop $next
                    (if (i64.lt_u (local.get $g) (local.get $end)) (then
                        {body}
                        (local.set $g (i64.add (local.get $g) (i64.const 1)))
                        (br $next))))
                (i32.const 0)))"#
    );
    naga_wasm::Kernel {
        wasm: wat::parse_str(text).unwrap(),
        abi: Abi {
            workgroup_size: [1; 3],
            bindings: vec![BindingAbi {
                binding: 0,
                writes: true,
                min_length: 4,
                base_global: "base".into(),
                length_global: "length".into(),
            }],
            constants: vec!["constant".into()],
            constant_bytes: 4,
        },
        scratch_per_worker: 16,
        features: Features { loops, ..Features::default() },
    }
}

/// Adds the constant to word `g`.
const ADD: &str = "(drop (i32.atomic.rmw.add
    (i32.add (global.get $base) (i32.shl (i32.wrap_i64 (local.get $g)) (i32.const 2))) (global.get $constant)))";

/// As [`ADD`], and some tens of microseconds of work besides.
const ADD_SLOWLY: &str = "(drop (i32.atomic.rmw.add
    (i32.add (global.get $base) (i32.shl (i32.wrap_i64 (local.get $g)) (i32.const 2))) (global.get $constant)))
    (local.set $x (i32.const 20000))
    (loop $wait
        (if (call $spend (i64.const 4)) (then (return (i32.const 1))))
        (local.set $x (i32.sub (local.get $x) (i32.const 1)))
        (br_if $wait (local.get $x)))";

const FOR_EVER: &str = "(loop $for_ever (if (call $spend (i64.const 4)) (then (return (i32.const 1)))) (br $for_ever))";

fn device(codegen: &Codegen, pool: Option<&Arc<Pool>>, slots: u32) -> CpuDevice {
    let info = DeviceInfo {
        path: "0".into(),
        name: "test".into(),
        kind: DeviceKind::Cpu,
        memory_bytes: 64 << 20,
        formats: Vec::new(),
        features: Vec::new(),
    };
    CpuDevice::new(codegen, info, pool.cloned(), slots, false).unwrap()
}

struct Setup {
    device: CpuDevice,
    buffer: Arc<dyn Buffer>,
}

impl Setup {
    fn new(flavour: Flavour) -> Self {
        let pool = Arc::new(Pool::new(4));
        let codegen = Codegen::new(None).unwrap();
        match flavour {
            Flavour::Sync => Self::with(device(&codegen, None, 1)),
            Flavour::Task => Self::with(device(&codegen, Some(&pool), 4)),
        }
    }

    fn with(device: CpuDevice) -> Self {
        let buffer = device.allocate(&BufferParams::default(), 16 << 10).unwrap();
        Self { device, buffer }
    }

    fn submit(&self, body: &str, groups: u32, control: &Arc<Control>) -> mpsc::Receiver<Result<Timing>> {
        let kernel = Kernel::new(&self.device.codegen, kernel(body, body.contains("loop"))).unwrap();
        let loaded = Loaded { functions: Vec::new(), kernels: vec![Arc::new(kernel)] };
        let executable = CpuExecutable::new(&self.device.state, Arc::new(loaded));
        let (sender, receiver) = mpsc::channel();
        let target = BufferRef { source: Source::Direct(0), offset: 0, length: None };
        self.device.submit(Work {
            commands: Arc::new([Command::Dispatch(Dispatch {
                executable: 0,
                function: 0,
                workgroups: Workgroups::Direct([groups, 1, 1]),
                constants: Box::new(3_u32.to_le_bytes()),
                bindings: Box::new([DispatchBinding { binding: 0, buffer: target }]),
            })]),
            buffers: vec![BufferView { buffer: self.buffer.clone(), offset: 0, length: self.buffer.size() }],
            slots: Vec::new(),
            executables: Arc::new([Arc::new(executable)]),
            control: control.clone(),
            done: Box::new(move |outcome| drop(sender.send(outcome))),
        });
        receiver
    }

    fn run(&self, body: &str, groups: u32) -> Result<Timing> {
        self.submit(body, groups, &Arc::new(Control::new(None))).recv().unwrap()
    }

    fn words(&self) -> Vec<u32> {
        let Transfer::Done(bytes) = self.buffer.read(0, self.buffer.size(), Vec::new()) else { panic!() };
        bytes.unwrap().as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }
}

const FLAVOURS: [Flavour; 2] = [Flavour::Sync, Flavour::Task];

#[test]
fn every_workgroup_runs_once() {
    for flavour in FLAVOURS {
        let setup = Setup::new(flavour);
        for (round, body) in [ADD, ADD_SLOWLY, ADD].into_iter().enumerate() {
            setup.run(body, 4000).unwrap();
            let words = setup.words();
            assert!(words[..4000].iter().all(|&word| word == 3 * (round as u32 + 1)), "{flavour:?} {body}");
            assert!(words[4000..].iter().all(|&word| word == 0));
        }
    }
}

#[test]
fn no_workgroups_at_all() {
    Setup::new(Flavour::Task).run(ADD, 0).unwrap();
}

/// Runs endless kernels, of one workgroup and of many, until `stop` has an effect; the device lives on.
fn stops(name: &str, control: impl Fn() -> Arc<Control>, stop: impl Fn(&Control) + Sync, code: Code) {
    for flavour in [Flavour::Task, Flavour::Sync] {
        let setup = Setup::new(flavour);
        for groups in [1, 1000] {
            let control = control();
            let begin = Instant::now();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(20));
                    stop(&control);
                });
                let outcome = setup.submit(FOR_EVER, groups, &control).recv().unwrap();
                assert_eq!(outcome.unwrap_err().code, code);
            });
            let late = begin.elapsed().saturating_sub(Duration::from_millis(20));
            println!("{name}, {flavour:?}, {groups} workgroups: stopped {late:?} late");
            assert!(late < Duration::from_millis(500), "only {late:?} later");
        }
        setup.run(ADD, 1).unwrap();
        assert!(setup.device.lost().is_none());
    }
}

#[test]
fn an_endless_kernel_ends_at_its_deadline() {
    let deadline = || Arc::new(Control::new(Some(Instant::now() + Duration::from_millis(20))));
    stops("deadline", deadline, |_| (), Code::DeadlineExceeded);
}

#[test]
fn an_endless_kernel_ends_when_it_is_told_to() {
    let stop = |control: &Control| control.stop(Error::new(Code::Cancelled, "the tenant ended"));
    stops("stop", || Arc::new(Control::new(None)), stop, Code::Cancelled);
}

#[test]
fn any_trap_loses_the_device_and_nothing_else() {
    let null = "(drop (i32.atomic.load (i32.const 16)))";
    let guard = "(i32.store (i32.sub (global.get $base) (i32.const 32768)) (i32.const 1))";
    let behind_the_end = "(i32.store (i32.const -4) (i32.const 1))";
    let unaligned = "(drop (i32.atomic.load (i32.add (global.get $base) (i32.const 2))))";
    for flavour in FLAVOURS {
        for body in ["(unreachable)", null, guard, behind_the_end, unaligned] {
            let setup = Setup::new(flavour);
            assert!(setup.device.lost().is_none());
            assert_eq!(setup.run(body, 100).unwrap_err().code, Code::Internal, "{body}");
            assert_eq!(setup.device.lost().unwrap().code, Code::Internal);
            assert_eq!(setup.run(ADD, 1).unwrap_err().code, Code::Unavailable);
            let refused = setup.device.allocate(&BufferParams::default(), 4).err().unwrap();
            assert_eq!(refused.code, Code::Unavailable);
            let Transfer::Done(read) = setup.buffer.read(0, 1, Vec::new()) else { panic!() };
            assert_eq!(read.unwrap_err().code, Code::Unavailable);
            assert_eq!(setup.device.trim().unwrap_err().code, Code::Unavailable);
        }
    }
    Setup::new(Flavour::Task).run(ADD, 1).unwrap();
}

#[test]
fn a_module_that_breaks_the_abi_is_an_error() {
    let codegen = Codegen::new(None).unwrap();
    let mut other = kernel(ADD, false);
    other.wasm = b"\0asm nonsense".to_vec();
    assert_eq!(Kernel::new(&codegen, other).err().unwrap().code, Code::Internal);
    let mut other = kernel(ADD, false);
    other.scratch_per_worker = u32::MAX;
    assert_eq!(Kernel::new(&codegen, other).err().unwrap().code, Code::Internal);
}

/// A function whose branches each read and write locals that all live to the end.
fn tangle(locals: usize, branches: usize) -> naga_wasm::Kernel {
    let branch = |at: usize| {
        let [a, b, c] = [at, at * 7 + 3, at * 13 + 5].map(|local| local % locals);
        format!("(if (local.get {a}) (then (local.set {b} (i32.add (local.get {a}) (local.get {c})))))")
    };
    let branches: String = (0..branches).map(branch).collect();
    let live: String = (0..locals).map(|local| format!("(i32.add (local.get {local}))")).collect();
    // Locals are set to what is not known, in a loop, so that none is a constant and each has to be merged at its head.
    let set: String =
        (0..locals).map(|local| format!("(local.set {local} (i32.load (i32.const {})))", local * 4)).collect();
    let text = format!(
        r#"(module (import "hal" "memory" (memory 1 65536 shared)) (func (export "f") (result i32) (local{}) {set}
            (loop $again {branches} (br_if $again (local.get 0))) (i32.const 0) {live}))"#,
        " i32".repeat(locals)
    );
    naga_wasm::Kernel { wasm: wat::parse_str(text).unwrap(), ..kernel("", true) }
}

#[test]
fn blocks_and_locals_are_bounded() {
    let codegen = Codegen::new(None).unwrap();
    // At the bound, whichever of the two is large: a branch is one block, and the loop adds two.
    for (locals, branches) in [(20, 9_990), (100, 9_990), (400, 2_490), (2000, 490), (10_000, 90)] {
        let kernel = tangle(locals, branches);
        let (size, begin) = (kernel.wasm.len(), Instant::now());
        Kernel::new(&codegen, kernel).unwrap();
        let took = begin.elapsed();
        println!("{branches} branches over {locals} locals, {size} bytes: {took:?}");
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
    for (locals, branches, bound) in
        [(20, 10_000, "at most 10000;"), (101, 9_990, "at most 1000000;"), (20_000, 50, "at most 1000000;")]
    {
        let error = Kernel::new(&codegen, tangle(locals, branches)).err().unwrap();
        assert_eq!(error.code, Code::ResourceExhausted);
        assert!(error.message.contains(bound), "{error}");
    }
}

#[test]
fn endless_kernels_of_some_do_not_starve_others() {
    let pool = Arc::new(Pool::new(2));
    let codegen = Codegen::new(None).unwrap();
    let greedy: Vec<_> = (0..6).map(|_| Setup::with(device(&codegen, Some(&pool), 2))).collect();
    let control = Arc::new(Control::new(None));
    let endless: Vec<_> = greedy.iter().map(|setup| setup.submit(FOR_EVER, 1000, &control)).collect();
    std::thread::sleep(Duration::from_millis(50));
    let modest = Setup::with(device(&codegen, Some(&pool), 2));
    let mut waits: Vec<_> = (0..5)
        .map(|_| {
            let begin = Instant::now();
            modest.run(ADD_SLOWLY, 10).unwrap();
            begin.elapsed()
        })
        .collect();
    waits.sort();
    println!("beside six endless kernels on two workers, a short one took {waits:?}");
    assert!(waits[2] < Duration::from_secs(2), "starved: {waits:?}");
    control.stop(Error::new(Code::Cancelled, "enough"));
    for outcome in endless {
        assert_eq!(outcome.recv().unwrap().unwrap_err().code, Code::Cancelled);
    }
}

#[test]
fn a_device_dropped_with_work_in_flight_ends_it_in_its_own_time() {
    let setup = Setup::new(Flavour::Task);
    let control = Arc::new(Control::new(None));
    let outcomes: Vec<_> = (0..5).map(|_| setup.submit(FOR_EVER, 10, &control)).collect();
    let state = Arc::downgrade(&setup.device.state);
    drop(setup);
    assert!(state.upgrade().is_some(), "work in flight keeps what it needs");
    control.stop(Error::new(Code::Cancelled, "the tenant ended"));
    for outcome in outcomes {
        assert_eq!(outcome.recv().unwrap().unwrap_err().code, Code::Cancelled);
    }
    let begin = Instant::now();
    while state.upgrade().is_some() {
        assert!(begin.elapsed() < Duration::from_secs(5), "something keeps a dropped device alive");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn works_may_be_submitted_from_done() {
    fn link(setup: Arc<Setup>, left: u32, end: mpsc::Sender<()>) {
        let Some(left) = left.checked_sub(1) else { return end.send(()).unwrap() };
        let device = setup.device.state.clone();
        device.submit(Work {
            commands: Arc::new([]),
            buffers: Vec::new(),
            slots: Vec::new(),
            executables: Arc::new([]),
            control: Arc::new(Control::new(None)),
            done: Box::new(move |outcome| {
                outcome.unwrap();
                link(setup, left, end);
            }),
        });
    }
    for flavour in FLAVOURS {
        let (end, ended) = mpsc::channel();
        // Deep enough that a stack would not hold it, were each link run inside the one before.
        link(Arc::new(Setup::new(flavour)), 100_000, end);
        ended.recv_timeout(Duration::from_secs(20)).unwrap();
    }
}

#[test]
fn a_panic_in_done_stops_nobody() {
    for flavour in FLAVOURS {
        let setup = Setup::new(flavour);
        setup.device.submit(Work {
            commands: Arc::new([]),
            buffers: Vec::new(),
            slots: Vec::new(),
            executables: Arc::new([]),
            control: Arc::new(Control::new(None)),
            done: Box::new(|_| panic!("a defect of the host, on purpose")),
        });
        setup.run(ADD, 1).unwrap();
    }
}

#[test]
fn workers_are_bounded() {
    assert_eq!(Config::new().workers(0).workers, 1);
    assert_eq!(Config::new().workers(1000).workers, 64);
}
