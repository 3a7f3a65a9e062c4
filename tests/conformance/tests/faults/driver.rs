//! A layer over a driver in which a test says which native call fails, when work ends, and when the device is lost.

use hal_driver::{
    Buffer, BufferParams, BufferView, Code, Device, DeviceInfo, Driver, DriverInfo, Error, Executable, Factory,
    FactoryInfo, Function, Heap, Limits, LoadRequest, Parameters, Result, Transfer, Work,
};
use std::{
    any::Any,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

/// What a test arranges.
#[derive(Default)]
pub struct Plan {
    /// Native calls that may fail, so far.
    calls: AtomicUsize,
    /// The call that fails, counted from 0, and how.
    fails: Mutex<Option<(usize, Code)>>,
    /// Names of the calls, in order.
    names: Mutex<Vec<&'static str>>,
    lost: Mutex<Option<Error>>,
    /// Whether work is kept until the test lets it go.
    holding: Mutex<bool>,
    held: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl Plan {
    /// From now on, the n-th call fails.
    pub fn fail(&self, call: usize, code: Code) {
        self.calls.store(0, SeqCst);
        self.names.lock().unwrap().clear();
        *self.fails.lock().unwrap() = Some((call, code));
    }

    /// Nothing fails any more.
    pub fn heal(&self) {
        *self.fails.lock().unwrap() = None;
    }

    /// The calls since [`Plan::fail`].
    pub fn names(&self) -> Vec<&'static str> {
        self.names.lock().unwrap().clone()
    }

    /// The device is lost.
    pub fn lose(&self) {
        *self.lost.lock().unwrap() = Some(Error::new(Code::Unavailable, "somebody pulled the plug"));
    }

    /// Devices that are opened from now on are not lost.
    pub fn replace(&self) {
        *self.lost.lock().unwrap() = None;
    }

    /// Work is kept from now on.
    pub fn hold(&self) {
        *self.holding.lock().unwrap() = true;
    }

    /// How much is kept.
    pub fn held(&self) -> usize {
        self.held.lock().unwrap().len()
    }

    /// Lets work go.
    pub fn release(&self) {
        *self.holding.lock().unwrap() = false;
        let held = std::mem::take(&mut *self.held.lock().unwrap());
        held.into_iter().for_each(|run| run());
    }

    fn call(&self, name: &'static str) -> Result<()> {
        let call = self.calls.fetch_add(1, SeqCst);
        self.names.lock().unwrap().push(name);
        match *self.fails.lock().unwrap() {
            Some((fails, code)) if fails == call => Err(Error::new(code, format!("{name} fails on purpose"))),
            _ => Ok(()),
        }
    }
}

/// The factory, under the plan.
pub fn planned(inner: Arc<dyn Factory>, plan: &Arc<Plan>) -> Arc<dyn Factory> {
    Arc::new(PlannedFactory(inner, plan.clone()))
}

struct PlannedFactory(Arc<dyn Factory>, Arc<Plan>);

impl Factory for PlannedFactory {
    fn info(&self) -> FactoryInfo {
        self.0.info()
    }

    fn drivers(&self) -> Result<Vec<DriverInfo>> {
        self.0.drivers()
    }

    fn create(&self, name: &str) -> Result<Arc<dyn Driver>> {
        self.1.call("create")?;
        Ok(Arc::new(PlannedDriver(self.0.create(name)?, self.1.clone())))
    }
}

struct PlannedDriver(Arc<dyn Driver>, Arc<Plan>);

impl Driver for PlannedDriver {
    fn info(&self) -> DriverInfo {
        self.0.info()
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        self.1.call("devices")?;
        self.0.devices()
    }

    fn details(&self, path: &str) -> Result<String> {
        self.0.details(path)
    }

    fn open(&self, path: &str, parameters: &Parameters) -> Result<Arc<dyn Device>> {
        self.1.call("open")?;
        Ok(Arc::new(PlannedDevice(self.0.open(path, parameters)?, self.1.clone())))
    }
}

struct PlannedDevice(Arc<dyn Device>, Arc<Plan>);

impl Device for PlannedDevice {
    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    fn limits(&self) -> &Limits {
        self.0.limits()
    }

    fn heaps(&self) -> &[Heap] {
        self.0.heaps()
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>> {
        self.1.call("allocate")?;
        Ok(Arc::new(PlannedBuffer(self.0.allocate(params, size)?, self.1.clone())))
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Arc<dyn Executable>> {
        self.1.call("load")?;
        Ok(Arc::new(PlannedExecutable(self.0.load(request)?)))
    }

    fn submit(&self, work: Work) {
        let failed = self.1.call("submit").err();
        let views = |views: Vec<BufferView>| {
            let inner = |view: BufferView| {
                let own = view.buffer.as_any().downcast_ref::<PlannedBuffer>().unwrap();
                BufferView { buffer: own.0.clone(), ..view }
            };
            views.into_iter().map(inner).collect()
        };
        let Work { commands, buffers, slots, executables, control, done } = work;
        let inner = |executable: &Arc<dyn Executable>| {
            executable.as_any().downcast_ref::<PlannedExecutable>().unwrap().0.clone()
        };
        let executables = executables.iter().map(inner).collect();
        let work = Work { commands, buffers: views(buffers), slots: views(slots), executables, control, done };
        let device = self.0.clone();
        let run = move || match failed {
            None => device.submit(work),
            Some(error) => {
                let Work { done, .. } = work;
                done(Err(error));
            }
        };
        if *self.1.holding.lock().unwrap() { self.1.held.lock().unwrap().push(Box::new(run)) } else { run() }
    }

    fn lost(&self) -> Option<Error> {
        self.1.lost.lock().unwrap().clone().or_else(|| self.0.lost())
    }

    fn trim(&self) -> Result<()> {
        self.1.call("trim")?;
        self.0.trim()
    }
}

struct PlannedExecutable(Arc<dyn Executable>);

impl Executable for PlannedExecutable {
    fn functions(&self) -> &[Function] {
        self.0.functions()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct PlannedBuffer(Arc<dyn Buffer>, Arc<Plan>);

impl Buffer for PlannedBuffer {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, offset: u64, length: u64, into: Vec<u8>) -> Transfer<Vec<u8>> {
        match self.1.call("read") {
            Ok(()) => self.0.read(offset, length, into),
            Err(error) => Transfer::Done(Err(error)),
        }
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Transfer<()> {
        match self.1.call("write") {
            Ok(()) => self.0.write(offset, bytes),
            Err(error) => Transfer::Done(Err(error)),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
