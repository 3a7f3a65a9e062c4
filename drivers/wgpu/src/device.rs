//! Devices: what they publish, and where their calls go.

use crate::{
    adapter::Adapter,
    buffer::{self, WgpuBuffer},
    config::Config,
    executable::{Loaded, WgpuExecutable},
    native::thread,
    state::State,
    store::Store,
};
use hal_driver::{
    Buffer, BufferParams, Code, Device, DeviceInfo, Error, Executable, Heap, Limits, LoadRequest, Result, Work,
};
use hal_kernel::Cache;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

pub(crate) struct WgpuDevice {
    limits: Limits,
    heap: Heap,
    cache: Cache<Loaded>,
    pub(crate) handle: Arc<Handle>,
}

/// What everything made from a device holds; when the last is gone, the device's thread ends.
pub(crate) struct Handle {
    pub(crate) state: Arc<State>,
    max_native_devices: usize,
    /// Whether the thread, and with it the native device, is there.
    started: AtomicBool,
    /// Held while it is started.
    starting: Mutex<()>,
}

impl WgpuDevice {
    /// Opens nothing native yet, but may have to try out what the adapter does. *Blocking.*
    pub(crate) fn new(adapter: Adapter, config: &Config) -> Result<Self> {
        adapter.learn_cut_off()?;
        let (limits, heap) = (adapter.limits(), adapter.heap());
        let store = config.pipeline_folder.as_deref();
        let store = store.and_then(|folder| Store::new(folder, &adapter.info.path, &adapter.identity));
        let state = State::new(adapter, store);
        let handle = Handle {
            state,
            max_native_devices: config.max_native_devices,
            started: AtomicBool::new(false),
            starting: Mutex::new(()),
        };
        Ok(Self { limits, heap, cache: Cache::default(), handle: Arc::new(handle) })
    }
}

impl Handle {
    /// The state, once the native device is open.
    ///
    /// # Errors
    /// `ResourceExhausted` if there are too many, or memory is short; `Unavailable` if the adapter hangs or refuses. It can be tried again.
    pub(crate) fn open(&self) -> Result<&Arc<State>> {
        self.state.alive()?;
        if !self.started() {
            let _one = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
            if !self.started() {
                thread::start(&self.state, self.max_native_devices)?;
                self.started.store(true, Ordering::Release);
            }
        }
        Ok(&self.state)
    }

    /// Whether the native device is open. Whatever was allocated or loaded has seen to it.
    pub(crate) fn started(&self) -> bool {
        self.started.load(Ordering::Acquire)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.state.close();
    }
}

impl Device for WgpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.handle.state.adapter.info
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn heaps(&self) -> &[Heap] {
        std::slice::from_ref(&self.heap)
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>> {
        if size > self.heap.max_allocation {
            return Err(Error::new(
                Code::ResourceExhausted,
                format!("{size} bytes in one buffer; this device has at most {}", self.heap.max_allocation),
            ));
        }
        let state = self.handle.open()?;
        let label = params.label.clone();
        let native = state.ask(move |native| native.allocate(&label, buffer::padded(size)))?;
        Ok(Arc::new(WgpuBuffer::new(&self.handle, native, size)))
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Arc<dyn Executable>> {
        let state = self.handle.open()?;
        let loaded = self.cache.load(request, || Loaded::new(state, &self.limits, request))?;
        Ok(Arc::new(WgpuExecutable::new(&self.handle, loaded)))
    }

    fn submit(&self, work: Work) {
        thread::submit(&self.handle, work);
    }

    fn in_order(&self) -> bool {
        // One thread takes them from one queue.
        true
    }

    fn lost(&self) -> Option<Error> {
        self.handle.state.lost()
    }

    fn trim(&self) -> Result<()> {
        self.handle.state.alive()?;
        drop(self.cache.take());
        if self.handle.started() {
            self.handle.state.ask(|native| native.trim())?;
        }
        Ok(())
    }
}
