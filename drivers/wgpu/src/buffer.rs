//! Buffers: native ones, padded to whole words.

use crate::{
    device::Handle,
    native::At,
    state::{Item, OnThread, State},
};
use hal_driver::{Buffer, Code, Control, Error, Result, Transfer};
use std::{
    any::Any,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

/// Allocations are multiples of this, so that every word that a range touches is there. What is added is never reached from outside.
const PADDING: u64 = 16;

pub(crate) struct WgpuBuffer {
    // Before the handle: the thread still has to drop it.
    native: Arc<OnThread<wgpu::Buffer>>,
    size: u64,
    handle: Arc<Handle>,
}

/// The native size of a buffer of `size` bytes.
pub(crate) fn padded(size: u64) -> u64 {
    size.max(1).checked_next_multiple_of(PADDING).unwrap_or(size)
}

impl WgpuBuffer {
    pub(crate) fn new(handle: &Arc<Handle>, native: wgpu::Buffer, size: u64) -> Self {
        Self { native: Arc::new(OnThread::new(&handle.state, native)), size, handle: handle.clone() }
    }

    pub(crate) fn native(&self) -> &wgpu::Buffer {
        &self.native
    }

    /// Whether it was allocated on this device.
    pub(crate) fn belongs_to(&self, state: &Arc<State>) -> bool {
        Arc::ptr_eq(&self.handle.state, state)
    }
}

impl Buffer for WgpuBuffer {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, offset: u64, length: u64, mut into: Vec<u8>) -> Transfer<Vec<u8>> {
        let state = &self.handle.state;
        if let Err(error) = state.alive() {
            return Transfer::Done(Err(error));
        }
        let (promise, answer) = promise();
        let native = self.native.clone();
        state.push(Item::Job(Box::new(move |device| {
            let from = At { buffer: &native, offset };
            let outcome = device.download(from, length, &mut into, &Control::new(None));
            // The buffer goes before the news does.
            drop(native);
            promise.fulfil(outcome.map(|()| into));
        })));
        Transfer::Pending(Box::pin(answer))
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Transfer<()> {
        let state = &self.handle.state;
        if let Err(error) = state.alive() {
            return Transfer::Done(Err(error));
        }
        let (promise, answer) = promise();
        let (native, bytes) = (self.native.clone(), bytes.to_vec());
        state.push(Item::Job(Box::new(move |device| {
            let control = Control::new(None);
            let to = At { buffer: &native, offset };
            let outcome = device.upload(&bytes, to, &control).and_then(|()| device.finish(&control));
            drop(native);
            promise.fulfil(outcome);
        })));
        Transfer::Pending(Box::pin(answer))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The outcome of a job, and who waits for it.
struct Slot<T> {
    outcome: Option<Result<T>>,
    waker: Option<Waker>,
}

/// Gives the outcome; dropped without, it says that there is none.
struct Promise<T>(Arc<Mutex<Slot<T>>>);

/// A promise, and the future that it fulfils.
fn promise<T: Send>() -> (Promise<T>, impl Future<Output = Result<T>> + Send) {
    let slot = Arc::new(Mutex::new(Slot { outcome: None, waker: None }));
    let promise = Promise(slot.clone());
    let future = poll_fn(move |context| {
        let mut slot = lock(&slot);
        match slot.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    });
    (promise, future)
}

impl<T> Promise<T> {
    /// The first outcome stands.
    fn fulfil(&self, outcome: Result<T>) {
        let mut slot = lock(&self.0);
        slot.outcome.get_or_insert(outcome);
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.fulfil(Err(Error::new(Code::Unavailable, "the device ended before the transfer was done")));
    }
}

fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
