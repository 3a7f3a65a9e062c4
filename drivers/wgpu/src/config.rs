//! How the driver is set up.

use std::path::PathBuf;

/// Most native devices of one adapter, until somebody says otherwise: each costs a thread and some megabytes on a software
/// adapter, some tens on a GPU, and GPU drivers refuse more than a few hundred.
const MAX_NATIVE_DEVICES: usize = 64;

/// How the driver is set up. [`Config::new`] lists the defaults.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) max_native_devices: usize,
    pub(crate) pipeline_folder: Option<PathBuf>,
}

impl Config {
    /// The defaults: at most 64 native devices for each adapter, in the process; no pipelines on disk.
    pub fn new() -> Self {
        Self { max_native_devices: MAX_NATIVE_DEVICES, pipeline_folder: None }
    }

    /// How many native devices of one adapter may be open at a time. An open device of ours becomes a native one at its first
    /// allocation or kernel.
    #[must_use]
    pub fn max_native_devices(mut self, devices: usize) -> Self {
        self.max_native_devices = devices.max(1);
        self
    }

    /// Keeps compiled pipelines in this folder, a file of at most 64 MiB for each adapter, for the next process, where the native interface has
    /// that (Vulkan). The folder is made if it is not there, for this user alone; what lies above it has to be there, and nobody else may be able to
    /// write there or in it: native drivers trust what they read.
    ///
    /// Off by default, because all sessions share the file: how fast a kernel loads then tells a tenant whether anybody has loaded it before.
    #[must_use]
    pub fn pipeline_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.pipeline_folder = Some(folder.into());
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}
