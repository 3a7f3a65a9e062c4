//! Device memory.

use super::DeviceShared;
use crate::{
    budget::Charge,
    check,
    error::{Error, Result, denied, precondition},
    policy::Limit,
    queue::Uses,
    text::quote,
};
use hal_driver::{MemoryAccess, MemoryType, Usage};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// What a buffer is. Constant for its whole life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferInfo {
    /// Bytes that can be addressed; exactly what was asked for.
    pub size: u64,
    /// Start inside the allocation that a subspan is a view of; 0 for an allocation.
    pub offset: u64,
    /// What was asked for.
    pub memory: MemoryType,
    /// What it may be used for.
    pub usage: Usage,
    /// What may be done to the bytes; never empty.
    pub access: MemoryAccess,
    /// Made by `alloca`: backed by memory only between its alloca and its dealloca.
    pub transient: bool,
    /// As given, control characters replaced.
    pub label: String,
}

/// Native memory and what it costs. In this order: the charge comes back when the memory is gone.
pub(crate) struct Memory {
    native: Arc<dyn hal_driver::Buffer>,
    _charge: Charge,
}

/// A native buffer, and for a transient one what holds its memory.
pub(crate) type Native = (Arc<dyn hal_driver::Buffer>, Option<Arc<Memory>>);

/// Where the bytes are.
enum Backing {
    Fixed(Memory),
    Transient(Mutex<Transient>),
}

struct Transient {
    state: TransientState,
    /// A release is queued.
    releasing: bool,
}

enum TransientState {
    /// The charge of the memory to come.
    Pending(Option<Charge>),
    Committed(Arc<Memory>),
    Released,
    /// The memory never came.
    Failed(Error),
}

/// An allocation: what a buffer and all its subspans are views of.
pub(crate) struct Storage {
    pub(crate) size: u64,
    pub(crate) memory: MemoryType,
    pub(crate) usage: Usage,
    pub(crate) access: MemoryAccess,
    label: String,
    backing: Backing,
    /// What pending submissions touch.
    pub(crate) uses: Uses,
    pub(crate) device: Arc<DeviceShared>,
    /// The allocation as one of the grant's buffers.
    _charge: Charge,
}

/// What a new allocation is to be.
pub(crate) struct StorageParams {
    pub(crate) params: hal_driver::BufferParams,
    pub(crate) size: u64,
    /// One of "buffers".
    pub(crate) buffer: Charge,
    /// Its "memory-bytes".
    pub(crate) memory: Charge,
}

impl Storage {
    pub(crate) fn fixed(
        device: &Arc<DeviceShared>,
        native: Arc<dyn hal_driver::Buffer>,
        new: StorageParams,
    ) -> Arc<Self> {
        let StorageParams { params, size, buffer, memory } = new;
        Self::make(device, Backing::Fixed(Memory { native, _charge: memory }), params, size, buffer)
    }

    pub(crate) fn transient(device: &Arc<DeviceShared>, new: StorageParams) -> Arc<Self> {
        let StorageParams { params, size, buffer, memory } = new;
        let transient = Transient { state: TransientState::Pending(Some(memory)), releasing: false };
        Self::make(device, Backing::Transient(Mutex::new(transient)), params, size, buffer)
    }

    fn make(
        device: &Arc<DeviceShared>,
        backing: Backing,
        params: hal_driver::BufferParams,
        size: u64,
        charge: Charge,
    ) -> Arc<Self> {
        let hal_driver::BufferParams { memory, usage, access, label } = params;
        let (uses, device) = (Uses::default(), device.clone());
        Arc::new(Self { size, memory, usage, access, label, backing, uses, device, _charge: charge })
    }

    fn transient_state(&self) -> Option<MutexGuard<'_, Transient>> {
        match &self.backing {
            Backing::Fixed(_) => None,
            Backing::Transient(transient) => Some(transient.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    pub(crate) fn is_transient(&self) -> bool {
        matches!(self.backing, Backing::Transient(_))
    }

    /// The native buffer as it is now, and for a transient one what holds its memory.
    ///
    /// # Errors
    /// `failed-precondition` while there is none.
    pub(crate) fn native(&self) -> Result<Native> {
        match &self.backing {
            Backing::Fixed(memory) => Ok((memory.native.clone(), None)),
            Backing::Transient(_) => match self.transient_state().as_deref().map(|transient| &transient.state) {
                Some(TransientState::Committed(memory)) => Ok((memory.native.clone(), Some(memory.clone()))),
                Some(TransientState::Failed(error)) => {
                    Err(precondition(format!("the buffer never got its memory: {}", error.message)))
                }
                Some(TransientState::Released) => Err(precondition("the buffer was released by dealloca")),
                Some(TransientState::Pending(_)) | None => {
                    Err(precondition("the buffer has no memory yet; order this behind what its alloca signals"))
                }
            },
        }
    }

    /// Refuses what can never work again.
    pub(crate) fn usable(&self) -> Result<()> {
        match self.transient_state().as_deref().map(|transient| &transient.state) {
            Some(TransientState::Released) => Err(precondition("the buffer was released by dealloca")),
            Some(TransientState::Failed(error)) => {
                Err(precondition(format!("the buffer never got its memory: {}", error.message)))
            }
            _ => Ok(()),
        }
    }

    /// Gives a transient buffer its memory.
    pub(crate) fn commit(&self, native: Arc<dyn hal_driver::Buffer>) -> Result<()> {
        if let Some(mut transient) = self.transient_state()
            && let TransientState::Pending(charge) = &mut transient.state
            && let Some(charge) = charge.take()
        {
            transient.state = TransientState::Committed(Arc::new(Memory { native, _charge: charge }));
            return Ok(());
        }
        // The native buffer is dropped here, after the lock.
        Err(precondition("the buffer has had its memory already"))
    }

    /// The memory of a transient buffer never came.
    pub(crate) fn failed(&self, error: &Error) {
        let old = self
            .transient_state()
            .map(|mut transient| std::mem::replace(&mut transient.state, TransientState::Failed(error.clone())));
        drop(old);
    }

    /// Notes that a release is queued.
    ///
    /// # Errors
    /// `failed-precondition` if one is, or was.
    pub(crate) fn releasing(&self) -> Result<()> {
        self.usable()?;
        let already =
            self.transient_state().is_some_and(|mut transient| std::mem::replace(&mut transient.releasing, true));
        if already { Err(precondition("a dealloca of this buffer is queued already")) } else { Ok(()) }
    }

    /// A queued release came to nothing.
    pub(crate) fn kept(&self) {
        if let Some(mut transient) = self.transient_state() {
            transient.releasing = false;
        }
    }

    /// Takes a transient buffer's memory away; running work holds it until it has ended.
    pub(crate) fn release(&self) -> Result<()> {
        self.native()?;
        let old = self
            .transient_state()
            .map(|mut transient| std::mem::replace(&mut transient.state, TransientState::Released));
        drop(old);
        Ok(())
    }
}

/// A view of an allocation, behind every handle to it.
pub(crate) struct BufferShared {
    pub(crate) storage: Arc<Storage>,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    closed: AtomicBool,
    /// A subspan's own place among the grant's buffers.
    charge: Option<Charge>,
}

impl BufferShared {
    pub(crate) fn is_subspan(&self) -> bool {
        self.charge.is_some()
    }
}

/// A range of device memory. Clones are one handle: closing one closes all.
#[derive(Clone)]
pub struct Buffer(pub(crate) Arc<BufferShared>);

impl Buffer {
    pub(crate) fn new(storage: Arc<Storage>) -> Self {
        let size = storage.size;
        Self(Arc::new(BufferShared { storage, offset: 0, size, closed: AtomicBool::new(false), charge: None }))
    }

    /// What it is. Answers in every state.
    pub fn info(&self) -> BufferInfo {
        let storage = &self.0.storage;
        BufferInfo {
            size: self.0.size,
            offset: self.0.offset,
            memory: storage.memory,
            usage: storage.usage,
            access: storage.access,
            transient: storage.is_transient(),
            label: storage.label.clone(),
        }
    }

    /// A view of a part, with no more rights than this one.
    ///
    /// # Errors
    /// `out-of-range`; `resource-exhausted` for "buffers"; `failed-precondition` once closed.
    #[tracing::instrument(level = "trace", skip_all)]
    pub fn subspan(&self, offset: u64, length: u64) -> Result<Buffer> {
        self.device().tenant.observe("buffer.subspan", self.try_subspan(offset, length))
    }

    fn try_subspan(&self, offset: u64, length: u64) -> Result<Buffer> {
        self.open()?;
        self.device().usable()?;
        check::range(self.0.size, offset, length)?;
        let charge = self.device().node.charge(Limit::Buffers, 1)?;
        Ok(Buffer(Arc::new(BufferShared {
            storage: self.0.storage.clone(),
            offset: self.0.offset.saturating_add(offset),
            size: length,
            closed: AtomicBool::new(false),
            charge: Some(charge),
        })))
    }

    /// Copies bytes behind the end of `into`, which is given back: a caller may use one vector again and again.
    ///
    /// # Errors
    /// `out-of-range`; `resource-exhausted` above "transfer-bytes"; `permission-denied`; `failed-precondition` when closed, not
    /// committed, or in the way of a pending submission; `unavailable` once the device is lost.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn read(&self, offset: u64, length: u64, into: Vec<u8>) -> Result<Vec<u8>> {
        let result = match self.transfer(offset, length, false) {
            Ok((native, _memory)) => {
                let start = self.0.offset.saturating_add(offset);
                self.device().transfer("a read", || native.read(start, length, into)).await
            }
            Err(error) => Err(error),
        };
        if result.is_ok() {
            self.device().tenant.meter.read_bytes.add(length);
        }
        self.device().tenant.observe("buffer.read", result)
    }

    /// Copies bytes to the buffer, once.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let length = bytes.len() as u64;
        let result = match self.transfer(offset, length, true) {
            Ok((native, _memory)) => {
                let start = self.0.offset.saturating_add(offset);
                self.device().transfer("a write", || native.write(start, bytes)).await
            }
            Err(error) => Err(error),
        };
        if result.is_ok() {
            self.device().tenant.meter.written_bytes.add(length);
        }
        self.device().tenant.observe("buffer.write", result)
    }

    /// Checks a host transfer and answers with what it goes to.
    fn transfer(&self, offset: u64, length: u64, write: bool) -> Result<Native> {
        self.open()?;
        let device = self.device();
        device.gate()?;
        check::bound(&device.node, Limit::TransferBytes, length, "transfer in smaller pieces")?;
        check::range(self.0.size, offset, length)?;
        let storage = &self.0.storage;
        let (usage, access) = if write {
            (Usage::TRANSFER_TARGET | Usage::MAPPING_SCOPED, MemoryAccess::WRITE)
        } else {
            (Usage::TRANSFER_SOURCE | Usage::MAPPING_SCOPED, MemoryAccess::READ)
        };
        check::rights(storage, usage, access)?;
        let native = storage.native()?;
        let start = self.0.offset.saturating_add(offset);
        storage.uses.check(start, start.saturating_add(length), write)?;
        Ok(native)
    }

    /// Gives the buffer up. Subspans stay valid, work in flight goes on.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
    }

    fn device(&self) -> &Arc<DeviceShared> {
        &self.0.storage.device
    }

    /// Refuses once closed.
    pub(crate) fn open(&self) -> Result<()> {
        if self.0.closed.load(Ordering::Acquire) { Err(precondition("the buffer is closed")) } else { Ok(()) }
    }
}

/// Rights that a buffer was made without.
pub(crate) fn lacking(
    storage: &Storage,
    what: &str,
    lacks: impl std::fmt::Display,
    has: impl std::fmt::Display,
) -> Error {
    let label = if storage.label.is_empty() { String::new() } else { format!(" {}", quote(&storage.label)) };
    denied(format!("the buffer{label} was made without the {what} {lacks}; it has {has}"))
}
