//! Conformance Part 1: SemaphoreSubmissionTest, QueueTransferTest, recordings; and order, timing, pending use.

use crate::*;
use hal_core::{BlobSource, SlotBinding, WaitMode};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_submission_waits_and_signals() {
    for mode in [Mode::Inline, Mode::Thread] {
        let world = World::new(mode);
        let device = world.device().await;
        let target = buffer(&device, 16).await;
        let (wait, signal) = (device.create_semaphore(0).unwrap(), device.create_semaphore(100).unwrap());
        let work = batch(&[&target], vec![fill(whole(0), 7)]);
        device.submit(vec![point(&wait, 1)], work, vec![point(&signal, 101)], None).await.unwrap();
        assert_eq!(signal.query(), Ok(100));
        assert_eq!(world.used(Limit::Submissions), 1);
        wait.signal(1).unwrap();
        signal.wait(101, FOREVER).await.unwrap();
        // All is free by the time the signal is seen.
        assert_eq!((world.used(Limit::Submissions), world.used(Limit::HostBytes)), (0, 0));
        assert_eq!(bytes(&target).await, [7; 16]);
    }
}

#[tokio::test]
async fn commands_do_what_they_say_through_subspans() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let target = buffer(&device, 32).await;
    let part = target.subspan(8, 16).unwrap();
    let inner = part.subspan(4, 4).unwrap();
    assert_eq!((inner.info().offset, inner.info().size), (12, 4));
    part.close();
    let done = device.create_semaphore(0).unwrap();
    let work = batch(
        &[&target, &inner],
        vec![
            fill(range(0, 0, 8), 1),
            Command::Update { target: whole(1), bytes: Arc::from([1, 2, 3, 4]) },
            Command::Barrier,
            Command::Copy { source: whole(1), target: range(0, 28, 4) },
            Command::Fill { target: range(0, 16, 4), pattern: vec![5, 6] },
            fill(range(0, 32, 0), 9),
        ],
    );
    device.submit(vec![], work, vec![point(&done, 1)], None).await.unwrap();
    let mut expected = [0; 32];
    expected[..8].fill(1);
    expected[12..16].copy_from_slice(&[1, 2, 3, 4]);
    expected[28..].copy_from_slice(&[1, 2, 3, 4]);
    expected[16..20].copy_from_slice(&[5, 6, 5, 6]);
    assert_eq!(bytes(&target).await, expected);
    assert_eq!(bytes(&inner).await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn host_transfers_append_and_write() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let target = buffer(&device, 8).await;
    assert_eq!(bytes(&target).await, [0; 8], "fresh memory reads as zero");
    target.write(2, &[1, 2]).await.unwrap();
    target.write(8, &[]).await.unwrap();
    assert_eq!(target.read(2, 2, vec![0]).await.unwrap(), [0, 1, 2]);
    let report = world.session.report();
    assert_eq!((report.read_bytes, report.written_bytes), (10, 2));
}

#[tokio::test]
async fn consumers_may_come_before_producers() {
    let world = World::new(Mode::Thread);
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    let s: Vec<_> = (0..4).map(|_| device.create_semaphore(0).unwrap()).collect();
    // A diamond, submitted in reverse.
    let step = |n: u8| batch(&[&target], vec![fill(range(0, u64::from(n), 1), n + 1)]);
    device.submit(vec![point(&s[1], 1), point(&s[2], 1)], step(3), vec![point(&s[3], 1)], None).await.unwrap();
    device.submit(vec![point(&s[0], 1)], step(2), vec![point(&s[2], 1)], None).await.unwrap();
    device.submit(vec![point(&s[0], 1)], step(1), vec![point(&s[1], 1)], None).await.unwrap();
    device.submit(vec![], step(0), vec![point(&s[0], 3)], None).await.unwrap();
    s[3].wait(1, FOREVER).await.unwrap();
    assert_eq!(bytes(&target).await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_failed_wait_reaches_every_signal_down_the_line() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    let s: Vec<_> = (0..4).map(|_| device.create_semaphore(0).unwrap()).collect();
    let work = || batch(&[&target], vec![fill(whole(0), 1)]);
    device.submit(vec![point(&s[1], 1)], work(), vec![point(&s[2], 1), point(&s[3], 1)], None).await.unwrap();
    device.submit(vec![point(&s[0], 1)], work(), vec![point(&s[1], 1)], None).await.unwrap();
    let wait = tokio::spawn({
        let last = s[3].clone();
        async move { last.wait(1, FOREVER).await }
    });
    s[0].fail(Error::new(Code::DataLoss, "the cause"));
    let error = wait.await.unwrap().unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (Code::DataLoss, "the cause"));
    assert_eq!(code(s[2].query()), Code::DataLoss);
    // The other way round: a wait that has failed already.
    let late = device.create_semaphore(0).unwrap();
    device.submit(vec![point(&s[3], 1)], work(), vec![point(&late, 1)], None).await.unwrap();
    assert_eq!(late.query().unwrap_err().message, "the cause");
    assert_eq!((bytes(&target).await, world.mock.submitted.load(std::sync::atomic::Ordering::SeqCst)), (vec![0; 4], 0));
    assert_eq!((world.used(Limit::Submissions), world.used(Limit::HostBytes)), (0, 0));
}

#[tokio::test]
async fn a_failed_entry_leaves_no_trace_in_its_other_waits() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let never = device.create_semaphore(0).unwrap();
    for _ in 0..100 {
        let failing = device.create_semaphore(0).unwrap();
        device.submit(vec![point(&never, 1), point(&failing, 1)], Batch::default(), vec![], None).await.unwrap();
        failing.fail(Error::new(Code::Unknown, "no"));
    }
    // What is left of them would keep the device alive.
    let live = world.mock.live();
    assert_eq!((world.used(Limit::Submissions), world.used(Limit::HostBytes)), (0, 0));
    drop((never, device));
    assert!(world.mock.live() < live);
}

#[tokio::test]
async fn a_driver_that_forgets_its_work_or_panics_fails_the_signals() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    for fault in [&world.mock.forget, &world.mock.panic] {
        fault.store(true, std::sync::atomic::Ordering::SeqCst);
        let (done, next) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
        let work = || batch(&[&target], vec![fill(whole(0), 1)]);
        device.submit(vec![point(&done, 1)], work(), vec![point(&next, 1)], None).await.unwrap();
        device.submit(vec![], work(), vec![point(&done, 1)], None).await.unwrap();
        assert_eq!((code(done.query()), code(next.query())), (Code::Internal, Code::Internal));
        assert_eq!(world.used(Limit::Submissions), 0);
    }
}

#[tokio::test]
async fn a_driver_that_panics_in_a_transfer_or_an_allocation_is_an_error() {
    use std::sync::atomic::Ordering::SeqCst;
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    world.mock.panic.store(true, SeqCst);
    for slow in [Duration::ZERO, Duration::from_millis(1)] {
        *world.mock.slow.lock().unwrap() = slow;
        assert_eq!(code(target.read(0, 4, Vec::new()).await), Code::Internal);
        let error = target.write(0, &[1; 4]).await.unwrap_err();
        assert!(error.code == Code::Internal && error.message.contains("panicked during a write"), "{error}");
        for at_once in [true, false] {
            world.mock.at_once.store(at_once, SeqCst);
            assert_eq!(code(device.allocate(params(), 4).await), Code::Internal);
        }
    }
    assert_eq!((world.used(Limit::Buffers), world.used(Limit::MemoryBytes)), (1, 4));
    world.mock.panic.store(false, SeqCst);
    target.write(0, &[1; 4]).await.unwrap();
    assert_eq!(bytes(&target).await, [1; 4]);
}

#[tokio::test]
async fn lists_of_objects_are_bounded() {
    const MOST: usize = 16_384;
    let limits = Limits::new().with(Limit::HostBytes, 1 << 30);
    let world = World::limited(Mode::Inline, limits);
    let device = world.device().await;
    let (target, semaphore) = (buffer(&device, 4).await, device.create_semaphore(1).unwrap());
    let points = |count| vec![point(&semaphore, 1); count];
    let table = |count| Batch { buffers: vec![target.clone(); count], ..Batch::default() };
    let recording = device.create_recording(table(MOST), 1, "").await.unwrap();
    for (count, fits) in [(MOST, true), (MOST + 1, false), (100_000, false)] {
        let slots = vec![SlotBinding { buffer: 0, offset: 0, length: None }];
        let transient = |wait| device.alloca(wait, params(), 4, vec![]);
        for result in [
            device.wait_semaphores(points(count), WaitMode::All, 0).await.map(drop),
            device.submit(points(count), Batch::default(), vec![], None).await,
            device.submit(vec![], table(count), vec![], None).await,
            device.create_recording(table(count), 0, "").await.map(drop),
            device.execute(vec![], &recording, table(count).buffers, slots, vec![], None).await,
            transient(points(count)).await.map(drop),
        ] {
            match result {
                Ok(()) => assert!(fits, "{count}"),
                Err(error) => {
                    assert!(!fits && error.code == Code::OutOfRange, "{count}: {error}");
                    assert!(error.message.contains("16384") && error.message.contains(&count.to_string()), "{error}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_wait_says_whose_time_was_up() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let never = device.create_semaphore(0).unwrap();
    let error = never.wait(1, 2_000_000).await.unwrap_err();
    assert_eq!(error.code, Code::DeadlineExceeded);
    assert!(error.message.contains("the call's own timeout, 2ms, passed while waiting"), "{error}");
    assert_eq!(world.session.report().waits_cut, 0);
    world.session.set_deadline(Some(Instant::now() + Duration::from_millis(30)));
    for timeout in [FOREVER, 60_000_000_000] {
        let error = never.wait(1, timeout).await.unwrap_err();
        assert_eq!(error.code, Code::DeadlineExceeded);
        assert!(error.message.starts_with("the host's limit on how long the guest may run"), "{error}");
    }
    assert_eq!(world.session.report().waits_cut, 2);
    world.session.set_deadline(None);
    assert!(never.wait(1, 1).await.unwrap_err().message.contains("own timeout, 1ns"));
    assert_eq!(world.session.report().waits_cut, 2);
}

#[tokio::test]
async fn chains_of_a_hundred_thousand_overflow_no_stack() {
    const LINKS: u64 = 100_000;
    let limits = Limits::new().with(Limit::Submissions, LINKS).with(Limit::HostBytes, 1 << 30);
    let world = World::limited(Mode::Inline, limits);
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    let semaphore = device.create_semaphore(0).unwrap();
    for link in (1..=LINKS).rev() {
        let work = batch(&[&target], vec![fill(range(0, link % 4, 1), 1)]);
        device.submit(vec![point(&semaphore, link)], work, vec![point(&semaphore, link + 1)], None).await.unwrap();
    }
    semaphore.signal(1).unwrap();
    assert_eq!(semaphore.query(), Ok(LINKS + 1));
    // The same with a failure, and with the links never run at all.
    for fails in [true, false] {
        let links: Vec<_> = (0..=1000).map(|_| device.create_semaphore(0).unwrap()).collect();
        for pair in links.windows(2) {
            device.submit(vec![point(&pair[0], 1)], Batch::default(), vec![point(&pair[1], 1)], None).await.unwrap();
        }
        if fails {
            links[0].fail(Error::new(Code::Aborted, "stop"));
            assert_eq!(code(links[1000].query()), Code::Aborted);
        }
    }
    drop(world);
    assert_eq!(code(semaphore.query()), Code::Cancelled);
}

#[tokio::test]
async fn a_signal_that_was_overtaken_is_met() {
    let world = World::new(Mode::Held);
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    let semaphore = device.create_semaphore(0).unwrap();
    device.submit(vec![], batch(&[&target], vec![fill(whole(0), 1)]), vec![point(&semaphore, 1)], None).await.unwrap();
    semaphore.signal(5).unwrap();
    world.mock.release();
    assert_eq!(semaphore.query(), Ok(5));
}

#[tokio::test]
async fn host_access_keeps_off_pending_work() {
    let world = World::new(Mode::Held);
    let device = world.device().await;
    let (a, b) = (buffer(&device, 16).await, buffer(&device, 16).await);
    let done = device.create_semaphore(0).unwrap();
    let work = batch(&[&a, &b], vec![Command::Copy { source: range(0, 0, 8), target: range(1, 8, 8) }]);
    device.submit(vec![], work, vec![point(&done, 3)], None).await.unwrap();
    // Reads of what is read are fine, as is everything beside it.
    a.read(0, 16, Vec::new()).await.unwrap();
    a.write(8, &[1; 8]).await.unwrap();
    b.read(0, 8, Vec::new()).await.unwrap();
    let error = a.write(7, &[1]).await.unwrap_err();
    assert_eq!(error.code, Code::FailedPrecondition);
    assert!(error.message.contains("semaphore 1") && error.message.contains("reaches 3"), "{error}");
    assert_eq!(code(b.read(15, 1, Vec::new()).await), Code::FailedPrecondition);
    assert_eq!(code(b.subspan(12, 4).unwrap().write(0, &[1]).await), Code::FailedPrecondition);
    world.mock.release();
    done.wait(3, FOREVER).await.unwrap();
    a.write(7, &[1]).await.unwrap();
    b.read(15, 1, Vec::new()).await.unwrap();
}

#[tokio::test]
async fn recordings_run_many_times_with_other_slots() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let source = buffer(&device, 16).await;
    source.write(0, &[3; 16]).await.unwrap();
    let commands = vec![
        Command::Copy { source: whole(0), target: slot(1) },
        fill(BufferRef { offset: 4, length: Some(4), ..slot(0) }, 8),
    ];
    let recording = device.create_recording(batch(&[&source], commands), 2, "r").await.unwrap();
    drop(source);
    let done = device.create_semaphore(0).unwrap();
    for round in 1..=3 {
        let target = buffer(&device, 64).await;
        let bindings = vec![
            SlotBinding { buffer: 0, offset: 32, length: Some(8) },
            SlotBinding { buffer: 0, offset: 48, length: None },
        ];
        device
            .execute(vec![], &recording, vec![target.clone()], bindings, vec![point(&done, round)], Some(round))
            .await
            .unwrap();
        let mut expected = [0; 64];
        expected[36..40].fill(8);
        expected[48..].fill(3);
        assert_eq!(bytes(&target).await, expected);
    }
    let tags: Vec<_> =
        device.take_timings().into_iter().map(|timing| (timing.tag, timing.queue_ns, timing.device_ns)).collect();
    assert_eq!(tags, [1, 2, 3].map(|tag| (tag, 1000, Some(5000))), "rounded to microseconds");
    assert!(device.take_timings().is_empty());
    assert_eq!(world.session.report().kernel_ns, 3 * 5678);
}

#[tokio::test]
async fn work_in_flight_keeps_what_it_needs() {
    let world = World::new(Mode::Held);
    let device = world.device().await;
    let (wait, done) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
    let kernel = executable(&device).await;
    let (from, to) = (buffer(&device, 16).await, buffer(&device, 16).await);
    let work = Batch {
        buffers: vec![from.clone()],
        executables: vec![kernel.clone()],
        commands: vec![Command::Dispatch(scale(whole(0), slot(0)))],
    };
    let recording = device.create_recording(work, 1, "").await.unwrap();
    let binding = SlotBinding { buffer: 0, offset: 0, length: None };
    device
        .execute(vec![point(&wait, 1)], &recording, vec![to.clone()], vec![binding], vec![point(&done, 1)], None)
        .await
        .unwrap();
    let view = to.subspan(0, 4).unwrap();
    from.close();
    drop((recording, kernel, from, to));
    assert_eq!((world.used(Limit::Recordings), world.used(Limit::Executables)), (1, 1));
    wait.signal(1).unwrap();
    world.mock.release();
    done.wait(1, FOREVER).await.unwrap();
    assert_eq!(bytes(&view).await, [9; 4]);
    assert_eq!((world.used(Limit::Recordings), world.used(Limit::Executables)), (0, 0));
    assert_eq!(
        (world.used(Limit::MemoryBytes), world.used(Limit::Buffers)),
        (16, 2),
        "the subspan holds its allocation"
    );
}

#[tokio::test]
async fn work_past_its_deadline_is_stopped() {
    let world = World::limited(Mode::Held, Limits::new().with(Limit::SubmissionTimeNs, 1_000_000));
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    let done = device.create_semaphore(0).unwrap();
    device.submit(vec![], batch(&[&target], vec![fill(whole(0), 1)]), vec![point(&done, 1)], None).await.unwrap();
    std::thread::sleep(Duration::from_millis(5));
    world.mock.release();
    let error = done.wait(1, FOREVER).await.unwrap_err();
    assert_eq!(error.code, Code::DeadlineExceeded);
    let text = "a submission has 1ms, the limit \"submission-time-ns\" (`submission-time` in a grant)";
    assert!(error.message.ends_with(text), "{error}");
}

#[tokio::test]
async fn a_call_that_is_cut_off_says_what_it_did() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    *world.mock.slow.lock().unwrap() = Duration::from_millis(300);
    world.session.set_deadline(Some(Instant::now() + Duration::from_millis(30)));
    let load = device.load_executable(ExecutableParams { format: "wgsl".into(), ..Default::default() }, vec![1]);
    let error = load.await.err().unwrap();
    assert_eq!(error.code, Code::DeadlineExceeded);
    assert!(error.message.contains("is reached, while compiling;"), "{error}");
}

#[tokio::test]
async fn blobs_go_to_buffers_and_to_the_guest() {
    let mock = Mock::new(Mode::Inline);
    let file = std::env::temp_dir().join(format!("hal-core-blob-{}", std::process::id()));
    std::fs::write(&file, (0..=255).collect::<Vec<u8>>()).unwrap();
    let session = Session::builder("tenant")
        .grant(Grant::new(mock.factory()))
        .blob(BlobSource::bytes("bytes", vec![1, 2, 3, 4]))
        .blob(BlobSource::file("file", &file).unwrap())
        .start()
        .unwrap();
    let world = World { mock, session };
    let device = world.device().await;
    let listed: Vec<_> = world.session.blobs().into_iter().map(|blob| (blob.name, blob.length)).collect();
    assert_eq!(listed, [("bytes".to_owned(), 4), ("file".to_owned(), 256)]);
    let blob = world.session.open_blob("file").unwrap();
    assert_eq!(blob.read(254, 2, vec![7]).await.unwrap(), [7, 254, 255]);
    let target = buffer(&device, 8).await;
    let done = device.create_semaphore(0).unwrap();
    device.read_blob(vec![], &blob, 100, &target, 2, 4, vec![point(&done, 1)]).await.unwrap();
    assert_eq!(bytes(&target).await, [0, 0, 100, 101, 102, 103, 0, 0]);
    for (offset, length) in [(250, 7), (257, 0), (u64::MAX, 2)] {
        assert_eq!(code(blob.read(offset, length, Vec::new()).await), Code::OutOfRange);
        assert_eq!(code(device.read_blob(vec![], &blob, offset, &target, 0, length, vec![]).await), Code::OutOfRange);
    }
    assert_eq!(code(device.read_blob(vec![], &blob, 0, &target, 6, 4, vec![]).await), Code::OutOfRange);
    // A file that shrinks is data that is lost, never a signal.
    std::fs::write(&file, [0; 10]).unwrap();
    assert_eq!(code(blob.read(100, 1, Vec::new()).await), Code::DataLoss);
    device.read_blob(vec![], &blob, 100, &target, 2, 4, vec![point(&done, 2)]).await.unwrap();
    assert_eq!(code(done.query()), Code::DataLoss);
    std::fs::remove_file(&file).unwrap();
    let missing = world.session.open_blob("weights").err().unwrap();
    assert!(missing.code == Code::NotFound && missing.message.contains("bytes, file"), "{missing}");
    blob.close();
    assert_eq!(code(blob.read(0, 1, Vec::new()).await), Code::FailedPrecondition);
    let other = world.session.open_blob("bytes").unwrap();
    assert_eq!(code(other.read(0, 5, Vec::new()).await), Code::OutOfRange);
    assert!(world.session.revoke_blob("bytes") && !world.session.revoke_blob("x"));
    assert_eq!(code(other.read(0, 1, Vec::new()).await), Code::PermissionDenied);
    assert_eq!(code(world.session.open_blob("bytes")), Code::PermissionDenied);
}

#[tokio::test]
async fn any_wait_over_host_and_device_signals() {
    let world = World::new(Mode::Held);
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    let (host, native) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
    device.submit(vec![], batch(&[&target], vec![fill(whole(0), 1)]), vec![point(&native, 1)], None).await.unwrap();
    let mock = world.mock.clone();
    let other = std::thread::spawn(move || mock.release());
    let points = vec![point(&host, 1), point(&native, 1)];
    assert_eq!(device.wait_semaphores(points, WaitMode::Any, FOREVER).await, Ok(1));
    assert_eq!(host.query(), Ok(0));
    other.join().unwrap();
}
