//! What goes wrong below the checked layer: calls that fail, devices that are lost, memory that runs out, work that never ends.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of this crate is tests, helpers included"
)]

#[path = "faults/driver.rs"]
mod driver;

use driver::{Plan, planned};
use hal_conformance_cases::wgsl;
use hal_core::{
    Batch, Buffer, BufferParams, BufferRef, Code, Command, Device, Dispatch, DispatchBinding, Driver, Error,
    Executable, ExecutableParams, Grant, Limit, Limits, MemoryAccess, MemoryType, Recording, Semaphore, Session,
    SlotBinding, Source, TimePoint, Usage, WaitMode, Workgroups,
};
use hal_test_support::{Counts, Fake, counted, cpu, runtime};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const LONG: u64 = 10_000_000_000;
const SHORT: u64 = 50_000_000;

/// A tenant on a planned driver.
struct Tenant {
    plan: Arc<Plan>,
    counts: Arc<Counts>,
    session: Session,
    name: &'static str,
}

impl Tenant {
    fn new(name: &'static str, limits: Limits) -> Self {
        let plan = Arc::new(Plan::default());
        let (factory, counts) = counted(cpu());
        let factory = planned(factory, &plan);
        let session = Session::builder("faults").grant(Grant::new(factory).drivers([name]).limits(limits));
        Self { plan, counts, session: session.start().unwrap(), name }
    }

    fn driver(&self) -> Result<Driver, Error> {
        runtime().block_on(self.session.granted().remove(0).try_create(self.name))
    }

    fn device(&self) -> Result<Device, Error> {
        runtime().block_on(self.driver()?.create_default_device())
    }

    fn used(&self) -> Vec<(String, u64)> {
        let budget = self.session.budget(0).unwrap();
        budget.into_iter().filter(|used| used.used > 0).map(|used| (used.name, used.used)).collect()
    }

    /// Nothing is charged and nothing native lives.
    fn nothing_left(&self, after: &str) {
        let until = Instant::now() + Duration::from_secs(10);
        while !self.used().is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(self.used(), [], "still charged after {after}");
        self.counts.wait_for_none(Duration::from_secs(10)).unwrap_or_else(|left| panic!("after {after}: {left}"));
    }
}

fn params() -> BufferParams {
    BufferParams {
        memory: MemoryType::OPTIMAL,
        usage: Usage::all(),
        access: MemoryAccess::empty(),
        label: String::new(),
    }
}

fn allocate(device: &Device, size: u64) -> Result<Buffer, Error> {
    runtime().block_on(device.allocate(params(), size))
}

fn read(buffer: &Buffer) -> Result<Vec<u8>, Error> {
    runtime().block_on(buffer.read(0, buffer.info().size, Vec::new()))
}

fn write(buffer: &Buffer, bytes: &[u8]) -> Result<(), Error> {
    runtime().block_on(buffer.write(0, bytes))
}

fn load(device: &Device, source: &str) -> Result<Executable, Error> {
    let params = ExecutableParams { format: "wgsl".into(), ..ExecutableParams::default() };
    runtime().block_on(device.load_executable(params, source.as_bytes().to_vec()))
}

fn whole(index: u32) -> BufferRef {
    BufferRef { source: Source::Direct(index), offset: 0, length: None }
}

fn fill(buffer: &Buffer, byte: u8) -> Batch {
    let commands = vec![Command::Fill { target: whole(0), pattern: vec![byte] }];
    Batch { buffers: vec![buffer.clone()], executables: Vec::new(), commands }
}

fn submit(
    device: &Device,
    wait: &[(&Semaphore, u64)],
    batch: Batch,
    signal: &[(&Semaphore, u64)],
) -> Result<(), Error> {
    let points = |points: &[(&Semaphore, u64)]| {
        points.iter().map(|(semaphore, value)| TimePoint::new(semaphore, *value)).collect()
    };
    runtime().block_on(device.submit(points(wait), batch, points(signal), None))
}

fn wait(semaphore: &Semaphore, timeout: u64) -> Result<(), Error> {
    runtime().block_on(semaphore.wait(1, timeout))
}

/// Submits and waits.
fn run(device: &Device, batch: Batch) -> Result<(), Error> {
    let done = device.create_semaphore(0)?;
    submit(device, &[], batch, &[(&done, 1)])?;
    wait(&done, LONG)
}

fn record(device: &Device, batch: Batch) -> Result<Recording, Error> {
    runtime().block_on(device.create_recording(batch, 0, ""))
}

fn execute(device: &Device, recording: &Recording, done: &Semaphore) -> Result<(), Error> {
    let signal = vec![TimePoint::new(done, 1)];
    runtime().block_on(device.execute(Vec::new(), recording, Vec::new(), Vec::<SlotBinding>::new(), signal, None))
}

fn dispatch(executable: &Executable, buffers: &[&Buffer], groups: [u32; 3]) -> Batch {
    let bindings =
        (0..buffers.len() as u32).map(|binding| DispatchBinding { binding, buffer: whole(binding) }).collect();
    let (workgroups, constants) = (Workgroups::Direct(groups), Box::default());
    let dispatch = Dispatch { executable: 0, function: 0, workgroups, constants, bindings };
    Batch {
        buffers: buffers.iter().map(|buffer| (*buffer).clone()).collect(),
        executables: vec![executable.clone()],
        commands: vec![Command::Dispatch(dispatch)],
    }
}

#[track_caller]
fn code<V>(result: Result<V, Error>, expected: Code, what: &str) -> Error {
    match result {
        Err(error) if error.code == expected => error,
        Err(error) => panic!("{what}: expected {expected}, got {error}"),
        Ok(_) => panic!("{what}: expected {expected}, but it went well"),
    }
}

/// Everything that a small tenant does, from the driver to the bytes.
fn scenario(tenant: &Tenant) -> Result<(), Error> {
    let device = tenant.device()?;
    let (input, output) = (allocate(&device, 16)?, allocate(&device, 16)?);
    let kernel = load(&device, wgsl("negate_and_double").unwrap())?;
    write(&input, &[1, 0, 0, 0].repeat(4))?;
    run(&device, fill(&output, 9))?;
    run(&device, dispatch(&kernel, &[&input, &output], [4, 1, 1]))?;
    let done = device.create_semaphore(0)?;
    let transient = device.alloca(Vec::new(), params(), 64, vec![TimePoint::new(&done, 1)]);
    let transient = runtime().block_on(transient)?;
    wait(&done, LONG)?;
    run(&device, fill(&transient, 3))?;
    device.dealloca(Vec::new(), &transient, Vec::new())?;
    runtime().block_on(device.trim())?;
    assert_eq!(read(&output)?, [0xFF; 16]);
    Ok(())
}

/// Fails each native call in turn, until none is left.
fn each_call_in_turn(driver: &'static str, failing: Code) {
    let tenant = Tenant::new(driver, Limits::new());
    let mut calls = 0;
    loop {
        tenant.plan.fail(calls, failing);
        let outcome = scenario(&tenant);
        let names = tenant.plan.names();
        tenant.nothing_left(&format!("call {calls} of {names:?}"));
        if outcome.is_ok() {
            assert_eq!(names.len(), calls, "a call failed and nobody said so: {names:?}");
            break;
        }
        let error = code(outcome, failing, &format!("call {calls} of {names:?}"));
        assert!(error.message.contains("on purpose"), "{error}");
        tenant.plan.heal();
        scenario(&tenant).unwrap_or_else(|error| panic!("after call {calls} of {names:?} failed: {error}"));
        calls += 1;
    }
    assert!(tenant.counts.made() > 0, "nothing was ever made");
    let names = tenant.plan.names();
    for name in ["create", "devices", "open", "allocate", "load", "write", "submit", "trim", "read"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
}

#[test]
fn each_native_call_fails_in_turn() {
    for driver in ["local-sync", "local-task"] {
        for failing in [Code::ResourceExhausted, Code::Internal, Code::Aborted] {
            each_call_in_turn(driver, failing);
        }
    }
}

#[test]
fn memory_that_runs_out_is_a_value() {
    let tenant = Tenant::new("local-sync", Limits::new());
    let device = tenant.device().unwrap();
    let buffer = allocate(&device, 16).unwrap();
    tenant.plan.fail(0, Code::ResourceExhausted);
    let error = code(allocate(&device, 16), Code::ResourceExhausted, "an allocation that the device has no memory for");
    assert_eq!(error.limit, None, "no limit of the tenant's was hit");
    tenant.plan.fail(0, Code::ResourceExhausted);
    code(run(&device, fill(&buffer, 9)), Code::ResourceExhausted, "work that the device has no memory for");
    assert_eq!(read(&buffer).unwrap(), [0; 16], "work that did not run");
    assert!(device.lost().is_none());
    run(&device, fill(&buffer, 9)).unwrap();
    assert_eq!(read(&buffer).unwrap(), [9; 16]);
    // On the queue: the signal fails, the charge comes back.
    let done = device.create_semaphore(0).unwrap();
    tenant.plan.fail(0, Code::ResourceExhausted);
    let alloca = device.alloca(Vec::new(), params(), 4096, vec![TimePoint::new(&done, 1)]);
    let transient = runtime().block_on(alloca).unwrap();
    code(wait(&done, LONG), Code::ResourceExhausted, "an alloca that the device has no memory for");
    code(read(&transient), Code::FailedPrecondition, "a buffer that never got its memory");
    drop((buffer, transient, done, device));
    tenant.nothing_left("running out");
}

#[test]
fn running_out_while_a_device_is_opened_leaves_no_charge() {
    let tenant = Tenant::new("local-sync", Limits::new().with(Limit::Devices, 1));
    let driver = tenant.driver().unwrap();
    for call in 0..10 {
        // The list, then the opening.
        tenant.plan.fail(1, Code::ResourceExhausted);
        let opened = runtime().block_on(driver.create_default_device());
        code(opened, Code::ResourceExhausted, &format!("opening number {call}"));
        assert!(!tenant.used().iter().any(|(name, _)| name == "devices"), "{:?}", tenant.used());
    }
    tenant.plan.heal();
    let device = runtime().block_on(driver.create_default_device()).unwrap();
    let refused = runtime().block_on(driver.create_default_device());
    assert_eq!(code(refused, Code::ResourceExhausted, "a second device of one").limit.unwrap().limit, "devices");
    drop((device, driver));
    tenant.nothing_left("opening");
}

#[test]
fn a_device_lost_while_idle() {
    let tenant = Tenant::new("local-sync", Limits::new());
    let device = tenant.device().unwrap();
    let buffer = allocate(&device, 16).unwrap();
    let (loss, waiting) = (device.loss_semaphore().unwrap(), device.create_semaphore(0).unwrap());
    code(wait(&loss, SHORT), Code::DeadlineExceeded, "a loss that has not come");
    tenant.plan.lose();
    code(allocate(&device, 16), Code::Unavailable, "allocating on a lost device");
    code(read(&buffer), Code::Unavailable, "reading a lost device's buffer");
    code(write(&buffer, &[1]), Code::Unavailable, "writing a lost device's buffer");
    code(run(&device, fill(&buffer, 1)), Code::Unavailable, "work on a lost device");
    code(load(&device, wgsl("abs").unwrap()), Code::Unavailable, "a kernel on a lost device");
    code(wait(&waiting, LONG), Code::Unavailable, "a wait on a lost device");
    code(wait(&loss, LONG), Code::Unavailable, "the loss semaphore");
    let reason = device.lost().expect("the reason");
    assert!(reason.message.contains("plug"), "{reason}");
    // Another one works.
    tenant.plan.replace();
    assert!(device.lost().is_some(), "once lost, always lost");
    scenario(&tenant).unwrap();
    drop((device, buffer, loss, waiting));
    tenant.nothing_left("a loss");
}

#[test]
fn a_device_lost_while_recording() {
    let tenant = Tenant::new("local-sync", Limits::new());
    let device = tenant.device().unwrap();
    let buffer = allocate(&device, 16).unwrap();
    let (recording, done) = (record(&device, fill(&buffer, 1)).unwrap(), device.create_semaphore(0).unwrap());
    tenant.plan.lose();
    code(record(&device, fill(&buffer, 1)), Code::Unavailable, "recording on a lost device");
    code(execute(&device, &recording, &done), Code::Unavailable, "executing what was recorded before");
    drop((device, buffer, recording, done));
    tenant.nothing_left("a loss");
}

#[test]
fn a_device_lost_with_work_in_flight() {
    let tenant = Tenant::new("local-task", Limits::new());
    let device = tenant.device().unwrap();
    let buffer = allocate(&device, 16).unwrap();
    let [running, gate, behind] = [(); 3].map(|()| device.create_semaphore(0).unwrap());
    tenant.plan.hold();
    submit(&device, &[], fill(&buffer, 1), &[(&running, 1)]).unwrap();
    submit(&device, &[(&gate, 1)], fill(&buffer, 2), &[(&behind, 1)]).unwrap();
    assert_eq!(tenant.plan.held(), 1);
    code(wait(&running, SHORT), Code::DeadlineExceeded, "a slow device is not a lost one");
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(&running, LONG));
        std::thread::sleep(Duration::from_millis(50));
        tenant.plan.lose();
        code(waiter.join().unwrap(), Code::Unavailable, "a wait for work of a device that is lost meanwhile");
    });
    assert!(begun.elapsed() < Duration::from_secs(3), "it took {:?} to hear of the loss", begun.elapsed());
    code(wait(&behind, LONG), Code::Unavailable, "work that still waited");
    // Whatever the driver says of it later disturbs nobody.
    tenant.plan.release();
    drop((device, buffer, running, gate, behind));
    tenant.nothing_left("a loss");
}

#[test]
fn a_slow_device_is_waited_for() {
    let tenant = Tenant::new("local-task", Limits::new());
    let device = tenant.device().unwrap();
    let buffer = allocate(&device, 16).unwrap();
    let [first, second] = [(); 2].map(|()| device.create_semaphore(0).unwrap());
    tenant.plan.hold();
    submit(&device, &[], fill(&buffer, 1), &[(&first, 1)]).unwrap();
    submit(&device, &[(&first, 1)], fill(&buffer, 2), &[(&second, 1)]).unwrap();
    for timeout in [0, SHORT, SHORT] {
        code(wait(&first, timeout), Code::DeadlineExceeded, "a wait that is too short");
        let points = vec![TimePoint::new(&first, 1), TimePoint::new(&second, 1)];
        let any = runtime().block_on(device.wait_semaphores(points, WaitMode::Any, timeout));
        code(any, Code::DeadlineExceeded, "an any-wait that is too short");
    }
    assert_eq!(first.query().unwrap(), 0);
    tenant.plan.release();
    wait(&second, LONG).unwrap();
    assert_eq!(read(&buffer).unwrap(), [2; 16]);
}

#[test]
fn the_session_ends_before_its_objects() {
    let Tenant { plan, counts, session, name } = Tenant::new("local-task", Limits::new());
    let factory = session.granted().remove(0);
    let device =
        runtime().block_on(async { factory.try_create(name).await.unwrap().create_default_device().await.unwrap() });
    let buffer = allocate(&device, 16).unwrap();
    let [gate, done, running] = [(); 3].map(|()| device.create_semaphore(0).unwrap());
    submit(&device, &[(&gate, 1)], fill(&buffer, 1), &[(&done, 1)]).unwrap();
    plan.hold();
    submit(&device, &[], fill(&buffer, 1), &[(&running, 1)]).unwrap();
    drop((session, factory));
    code(wait(&done, LONG), Code::Cancelled, "work that waited when the session ended");
    code(wait(&running, LONG), Code::Cancelled, "work that ran when the session ended");
    code(allocate(&device, 16), Code::Cancelled, "allocating after the end");
    code(read(&buffer), Code::Cancelled, "reading after the end");
    plan.release();
    drop((buffer, gate, done, running, device));
    counts.wait_for_none(Duration::from_secs(10)).unwrap();
}

#[test]
fn a_revoked_grant_takes_what_came_from_it() {
    let tenant = Tenant::new("local-sync", Limits::new());
    let device = tenant.device().unwrap();
    let (buffer, done) = (allocate(&device, 16).unwrap(), device.create_semaphore(0).unwrap());
    assert!(tenant.session.revoke(0));
    code(read(&buffer), Code::PermissionDenied, "a buffer whose grant is gone");
    code(allocate(&device, 16), Code::PermissionDenied, "a device whose grant is gone");
    code(wait(&done, LONG), Code::PermissionDenied, "a semaphore whose grant is gone");
    code(tenant.device(), Code::PermissionDenied, "a factory whose grant is gone");
    drop((device, buffer, done));
    tenant.nothing_left("a revocation");
}

#[test]
fn factories_are_let_go() {
    let (factory, counts) = counted(cpu());
    let before = Arc::strong_count(&factory);
    for round in 0..1000 {
        let session = Session::builder("round").grant(Grant::new(factory.clone())).start().unwrap();
        let granted = session.granted().remove(0);
        let (again, narrowed) = (granted.duplicate().unwrap(), granted.narrow(&[], None).unwrap());
        for handle in [&granted, &again, &narrowed] {
            runtime()
                .block_on(handle.try_create("local-sync"))
                .unwrap_or_else(|error| panic!("round {round}: {error}"));
        }
    }
    counts.wait_for_none(Duration::from_secs(10)).unwrap();
    assert_eq!(Arc::strong_count(&factory), before, "references to the factory");
}

#[test]
fn no_adapter_is_an_empty_list_and_a_broken_driver_is_an_error() {
    let none =
        Session::builder("none").grant(Grant::new(Fake::new("none", &["empty"]).paths(&[]).arc())).start().unwrap();
    let driver = runtime().block_on(none.granted().remove(0).try_create("empty")).unwrap();
    assert_eq!(runtime().block_on(driver.query_available_devices()).unwrap(), []);
    code(runtime().block_on(driver.create_default_device()), Code::Unavailable, "the default of no devices");
    code(runtime().block_on(driver.create_device_by_ordinal(0, Vec::new())), Code::OutOfRange, "the first of none");
    code(runtime().block_on(driver.create_device_by_id(0, Vec::new())), Code::NotFound, "an id of none");
    code(runtime().block_on(driver.create_device_by_path("0", Vec::new())), Code::NotFound, "a path of none");

    let tenant = Tenant::new("local-sync", Limits::new());
    let driver = tenant.driver().unwrap();
    tenant.plan.fail(0, Code::Unavailable);
    let listed = runtime().block_on(driver.query_available_devices());
    code(listed, Code::Unavailable, "a driver that cannot list its devices");
    assert_eq!(runtime().block_on(driver.query_available_devices()).unwrap().len(), 1);
}

/// Never ends, and nobody can see that at compile time.
const ENDLESS: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(1)
fn endless() {
    loop {
        data[0] = data[0] + 2u;
        if data[0] == 1u { break; }
    }
}
";

#[test]
fn a_kernel_that_never_ends_is_ended() {
    // An endless loop, and a grid that takes years without any loop.
    let grid = wgsl("workgroup_ids").unwrap();
    for driver in ["local-sync", "local-task"] {
        for (source, groups) in [(ENDLESS, [1, 1, 1]), (grid, [65_535, 65_535, 1])] {
            let tenant = Tenant::new(driver, Limits::new().with(Limit::SubmissionTimeNs, 200_000_000));
            let device = tenant.device().unwrap();
            let (kernel, data) = (load(&device, source).unwrap(), allocate(&device, 16).unwrap());
            let begun = Instant::now();
            code(run(&device, dispatch(&kernel, &[&data], groups)), Code::DeadlineExceeded, "a kernel that never ends");
            assert!(begun.elapsed() < Duration::from_secs(5), "{driver} took {:?}", begun.elapsed());
            // Its device takes the next work.
            run(&device, fill(&data, 7)).unwrap();
            assert_eq!(read(&data).unwrap(), [7; 16]);
            drop((kernel, data, device));
            tenant.nothing_left("a kernel that was ended");
        }
    }
}

#[test]
fn memory_is_zero_for_the_next_tenant() {
    let factory = cpu();
    let tenant = |factory: &Arc<dyn hal_driver::Factory>, driver: &str| {
        let grant = Grant::new(factory.clone()).drivers([driver]);
        let session = Session::builder("next").grant(grant).start().unwrap();
        let device = runtime().block_on(async {
            session.granted().remove(0).try_create(driver).await.unwrap().create_default_device().await.unwrap()
        });
        (session, device)
    };
    for driver in ["local-sync", "local-task"] {
        for size in [64u64, 4096, 1 << 20, (3 << 20) + 5] {
            let (session, device) = tenant(&factory, driver);
            let held: Vec<_> = (0..4).map(|_| allocate(&device, size).unwrap()).collect();
            held.iter().for_each(|buffer| write(buffer, &vec![0xC3; size as usize]).unwrap());
            drop((held, device, session));
            let (_session, device) = tenant(&factory, driver);
            for _ in 0..6 {
                let buffer = allocate(&device, size).unwrap();
                assert!(
                    read(&buffer).unwrap().iter().all(|byte| *byte == 0),
                    "{driver}: {size} bytes of another tenant"
                );
            }
        }
    }
}
