//! A driver that does as it is told: bytes are real, everything else is arranged by the test.

use hal_driver::{
    Binding, BindingKind, Buffer, BufferParams, Code, Command, Device, DeviceInfo, DeviceKind, Driver, DriverInfo,
    Error, Executable, Factory, FactoryInfo, Function, Heap, Limits, LoadRequest, MemoryType, Parameters, Result, Span,
    Timing, Transfer, Work,
};
use std::{
    any::Any,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

/// When work ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Inside `submit`, as `local-sync` does.
    Inline,
    /// On a thread of its own.
    Thread,
    /// When the test says.
    Held,
}

/// What `choose` was asked: the paths, and the parameters.
type Asked = (Vec<String>, Vec<(String, String)>);

/// What the test arranges, shared by everything the mock makes.
pub struct Mock {
    pub mode: Mutex<Mode>,
    pub held: Mutex<Vec<Work>>,
    pub lost: Mutex<Option<Error>>,
    /// The next allocation or load fails with this.
    pub fail: Mutex<Option<Error>>,
    /// What `choose` answers, if not the first.
    pub chosen: Mutex<Option<Result<usize>>>,
    /// What `choose` was asked last: the paths, and the parameters.
    pub asked: Mutex<Asked>,
    /// A function that executables have besides.
    pub function: Mutex<Option<Function>>,
    /// The next opening fails with this.
    pub fail_open: Mutex<Option<Error>>,
    pub drivers: Mutex<Vec<String>>,
    pub devices: Mutex<Vec<String>>,
    pub slow: Mutex<Duration>,
    pub at_once: AtomicBool,
    /// The device says that it keeps the order of works, which holds for [`Mode::Held`].
    pub in_order: AtomicBool,
    /// Work does not hear when it is told to stop.
    pub deaf: AtomicBool,
    /// Native objects alive.
    pub live: AtomicI64,
    pub submitted: AtomicUsize,
    pub allocated: AtomicUsize,
    /// Work is dropped without a word.
    pub forget: AtomicBool,
    /// Submitting, allocating and host transfers panic, the latter after they have been pending once if `slow` is not zero.
    pub panic: AtomicBool,
}

struct Alive(Arc<Mock>);

impl Alive {
    fn new(mock: &Arc<Mock>) -> Self {
        mock.live.fetch_add(1, SeqCst);
        Self(mock.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, SeqCst);
    }
}

impl Mock {
    pub fn new(mode: Mode) -> Arc<Self> {
        Arc::new(Self {
            mode: Mutex::new(mode),
            held: Mutex::default(),
            lost: Mutex::default(),
            fail: Mutex::default(),
            chosen: Mutex::default(),
            asked: Mutex::default(),
            function: Mutex::default(),
            fail_open: Mutex::default(),
            drivers: Mutex::new(vec!["mock".into(), "other".into()]),
            devices: Mutex::new(vec!["pci-a".into(), "pci-b".into(), "pci-c".into()]),
            slow: Mutex::default(),
            at_once: AtomicBool::new(true),
            in_order: AtomicBool::new(false),
            deaf: AtomicBool::new(false),
            live: AtomicI64::new(0),
            submitted: AtomicUsize::new(0),
            allocated: AtomicUsize::new(0),
            forget: AtomicBool::new(false),
            panic: AtomicBool::new(false),
        })
    }

    pub fn factory(self: &Arc<Self>) -> Arc<dyn Factory> {
        Arc::new(MockFactory(self.clone()))
    }

    /// Runs everything that is held; what was told to stop fails with the reason.
    pub fn release(&self) {
        let held = std::mem::take(&mut *self.held.lock().unwrap());
        held.into_iter().for_each(|work| self.run(work));
    }

    /// Runs the first of what is held.
    pub fn release_one(&self) {
        let first = self.held.lock().unwrap().remove(0);
        self.run(first);
    }

    fn run(&self, work: Work) {
        let outcome = commands(&work, self.deaf.load(SeqCst));
        let Work { done, buffers, slots, .. } = work;
        drop((buffers, slots));
        done(outcome.map(|()| Timing { queue: Duration::from_nanos(1234), device: Some(Duration::from_nanos(5678)) }));
    }

    pub fn held(&self) -> usize {
        self.held.lock().unwrap().len()
    }

    pub fn live(&self) -> i64 {
        self.live.load(SeqCst)
    }

    fn failing(&self) -> Result<()> {
        std::thread::sleep(*self.slow.lock().unwrap());
        self.fail.lock().unwrap().take().map_or(Ok(()), Err)
    }
}

struct MockFactory(Arc<Mock>);

fn driver_info(name: &str) -> DriverInfo {
    DriverInfo { name: name.into(), full_name: "A mock".into(), version: "1".into() }
}

impl Factory for MockFactory {
    fn info(&self) -> FactoryInfo {
        FactoryInfo { name: "mock-factory".into(), version: "1".into() }
    }

    fn drivers(&self) -> Result<Vec<DriverInfo>> {
        self.0.failing()?;
        Ok(self.0.drivers.lock().unwrap().iter().map(|name| driver_info(name)).collect())
    }

    fn create(&self, name: &str) -> Result<Arc<dyn Driver>> {
        Ok(Arc::new(MockDriver { mock: self.0.clone(), name: name.into(), _alive: Alive::new(&self.0) }))
    }
}

struct MockDriver {
    mock: Arc<Mock>,
    name: String,
    _alive: Alive,
}

fn device_info(path: &str) -> DeviceInfo {
    DeviceInfo {
        path: path.into(),
        name: format!("Model of {path}"),
        kind: DeviceKind::Cpu,
        memory_bytes: 1 << 40,
        formats: vec!["wgsl".into()],
        features: vec!["subgroup".into()],
    }
}

impl Driver for MockDriver {
    fn info(&self) -> DriverInfo {
        driver_info(&self.name)
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        self.mock.failing()?;
        Ok(self.mock.devices.lock().unwrap().iter().map(|path| device_info(path)).collect())
    }

    fn details(&self, path: &str) -> Result<String> {
        Ok(format!("serial number of {path}"))
    }

    fn choose(&self, devices: &[DeviceInfo], parameters: &Parameters) -> Result<usize> {
        let paths = devices.iter().map(|device| device.path.clone()).collect();
        *self.mock.asked.lock().unwrap() = (paths, parameters.to_vec());
        self.mock.chosen.lock().unwrap().clone().unwrap_or(Ok(0))
    }

    fn open(&self, path: &str, parameters: &Parameters) -> Result<Arc<dyn Device>> {
        if let Some((key, _)) = parameters.iter().find(|(key, _)| key != "kind") {
            return Err(Error::new(Code::InvalidArgument, format!("unknown parameter {key:?}")));
        }
        self.mock.failing()?;
        self.mock.fail_open.lock().unwrap().take().map_or(Ok(()), Err)?;
        Ok(Arc::new(MockDevice { mock: self.mock.clone(), info: device_info(path), _alive: Alive::new(&self.mock) }))
    }
}

struct MockDevice {
    mock: Arc<Mock>,
    info: DeviceInfo,
    _alive: Alive,
}

const LIMITS: Limits = Limits {
    max_buffer_bytes: 1 << 20,
    max_bindings: 8,
    max_constant_bytes: 128,
    binding_offset_alignment: 16,
    binding_length_multiple: 4,
    max_uniform_bytes: 64,
    max_storage_binding_bytes: 1 << 12,
    max_workgroups_per_dimension: 100,
    max_workgroups: 1000,
    max_invocations_per_workgroup: 256,
    max_workgroup_memory_bytes: 1024,
    max_loop_iterations: 65_535,
};

const HEAPS: [Heap; 1] = [Heap {
    memory: MemoryType::HOST_VISIBLE.union(MemoryType::DEVICE_VISIBLE).union(MemoryType::DEVICE_LOCAL),
    max_allocation: 1 << 20,
}];

impl Device for MockDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn heaps(&self) -> &[Heap] {
        &HEAPS
    }

    fn allocates_at_once(&self) -> bool {
        self.mock.at_once.load(SeqCst)
    }

    fn allocate(&self, _: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>> {
        self.mock.failing()?;
        assert!(!self.mock.panic.load(SeqCst), "on purpose");
        self.mock.allocated.fetch_add(1, SeqCst);
        Ok(Arc::new(MockBuffer { bytes: Mutex::new(vec![0; size as usize]), alive: Alive::new(&self.mock) }))
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Arc<dyn Executable>> {
        self.mock.failing()?;
        if request.bytes.is_empty() {
            return Err(Error::new(Code::InvalidArgument, "line 1, column 1: nothing here"));
        }
        let binding = |binding, kind, reads, writes, min_length| Binding { binding, kind, reads, writes, min_length };
        let mut functions = vec![
            Function {
                name: "scale".into(),
                workgroup_size: [1, 1, 1],
                bindings: vec![
                    binding(0, BindingKind::Storage, true, false, 4),
                    binding(2, BindingKind::Storage, false, true, 4),
                ],
                constant_bytes: 8,
                workgroup_bytes: 0,
                features: Vec::new(),
            },
            Function {
                name: "uniform".into(),
                workgroup_size: [1, 1, 1],
                bindings: vec![binding(0, BindingKind::Uniform, true, false, 16)],
                constant_bytes: 0,
                workgroup_bytes: 0,
                features: Vec::new(),
            },
        ];
        functions.extend(self.mock.function.lock().unwrap().clone());
        Ok(Arc::new(MockExecutable { functions, _alive: Alive::new(&self.mock) }))
    }

    fn submit(&self, work: Work) {
        self.mock.submitted.fetch_add(1, SeqCst);
        assert!(!self.mock.panic.load(SeqCst), "on purpose");
        if self.mock.forget.load(SeqCst) {
            return;
        }
        let mode = *self.mock.mode.lock().unwrap();
        match mode {
            Mode::Inline => self.mock.run(work),
            Mode::Thread => {
                let mock = self.mock.clone();
                drop(std::thread::spawn(move || mock.run(work)));
            }
            Mode::Held => self.mock.held.lock().unwrap().push(work),
        }
    }

    fn in_order(&self) -> bool {
        self.mock.in_order.load(SeqCst)
    }

    fn lost(&self) -> Option<Error> {
        self.mock.lost.lock().unwrap().clone()
    }

    fn trim(&self) -> Result<()> {
        self.mock.failing()
    }
}

struct MockExecutable {
    functions: Vec<Function>,
    _alive: Alive,
}

impl Executable for MockExecutable {
    fn functions(&self) -> &[Function] {
        &self.functions
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct MockBuffer {
    bytes: Mutex<Vec<u8>>,
    alive: Alive,
}

impl MockBuffer {
    /// Panics if it is to; answers whether it is to be pending.
    fn fault(&self) -> bool {
        let panics = self.alive.0.panic.load(SeqCst);
        let pending = !self.alive.0.slow.lock().unwrap().is_zero();
        assert!(!panics || pending, "on purpose");
        panics
    }
}

/// Panics when it is polled.
fn faulty<T: Send + 'static>() -> Transfer<T> {
    Transfer::Pending(Box::pin(async { panic!("on purpose") }))
}

impl Buffer for MockBuffer {
    fn size(&self) -> u64 {
        self.bytes.lock().unwrap().len() as u64
    }

    fn read(&self, offset: u64, length: u64, mut into: Vec<u8>) -> Transfer<Vec<u8>> {
        if self.fault() {
            return faulty();
        }
        into.extend_from_slice(&self.bytes.lock().unwrap()[offset as usize..(offset + length) as usize]);
        Transfer::Done(Ok(into))
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Transfer<()> {
        if self.fault() {
            return faulty();
        }
        self.bytes.lock().unwrap()[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
        Transfer::Done(Ok(()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn put(span: &Span<'_>, bytes: &[u8]) {
    assert_eq!(span.length, bytes.len() as u64);
    let Transfer::Done(result) = span.buffer.write(span.offset, bytes) else { unreachable!() };
    result.unwrap();
}

fn commands(work: &Work, deaf: bool) -> Result<()> {
    for command in work.commands.iter() {
        if let Some(reason) = work.control.stopped().filter(|_| !deaf) {
            return Err(reason);
        }
        match command {
            Command::Barrier => (),
            Command::Fill { target, pattern } => {
                let span = work.resolve(target)?;
                let bytes: Vec<u8> = pattern.iter().copied().cycle().take(span.length as usize).collect();
                put(&span, &bytes);
            }
            Command::Update { target, bytes } => put(&work.resolve(target)?, bytes),
            Command::Copy { source, target } => {
                let from = work.resolve(source)?;
                let Transfer::Done(bytes) = from.buffer.read(from.offset, from.length, Vec::new()) else {
                    unreachable!()
                };
                put(&work.resolve(target)?, &bytes?);
            }
            Command::ReadBlob { blob, blob_offset, target } => {
                let span = work.resolve(target)?;
                let mut bytes = vec![0; span.length as usize];
                blob.read_at(*blob_offset, &mut bytes)?;
                put(&span, &bytes);
            }
            Command::Dispatch(dispatch) => {
                let bindings: Vec<u32> = dispatch.bindings.iter().map(|binding| binding.binding).collect();
                assert!(bindings.is_sorted(), "bindings arrive in order");
                for binding in &dispatch.bindings {
                    work.resolve(&binding.buffer)?;
                }
                // The written binding shows that the kernel ran.
                if let Some(target) = dispatch.bindings.iter().find(|binding| binding.binding == 2) {
                    let span = work.resolve(&target.buffer)?;
                    put(&Span { length: 4, ..span }, &[9; 4]);
                }
            }
        }
    }
    Ok(())
}
