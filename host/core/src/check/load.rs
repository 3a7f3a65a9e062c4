//! Whether a device takes the functions that were loaded for it.

use crate::error::{Error, LimitHit, Result};
use hal_driver::{Code, DeviceInfo, Function, Limits};

/// Refuses functions that need more than the device publishes: `incompatible`, naming the limit or the feature. A driver knows its
/// device's own bounds, so this is for a device that publishes less than it has.
pub(crate) fn functions(info: &DeviceInfo, limits: &Limits, functions: &[Function]) -> Result<()> {
    functions.iter().try_for_each(|function| one(info, limits, function))
}

/// A refusal of a source with the label that its executable was to have, as compilers name files: `label:line:column: what`. What is not about the
/// source stays as it is.
pub(crate) fn named(label: &str, mut error: Error) -> Error {
    if !label.is_empty() && error.code != Code::Unavailable {
        let place = error.message.starts_with(|c: char| c.is_ascii_digit());
        error.message = format!("{label}:{}{}", if place { "" } else { " " }, error.message);
    }
    error
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_stands_where_compilers_name_the_file() {
        let text = |label, code, message| named(label, Error::new(code, message)).message;
        assert_eq!(text("gemm.wgsl", Code::InvalidArgument, "3:5: no such name"), "gemm.wgsl:3:5: no such name");
        assert_eq!(text("gemm", Code::ResourceExhausted, "too long"), "gemm: too long");
        assert_eq!(text("", Code::InvalidArgument, "3:5: no such name"), "3:5: no such name");
        assert_eq!(text("gemm", Code::Unavailable, "the device is lost"), "the device is lost");
    }
}
