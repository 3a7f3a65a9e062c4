//! A driver with mistakes: another one behind it does all the work, but not quite what it was given.

use hal_driver::{
    Buffer, BufferParams, Command, Device, DeviceInfo, Driver, DriverInfo, Error, Executable, Factory, FactoryInfo,
    Heap, Limits, LoadRequest, Parameters, Result, Work, Workgroups,
};
use std::sync::Arc;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// None: the layer itself changes nothing.
    Nothing,
    /// A fill leaves out its last byte.
    ShortFill,
    /// A copy between odd offsets is dropped.
    DroppedCopy,
    /// A dispatch with several rows of workgroups runs only the first.
    MissingRows,
    /// An update of more than 16 bytes comes after whatever else there is.
    LateUpdate,
}

/// A factory whose devices make a mistake.
pub struct Wrong {
    inner: Arc<dyn Factory>,
    mistake: Mistake,
}

impl Wrong {
    /// A layer over a factory.
    pub fn new(inner: Arc<dyn Factory>, mistake: Mistake) -> Self {
        Self { inner, mistake }
    }
}

impl Factory for Wrong {
    fn info(&self) -> FactoryInfo {
        self.inner.info()
    }

    fn drivers(&self) -> Result<Vec<DriverInfo>> {
        self.inner.drivers()
    }

    fn create(&self, name: &str) -> Result<Arc<dyn Driver>> {
        Ok(Arc::new(WrongDriver { inner: self.inner.create(name)?, mistake: self.mistake }))
    }
}

struct WrongDriver {
    inner: Arc<dyn Driver>,
    mistake: Mistake,
}

impl Driver for WrongDriver {
    fn info(&self) -> DriverInfo {
        self.inner.info()
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        self.inner.devices()
    }

    fn details(&self, path: &str) -> Result<String> {
        self.inner.details(path)
    }

    fn open(&self, path: &str, parameters: &Parameters) -> Result<Arc<dyn Device>> {
        Ok(Arc::new(WrongDevice { inner: self.inner.open(path, parameters)?, mistake: self.mistake }))
    }
}

struct WrongDevice {
    inner: Arc<dyn Device>,
    mistake: Mistake,
}

impl Device for WrongDevice {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn limits(&self) -> &Limits {
        self.inner.limits()
    }

    fn heaps(&self) -> &[Heap] {
        self.inner.heaps()
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>> {
        self.inner.allocate(params, size)
    }

    fn allocates_at_once(&self) -> bool {
        self.inner.allocates_at_once()
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Arc<dyn Executable>> {
        self.inner.load(request)
    }

    fn submit(&self, mut work: Work) {
        let mut commands: Vec<Command> = Vec::new();
        let mut late = Vec::new();
        for command in work.commands.iter() {
            let mut command = command.clone();
            match (self.mistake, &mut command) {
                (Mistake::ShortFill, Command::Fill { target, .. }) => {
                    let length = work.resolve(target).map_or(0, |span| span.length);
                    target.length = Some(length.saturating_sub(1));
                }
                (Mistake::DroppedCopy, Command::Copy { source, target }) => {
                    let odd = |range| work.resolve(range).is_ok_and(|span| span.offset % 2 == 1);
                    if odd(source) && odd(target) {
                        continue;
                    }
                }
                (Mistake::MissingRows, Command::Dispatch(dispatch)) => {
                    if let Workgroups::Direct([_, y, _]) = &mut dispatch.workgroups {
                        *y = (*y).min(1);
                    }
                }
                (Mistake::LateUpdate, Command::Update { bytes, .. }) if bytes.len() > 16 => {
                    late.push(command);
                    continue;
                }
                _ => {}
            }
            commands.push(command);
        }
        commands.extend(late);
        work.commands = commands.into();
        self.inner.submit(work);
    }

    fn lost(&self) -> Option<Error> {
        self.inner.lost()
    }

    fn trim(&self) -> Result<()> {
        self.inner.trim()
    }
}
