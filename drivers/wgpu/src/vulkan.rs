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

/// The names of an instance's devices that none of `offered` is.
pub(crate) fn hidden(instance: &wgpu::Instance, offered: &[wgpu::Adapter]) -> Vec<String> {
    // SAFETY: only looked at; nothing of it is kept or destroyed.
    let Some(native) = (unsafe { instance.as_hal::<Vulkan>() }) else { return Vec::new() };
    // SAFETY: only its handle is looked at, here and not later.
    let handle = |adapter: &wgpu::Adapter| Some(unsafe { adapter.as_hal::<Vulkan>() }?.raw_physical_device());
    let offered: Vec<ash::vk::PhysicalDevice> = offered.iter().filter_map(handle).collect();
    let instance = native.shared_instance().raw_instance();
    // SAFETY: `native` keeps the instance alive.
    let all = unsafe { instance.enumerate_physical_devices() }.unwrap_or_default();
    let name = |device| {
        // SAFETY: the device is one of this instance's.
        let properties = unsafe { instance.get_physical_device_properties(device) };
        properties.device_name_as_c_str().unwrap_or_default().to_string_lossy().into_owned()
    };
    all.into_iter().filter(|device| !offered.contains(device)).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{backend::Backend, native::ready};

    #[test]
    fn what_is_not_offered_is_told() {
        let Ok(instance) = Backend::Vulkan.instance(false) else {
            assert!(std::env::var_os("HAL_REQUIRE_VULKAN").is_none(), "there is no Vulkan");
            return println!("skipped: there is no Vulkan");
        };
        let offered = ready(instance.enumerate_adapters(wgpu::Backends::VULKAN)).unwrap();
        let hidden_from = |offered: &[wgpu::Adapter]| hidden(&instance, offered);
        let beside = hidden_from(&offered);
        for adapter in &offered {
            let name = adapter.get_info().name;
            let count = |names: &[String]| names.iter().filter(|known| **known == name).count();
            assert_eq!(
                count(&hidden_from(&[])),
                count(&beside) + offered.iter().filter(|it| it.get_info().name == name).count()
            );
        }
    }
}
