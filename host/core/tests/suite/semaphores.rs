//! Conformance Part 1: SemaphoreTest, SemaphoreThreadTest.

use crate::*;
use hal_core::WaitMode::{All, Any};
use std::time::{Duration, Instant};

#[tokio::test]
async fn no_op_and_normal_signaling() {
    let device = World::new(Mode::Inline).device_and_world().await;
    let semaphore = device.1.create_semaphore(123).unwrap();
    assert_eq!(semaphore.query(), Ok(123));
    let semaphore = device.1.create_semaphore(2).unwrap();
    semaphore.signal(3).unwrap();
    assert_eq!(semaphore.query(), Ok(3));
    semaphore.signal(40).unwrap();
    assert_eq!(semaphore.query(), Ok(40));
    for same_or_less in [40, 39, 0] {
        assert_eq!(code(semaphore.signal(same_or_less)), Code::InvalidArgument);
    }
    assert_eq!(semaphore.query(), Ok(40));
    semaphore.signal(u64::MAX).unwrap();
    semaphore.wait(u64::MAX, 0).await.unwrap();
}

impl World {
    /// Keeps the world alive beside its device.
    async fn device_and_world(self) -> (Self, Device) {
        let device = self.device().await;
        (self, device)
    }
}

#[tokio::test]
async fn failures_keep_their_first_code_and_text() {
    let (_world, device) = World::new(Mode::Inline).device_and_world().await;
    let semaphore = device.create_semaphore(0).unwrap();
    semaphore.fail(Error::new(Code::DataLoss, "first"));
    semaphore.fail(Error::new(Code::Aborted, "second"));
    for result in [semaphore.query().map(drop), semaphore.signal(1), semaphore.wait(0, FOREVER).await] {
        let error = result.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (Code::DataLoss, "first"));
    }
    let long = device.create_semaphore(0).unwrap();
    long.fail(Error::new(Code::Unknown, "\u{e9}".repeat(2000)));
    assert_eq!(long.query().unwrap_err().message.len(), 1024);
    for mode in [All, Any] {
        assert_eq!(code(device.wait_semaphores(vec![point(&long, 1)], mode, FOREVER).await), Code::Unknown);
    }
}

#[tokio::test]
async fn a_reason_ends_up_in_logs_and_holds_nothing_that_a_terminal_would_obey() {
    let (_world, device) = World::new(Mode::Inline).device_and_world().await;
    let semaphore = device.create_semaphore(0).unwrap();
    semaphore.fail(Error::new(Code::DataLoss, "red\u{1b}[31m\nline\u{0}"));
    assert_eq!(semaphore.query().unwrap_err().message, "red\u{fffd}[31m\u{fffd}line\u{fffd}");
}

#[tokio::test]
async fn for_any_a_point_that_is_met_counts_before_one_that_has_failed() {
    let (_world, device) = World::new(Mode::Inline).device_and_world().await;
    let (met, failed) = (device.create_semaphore(1).unwrap(), device.create_semaphore(5).unwrap());
    failed.fail(Error::new(Code::DataLoss, "on purpose"));
    let wait = async |points: &[(&Semaphore, u64)], mode| {
        let points = points.iter().map(|&(semaphore, value)| point(semaphore, value)).collect();
        device.wait_semaphores(points, mode, FOREVER).await
    };
    // What it had reached does not count: a failed semaphore has no value.
    assert_eq!(code(wait(&[(&failed, 5)], Any).await), Code::DataLoss);
    for (points, index) in [([(&met, 1), (&failed, 1)], 0), ([(&failed, 1), (&met, 1)], 1)] {
        assert_eq!(wait(&points, Any).await, Ok(index));
        assert_eq!(code(wait(&points, All).await), Code::DataLoss);
    }
    for points in [[(&met, 2), (&failed, 1)], [(&failed, 1), (&met, 2)]] {
        assert_eq!(code(wait(&points, Any).await), Code::DataLoss, "nothing is met");
        assert_eq!(code(wait(&points, All).await), Code::DataLoss);
    }
}

#[tokio::test]
async fn work_around_failed_semaphores() {
    let (world, device) = World::new(Mode::Inline).device_and_world().await;
    let (failed, done) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
    failed.fail(Error::new(Code::DataLoss, "on purpose"));
    let target = buffer(&device, 4).await;
    let submit = async |wait: &[&Semaphore], byte, signal: &[&Semaphore]| {
        let points = |of: &[&Semaphore]| of.iter().map(|semaphore| point(semaphore, 1)).collect();
        device.submit(points(wait), batch(&[&target], vec![fill(whole(0), byte)]), points(signal), None).await
    };
    // It runs, and the failure stays.
    submit(&[], 1, &[&failed, &done]).await.unwrap();
    assert_eq!((bytes(&target).await, done.query()), (vec![1; 4], Ok(1)));
    assert_eq!(failed.query().unwrap_err().message, "on purpose");
    // It does not run, and nobody is told.
    submit(&[&failed], 2, &[]).await.unwrap();
    assert_eq!((bytes(&target).await, world.used(Limit::Submissions)), (vec![1; 4], 0));
}

#[tokio::test]
async fn waits_that_are_met_already() {
    let (_world, device) = World::new(Mode::Inline).device_and_world().await;
    for mode in [All, Any] {
        for timeout in [0, FOREVER] {
            assert_eq!(device.wait_semaphores(vec![], mode, timeout).await, Ok(0));
        }
    }
    let (a, b) = (device.create_semaphore(2).unwrap(), device.create_semaphore(0).unwrap());
    a.wait(1, 0).await.unwrap();
    a.wait(2, FOREVER).await.unwrap();
    assert_eq!(device.wait_semaphores(vec![point(&b, 1), point(&a, 2)], Any, 0).await, Ok(1));
    assert_eq!(device.wait_semaphores(vec![point(&a, 1), point(&a, 1), point(&a, 2)], All, 0).await, Ok(0));
}

#[tokio::test]
async fn waits_that_time_out_change_nothing() {
    let (_world, device) = World::new(Mode::Inline).device_and_world().await;
    let (a, b) = (device.create_semaphore(0).unwrap(), device.create_semaphore(1).unwrap());
    for timeout in [0, SHORT] {
        assert_eq!(code(a.wait(1, timeout).await), Code::DeadlineExceeded);
        assert_eq!(
            code(device.wait_semaphores(vec![point(&a, 1), point(&b, 1)], All, timeout).await),
            Code::DeadlineExceeded
        );
        assert_eq!(
            code(device.wait_semaphores(vec![point(&a, 1), point(&b, 2)], Any, timeout).await),
            Code::DeadlineExceeded
        );
    }
    assert_eq!(a.query(), Ok(0));
    a.signal(1).unwrap();
    a.wait(1, SHORT).await.unwrap();
}

#[tokio::test]
async fn a_wait_is_met_later() {
    let (_world, device) = World::new(Mode::Inline).device_and_world().await;
    let (a, b) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
    let waits = [
        tokio::spawn({
            let a = a.clone();
            async move { a.wait(3, FOREVER).await.map(|()| 0) }
        }),
        tokio::spawn({
            let (device, points) = (device.clone(), vec![point(&a, 100), point(&b, 5)]);
            async move { device.wait_semaphores(points, Any, FOREVER).await }
        }),
        tokio::spawn({
            let (device, points) = (device.clone(), vec![point(&a, 10), point(&b, 5), point(&a, 1)]);
            async move { device.wait_semaphores(points, All, FOREVER).await }
        }),
    ];
    tokio::time::sleep(Duration::from_millis(20)).await;
    a.signal(10).unwrap();
    b.signal(5).unwrap();
    let mut answers = Vec::new();
    for wait in waits {
        answers.push(wait.await.unwrap());
    }
    assert_eq!(answers, [Ok(0), Ok(1), Ok(0)]);
}

#[tokio::test]
async fn ping_pong() {
    let (_world, device) = World::new(Mode::Inline).device_and_world().await;
    let (a, b) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
    let other = tokio::spawn({
        let (a, b) = (a.clone(), b.clone());
        async move {
            for n in 1..=100 {
                a.wait(n, FOREVER).await.unwrap();
                b.signal(n).unwrap();
            }
        }
    });
    for n in 1..=100 {
        a.signal(n).unwrap();
        b.wait(n, FOREVER).await.unwrap();
    }
    other.await.unwrap();
}

#[tokio::test]
async fn a_pending_wait_ends_when_one_fails() {
    let (_world, device) = World::new(Mode::Inline).device_and_world().await;
    for mode in [All, Any] {
        let (a, b) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
        let wait = tokio::spawn({
            let (device, points) = (device.clone(), vec![point(&a, 1), point(&b, 1)]);
            async move { device.wait_semaphores(points, mode, FOREVER).await }
        });
        tokio::time::sleep(Duration::from_millis(10)).await;
        b.fail(Error::new(Code::Cancelled, "given up"));
        assert_eq!(code(wait.await.unwrap()), Code::Cancelled);
        assert_eq!(a.query(), Ok(0));
    }
}

#[tokio::test]
async fn a_wait_ends_before_the_calls_deadline() {
    let (world, device) = World::new(Mode::Inline).device_and_world().await;
    let semaphore = device.create_semaphore(0).unwrap();
    let deadline = Instant::now() + Duration::from_millis(60);
    world.session.set_deadline(Some(deadline));
    assert_eq!(code(semaphore.wait(1, FOREVER).await), Code::DeadlineExceeded);
    assert!(Instant::now() < deadline + Duration::from_millis(200));
    // A deadline that has passed still leaves a poll.
    semaphore.signal(1).unwrap();
    semaphore.wait(1, FOREVER).await.unwrap();
    world.session.set_deadline(None);
    assert_eq!(code(semaphore.wait(2, SHORT).await), Code::DeadlineExceeded);
}

#[tokio::test]
async fn a_dropped_wait_leaves_nothing_behind() {
    let (world, device) = World::new(Mode::Inline).device_and_world().await;
    let semaphore = device.create_semaphore(0).unwrap();
    for _ in 0..100 {
        assert!(code(device.wait_semaphores(vec![point(&semaphore, 1)], All, 1_000).await) == Code::DeadlineExceeded);
    }
    assert_eq!(world.used(Limit::HostBytes), 0);
    drop(semaphore);
    assert_eq!(world.used(Limit::Semaphores), 0);
}

#[tokio::test]
async fn closed_semaphores_answer_nothing() {
    let (_world, device) = World::new(Mode::Inline).device_and_world().await;
    let semaphore = device.create_semaphore(0).unwrap();
    let other = device.create_semaphore(0).unwrap();
    device.submit(vec![point(&semaphore, 1)], Batch::default(), vec![point(&other, 1)], None).await.unwrap();
    let twin = semaphore.clone();
    semaphore.close();
    semaphore.close();
    assert_eq!(code(twin.query()), Code::FailedPrecondition);
    assert_eq!(code(twin.signal(1)), Code::FailedPrecondition);
    assert_eq!(code(twin.wait(0, 0).await), Code::FailedPrecondition);
    assert_eq!(code(device.wait_semaphores(vec![point(&twin, 0)], All, 0).await), Code::FailedPrecondition);
    // Closing is harmless for who waits.
    assert_eq!(other.query(), Ok(0));
}

#[tokio::test]
async fn semaphores_work_across_the_devices_of_a_session_and_no_further() {
    let (world, device) = World::new(Mode::Inline).device_and_world().await;
    let second = world.device().await;
    let (a, b) = (device.create_semaphore(0).unwrap(), second.create_semaphore(0).unwrap());
    second.submit(vec![point(&a, 1)], Batch::default(), vec![point(&b, 1)], None).await.unwrap();
    device.submit(vec![], Batch::default(), vec![point(&a, 1)], None).await.unwrap();
    b.wait(1, FOREVER).await.unwrap();
    let (_other_world, stranger) = World::new(Mode::Inline).device_and_world().await;
    let foreign = stranger.create_semaphore(7).unwrap();
    assert_eq!(code(device.wait_semaphores(vec![point(&foreign, 1)], All, 0).await), Code::InvalidArgument);
    assert_eq!(
        code(device.submit(vec![point(&foreign, 1)], Batch::default(), vec![], None).await),
        Code::InvalidArgument
    );
}
