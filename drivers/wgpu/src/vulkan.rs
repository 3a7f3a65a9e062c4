//! What wgpu does not say about a Vulkan device: the only place that reaches under it.

use wgpu::hal::api::Vulkan;

/// A device as Vulkan describes it.
pub(crate) struct Description {
    /// The same in every process as long as device and driver stay; zero where the driver does not care.
    pub(crate) uuid: [u8; 16],
    /// Bytes of its largest memory heap that is close to it.
    pub(crate) memory_bytes: u64,
}

/// Whether an instance's Vulkan side came up.
pub(crate) fn loaded(instance: &wgpu::Instance) -> bool {
    // SAFETY: only looked at; nothing of it is kept or destroyed.
    unsafe { instance.as_hal::<Vulkan>() }.is_some()
}

/// What Vulkan says about an adapter; none if it is not one of Vulkan's.
pub(crate) fn describe(adapter: &wgpu::Adapter) -> Option<Description> {
    // SAFETY: only asked for properties; nothing of it is kept or destroyed.
    let native = unsafe { adapter.as_hal::<Vulkan>() }?;
    if native.shared_instance().instance_api_version() < ash::vk::API_VERSION_1_1 {
        return None;
    }
    let (instance, physical) = (native.shared_instance().raw_instance(), native.raw_physical_device());
    let mut identity = ash::vk::PhysicalDeviceIDProperties::default();
    let mut properties = ash::vk::PhysicalDeviceProperties2::default().push_next(&mut identity);
    // SAFETY: the physical device belongs to this instance, which `native` keeps alive and which is of Vulkan 1.1, where both functions are.
    let memory = unsafe {
        instance.get_physical_device_properties2(physical, &mut properties);
        instance.get_physical_device_memory_properties(physical)
    };
    let local = ash::vk::MemoryHeapFlags::DEVICE_LOCAL;
    let heaps = memory.memory_heaps_as_slice().iter().filter(|heap| heap.flags.contains(local));
    let memory_bytes = heaps.map(|heap| heap.size).max().unwrap_or_default();
    Some(Description { uuid: identity.device_uuid, memory_bytes })
}
