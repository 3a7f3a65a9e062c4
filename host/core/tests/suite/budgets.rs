//! Conformance Part 2: budgets, each at its exact edge, usable again after release, accounted to nobody else.

use crate::*;
use hal_core::{Amount, LimitHit};

/// Fills a limit of 3, sees the fourth refused with the numbers, lets one go, and has it again.
async fn edge<T>(limit: Limit, make: impl AsyncFn(&World, &Device) -> Result<T, Error>) {
    let world = World::limited(Mode::Inline, Limits::new().with(limit, 3));
    let device = world.device().await;
    let before = world.used(limit);
    let mut made = Vec::new();
    for _ in before..3 {
        made.push(make(&world, &device).await.unwrap());
    }
    for _ in 0..2 {
        let error = make(&world, &device).await.err().unwrap();
        assert_eq!(error.code, Code::ResourceExhausted, "{error}");
        assert_eq!(error.limit, Some(LimitHit { limit: limit.label(), asked: 1, available: 0, allowed: 3 }));
    }
    made.pop();
    made.push(make(&world, &device).await.unwrap());
    let report = world.session.report();
    let peak = report.grants[0].limits.iter().find(|peak| peak.limit == limit).unwrap();
    assert_eq!((peak.used, peak.peak, peak.allowed), (3, 3, 3));
    drop(made);
    assert_eq!(world.used(limit), before);
}

#[tokio::test]
async fn objects() {
    edge(Limit::Buffers, async |_, device| device.allocate(params(), 4).await).await;
    edge(Limit::Executables, async |_, device| {
        let params = ExecutableParams { format: "wgsl".into(), ..Default::default() };
        device.load_executable(params, vec![1]).await
    })
    .await;
    edge(Limit::Recordings, async |_, device| device.create_recording(Batch::default(), 0, "").await).await;
    edge(Limit::Semaphores, async |_, device| device.create_semaphore(0)).await;
    edge(Limit::Semaphores, async |_, device| device.loss_semaphore()).await;
    edge(Limit::Devices, async |world, _| {
        world.session.granted()[0].try_create("mock").await.unwrap().create_default_device().await
    })
    .await;
    edge(Limit::Drivers, async |world, _| world.session.granted()[0].try_create("mock").await).await;
    edge(Limit::Factories, async |world, _| world.session.granted()[0].duplicate()).await;
    edge(Limit::Factories, async |world, _| world.session.granted()[0].narrow(&[], None)).await;
}

#[tokio::test]
async fn subspans_and_transients_are_buffers_too() {
    let world = World::limited(Mode::Inline, Limits::new().with(Limit::Buffers, 2));
    let device = world.device().await;
    let whole = buffer(&device, 8).await;
    let part = whole.subspan(0, 4).unwrap();
    assert_eq!(code(part.subspan(0, 1)), Code::ResourceExhausted);
    assert_eq!(code(device.alloca(vec![], params(), 4, vec![]).await), Code::ResourceExhausted);
    drop(whole);
    assert_eq!(world.used(Limit::Buffers), 2, "a subspan holds its allocation");
    drop(part);
    assert_eq!(world.used(Limit::Buffers), 0);
    device.alloca(vec![], params(), 4, vec![]).await.unwrap();
}

#[tokio::test]
async fn memory() {
    let world = World::limited(Mode::Inline, Limits::new().with(Limit::MemoryBytes, 100));
    let device = world.device().await;
    assert_eq!(device.info().memory_bytes, 100, "memory as granted");
    assert_eq!(device.memory_heaps()[0].max_allocation, 100);
    assert!(device.limits().contains(&Amount { name: "max-buffer-bytes".into(), value: 100 }));
    let first = buffer(&device, 60).await;
    let error = device.allocate(params(), 41).await.err().unwrap();
    assert_eq!(error.limit, Some(LimitHit { limit: "memory-bytes", asked: 41, available: 40, allowed: 100 }));
    assert_eq!(world.used(Limit::Buffers), 1, "all or nothing");
    let second = buffer(&device, 40).await;
    buffer(&device, 0).await;
    first.close();
    assert_eq!(code(device.allocate(params(), 1).await), Code::ResourceExhausted, "closing gives nothing back");
    drop(first);
    buffer(&device, 60).await;
    drop(second);
    assert_eq!(world.used(Limit::MemoryBytes), 0);
    // A failed native allocation costs nothing, at once or on the pool.
    for at_once in [true, false] {
        world.mock.at_once.store(at_once, std::sync::atomic::Ordering::SeqCst);
        *world.mock.fail.lock().unwrap() = Some(hal_driver::Error::new(Code::ResourceExhausted, "out of memory"));
        let error = device.allocate(params(), 10).await.err().unwrap();
        assert_eq!((error.code, error.limit), (Code::ResourceExhausted, None));
        assert_eq!((world.used(Limit::MemoryBytes), world.used(Limit::Buffers)), (0, 0));
        buffer(&device, 100).await;
    }
}

#[tokio::test]
async fn closing_behind_an_unmet_wait_frees_nothing() {
    let world = World::limited(Mode::Inline, Limits::new().with(Limit::MemoryBytes, 64));
    let device = world.device().await;
    let never = device.create_semaphore(0).unwrap();
    let held = buffer(&device, 64).await;
    device.submit(vec![point(&never, 1)], batch(&[&held], vec![fill(whole(0), 1)]), vec![], None).await.unwrap();
    held.close();
    drop(held);
    assert_eq!(code(device.allocate(params(), 1).await), Code::ResourceExhausted);
    // The same by way of a recording.
    never.signal(1).unwrap();
    let recorded = buffer(&device, 64).await;
    let recording = device.create_recording(batch(&[&recorded], vec![fill(whole(0), 1)]), 0, "").await.unwrap();
    drop(recorded);
    assert_eq!(code(device.allocate(params(), 1).await), Code::ResourceExhausted);
    drop(recording);
    buffer(&device, 64).await;
}

#[tokio::test]
async fn submissions_in_flight_and_waiting() {
    let world = World::limited(Mode::Held, Limits::new().with(Limit::Submissions, 2));
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    let never = device.create_semaphore(0).unwrap();
    let submit = |wait| device.submit(wait, batch(&[&target], vec![fill(whole(0), 1)]), vec![], None);
    submit(vec![point(&never, 1)]).await.unwrap();
    submit(vec![]).await.unwrap();
    let error = submit(vec![]).await.unwrap_err();
    assert_eq!(error.limit.unwrap().limit, "submissions");
    assert_eq!(code(device.alloca(vec![], params(), 1, vec![]).await), Code::ResourceExhausted);
    assert_eq!(world.used(Limit::Buffers), 1);
    world.mock.release();
    submit(vec![]).await.unwrap();
}

#[tokio::test]
async fn host_bytes() {
    let world = World::limited(Mode::Inline, Limits::new().with(Limit::HostBytes, 2 << 20));
    let device = world.device().await;
    let target = buffer(&device, 1 << 20).await;
    let update = || batch(&[&target], vec![Command::Update { target: whole(0), bytes: vec![0; 1 << 20].into() }]);
    let first = device.create_recording(update(), 0, "").await.unwrap();
    let error = device.create_recording(update(), 0, "").await.err().unwrap();
    assert_eq!(error.limit.unwrap().limit, "host-bytes");
    assert_eq!(world.used(Limit::Recordings), 1);
    // What waits counts as well, and so does the list of a wait.
    let never = device.create_semaphore(0).unwrap();
    assert_eq!(
        code(device.submit(vec![point(&never, 1); 10_000], Batch::default(), vec![], None).await),
        Code::ResourceExhausted
    );
    let wait = device.wait_semaphores(vec![point(&never, 1); 10_000], hal_core::WaitMode::Any, 0).await;
    assert_eq!(code(wait), Code::ResourceExhausted);
    drop(first);
    device.create_recording(update(), 0, "").await.unwrap();
    assert_eq!(world.used(Limit::HostBytes), 0);
}

#[tokio::test]
async fn bytes_per_call() {
    let world = World::limited(Mode::Inline, Limits::new().with(Limit::TransferBytes, 8).with(Limit::UpdateBytes, 4));
    let device = world.device().await;
    let target = buffer(&device, 16).await;
    target.write(0, &[1; 8]).await.unwrap();
    let error = target.write(0, &[1; 9]).await.unwrap_err();
    assert_eq!(error.limit, Some(LimitHit { limit: "transfer-bytes", asked: 9, available: 8, allowed: 8 }));
    assert_eq!(code(target.read(0, 9, Vec::new()).await), Code::ResourceExhausted);
    target.read(8, 8, Vec::new()).await.unwrap();
    let update = |length: usize| {
        let bytes = vec![0; length].into();
        batch(&[&target], vec![Command::Update { target: range(0, 0, length as u64), bytes }])
    };
    device.submit(vec![], update(4), vec![], None).await.unwrap();
    assert_eq!(code(device.submit(vec![], update(5), vec![], None).await), Code::ResourceExhausted);
    assert!(device.limits().contains(&Amount { name: "update-bytes".into(), value: 4 }));
}

#[tokio::test]
async fn narrowing_lowers_and_never_raises() {
    let world = World::limited(Mode::Inline, Limits::new().with(Limit::MemoryBytes, 100));
    let root = world.session.granted().remove(0);
    let amount = |name: &str, value| Amount { name: name.into(), value };
    let narrow = root.narrow(&[amount("memory-bytes", 40), amount("transfer-bytes", u64::MAX)], None).unwrap();
    assert!(narrow.limits().contains(&amount("memory-bytes", 40)));
    assert!(narrow.limits().contains(&amount("transfer-bytes", 16 << 20)));
    assert!(narrow.id() != root.id());
    assert_eq!(code(root.narrow(&[amount("memory", 1)], None)), Code::InvalidArgument);
    assert_eq!(code(root.narrow(&[], Some(&["mo*".into()]))), Code::InvalidArgument);
    let device = narrow.try_create("mock").await.unwrap().create_default_device().await.unwrap();
    let held = buffer(&device, 40).await;
    assert_eq!(code(device.allocate(params(), 1).await), Code::ResourceExhausted);
    assert_eq!(world.used(Limit::MemoryBytes), 40, "charged to both");
    // Ten of them together cannot exceed the parent.
    let mut all = Vec::new();
    for _ in 0..10 {
        let factory = root.narrow(&[amount("memory-bytes", 40), amount("devices", 1)], None).unwrap();
        let Ok(device) = factory.try_create("mock").await.unwrap().create_default_device().await else { continue };
        all.push(device.allocate(params(), 30).await);
    }
    assert_eq!(all.iter().filter(|result| result.is_ok()).count(), 2);
    drop((held, all));
    assert_eq!(world.used(Limit::MemoryBytes), 0);
}

#[tokio::test]
async fn a_short_host_says_so_without_numbers() {
    let host = hal_core::budget::Node::host(Limits::new().with(Limit::MemoryBytes, 100));
    let mock = Mock::new(Mode::Inline);
    let session =
        |name: &str| Session::builder(name).grant(Grant::new(mock.factory())).host(host.clone()).start().unwrap();
    let (one, two) =
        (World { mock: mock.clone(), session: session("one") }, World { mock: mock.clone(), session: session("two") });
    let (first, second) = (one.device().await, two.device().await);
    let held = buffer(&first, 80).await;
    let error = second.allocate(params(), 30).await.err().unwrap();
    assert_eq!((error.code, error.limit), (Code::Unavailable, None));
    assert_eq!(two.used(Limit::MemoryBytes), 0);
    drop(held);
    buffer(&second, 30).await;
}

#[tokio::test]
async fn blobs_are_the_sessions() {
    let mock = Mock::new(Mode::Inline);
    let session = Session::builder("tenant")
        .blob(hal_core::BlobSource::bytes("b", vec![1]))
        .limits(Limits::new().with(Limit::Blobs, 1).with(Limit::TransferBytes, 0))
        .grant(Grant::new(mock.factory()))
        .start()
        .unwrap();
    let blob = session.open_blob("b").unwrap();
    assert_eq!(session.open_blob("b").err().unwrap().limit.unwrap().limit, "blobs");
    assert_eq!(blob.read(0, 1, Vec::new()).await.unwrap_err().limit.unwrap().limit, "transfer-bytes");
    drop(blob);
    session.open_blob("b").unwrap();
}

#[tokio::test]
async fn each_execution_pays_for_what_it_keeps() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let never = device.create_semaphore(0).unwrap();
    let mut made = Vec::new();
    for _ in 0..100 {
        made.push(buffer(&device, 4).await);
    }
    let table: Vec<&Buffer> = made.iter().collect();
    let commands = (0..100).map(|index| fill(whole(index), 1)).collect();
    let recording = device.create_recording(batch(&table, commands), 0, "").await.unwrap();
    let before = world.used(Limit::HostBytes);
    device.execute(vec![point(&never, 1)], &recording, vec![], vec![], vec![], None).await.unwrap();
    // A hundred uses, and a hundred views.
    assert!(world.used(Limit::HostBytes) - before >= 100 * (128 + 32));
    never.signal(1).unwrap();
    assert_eq!(world.used(Limit::HostBytes), before);
}

#[tokio::test]
async fn a_refusal_names_the_buffer_by_its_label() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let params = BufferParams { usage: Usage::TRANSFER_SOURCE, label: "weights".into(), ..params() };
    let target = device.allocate(params, 4).await.unwrap();
    let error = target.write(0, &[1]).await.unwrap_err();
    assert!(error.code == Code::PermissionDenied && error.message.contains("\"weights\""), "{error}");
}
