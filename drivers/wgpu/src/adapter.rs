//! Adapters: devices as they are listed, before anything is opened.

use crate::{
    backend::Backend,
    native::{self, CHUNK_ITERATIONS},
};
use hal_driver::{DeviceInfo, DeviceKind, Heap, Limits, MemoryType, Result, Unusable};
use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// Iterations that one invocation may make, on devices that do not end it earlier themselves: a few milliseconds of a GPU's thread.
const MAX_LOOP_ITERATIONS: u32 = 1 << 24;

/// A device that could be opened.
#[derive(Clone)]
pub(crate) struct Adapter {
    pub(crate) native: wgpu::Adapter,
    /// The name of the driver that lists it.
    driver: &'static str,
    pub(crate) info: DeviceInfo,
    /// Which native device it is, for people.
    pub(crate) description: String,
    /// What has to be the same for the native compiler's output to be of use: the device, and its driver's version.
    pub(crate) identity: String,
    /// What the process knows about it.
    pub(crate) health: Arc<Health>,
}

/// What the devices of one adapter have to know of each other.
#[derive(Default)]
pub(crate) struct Health {
    /// Native devices that are open.
    open: AtomicUsize,
    /// Those of them whose native side does not come back.
    wedged: AtomicUsize,
    /// Iterations after which the device itself ends an invocation without a word, once that is known.
    cut_off: OnceLock<Option<u32>>,
}

/// One of the native devices of an adapter; dropping it makes room for another.
pub(crate) struct Place(Arc<Health>);

impl Health {
    /// Room for one more native device, if there are fewer than `most`.
    pub(crate) fn place(self: &Arc<Self>, most: usize) -> Option<Place> {
        let more = |open: usize| (open < most).then_some(open + 1);
        self.open.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Place(self.clone()))
    }

    /// How many native devices do not come back.
    pub(crate) fn wedged(&self) -> usize {
        self.wedged.load(Ordering::Acquire)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The adapters of a back end, the default one first: discrete, integrated, virtual, others, software; by path among equals.
pub(crate) fn list(backend: Backend, instance: &wgpu::Instance) -> Vec<Adapter> {
    let natives = natives(backend, instance).into_iter();
    let fit = natives.filter(|native| unfit(native.features(), &native.limits()).is_none());
    let mut adapters: Vec<Adapter> = fit.map(|native| Adapter::new(backend, native)).collect();
    adapters
        .sort_by(|left, right| (rank(left.info.kind), &left.info.path).cmp(&(rank(right.info.kind), &right.info.path)));
    number_equals(&mut adapters);
    for adapter in &mut adapters {
        adapter.health = health(backend, &adapter.info.path);
    }
    adapters
}

/// The adapters that [`list`] leaves out, and those that wgpu does.
pub(crate) fn unusable(backend: Backend, instance: &wgpu::Instance) -> Vec<Unusable> {
    let natives = natives(backend, instance);
    let ours = natives.iter().filter_map(|native| {
        let reason = unfit(native.features(), &native.limits())?;
        Some(Unusable { name: native.get_info().name, reason: reason.to_owned() })
    });
    let mut unusable: Vec<Unusable> = ours.collect();
    #[cfg(not(any(target_vendor = "apple", windows)))]
    unusable.extend(crate::vulkan::hidden(instance, &natives).into_iter().map(|name| {
        Unusable {
            name,
            reason:
                "wgpu hides it: it lacks something that wgpu needs, or its driver does not claim to conform to Vulkan"
                    .to_owned(),
        }
    }));
    unusable
}

fn natives(backend: Backend, instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    // No back end of ours takes its time over this: the future is ready.
    native::ready(instance.enumerate_adapters(backend.native())).unwrap_or_default()
}

/// Why an adapter cannot run kernels of ours at all, if it cannot.
fn unfit(features: wgpu::Features, limits: &wgpu::Limits) -> Option<&'static str> {
    let fits =
        features.contains(wgpu::Features::IMMEDIATES) && limits.max_immediate_size >= hal_kernel::MAX_CONSTANT_BYTES;
    (!fits).then_some("it lacks 128 bytes of immediates (push constants), which a kernel's constants need")
}

impl Adapter {
    fn new(backend: Backend, native: wgpu::Adapter) -> Self {
        let info = native.get_info();
        let (uuid, memory_bytes) = describe(&native);
        let path = path(&info, uuid);
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
            wgpu::DeviceType::VirtualGpu => DeviceKind::Virtual,
            wgpu::DeviceType::Cpu => DeviceKind::Cpu,
            wgpu::DeviceType::Other => DeviceKind::Other,
        };
        let description = format!(
            "{} adapter, vendor {:#06x}, device {:#06x}, driver {} {}\nsubgroups: {} to {} invocations\n",
            backend.name(),
            info.vendor,
            info.device,
            info.driver,
            info.driver_info,
            info.subgroup_min_size,
            info.subgroup_max_size,
        );
        let identity =
            format!("{:x} {:x} {} / {} / {}", info.vendor, info.device, info.name, info.driver, info.driver_info);
        let info = DeviceInfo {
            path,
            name: info.name,
            kind,
            memory_bytes,
            formats: vec!["wgsl".into(), "spirv".into()],
            features: features(native.features()).map(|(name, _)| name.to_owned()).collect(),
        };
        Self { native, driver: backend.name(), info, description, identity, health: Arc::default() }
    }

    /// One of its native devices does not come back.
    pub(crate) fn wedge(&self) {
        self.health.wedged.fetch_add(1, Ordering::AcqRel);
        self.wedged_gauge().increment(1);
    }

    /// One has come back after all.
    pub(crate) fn unwedge(&self) {
        self.health.wedged.fetch_sub(1, Ordering::AcqRel);
        self.wedged_gauge().decrement(1);
    }

    /// For the host's metrics: what an operator has to know before the adapter takes no new devices.
    fn wedged_gauge(&self) -> metrics::Gauge {
        metrics::gauge!("hal_wgpu_wedged_devices", "driver" => self.driver, "device" => self.info.path.clone())
    }

    /// Whether the host's processor does the work.
    pub(crate) fn is_software(&self) -> bool {
        self.info.kind == DeviceKind::Cpu
    }

    /// What a device of it can take.
    pub(crate) fn limits(&self) -> Limits {
        let native = self.native.limits();
        // One of each is the driver's own.
        let bindings =
            native.max_storage_buffers_per_shader_stage.saturating_sub(1).min(native.max_bindings_per_bind_group);
        let alignment = native.min_storage_buffer_offset_alignment.max(native.min_uniform_buffer_offset_alignment);
        let cut_off = self.cut_off();
        Limits {
            max_buffer_bytes: native.max_buffer_size,
            max_storage_binding_bytes: native.max_storage_buffer_binding_size / 4 * 4,
            max_bindings: bindings.min(hal_kernel::MAX_BINDINGS),
            max_constant_bytes: hal_kernel::MAX_CONSTANT_BYTES,
            binding_offset_alignment: u64::from(alignment),
            binding_length_multiple: 4,
            max_uniform_bytes: native.max_uniform_buffer_binding_size.min(u64::from(hal_kernel::MAX_UNIFORM_BYTES)),
            max_workgroups_per_dimension: native.max_compute_workgroups_per_dimension,
            // Larger grids than a native call takes are split anyway; the same as on the cpu driver.
            max_workgroups: 65_535 * 65_535,
            max_invocations_per_workgroup: native.max_compute_invocations_per_workgroup,
            max_workgroup_memory_bytes: native
                .max_compute_workgroup_storage_size
                .saturating_sub(hal_kernel::native::STOP_BYTES),
            // Such a device also counts, for each loop, the one around it in which it is begun again.
            max_loop_iterations: cut_off
                .map_or(MAX_LOOP_ITERATIONS, |most| most / 2 / CHUNK_ITERATIONS * CHUNK_ITERATIONS)
                .into(),
        }
    }

    /// Iterations after which the device itself ends an invocation without a word.
    pub(crate) fn cut_off(&self) -> Option<u32> {
        self.health.cut_off.get().copied().flatten()
    }

    /// Memory is close to the device, and reached by the host through staging.
    pub(crate) fn heap(&self) -> Heap {
        let mut memory =
            MemoryType::OPTIMAL | MemoryType::HOST_VISIBLE | MemoryType::DEVICE_VISIBLE | MemoryType::DEVICE_LOCAL;
        if matches!(self.info.kind, DeviceKind::Cpu | DeviceKind::Integrated) {
            memory = memory | MemoryType::HOST_LOCAL;
        }
        Heap { memory, max_allocation: self.native.limits().max_buffer_size.min(self.info.memory_bytes) }
    }

    /// Finds out, once in the process, after how many iterations the device ends an invocation of its own accord. *Blocking.*
    ///
    /// # Errors
    /// What keeps a device of it from being opened.
    pub(crate) fn learn_cut_off(&self) -> Result<()> {
        let known = &self.health.cut_off;
        if known.get().is_none() {
            // Twice at the same time does no harm.
            let cut_off = if self.is_software() { native::cut_off(self)? } else { None };
            let _ = known.set(cut_off);
        }
        Ok(())
    }
}

/// Our names of the features, and the native ones behind them.
pub(crate) fn features(offered: wgpu::Features) -> impl Iterator<Item = (&'static str, wgpu::Features)> {
    let names = [
        ("float32-atomic", wgpu::Features::SHADER_FLOAT32_ATOMIC),
        (
            "int64-atomic",
            wgpu::Features::SHADER_INT64
                .union(wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS)
                .union(wgpu::Features::SHADER_INT64_ATOMIC_MIN_MAX),
        ),
        ("shader-f16", wgpu::Features::SHADER_F16),
        ("shader-int64", wgpu::Features::SHADER_INT64),
        ("subgroup", wgpu::Features::SUBGROUP.union(wgpu::Features::SUBGROUP_BARRIER)),
    ];
    names.into_iter().filter(move |(_, features)| offered.contains(*features))
}

/// Memory and, where there is one, a number that is the device's own.
fn describe(native: &wgpu::Adapter) -> (Option<[u8; 16]>, u64) {
    #[cfg(not(any(target_vendor = "apple", windows)))]
    if let Some(description) = crate::vulkan::describe(native) {
        return (Some(description.uuid), description.memory_bytes);
    }
    (None, native.limits().max_buffer_size)
}

/// What stays the same over processes and restarts, whatever order a loader finds devices in: the place on the bus, or else the uuid,
/// or else the model.
fn path(info: &wgpu::AdapterInfo, uuid: Option<[u8; 16]>) -> String {
    if !info.device_pci_bus_id.is_empty() {
        return format!("pci-{}", info.device_pci_bus_id);
    }
    match uuid {
        Some(uuid) if uuid.iter().any(|byte| *byte != 0) => {
            format!("uuid-{}", uuid.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        _ => format!("{:x}-{:x}-{}", info.vendor, info.device, slug(&info.name)),
    }
}

/// Letters and digits of a name, so that it fits into a URI.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    slug.truncate(64);
    slug
}

/// Tells devices apart that nothing else tells apart.
fn number_equals(adapters: &mut [Adapter]) {
    let mut before = String::new();
    let mut count = 0;
    for adapter in adapters {
        if adapter.info.path == before {
            count += 1;
            adapter.info.path = format!("{before}+{count}");
        } else {
            before.clone_from(&adapter.info.path);
            count = 0;
        }
    }
}

fn rank(kind: DeviceKind) -> u32 {
    match kind {
        DeviceKind::Discrete => 0,
        DeviceKind::Integrated => 1,
        DeviceKind::Virtual => 2,
        DeviceKind::Other => 3,
        DeviceKind::Cpu => 4,
    }
}

/// What the process knows about the adapter at a path. Kept for good: there are as many as the machine has had devices.
fn health(backend: Backend, path: &str) -> Arc<Health> {
    static KNOWN: Mutex<Vec<(Backend, String, Arc<Health>)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., health)) = known.iter().find(|(of, at, _)| *of == backend && at == path) {
        return health.clone();
    }
    let health = Arc::new(Health::default());
    known.push((backend, path.to_owned(), health.clone()));
    health
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_without_room_for_constants_is_unfit_and_says_so() {
        let limits = |max_immediate_size| wgpu::Limits { max_immediate_size, ..wgpu::Limits::default() };
        assert_eq!(unfit(wgpu::Features::IMMEDIATES, &limits(128)), None);
        for (features, bytes) in [(wgpu::Features::IMMEDIATES, 127), (wgpu::Features::empty(), 128)] {
            assert!(unfit(features, &limits(bytes)).unwrap().contains("128 bytes of immediates"));
        }
    }
}
