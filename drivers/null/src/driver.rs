//! The driver: lists one device and opens it.

use crate::device::{self, NullDevice};
use hal_driver::{Code, Device, DeviceInfo, Driver, DriverInfo, Error, Parameters, Result};
use std::sync::Arc;

/// The only device's path.
const PATH: &str = "0";

pub(crate) struct NullDriver;

impl Driver for NullDriver {
    fn info(&self) -> DriverInfo {
        DriverInfo {
            name: "null".into(),
            full_name: "Memory without a processor".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![device::info(PATH)])
    }

    fn details(&self, path: &str) -> Result<String> {
        check(path)?;
        Ok("Keeps buffers in host memory and runs transfers on the calling thread. Loads no kernels.\n".into())
    }

    fn open(&self, path: &str, parameters: &Parameters) -> Result<Arc<dyn Device>> {
        check(path)?;
        // A parameter that is ignored is a request that was not met: refuse what is not known.
        match parameters.first() {
            None => Ok(Arc::new(NullDevice::new(device::info(PATH)))),
            Some((key, _)) => Err(Error::new(
                Code::InvalidArgument,
                format!("unknown parameter {:?}; a null device takes none", shorten(key)),
            )),
        }
    }
}

fn check(path: &str) -> Result<()> {
    if path == PATH {
        return Ok(());
    }
    Err(Error::new(Code::NotFound, format!("no device {:?}; the only one is {PATH:?}", shorten(path))))
}

/// Errors quote little of what a guest wrote: the first 64 bytes, escaped by the caller's `{:?}`.
fn shorten(text: &str) -> &str {
    text.get(..text.floor_char_boundary(64)).unwrap_or_default()
}
