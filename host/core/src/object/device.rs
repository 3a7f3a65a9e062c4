//! A device: memory and kernels. Its queue is in `device_queue`, its life in `device_state`.

use super::{
    Amount, Buffer, DeviceShared, Executable, ExecutableParams, Semaphore, Storage, Used, buffer::StorageParams,
};
use crate::{
    check,
    error::{Error, Result, invalid, not_found},
    policy::Limit,
    pool::guarded,
    queue::Timeline,
    text::{MAX_NAME_BYTES, quote},
};
use hal_driver::{BufferParams, Code, DeviceKind, FEATURES, Heap, LoadRequest, MemoryAccess, MemoryType, Usage};
use std::sync::Arc;

/// Most override constants of one load.
const MAX_OVERRIDES: usize = 256;

/// A device as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Counted from 0 per driver handle, after filtering by the grant; never used again.
    pub id: u64,
    /// Usable in a URI: `driver://path`.
    pub path: String,
    /// For display; what it reveals is the operator's choice.
    pub name: String,
    /// What it is made of.
    pub kind: DeviceKind,
    /// Memory as granted, in bytes.
    pub memory_bytes: u64,
    /// Executable formats: `"wgsl"`, `"spirv"`.
    pub formats: Vec<String>,
    /// Of [`hal_driver::FEATURES`], those it has.
    pub features: Vec<String>,
}

/// How a buffer with some parameters would fare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compatibility {
    /// Can be allocated.
    pub allocatable: bool,
    /// Can be used in copies, fills and updates.
    pub transferable: bool,
    /// Can be bound by a dispatch.
    pub dispatchable: bool,
    /// The size it would have, in bytes.
    pub size: u64,
}

/// How long a submission took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// What the caller passed to `submit` or `execute`.
    pub tag: u64,
    /// From the moment its waits were met until it began, in nanoseconds.
    pub queue_ns: u64,
    /// While it ran, in nanoseconds; none where the device cannot tell.
    pub device_ns: Option<u64>,
}

/// An open device, with the limits of the grant it came from. Clones are one handle: closing one closes all.
///
/// Besides what is said at each function: `failed-precondition` once closed, `permission-denied` once revoked, `unavailable` once
/// lost, `cancelled` once the session has ended.
#[derive(Clone)]
pub struct Device(pub(crate) Arc<DeviceShared>);

impl Device {
    /// What it is. Answers in every state.
    pub fn info(&self) -> DeviceInfo {
        self.0.info.clone()
    }

    /// Bounds of this device under this grant, by name.
    pub fn limits(&self) -> Vec<Amount> {
        self.named_limits().map(|(name, value)| Amount { name: name.to_owned(), value }).collect()
    }

    fn named_limits(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let node = self.0.node.clone();
        let memory = node.allowed(Limit::MemoryBytes);
        let native = self.0.native.limits().named().into_iter();
        let own = [
            (Limit::TransferBytes.label(), node.allowed(Limit::TransferBytes)),
            (Limit::UpdateBytes.label(), node.allowed(Limit::UpdateBytes)),
            ("max-source-bytes", node.allowed(Limit::SourceBytes)),
        ];
        let cut = move |(name, value): (&'static str, u64)| {
            (name, if name == "max-buffer-bytes" { value.min(memory) } else { value })
        };
        own.into_iter().chain(native.map(cut))
    }

    /// The budget of the grant this device came from.
    pub fn budget(&self) -> Vec<Used> {
        self.0.node.usage()
    }

    /// A number about the device: category `hal.device` (`id`, `memory-bytes`), `hal.limits` (as in [`Device::limits`]) or
    /// `hal.features` (1 or 0, for each of [`hal_driver::FEATURES`]).
    ///
    /// # Errors
    /// `not-found` for a key nobody knows.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn query(&self, category: &str, key: &str) -> Result<u64> {
        let result = self.0.gate().and_then(|()| self.number(category, key));
        self.0.tenant.observe("device.query", result)
    }

    fn number(&self, category: &str, key: &str) -> Result<u64> {
        let info = &self.0.info;
        let found = match (category, key) {
            ("hal.device", "id") => Some(info.id),
            ("hal.device", "memory-bytes") => Some(info.memory_bytes),
            ("hal.limits", key) => self.named_limits().find(|(name, _)| *name == key).map(|(_, value)| value),
            ("hal.features", key) => {
                let has = info.features.iter().any(|feature| feature == key);
                (has || FEATURES.contains(&key)).then_some(u64::from(has))
            }
            _ => None,
        };
        found.ok_or_else(|| {
            not_found(format!(
                "nothing is known about {} in {}; there are hal.device, hal.limits and hal.features",
                quote(key),
                quote(category)
            ))
        })
    }

    /// The kinds of memory it has, cut to the grant.
    pub fn memory_heaps(&self) -> Vec<Heap> {
        let granted = self.0.node.allowed(Limit::MemoryBytes);
        let cut = |heap: &Heap| Heap { memory: heap.memory, max_allocation: heap.max_allocation.min(granted) };
        self.0.native.heaps().iter().map(cut).collect()
    }

    /// How a buffer would fare. Never fails: what cannot be is not allocatable.
    pub fn buffer_compatibility(&self, params: &BufferParams, size: u64) -> Compatibility {
        let granted = self.0.node.allowed(Limit::MemoryBytes);
        let most = self.0.native.limits().max_buffer_bytes.min(granted);
        let heap = |heap: &Heap| has(heap, params.memory) && size <= heap.max_allocation;
        let allocatable = size <= most && self.0.native.heaps().iter().any(heap);
        let any = |usage: Usage| !params.usage.intersection(usage).is_empty();
        let dispatch = Usage::DISPATCH_STORAGE_READ
            | Usage::DISPATCH_STORAGE_WRITE
            | Usage::DISPATCH_UNIFORM_READ
            | Usage::DISPATCH_INDIRECT_PARAMETERS;
        Compatibility {
            allocatable,
            transferable: allocatable && any(Usage::TRANSFER_SOURCE | Usage::TRANSFER_TARGET),
            dispatchable: allocatable && any(dispatch),
            size,
        }
    }

    /// Memory at once, zeroed. Size 0 is legal.
    ///
    /// # Errors
    /// `resource-exhausted` ("memory-bytes", "buffers", "max-buffer-bytes", or the device is out of memory); `invalid-argument` for
    /// a memory type nobody has or a label over 64 bytes.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn allocate(&self, params: BufferParams, size: u64) -> Result<Buffer> {
        let result = self.try_allocate(params, size).await;
        self.0.tenant.observe("device.allocate", result)
    }

    async fn try_allocate(&self, params: BufferParams, size: u64) -> Result<Buffer> {
        let new = self.storage(params, size)?;
        let device = self.0.clone();
        if self.0.native.allocates_at_once() {
            return guarded("an allocation", || fixed(&device, new));
        }
        self.0.run("an allocation", move || fixed(&device, new)).await
    }

    /// Checks and charges an allocation.
    pub(super) fn storage(&self, params: BufferParams, size: u64) -> Result<StorageParams> {
        self.0.gate()?;
        let label = check::label(&params.label)?;
        let heaps = self.0.native.heaps();
        if !heaps.iter().any(|heap| has(heap, params.memory)) {
            return Err(invalid(format!("no memory of this device is {}; see its heaps", params.memory)));
        }
        let most = self.0.native.limits().max_buffer_bytes;
        if size > most {
            return Err(Error::bound("max-buffer-bytes", size, most, "split it into several buffers"));
        }
        let access = if params.access.is_empty() { MemoryAccess::all() } else { params.access };
        Ok(StorageParams {
            buffer: self.0.node.charge(Limit::Buffers, 1)?,
            memory: self.0.node.charge(Limit::MemoryBytes, size)?,
            params: BufferParams { access, label, ..params },
            size,
        })
    }

    /// A semaphore with a first value.
    ///
    /// # Errors
    /// `resource-exhausted` for "semaphores".
    #[tracing::instrument(level = "trace", skip_all)]
    pub fn create_semaphore(&self, initial: u64) -> Result<Semaphore> {
        let result = self.0.gate().and_then(|()| self.semaphore(initial, false));
        self.0.tenant.observe("device.create-semaphore", result)
    }

    fn semaphore(&self, initial: u64, loss: bool) -> Result<Semaphore> {
        let charge = self.0.node.charge(Limit::Semaphores, 1)?;
        let tenant = &self.0.tenant;
        let timeline = Timeline::new(tenant.semaphore_id(), tenant.lane, initial, Some(charge));
        self.0.add_semaphore(&timeline, loss);
        Ok(Semaphore::new(&self.0, timeline, loss))
    }

    /// Whether [`Device::load_executable`] knows a format. Unknown names are false, not an error.
    pub fn can_load(&self, format: &str) -> bool {
        self.0.info.formats.iter().any(|known| known == format)
    }

    /// Compiles kernels, for as long as a compiler takes.
    ///
    /// # Errors
    /// `invalid-argument` with line and column for wrong source or overrides; `incompatible` for a format or feature the device lacks, and
    /// for a function beyond one of its limits; `unimplemented`; `resource-exhausted` above "max-source-bytes", a compiler's bound, or for "executables".
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn load_executable(&self, params: ExecutableParams, bytes: Vec<u8>) -> Result<Executable> {
        let result = self.try_load(params, bytes).await;
        self.0.tenant.observe("device.load-executable", result)
    }

    async fn try_load(&self, params: ExecutableParams, bytes: Vec<u8>) -> Result<Executable> {
        self.0.gate()?;
        let label = check::label(&params.label)?;
        if !self.can_load(&params.format) {
            let there = crate::text::list(self.0.info.formats.iter().map(String::as_str));
            return Err(Error::new(
                Code::Incompatible,
                format!("this device does not load the format {}; it loads {there}", quote(&params.format)),
            ));
        }
        let most = self.0.node.allowed(Limit::SourceBytes);
        if bytes.len() as u64 > most {
            return Err(Error::bound("max-source-bytes", bytes.len() as u64, most, "split the module"));
        }
        let long = params.overrides.iter().any(|(name, _)| name.len() > MAX_NAME_BYTES);
        if long || params.overrides.len() > MAX_OVERRIDES {
            return Err(invalid(format!(
                "at most {MAX_OVERRIDES} overrides, with names of at most {MAX_NAME_BYTES} bytes"
            )));
        }
        let charge = self.0.node.charge(Limit::Executables, 1)?;
        let source = self.0.node.charge(Limit::HostBytes, bytes.len() as u64)?;
        let device = self.0.clone();
        let compile = move || {
            let request =
                LoadRequest { format: &params.format, bytes: &bytes, overrides: &params.overrides, label: &label };
            let loaded = device.native.load(&request).map_err(Error::from).and_then(|native| {
                check::functions(device.native.info(), device.native.limits(), native.functions())?;
                Ok(native)
            });
            drop(source);
            let native = loaded.map_err(|error| check::named(&label, error))?;
            Ok(Executable::new(&device, native, charge))
        };
        self.0.run("compiling", compile).await
    }

    /// Why the device is lost; none while it is not.
    pub fn lost(&self) -> Option<Error> {
        self.0.lost()
    }

    /// A semaphore that is never signalled and fails with the reason when the device is lost or closed.
    ///
    /// # Errors
    /// `resource-exhausted` for "semaphores".
    #[tracing::instrument(level = "trace", skip_all)]
    pub fn loss_semaphore(&self) -> Result<Semaphore> {
        // A lost device has one too: it has failed already.
        let result = self.0.usable().and_then(|()| self.semaphore(0, true));
        self.0.tenant.observe("device.loss-semaphore", result)
    }

    /// Gives memory that only caches hold back to the system.
    ///
    /// # Errors
    /// The driver's.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn trim(&self) -> Result<()> {
        let result = match self.0.gate() {
            Ok(()) => {
                let device = self.0.clone();
                self.0.run("trimming", move || device.native.trim().map_err(Error::from)).await
            }
            Err(error) => Err(error),
        };
        self.0.tenant.observe("device.trim", result)
    }

    /// Gives the device and everything made from it up. Never waits.
    pub fn close(&self) {
        self.0.close();
    }
}

fn fixed(device: &Arc<DeviceShared>, new: StorageParams) -> Result<Buffer> {
    let native = device.native.allocate(&new.params, new.size)?;
    Ok(Buffer::new(Storage::fixed(device, native, new)))
}

/// Whether a heap has the memory that is asked for. `optimal` is a wish, not a property.
fn has(heap: &Heap, asked: MemoryType) -> bool {
    (heap.memory | MemoryType::OPTIMAL).contains(asked)
}
