//! Work that waits for work before it, on a device that keeps the order of its queue.

use crate::*;
use std::sync::atomic::Ordering::SeqCst;

const LINKS: usize = 100;

/// What no link copies, and then what each overwrites.
fn initial() -> Vec<u8> {
    (0..=LINKS).map(|at| if at == 0 { 7 } else { 100 + at as u8 }).collect()
}

struct Chain {
    world: World,
    device: Device,
    /// Link n copies the byte n to n + 1.
    target: Buffer,
    /// Link n waits for the nth and signals the next one.
    semaphores: Vec<Semaphore>,
    /// Whose the semaphores are: they stay when `device` is closed.
    _other: Device,
}

impl Chain {
    /// All links are submitted, the last one first or the first one first, and nothing was signalled.
    async fn new(in_order: bool, last_first: bool) -> Self {
        let world = World::new(Mode::Held);
        world.mock.in_order.store(in_order, SeqCst);
        let device = world.device().await;
        let target = buffer(&device, LINKS as u64 + 1).await;
        target.write(0, &initial()).await.unwrap();
        let other = world.device().await;
        let semaphores: Vec<_> = (0..=LINKS).map(|_| other.create_semaphore(0).unwrap()).collect();
        let mut links: Vec<usize> = (0..LINKS).collect();
        if last_first {
            links.reverse();
        }
        for link in links {
            let at = link as u64;
            let copy = Command::Copy { source: range(0, at, 1), target: range(0, at + 1, 1) };
            let (wait, signal) = (point(&semaphores[link], 1), point(&semaphores[link + 1], 1));
            device.submit(vec![wait], batch(&[&target], vec![copy]), vec![signal], None).await.unwrap();
        }
        Self { world, device, target, semaphores, _other: other }
    }

    fn begin(&self) {
        self.semaphores[0].signal(1).unwrap();
    }

    fn mock(&self) -> &Mock {
        &self.world.mock
    }

    /// How many links in a row came to their end.
    async fn reached(&self) -> usize {
        bytes(&self.target).await[1..].iter().take_while(|byte| **byte == 7).count()
    }
}

#[tokio::test]
async fn a_chain_is_handed_over_at_once_where_the_queue_keeps_its_order() {
    for last_first in [true, false] {
        let chain = Chain::new(true, last_first).await;
        assert_eq!(chain.mock().held(), 0);
        chain.begin();
        assert_eq!(chain.mock().held(), LINKS);
        assert_eq!(chain.semaphores[1].query(), Ok(0));
        chain.mock().release();
        assert!(chain.semaphores.iter().all(|semaphore| semaphore.query() == Ok(1)));
        assert_eq!(chain.reached().await, LINKS, "in the order of the chain");
        assert_eq!((chain.world.used(Limit::Submissions), chain.world.used(Limit::HostBytes)), (0, 0));
    }
    let chain = Chain::new(false, true).await;
    chain.begin();
    for _ in 0..LINKS {
        assert_eq!(chain.mock().held(), 1, "link by link elsewhere");
        chain.mock().release();
    }
    assert_eq!(chain.reached().await, LINKS);
}

#[tokio::test]
async fn links_that_come_later_follow_at_once() {
    let world = World::new(Mode::Held);
    world.mock.in_order.store(true, SeqCst);
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    let semaphore = device.create_semaphore(0).unwrap();
    let work = || batch(&[&target], vec![fill(whole(0), 1)]);
    device.submit(vec![], work(), vec![point(&semaphore, 10)], None).await.unwrap();
    // A value that is passed on the way is as good; one beyond is not promised by anybody.
    device.submit(vec![point(&semaphore, 5)], work(), vec![], None).await.unwrap();
    device.submit(vec![point(&semaphore, 11)], work(), vec![], None).await.unwrap();
    assert_eq!(world.mock.held(), 2);
    world.mock.release();
    assert_eq!((world.mock.held(), world.used(Limit::Submissions)), (0, 1));
    semaphore.signal(11).unwrap();
    assert_eq!(world.mock.held(), 1);
    world.mock.release();
    assert_eq!(world.used(Limit::Submissions), 0);
}

#[tokio::test]
async fn a_failure_in_the_middle_fails_what_comes_after_and_touches_nothing() {
    for deaf in [false, true] {
        let chain = Chain::new(true, true).await;
        chain.begin();
        chain.mock().held.lock().unwrap()[50].control.stop(hal_driver::Error::new(Code::DataLoss, "the cause"));
        for _ in 0..50 {
            chain.mock().release_one();
        }
        if deaf {
            // The link itself fails still, but what comes after it does not hear of it.
            let failing = chain.mock().held.lock().unwrap().remove(0);
            (failing.done)(Err(failing.control.stopped().unwrap()));
            chain.mock().deaf.store(true, SeqCst);
        }
        chain.mock().release();
        for (at, semaphore) in chain.semaphores.iter().enumerate() {
            match semaphore.query() {
                Ok(value) => assert!(value == 1 && at <= 50, "{at}"),
                Err(error) => assert!(error.message == "the cause" && at > 50, "{at}: {error}"),
            }
        }
        assert_eq!(chain.reached().await, 50);
        assert_eq!(bytes(&chain.target).await[51..] == initial()[51..], !deaf);
        assert_eq!((chain.world.used(Limit::Submissions), chain.world.used(Limit::HostBytes)), (0, 0));
    }
}

#[tokio::test]
async fn the_time_of_a_link_begins_when_its_waits_are_met() {
    let chain = Chain::new(true, false).await;
    chain.begin();
    let controls: Vec<_> = chain.mock().held.lock().unwrap().iter().map(|work| work.control.clone()).collect();
    let running = || controls.iter().take_while(|control| control.deadline().is_some()).count();
    assert_eq!(running(), 1);
    chain.mock().release_one();
    assert_eq!(running(), 2);
    assert!(controls[1].begun() > controls[0].begun());
    chain.mock().release();
    assert_eq!(running(), LINKS);
}

#[tokio::test]
async fn closing_cancels_links_whose_waits_are_unmet_also_if_they_were_handed_over() {
    let chain = Chain::new(true, true).await;
    chain.begin();
    chain.device.close();
    chain.mock().release();
    assert_eq!(chain.semaphores[1].query(), Ok(1));
    assert!(chain.semaphores[2..].iter().all(|semaphore| code(semaphore.query()) == Code::Cancelled));
    assert_eq!(chain.world.used(Limit::Submissions), 0);
}

#[tokio::test]
async fn a_failure_that_does_not_come_from_the_queue_reaches_what_was_handed_over() {
    let chain = Chain::new(true, true).await;
    chain.begin();
    chain.semaphores[30].fail(Error::new(Code::Aborted, "by hand"));
    chain.mock().release();
    assert_eq!(chain.semaphores[29].query(), Ok(1));
    assert!(chain.semaphores[30..].iter().all(|semaphore| semaphore.query().unwrap_err().message == "by hand"));
    assert_eq!(chain.reached().await, 30);
}

#[tokio::test]
async fn only_order_in_the_same_queue_stands_for_a_wait() {
    let world = World::new(Mode::Held);
    world.mock.in_order.store(true, SeqCst);
    let (device, other) = (world.device().await, world.device().await);
    let target = buffer(&device, 4).await;
    let elsewhere = buffer(&other, 4).await;
    let semaphore = device.create_semaphore(0).unwrap();
    let host = device.create_semaphore(0).unwrap();
    let work = |target: &Buffer| batch(&[target], vec![fill(whole(0), 1)]);
    let end = || vec![point(&semaphore, 1)];
    device.submit(vec![], work(&target), end(), None).await.unwrap();
    // Another queue; another wait; what the host does itself.
    other.submit(end(), work(&elsewhere), vec![], None).await.unwrap();
    device.submit([end(), vec![point(&host, 1)]].concat(), work(&target), vec![], None).await.unwrap();
    let barrier = device.create_semaphore(0).unwrap();
    device.submit(end(), Batch::default(), vec![point(&barrier, 1)], None).await.unwrap();
    let allocated = world.mock.allocated.load(SeqCst);
    let transient = device.alloca(end(), params(), 4, vec![]).await.unwrap();
    assert_eq!((world.mock.held(), barrier.query()), (1, Ok(0)));
    host.signal(1).unwrap();
    assert_eq!(world.mock.held(), 2);
    assert_eq!(world.mock.allocated.load(SeqCst), allocated);
    world.mock.release_one();
    assert_eq!((world.mock.held(), barrier.query()), (2, Ok(1)));
    assert_eq!(world.mock.allocated.load(SeqCst), allocated + 1);
    world.mock.release();
    drop(transient);
    assert_eq!(world.used(Limit::Submissions), 0);
}

#[tokio::test]
async fn revoking_stops_what_was_handed_over() {
    let chain = Chain::new(true, false).await;
    chain.begin();
    chain.world.session.revoke(0);
    chain.mock().release();
    assert!(chain.semaphores.iter().all(|semaphore| code(semaphore.query()) == Code::PermissionDenied));
    assert_eq!(chain.world.used(Limit::Submissions), 0);
}
