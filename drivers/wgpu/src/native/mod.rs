//! The native device. Everything in here runs on the device's own thread and nowhere else.
//!
//! - `thread`: the thread's life, and what it does with each item.
//! - `batch`: commands on their way into one native submission, and the wait for it.
//! - `group`: works that share a native submission.
//! - `run`: the commands of a work.
//! - `transfer`: fills, copies, uploads and reads, at any byte.
//! - `dispatch`: kernels, in pieces that end.
//! - `pace`: how large a piece may be.
//! - `pipeline`: from naga IR to a pipeline.
//! - `keep`: pipelines that outlive the process.
//! - `probe`: what a software adapter does with long loops.

mod batch;
mod dispatch;
mod group;
mod keep;
mod pace;
mod pipeline;
mod probe;
mod run;
pub(crate) mod thread;
mod transfer;

use crate::{adapter, state::State};
use batch::Batch;
use dispatch::Launches;
use hal_driver::{Code, Error, Result};
use keep::Kept;
use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};
use transfer::Transfers;

pub(crate) use pace::CHUNK_ITERATIONS;
pub(crate) use pipeline::Kernel;
pub(crate) use probe::cut_off;
pub(crate) use transfer::At;

/// What every buffer of a tenant can be used for natively: what its owner may do with it is checked above.
const USAGES: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::UNIFORM)
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// The native device and what the driver keeps on it. Fields drop in this order.
pub(crate) struct Native {
    batch: Option<Batch>,
    transfers: Transfers,
    launches: Launches,
    kept: Option<Kept>,
    queue: wgpu::Queue,
    device: wgpu::Device,
    state: Arc<State>,
}

impl Native {
    /// Opens the adapter's device. *Blocking.*
    ///
    /// # Errors
    /// `ResourceExhausted` if memory is short; `Unavailable` if it is refused.
    pub(crate) fn open(state: Arc<State>) -> Result<Self> {
        let (device, queue) = open(&state)?;
        let errors = state.clone();
        // Before the first call: wgpu's own handler panics.
        device.on_uncaptured_error(Arc::new(move |error| errors.lose(&format!("it failed: {error}"))));
        let losses = Arc::downgrade(&state);
        device.set_device_lost_callback(move |reason, text| {
            // Dropping it is no loss.
            if let (Some(state), wgpu::DeviceLostReason::Unknown) = (losses.upgrade(), reason) {
                state.lose(&format!("the native device was lost: {text}"));
            }
        });
        let (transfers, launches) =
            scoped(&state, &device, |device| (Transfers::new(device), Launches::new(device, &state.adapter)))?;
        let kept = Kept::open(&state, &device)?;
        Ok(Self { batch: None, transfers, launches, kept, queue, device, state })
    }

    /// Zeroed memory of a multiple of 16 bytes.
    ///
    /// # Errors
    /// `ResourceExhausted`; the loss.
    pub(crate) fn allocate(&mut self, label: &str, size: u64) -> Result<wgpu::Buffer> {
        // wgpu clears what is used first, so recycled memory shows nothing of its last owner.
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage: USAGES, mapped_at_creation: false };
        self.scoped(|device| device.create_buffer(&descriptor))
    }

    /// Writes what is to outlive the process.
    pub(crate) fn save(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.save(&self.state);
        }
    }

    /// Lets go of what only speeds things up.
    pub(crate) fn trim(&mut self) -> Result<()> {
        self.transfers.trim();
        self.scoped(|device| device.poll(wgpu::PollType::Poll)).map(drop)
    }

    /// Makes native calls, with their errors caught: see [`scoped`].
    fn scoped<T>(&self, calls: impl FnOnce(&wgpu::Device) -> T) -> Result<T> {
        scoped(&self.state, &self.device, calls)
    }
}

/// Makes native calls and answers with their errors, which wgpu gives to whoever has a scope open *on this thread*. Success is only what
/// no scope and no loss contradicts: calls on a lost device report nothing.
fn scoped<T>(state: &State, device: &wgpu::Device, calls: impl FnOnce(&wgpu::Device) -> T) -> Result<T> {
    state.alive()?;
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let value = calls(device);
    let errors = [ready(validation.pop()), ready(memory.pop()), ready(internal.pop())];
    state.alive()?;
    match errors.into_iter().flatten().flatten().next() {
        None => Ok(value),
        Some(error) => Err(refusal(&error)),
    }
}

/// A native error in our terms.
fn refusal(error: &wgpu::Error) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => {
            Error::new(Code::ResourceExhausted, "the device is out of memory; free something, or ask for less")
        }
        wgpu::Error::Validation { description, .. } => {
            Error::new(Code::Internal, format!("the native interface refused what the checks let pass: {description}"))
        }
        wgpu::Error::Internal { description, .. } => {
            Error::new(Code::Internal, format!("the native interface failed: {description}"))
        }
    }
}

fn open(state: &State) -> Result<(wgpu::Device, wgpu::Queue)> {
    let adapter = &state.adapter;
    let offered = adapter.native.features();
    let ours = adapter::features(offered).map(|(_, features)| features);
    // An allow-list: whatever else an adapter offers, kernels do not get.
    let required_features = ours.fold(wgpu::Features::IMMEDIATES, wgpu::Features::union)
        | (offered & wgpu::Features::TIMESTAMP_QUERY)
        | keep::feature(state, offered);
    let descriptor = wgpu::DeviceDescriptor {
        label: None,
        required_features,
        required_limits: adapter.native.limits(),
        experimental_features: wgpu::ExperimentalFeatures::disabled(),
        memory_hints: wgpu::MemoryHints::MemoryUsage,
        trace: wgpu::Trace::Off,
    };
    let opened = ready(adapter.native.request_device(&descriptor));
    let opened = opened.ok_or_else(|| Error::new(Code::Internal, "opening the device did not come to an end"))?;
    opened.map_err(|error| {
        let text = error.to_string();
        let short = text.to_ascii_lowercase().contains("memory");
        let code = if short { Code::ResourceExhausted } else { Code::Unavailable };
        Error::new(code, format!("the device could not be opened: {text}"))
    })
}

/// The value of a future that needs nobody to drive it, as all of wgpu's own are outside of a browser.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
