//! The driver of one back end.

use crate::{
    adapter::{self, Adapter},
    backend::{Backend, shorten},
    config::Config,
    device::WgpuDevice,
};
use hal_driver::{Code, Device, DeviceInfo, DeviceKind, Driver, DriverInfo, Error, Parameters, Result, Unusable};
use std::sync::Arc;

const KINDS: [DeviceKind; 5] =
    [DeviceKind::Discrete, DeviceKind::Integrated, DeviceKind::Virtual, DeviceKind::Cpu, DeviceKind::Other];

pub(crate) struct WgpuDriver {
    backend: Backend,
    config: Config,
    instance: wgpu::Instance,
}

/// What the parameters of an opening ask for.
#[derive(Debug, Default, PartialEq)]
struct Wishes {
    kind: Option<DeviceKind>,
    power: Option<Power>,
    validation: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    Low,
    High,
}

impl WgpuDriver {
    pub(crate) fn new(backend: Backend, config: Config, instance: wgpu::Instance) -> Self {
        Self { backend, config, instance }
    }

    fn find(&self, path: &str, instance: &wgpu::Instance) -> Result<Adapter> {
        let adapters = adapter::list(self.backend, instance);
        let there: Vec<String> = adapters.iter().map(|adapter| adapter.info.path.clone()).collect();
        adapters
            .into_iter()
            .find(|adapter| adapter.info.path == path)
            .ok_or_else(|| Error::new(Code::NotFound, format!("no device {:?}; there are {there:?}", shorten(path))))
    }
}

impl Driver for WgpuDriver {
    fn info(&self) -> DriverInfo {
        self.backend.info()
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(adapter::list(self.backend, &self.instance).into_iter().map(|adapter| adapter.info).collect())
    }

    fn unusable(&self) -> Result<Vec<Unusable>> {
        Ok(adapter::unusable(self.backend, &self.instance))
    }

    fn details(&self, path: &str) -> Result<String> {
        let adapter = self.find(path, &self.instance)?;
        let features = adapter.info.features.join(", ");
        let memory = adapter.info.memory_bytes;
        let kept = adapter.native.features().contains(wgpu::Features::PIPELINE_CACHE);
        let kept = if kept { "pipelines can be kept on disk\n" } else { "" };
        Ok(format!("{}memory: {memory} bytes\nfeatures: {features}\n{kept}", adapter.description))
    }

    fn choose(&self, devices: &[DeviceInfo], parameters: &Parameters) -> Result<usize> {
        let wishes = Wishes::parse(parameters)?;
        let mut fitting: Vec<usize> = (0..devices.len()).filter(|&at| wishes.fits(devices.get(at))).collect();
        if wishes.power == Some(Power::Low) {
            // What saves power stands before what is fast; the order is otherwise kept.
            fitting.sort_by_key(|&at| devices.get(at).map(|device| device.kind == DeviceKind::Discrete));
        }
        fitting.first().copied().ok_or_else(|| {
            let there: Vec<&str> = devices.iter().map(|device| device.kind.label()).collect();
            let asked = wishes.kind.map_or("any", DeviceKind::label);
            Error::new(Code::NotFound, format!("no device is of the kind {asked:?}; there are {there:?}"))
        })
    }

    fn open(&self, path: &str, parameters: &Parameters) -> Result<Arc<dyn Device>> {
        let wishes = Wishes::parse(parameters)?;
        let instance = if wishes.validation { self.backend.instance(true)? } else { self.instance.clone() };
        let adapter = self.find(path, &instance)?;
        if !wishes.fits(Some(&adapter.info)) {
            let (asked, found) = (wishes.kind.map_or("any", DeviceKind::label), adapter.info.kind.label());
            return Err(Error::new(
                Code::NotFound,
                format!("the device {path:?} is of the kind {found:?}, not {asked:?} as asked"),
            ));
        }
        Ok(Arc::new(WgpuDevice::new(adapter, &self.config)?))
    }
}

impl Wishes {
    fn parse(parameters: &Parameters) -> Result<Self> {
        let mut wishes = Self::default();
        for (at, (key, value)) in parameters.iter().enumerate() {
            if parameters.iter().take(at).any(|(before, _)| before == key) {
                return Err(wrong(format!("the parameter {:?} is given twice", shorten(key))));
            }
            match key.as_str() {
                "kind" => wishes.kind = Some(kind(value)?),
                "power" => wishes.power = Some(power(value)?),
                "validation" => wishes.validation = validation(value)?,
                _ => {
                    return Err(wrong(format!(
                        "unknown parameter {:?}; there are \"kind\", \"power\" and \"validation\"",
                        shorten(key)
                    )));
                }
            }
        }
        Ok(wishes)
    }

    fn fits(&self, device: Option<&DeviceInfo>) -> bool {
        device.is_some_and(|device| self.kind.is_none_or(|kind| kind == device.kind))
    }
}

fn kind(value: &str) -> Result<DeviceKind> {
    KINDS.into_iter().find(|kind| kind.label() == value).ok_or_else(|| {
        let there = KINDS.map(DeviceKind::label);
        wrong(format!("kind={:?}; it is one of {there:?}", shorten(value)))
    })
}

fn power(value: &str) -> Result<Power> {
    match value {
        "low" => Ok(Power::Low),
        "high" => Ok(Power::High),
        _ => Err(wrong(format!("power={:?}; it is \"low\" or \"high\"", shorten(value)))),
    }
}

fn validation(value: &str) -> Result<bool> {
    match value {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => Err(wrong(format!("validation={:?}; it is \"1\" or \"0\"", shorten(value)))),
    }
}

fn wrong(message: String) -> Error {
    Error::new(Code::InvalidArgument, message)
}
