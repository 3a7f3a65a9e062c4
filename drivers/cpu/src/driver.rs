//! The drivers: how works of a device are run.

use crate::{codegen::Codegen, config::Config, device::CpuDevice, memory, pages, pool::Pool};
use hal_driver::{Code, Device, DeviceInfo, DeviceKind, Driver, DriverInfo, Error, Parameters, Result};
use std::sync::Arc;

/// The only device's path.
const PATH: &str = "0";

/// The parameter of an opening that says whether a product may be added without having been rounded.
const CONTRACTION: &str = "contraction";

/// What kernels may use beyond plain WGSL: all that the compiler knows. Not `f16-native`: `f16` is computed in `f32`.
const FEATURES: [&str; 4] = ["float32-atomic", "shader-f16", "shader-int64", "subgroup"];

/// Who runs a device's works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// The thread that submits.
    Sync,
    /// The pool.
    Task,
}

/// The drivers, by name.
pub(crate) const DRIVERS: [(&str, &str, Flavour); 3] = [
    ("cpu", "Host processor (the same as local-task)", Flavour::Task),
    ("local-sync", "Host processor, on the calling thread", Flavour::Sync),
    ("local-task", "Host processor, on a pool of workers", Flavour::Task),
];

pub(crate) fn info(name: &str, full_name: &str) -> DriverInfo {
    DriverInfo { name: name.into(), full_name: full_name.into(), version: env!("CARGO_PKG_VERSION").into() }
}

pub(crate) struct CpuDriver {
    pub(crate) name: &'static str,
    pub(crate) full_name: &'static str,
    pub(crate) flavour: Flavour,
    pub(crate) config: Config,
    pub(crate) codegen: Codegen,
    pub(crate) pool: Arc<Pool>,
}

impl CpuDriver {
    /// Threads that may run one dispatch.
    fn slots(&self) -> u32 {
        match self.flavour {
            Flavour::Sync => 1,
            Flavour::Task => self.config.workers,
        }
    }

    fn device(&self) -> DeviceInfo {
        let limits = [Some(memory::capacity(self.slots())), self.config.memory_bytes, pages::system_memory()];
        DeviceInfo {
            path: PATH.into(),
            name: format!("{} processor", std::env::consts::ARCH),
            kind: DeviceKind::Cpu,
            memory_bytes: limits.into_iter().flatten().min().unwrap_or_default(),
            formats: vec!["wgsl".into(), "spirv".into()],
            features: FEATURES.map(str::to_owned).into(),
        }
    }
}

impl Driver for CpuDriver {
    fn info(&self) -> DriverInfo {
        info(self.name, self.full_name)
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![self.device()])
    }

    fn details(&self, path: &str) -> Result<String> {
        check(path)?;
        let runs = match self.flavour {
            Flavour::Sync => "Runs work on the calling thread.".into(),
            Flavour::Task => {
                format!("Runs work on {} workers, shared by all devices of this host.", self.config.workers)
            }
        };
        let (memory, features, lanes) =
            (self.device().memory_bytes, FEATURES.join(", "), naga_wasm::abi::SUBGROUP_SIZE);
        Ok(format!(
            "{runs}\nKernels are sandboxed machine code.\nsubgroups: {lanes} to {lanes} invocations\n\
             memory: {memory} bytes of the host's, in address space of the device's own\nfeatures: {features}\n\
             f16: as WGSL defines it, and slower than f32 (no f16-native)\n"
        ))
    }

    fn open(&self, path: &str, parameters: &Parameters) -> Result<Arc<dyn Device>> {
        check(path)?;
        let contract = contraction(parameters)?;
        let pool = (self.flavour == Flavour::Task).then(|| self.pool.clone());
        Ok(Arc::new(CpuDevice::new(&self.codegen, self.device(), pool, self.slots(), contract)?))
    }
}

/// Whether the parameters ask for contraction, which is all that they can ask for.
fn contraction(parameters: &Parameters) -> Result<bool> {
    let wrong = |message| Err(Error::new(Code::InvalidArgument, message));
    let mut asked = None;
    for (key, value) in parameters {
        if key != CONTRACTION {
            return wrong(format!("unknown parameter {:?}; there is \"{CONTRACTION}\"", shorten(key)));
        }
        let on = match value.as_str() {
            "on" => true,
            "off" => false,
            _ => return wrong(format!("{CONTRACTION}={:?}; it is \"on\" or \"off\"", shorten(value))),
        };
        if asked.replace(on).is_some() {
            return wrong(format!("the parameter \"{CONTRACTION}\" is given twice"));
        }
    }
    Ok(asked.unwrap_or_default())
}

fn check(path: &str) -> Result<()> {
    if path == PATH {
        return Ok(());
    }
    Err(Error::new(Code::NotFound, format!("no device {:?}; the only one is {PATH:?}", shorten(path))))
}

/// Errors quote little of what a guest wrote: the first 64 bytes, escaped by the caller's `{:?}`.
pub(crate) fn shorten(text: &str) -> &str {
    text.get(..text.floor_char_boundary(64)).unwrap_or_default()
}
