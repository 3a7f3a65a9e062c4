//! How the driver is set up.

/// Most native devices of one adapter, until somebody says otherwise: each costs a thread and some megabytes on a software
/// adapter, some tens on a GPU, and GPU drivers refuse more than a few hundred.
const MAX_NATIVE_DEVICES: usize = 64;

/// How the driver is set up. [`Config::new`] lists the defaults.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) max_native_devices: usize,
}

impl Config {
    /// The defaults: at most 64 native devices for each adapter, in the process.
    pub fn new() -> Self {
        Self { max_native_devices: MAX_NATIVE_DEVICES }
    }

    /// How many native devices of one adapter may be open at a time. An open device of ours becomes a native one at its first
    /// allocation or kernel.
    #[must_use]
    pub fn max_native_devices(mut self, devices: usize) -> Self {
        self.max_native_devices = devices.max(1);
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}
