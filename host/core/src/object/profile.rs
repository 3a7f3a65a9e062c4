//! `profile=portable`: a device that takes no more than any device can be expected to take.

use crate::{
    error::{Error, Result, invalid},
    text::quote,
};
use hal_driver::{
    Buffer, BufferParams, Code, Device, DeviceInfo, Executable, Heap, Limits, LoadRequest, PORTABLE, Work,
};
use std::sync::Arc;

/// The parameter, and the values it has.
const PARAMETER: &str = "profile";
const PROFILES: [&str; 1] = ["portable"];

/// Takes the parameter out, which is ours and not the driver's. Answers whether the portable profile is asked for.
pub(super) fn take(parameters: &mut super::Parameters) -> Result<bool> {
    let mut asked = false;
    for (_, value) in parameters.extract_if(.., |(key, _)| key == PARAMETER) {
        if !PROFILES.contains(&value.as_str()) {
            return Err(invalid(format!("no profile is called {}; there is {}", quote(&value), PROFILES.join(", "))));
        }
        if std::mem::replace(&mut asked, true) {
            return Err(invalid(format!("the parameter \"{PARAMETER}\" is given twice")));
        }
    }
    Ok(asked)
}

/// A driver's refusal of parameters that are not what it knows, with the one that it does not know of.
pub(super) fn mention(mut error: Error, parameters: &super::Parameters) -> Error {
    if error.code == Code::InvalidArgument && !parameters.is_empty() {
        error.message.push_str("; besides, every device takes \"");
        error.message.push_str(PARAMETER);
        error.message.push('"');
    }
    error
}

/// A device within [`PORTABLE`]. What it publishes is what the layer above refuses beyond; buffers and executables are the device's own.
///
/// Workgroup counts in a buffer are checked by the driver, against the device's own limit, which is this one on what is built today.
pub(super) struct Portable {
    inner: Arc<dyn Device>,
    info: DeviceInfo,
    limits: Limits,
}

impl Portable {
    pub(super) fn new(inner: Arc<dyn Device>) -> Self {
        let info = DeviceInfo { features: Vec::new(), ..inner.info().clone() };
        let limits = inner.limits().within(&PORTABLE);
        Self { inner, info, limits }
    }
}

impl Device for Portable {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn heaps(&self) -> &[Heap] {
        self.inner.heaps()
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> hal_driver::Result<Arc<dyn Buffer>> {
        self.inner.allocate(params, size)
    }

    fn allocates_at_once(&self) -> bool {
        self.inner.allocates_at_once()
    }

    fn load(&self, request: &LoadRequest<'_>) -> hal_driver::Result<Arc<dyn Executable>> {
        self.inner.load(request)
    }

    fn submit(&self, work: Work) {
        self.inner.submit(work);
    }

    fn lost(&self) -> Option<hal_driver::Error> {
        self.inner.lost()
    }

    fn trim(&self) -> hal_driver::Result<()> {
        self.inner.trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_is_taken_out_wherever_it_stands() {
        let pairs = |text: &[(&str, &str)]| -> super::super::Parameters {
            text.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let mut parameters = pairs(&[("a", "1"), ("profile", "portable"), ("a", "2")]);
        assert_eq!(take(&mut parameters), Ok(true));
        assert_eq!(parameters, pairs(&[("a", "1"), ("a", "2")]));
        assert_eq!(take(&mut parameters), Ok(false));
        let error = take(&mut pairs(&[("profile", "x")])).unwrap_err();
        assert!(error.message.contains("\"x\"") && error.message.ends_with("there is portable"), "{error}");
        assert!(take(&mut pairs(&[("profile", "portable"), ("profile", "portable")])).is_err());
        assert!(take(&mut pairs(&[("profile", "")])).is_err());
    }

    #[test]
    fn only_a_refusal_of_parameters_mentions_it() {
        let given = vec![("speed".to_owned(), "fast".to_owned())];
        let message = |code, parameters| mention(Error::new(code, "no"), parameters).message;
        assert_eq!(message(Code::InvalidArgument, &given), "no; besides, every device takes \"profile\"");
        assert_eq!(message(Code::NotFound, &given), "no");
        assert_eq!(message(Code::InvalidArgument, &Vec::new()), "no");
    }
}
