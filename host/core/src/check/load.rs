//! Whether a device takes the functions that were loaded for it.

use crate::error::{Error, LimitHit, Result};
use hal_driver::{Code, DeviceInfo, Function, Limits};

/// Refuses functions that need more than the device publishes: `incompatible`, naming the limit or the feature. A driver knows its
/// device's own bounds, so this is for a device that publishes less than it has.
pub(crate) fn functions(info: &DeviceInfo, limits: &Limits, functions: &[Function]) -> Result<()> {
    functions.iter().try_for_each(|function| one(info, limits, function))
}

fn one(info: &DeviceInfo, limits: &Limits, function: &Function) -> Result<()> {
    if let Some(feature) = function.features.iter().find(|needed| !info.features.contains(needed)) {
        return Err(Error::new(
            Code::Incompatible,
            format!("function \"{}\" needs the feature \"{feature}\", which this device does not list", function.name),
        ));
    }
    match limits.exceeded_by(function) {
        None => Ok(()),
        Some((limit, asked, allowed)) => Err(Error {
            code: Code::Incompatible,
            message: format!(
                "function \"{}\" needs {asked}, but this device's \"{limit}\" is {allowed}; change the kernel, or open the \
                 device without a profile or another device",
                function.name
            ),
            limit: Some(LimitHit { limit, asked, available: allowed, allowed }),
        }),
    }
}
