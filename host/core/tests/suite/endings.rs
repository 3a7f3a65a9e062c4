//! Close, revoke, loss, the end of a session: at any moment, with work in flight, and nothing stays behind.

use crate::*;
use hal_core::{
    WaitMode,
    audit::{Event, Sink},
};
use std::{sync::Mutex, time::Duration};

/// Everything at once: waiting, running, recorded, transient, unmet; and a wait.
struct Busy {
    world: World,
    device: Device,
    target: Buffer,
    gate: Semaphore,
    waiting: Semaphore,
    running: Semaphore,
    loss: Semaphore,
}

impl Busy {
    async fn new() -> Self {
        let world = World::new(Mode::Held);
        let device = world.device().await;
        let target = buffer(&device, 16).await;
        let semaphore = || device.create_semaphore(0).unwrap();
        let (gate, waiting, running) = (semaphore(), semaphore(), semaphore());
        let work = || batch(&[&target], vec![fill(whole(0), 1)]);
        device.submit(vec![point(&gate, 1)], work(), vec![point(&waiting, 1)], None).await.unwrap();
        device.submit(vec![], work(), vec![point(&running, 1)], None).await.unwrap();
        device.alloca(vec![point(&gate, 1)], params(), 16, vec![]).await.unwrap();
        let loss = device.loss_semaphore().unwrap();
        Self { world, device, target, gate, waiting, running, loss }
    }

    /// A wait that nothing will meet.
    fn wait(&self) -> tokio::task::JoinHandle<Result<u32, Error>> {
        let (device, points) = (self.device.clone(), vec![point(&self.gate, 9)]);
        tokio::spawn(async move { device.wait_semaphores(points, WaitMode::All, FOREVER).await })
    }

    /// Everything answers with `expected`, calls that need the device first of all.
    async fn all_refuse(&self, expected: Code) {
        let device = &self.device;
        assert_eq!(code(device.allocate(params(), 1).await), expected);
        assert_eq!(code(device.submit(vec![], Batch::default(), vec![], None).await), expected);
        assert_eq!(code(device.create_recording(Batch::default(), 0, "").await), expected);
        assert_eq!(code(device.alloca(vec![], params(), 1, vec![]).await), expected);
        assert_eq!(code(device.wait_semaphores(vec![], WaitMode::All, 0).await), expected);
        assert_eq!(code(device.create_semaphore(0)), expected);
        assert_eq!(code(device.trim().await), expected);
        assert_eq!(code(self.target.read(0, 1, Vec::new()).await), expected);
        assert_eq!(code(self.target.write(0, &[1]).await), expected);
    }
}

async fn soon(wait: tokio::task::JoinHandle<Result<u32, Error>>) -> Code {
    code(tokio::time::timeout(Duration::from_secs(5), wait).await.expect("the wait ends").unwrap())
}

#[tokio::test]
async fn closing_a_device_cancels_what_waits_and_finishes_what_runs() {
    let busy = Busy::new().await;
    let wait = busy.wait();
    tokio::time::sleep(Duration::from_millis(10)).await;
    busy.device.close();
    busy.device.close();
    assert_eq!(soon(wait).await, Code::FailedPrecondition);
    busy.all_refuse(Code::FailedPrecondition).await;
    assert_eq!(code(busy.gate.query()), Code::FailedPrecondition, "what was made from it is closed too");
    assert_eq!(code(busy.target.subspan(0, 1)), Code::FailedPrecondition);
    assert_eq!(code(busy.waiting.query()), Code::Cancelled, "the cause comes first");
    assert_eq!(code(busy.loss.query()), Code::FailedPrecondition);
    assert_eq!(busy.world.used(Limit::Submissions), 1);
    busy.world.mock.release();
    assert_eq!(busy.world.used(Limit::Submissions), 0);
    let Busy { world, device, target, gate, waiting, running, loss } = busy;
    drop((device, target, gate, waiting, running, loss));
    assert_eq!((world.mock.live(), world.used(Limit::Devices), world.used(Limit::MemoryBytes)), (0, 0, 0));
}

#[tokio::test]
async fn a_revoked_grant_takes_everything_with_it() {
    let busy = Busy::new().await;
    let wait = busy.wait();
    let factory = busy.world.session.granted().remove(0);
    let narrow = factory.narrow(&[], None).unwrap();
    let driver = narrow.try_create("mock").await.unwrap();
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert!(busy.world.session.revoke(0) && !busy.world.session.revoke(1));
    assert_eq!(soon(wait).await, Code::PermissionDenied);
    busy.all_refuse(Code::PermissionDenied).await;
    for semaphore in [&busy.gate, &busy.waiting, &busy.running, &busy.loss] {
        assert_eq!(code(semaphore.query()), Code::PermissionDenied);
    }
    assert_eq!(code(factory.enumerate().await), Code::PermissionDenied);
    assert_eq!(code(factory.duplicate()), Code::PermissionDenied);
    assert_eq!(code(narrow.try_create("mock").await), Code::PermissionDenied);
    assert_eq!(code(driver.create_default_device().await), Code::PermissionDenied);
    // What runs was told to stop; its memory goes when it has.
    assert_eq!(busy.world.used(Limit::Submissions), 1);
    busy.world.mock.release();
    assert_eq!(busy.world.used(Limit::Submissions), 0);
}

#[tokio::test]
async fn a_revoked_grant_leaves_the_others_alone() {
    let (one, two) = (Mock::new(Mode::Inline), Mock::new(Mode::Inline));
    let session =
        Session::builder("tenant").grant(Grant::new(one.factory())).grant(Grant::new(two.factory())).start().unwrap();
    let open =
        async |n: usize| session.granted()[n].try_create("mock").await.unwrap().create_default_device().await.unwrap();
    let (first, second) = (open(0).await, open(1).await);
    assert_eq!(session.granted().iter().map(hal_core::Factory::id).collect::<Vec<_>>(), [1, 2]);
    session.revoke(0);
    assert_eq!(code(first.create_semaphore(0)), Code::PermissionDenied);
    buffer(&second, 4).await.write(0, &[1]).await.unwrap();
}

#[tokio::test]
async fn a_lost_device_says_why() {
    let busy = Busy::new().await;
    assert_eq!(busy.device.lost(), None);
    let waits = [busy.wait(), {
        let (device, points) = (busy.device.clone(), vec![point(&busy.gate, 9), point(&busy.loss, 1)]);
        tokio::spawn(async move { device.wait_semaphores(points, WaitMode::Any, FOREVER).await })
    }];
    tokio::time::sleep(Duration::from_millis(10)).await;
    *busy.world.mock.lost.lock().unwrap() = Some(hal_driver::Error::new(Code::Internal, "it fell off the bus"));
    for wait in waits {
        assert_eq!(soon(wait).await, Code::Unavailable);
    }
    busy.all_refuse(Code::Unavailable).await;
    let error = busy.device.lost().unwrap();
    assert!(error.code == Code::Unavailable && error.message.contains("fell off the bus"));
    assert_eq!(busy.waiting.query().unwrap_err(), error);
    assert_eq!(busy.loss.query().unwrap_err(), error);
    assert_eq!(busy.gate.query(), Ok(0), "semaphores are the host's and outlive it");
    assert_eq!(busy.device.loss_semaphore().unwrap().query().unwrap_err(), error);
    busy.device.close();
    assert_eq!(code(busy.device.create_semaphore(0)), Code::FailedPrecondition);
}

#[tokio::test]
async fn a_session_ends_at_any_moment_and_frees_everything() {
    for dropped in [true, false] {
        let Busy { world, device, target, gate, waiting, running, loss } = Busy::new().await;
        let World { mock, session } = world;
        let points = vec![point(&gate, 9)];
        let wait = tokio::spawn({
            let device = device.clone();
            async move { device.wait_semaphores(points, WaitMode::All, FOREVER).await }
        });
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert_eq!(mock.held(), 1);
        let factory = session.granted().remove(0);
        if dropped {
            drop(session);
        } else {
            session.end();
            session.end();
            assert_eq!(code(session.open_blob("x")), Code::Cancelled);
        }
        assert_eq!(soon(wait).await, Code::Cancelled);
        for semaphore in [&gate, &waiting, &running, &loss] {
            assert_eq!(code(semaphore.query()), Code::Cancelled);
        }
        assert_eq!(code(device.allocate(params(), 1).await), Code::Cancelled);
        assert_eq!(code(factory.try_create("mock").await), Code::Cancelled);
        // Handles in the worst order: the device first, the running work last.
        drop((device, factory, gate, loss, target, waiting, running));
        assert!(mock.live() > 0, "running work keeps what it needs");
        mock.release();
        assert_eq!(mock.live(), 0);
    }
}

#[tokio::test]
async fn dropped_handles_leave_work_to_finish() {
    let Busy { world, device, target, gate, .. } = Busy::new().await;
    drop((device, target));
    gate.signal(1).unwrap();
    while world.mock.held() > 0 {
        world.mock.release();
    }
    drop(gate);
    assert_eq!((world.mock.live(), world.used(Limit::Submissions)), (0, 0));
}

#[tokio::test]
async fn a_call_dropped_half_way_is_clean() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    *world.mock.slow.lock().unwrap() = Duration::from_millis(100);
    let params = ExecutableParams { format: "wgsl".into(), ..Default::default() };
    let load = device.load_executable(params, vec![1]);
    assert!(tokio::time::timeout(Duration::from_millis(10), load).await.is_err());
    assert_eq!(world.used(Limit::Executables), 1, "charged while it goes on");
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if world.used(Limit::Executables) == 0 {
            return;
        }
    }
    panic!("the charge never came back");
}

#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Sink for Told {
    fn event(&self, event: &Event<'_>) {
        self.0.lock().unwrap().push(match event {
            Event::Granted { tenant, grant } => format!("{tenant} granted {grant}"),
            Event::Refused { call, code, limit, .. } => format!("refused {call} {code} {limit:?}"),
            Event::Revoked { grant, .. } => format!("revoked {grant}"),
            Event::Ended { tenant } => format!("{tenant} ended"),
            other => format!("{other:?}"),
        });
    }
}

#[tokio::test]
async fn the_audit_stream_tells_of_grants_refusals_and_ends() {
    let (mock, told) = (Mock::new(Mode::Inline), Arc::new(Told::default()));
    let limits = Limits::new().with(Limit::Buffers, 0);
    let grant = Grant::new(mock.factory()).limits(limits);
    let session = Session::builder("t").grant(grant).audit(told.clone()).start().unwrap();
    let world = World { mock, session };
    let device = world.device().await;
    assert_eq!(code(device.allocate(params(), 1).await), Code::ResourceExhausted);
    assert_eq!(code(device.query("x", "y").await), Code::NotFound);
    world.session.revoke(0);
    assert_eq!(code(device.create_semaphore(0)), Code::PermissionDenied);
    let report = world.session.report();
    let count = |kind: &str| report.failures.iter().find(|(label, _)| *label == kind).unwrap().1;
    assert_eq!((count("over-budget"), count("not-here"), count("refused"), count("lost")), (1, 1, 1, 0));
    drop(world);
    let told = told.0.lock().unwrap();
    assert_eq!(
        *told,
        [
            "t granted mock-factory",
            "refused device.allocate resource-exhausted Some(\"buffers\")",
            "revoked mock-factory",
            "refused device.create-semaphore permission-denied None",
            "t ended",
        ]
    );
}
