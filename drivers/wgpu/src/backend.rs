//! Back ends and their native instances.

use hal_driver::{Code, DriverInfo, Error, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A native interface to GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Vulkan,
    Metal,
    Dx12,
}

/// The native instances of this process, made when first asked for and kept: making one loads every vendor's library.
static INSTANCES: Mutex<Vec<(Backend, bool, wgpu::Instance)>> = Mutex::new(Vec::new());

impl Backend {
    /// Those that this build has for this system.
    pub(crate) fn compiled_in() -> impl Iterator<Item = Self> {
        let enabled = wgpu::Instance::enabled_backend_features();
        [Self::Vulkan, Self::Metal, Self::Dx12].into_iter().filter(move |backend| enabled.contains(backend.native()))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Vulkan => "vulkan",
            Self::Metal => "metal",
            Self::Dx12 => "dx12",
        }
    }

    pub(crate) fn info(self) -> DriverInfo {
        let full_name = match self {
            Self::Vulkan => "Vulkan devices",
            Self::Metal => "Metal devices",
            Self::Dx12 => "Direct3D 12 devices",
        };
        DriverInfo { name: self.name().into(), full_name: full_name.into(), version: env!("CARGO_PKG_VERSION").into() }
    }

    pub(crate) fn native(self) -> wgpu::Backends {
        match self {
            Self::Vulkan => wgpu::Backends::VULKAN,
            Self::Metal => wgpu::Backends::METAL,
            Self::Dx12 => wgpu::Backends::DX12,
        }
    }

    /// The process's instance, with or without the native interface's own validation. *Blocking*: takes some hundred milliseconds the
    /// first time.
    ///
    /// # Errors
    /// `Unavailable` if there is no loader or no driver for this back end at all.
    pub(crate) fn instance(self, validation: bool) -> Result<wgpu::Instance> {
        let mut instances = lock();
        if let Some((.., instance)) =
            instances.iter().find(|(backend, with, _)| (*backend, *with) == (self, validation))
        {
            return Ok(instance.clone());
        }
        let instance = self.make(validation);
        if !self.loaded(&instance) {
            // Not kept: what is missing may be installed.
            return Err(Error::new(
                Code::Unavailable,
                format!("{} is not there: no loader, or no driver that it could load", self.info().full_name),
            ));
        }
        instances.push((self, validation, instance.clone()));
        Ok(instance)
    }

    fn make(self, validation: bool) -> wgpu::Instance {
        // Exactly these, not what the environment or the build profile say: what a kernel may do must not depend on either.
        let mut flags = wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL;
        if validation {
            flags |= wgpu::InstanceFlags::DEBUG | wgpu::InstanceFlags::VALIDATION;
        }
        wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: self.native(),
            flags,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        })
    }

    /// Whether the back end came up.
    fn loaded(self, instance: &wgpu::Instance) -> bool {
        match self {
            #[cfg(not(any(target_vendor = "apple", windows)))]
            Self::Vulkan => crate::vulkan::loaded(instance),
            // Parts of their systems; a Vulkan elsewhere lists nothing if it is not there.
            _ => true,
        }
    }
}

fn lock() -> MutexGuard<'static, Vec<(Backend, bool, wgpu::Instance)>> {
    INSTANCES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Errors quote little of what a guest wrote: the first 64 bytes, escaped by the caller's `{:?}`.
pub(crate) fn shorten(text: &str) -> &str {
    text.get(..text.floor_char_boundary(64)).unwrap_or_default()
}
