//! Conformance Part 1: QueueAllocaTest, TransientBufferTest, AsyncTransientBufferTest.

use crate::*;
use std::sync::atomic::Ordering::SeqCst;

#[tokio::test]
async fn memory_comes_with_the_waits() {
    for at_once in [true, false] {
        let world = World::new(Mode::Inline);
        world.mock.at_once.store(at_once, SeqCst);
        let device = world.device().await;
        let (wait, ready) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
        let zero = BufferParams { access: MemoryAccess::empty(), ..params() };
        let target = device.alloca(vec![point(&wait, 1)], zero, 16, vec![point(&ready, 1)]).await.unwrap();
        let info = target.info();
        assert!(info.transient && info.size == 16 && info.access == MemoryAccess::all());
        assert_eq!(
            (world.used(Limit::MemoryBytes), world.mock.allocated.load(SeqCst)),
            (16, 0),
            "charged, not yet there"
        );
        assert_eq!(code(target.read(0, 1, Vec::new()).await), Code::FailedPrecondition);
        // Work that names it may be queued before it is backed.
        let done = device.create_semaphore(0).unwrap();
        let work = batch(&[&target], vec![fill(range(0, 4, 4), 7)]);
        device.submit(vec![point(&ready, 1)], work, vec![point(&done, 1)], None).await.unwrap();
        assert_eq!(ready.query(), Ok(0));
        wait.signal(1).unwrap();
        done.wait(1, FOREVER).await.unwrap();
        let mut expected = [0; 16];
        expected[4..8].fill(7);
        assert_eq!(bytes(&target).await, expected);
        device.dealloca(vec![], &target, vec![point(&done, 2)]).unwrap();
        assert_eq!(world.used(Limit::MemoryBytes), 0);
        // Used after dealloca.
        assert_eq!(code(target.read(0, 1, Vec::new()).await), Code::FailedPrecondition);
        let work = batch(&[&target], vec![fill(whole(0), 7)]);
        assert_eq!(code(device.submit(vec![], work, vec![], None).await), Code::FailedPrecondition);
        assert_eq!(code(device.dealloca(vec![], &target, vec![])), Code::FailedPrecondition);
    }
}

#[tokio::test]
async fn work_that_runs_after_the_release_fails() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let (gate, done) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
    let target = device.alloca(vec![], params(), 16, vec![]).await.unwrap();
    let work = batch(&[&target], vec![fill(whole(0), 7)]);
    device.submit(vec![point(&gate, 1)], work, vec![point(&done, 1)], None).await.unwrap();
    device.dealloca(vec![], &target, vec![]).unwrap();
    gate.signal(1).unwrap();
    assert_eq!(code(done.query()), Code::FailedPrecondition);
}

#[tokio::test]
async fn a_release_does_not_take_memory_from_under_running_work() {
    let world = World::new(Mode::Held);
    let device = world.device().await;
    let done = device.create_semaphore(0).unwrap();
    let target = device.alloca(vec![], params(), 16, vec![]).await.unwrap();
    device.submit(vec![], batch(&[&target], vec![fill(whole(0), 7)]), vec![point(&done, 1)], None).await.unwrap();
    device.dealloca(vec![], &target, vec![]).unwrap();
    assert_eq!(world.used(Limit::MemoryBytes), 16, "charged until the earlier work has ended");
    world.mock.release();
    done.wait(1, FOREVER).await.unwrap();
    assert_eq!(world.used(Limit::MemoryBytes), 0);
}

#[tokio::test]
async fn a_failed_wait_releases_nothing() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let (gate, done) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
    let target = device.alloca(vec![], params(), 16, vec![]).await.unwrap();
    device.dealloca(vec![point(&gate, 1)], &target, vec![point(&done, 1)]).unwrap();
    assert_eq!(code(device.dealloca(vec![], &target, vec![])), Code::FailedPrecondition, "one is queued already");
    gate.fail(Error::new(Code::Cancelled, "no"));
    assert_eq!(code(done.query()), Code::Cancelled);
    target.write(0, &[1]).await.unwrap();
    device.dealloca(vec![], &target, vec![]).unwrap();
    assert_eq!(world.used(Limit::MemoryBytes), 0);
    let part = target.subspan(0, 4).unwrap();
    assert_eq!(code(device.dealloca(vec![], &part, vec![])), Code::InvalidArgument, "a part of one is not one");
}

#[tokio::test]
async fn an_alloca_that_fails_gives_its_budget_back() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    for short in [true, false] {
        let (gate, ready) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
        let target = device.alloca(vec![point(&gate, 1)], params(), 16, vec![point(&ready, 1)]).await.unwrap();
        if short {
            *world.mock.fail.lock().unwrap() = Some(hal_driver::Error::new(Code::ResourceExhausted, "short"));
            gate.signal(1).unwrap();
            assert_eq!(code(ready.query()), Code::ResourceExhausted);
        } else {
            gate.fail(Error::new(Code::Aborted, "no"));
            assert_eq!(code(ready.query()), Code::Aborted);
        }
        assert_eq!(world.used(Limit::MemoryBytes), 0);
        assert_eq!(code(target.write(0, &[1]).await), Code::FailedPrecondition);
    }
}

#[tokio::test]
async fn chains_of_alloca_and_dealloca() {
    let world = World::limited(Mode::Inline, Limits::new().with(Limit::MemoryBytes, 16));
    let device = world.device().await;
    let order = device.create_semaphore(0).unwrap();
    for round in 0..32 {
        let target = device
            .alloca(vec![point(&order, 2 * round)], params(), 16, vec![point(&order, 2 * round + 1)])
            .await
            .unwrap();
        device.dealloca(vec![point(&order, 2 * round + 1)], &target, vec![point(&order, 2 * round + 2)]).unwrap();
    }
    assert_eq!(order.query(), Ok(64));
    // One that is dropped without dealloca goes as any buffer goes.
    drop(device.alloca(vec![], params(), 16, vec![]).await.unwrap());
    assert_eq!((world.used(Limit::MemoryBytes), world.used(Limit::Buffers)), (0, 0));
}

#[tokio::test]
async fn as_many_as_the_grant_allows_may_become_ready_at_once() {
    let world = World::new(Mode::Inline);
    world.mock.at_once.store(false, SeqCst);
    let device = world.device().await;
    let (gate, done) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
    let mut made = Vec::new();
    for value in 1..=500 {
        let ready = device.create_semaphore(0).unwrap();
        made.push(device.alloca(vec![point(&gate, 1)], params(), 4, vec![point(&ready, 1)]).await.unwrap());
        device.submit(vec![point(&ready, 1)], Batch::default(), vec![], None).await.unwrap();
        let wait = if value == 1 { vec![point(&ready, 1)] } else { vec![point(&ready, 1), point(&done, value - 1)] };
        device.submit(wait, Batch::default(), vec![point(&done, value)], None).await.unwrap();
    }
    gate.signal(1).unwrap();
    done.wait(500, FOREVER).await.unwrap();
}

#[tokio::test]
async fn a_driver_that_panics_in_an_allocation_fails_the_signals() {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    for at_once in [true, false] {
        let world = World::new(Mode::Inline);
        world.mock.at_once.store(at_once, SeqCst);
        let device = world.device().await;
        let (gate, done) = (device.create_semaphore(0).unwrap(), device.create_semaphore(0).unwrap());
        let target = device.alloca(vec![point(&gate, 1)], params(), 16, vec![point(&done, 1)]).await.unwrap();
        world.mock.panic.store(true, SeqCst);
        gate.signal(1).unwrap();
        assert_eq!(code(done.wait(1, FOREVER).await), Code::Internal);
        assert_eq!(world.used(Limit::MemoryBytes), 0, "at once: {at_once}");
        assert_eq!(code(device.dealloca(vec![], &target, vec![])), Code::FailedPrecondition);
    }
    std::panic::set_hook(quiet);
}
