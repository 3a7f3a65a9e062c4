//! A layer over any factory that counts the live objects below it. After a test there must be none.

use hal_driver::{
    Buffer, BufferParams, BufferView, Device, DeviceInfo, Driver, DriverInfo, Error, Executable, Factory, FactoryInfo,
    Function, Heap, Limits, LoadRequest, Parameters, Result, Transfer, Work,
};
use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// How many objects of each kind are alive, and how many there have ever been.
#[derive(Debug, Default)]
pub struct Counts {
    drivers: AtomicI64,
    devices: AtomicI64,
    buffers: AtomicI64,
    bytes: AtomicI64,
    executables: AtomicI64,
    works: AtomicI64,
    made: AtomicU64,
}

impl Counts {
    /// Devices that are open.
    pub fn devices(&self) -> i64 {
        self.devices.load(Ordering::SeqCst)
    }

    /// Allocations.
    pub fn buffers(&self) -> i64 {
        self.buffers.load(Ordering::SeqCst)
    }

    /// Bytes of these.
    pub fn bytes(&self) -> i64 {
        self.bytes.load(Ordering::SeqCst)
    }

    /// Work that a device has begun and not ended.
    pub fn works(&self) -> i64 {
        self.works.load(Ordering::SeqCst)
    }

    /// Objects ever made: a test that finds none alive should also find that there were some.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::SeqCst)
    }

    fn all(&self) -> [i64; 6] {
        [&self.drivers, &self.devices, &self.buffers, &self.bytes, &self.executables, &self.works]
            .map(|count| count.load(Ordering::SeqCst))
    }

    /// Waits until nothing is alive: native release may be somebody else's thread.
    ///
    /// # Errors
    /// What is still alive when the time is up.
    pub fn wait_for_none(&self, most: Duration) -> Result<(), String> {
        let until = Instant::now() + most;
        while self.all() != [0; 6] {
            if Instant::now() >= until {
                return Err(format!("still alive after {most:?}: {self}"));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [drivers, devices, buffers, bytes, executables, works] = self.all();
        write!(
            f,
            "{drivers} drivers, {devices} devices, {buffers} buffers of {bytes} bytes, {executables} executables, {works} works"
        )
    }
}

/// Counts up when made and down when dropped.
struct Alive {
    counts: Arc<Counts>,
    which: fn(&Counts) -> &AtomicI64,
    amount: i64,
}

impl Alive {
    fn new(counts: &Arc<Counts>, which: fn(&Counts) -> &AtomicI64) -> Self {
        Self::of(counts, which, 1)
    }

    fn of(counts: &Arc<Counts>, which: fn(&Counts) -> &AtomicI64, amount: i64) -> Self {
        which(counts).fetch_add(amount, Ordering::SeqCst);
        counts.made.fetch_add(1, Ordering::SeqCst);
        Self { counts: counts.clone(), which, amount }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        (self.which)(&self.counts).fetch_sub(self.amount, Ordering::SeqCst);
    }
}

/// The factory, and the counts of all that will come from it.
pub fn counted(factory: Arc<dyn Factory>) -> (Arc<dyn Factory>, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    (Arc::new(CountedFactory { inner: factory, counts: counts.clone() }), counts)
}

struct CountedFactory {
    inner: Arc<dyn Factory>,
    counts: Arc<Counts>,
}

impl Factory for CountedFactory {
    fn info(&self) -> FactoryInfo {
        self.inner.info()
    }

    fn drivers(&self) -> Result<Vec<DriverInfo>> {
        self.inner.drivers()
    }

    fn create(&self, name: &str) -> Result<Arc<dyn Driver>> {
        let inner = self.inner.create(name)?;
        let _alive = Alive::new(&self.counts, |counts| &counts.drivers);
        Ok(Arc::new(CountedDriver { inner, counts: self.counts.clone(), _alive }))
    }
}

struct CountedDriver {
    inner: Arc<dyn Driver>,
    counts: Arc<Counts>,
    _alive: Alive,
}

impl Driver for CountedDriver {
    fn info(&self) -> DriverInfo {
        self.inner.info()
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        self.inner.devices()
    }

    fn details(&self, path: &str) -> Result<String> {
        self.inner.details(path)
    }

    fn choose(&self, devices: &[DeviceInfo], parameters: &Parameters) -> Result<usize> {
        self.inner.choose(devices, parameters)
    }

    fn open(&self, path: &str, parameters: &Parameters) -> Result<Arc<dyn Device>> {
        let inner = self.inner.open(path, parameters)?;
        let _alive = Alive::new(&self.counts, |counts| &counts.devices);
        Ok(Arc::new(CountedDevice { inner, counts: self.counts.clone(), _alive }))
    }
}

struct CountedDevice {
    inner: Arc<dyn Device>,
    counts: Arc<Counts>,
    _alive: Alive,
}

impl Device for CountedDevice {
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
        let inner = self.inner.allocate(params, size)?;
        let alive = [
            Alive::new(&self.counts, |counts| &counts.buffers),
            Alive::of(&self.counts, |counts| &counts.bytes, i64::try_from(inner.size()).unwrap_or(i64::MAX)),
        ];
        Ok(Arc::new(CountedBuffer { inner, _alive: alive }))
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Arc<dyn Executable>> {
        let inner = self.inner.load(request)?;
        let _alive = Alive::new(&self.counts, |counts| &counts.executables);
        Ok(Arc::new(CountedExecutable { inner, _alive }))
    }

    fn submit(&self, work: Work) {
        let Work { commands, buffers, slots, executables, control, done } = work;
        let alive = Alive::new(&self.counts, |counts| &counts.works);
        let inside = |views: &[BufferView]| -> Vec<BufferView> { views.iter().map(inner_view).collect() };
        let (inner_buffers, inner_slots) = (inside(&buffers), inside(&slots));
        let inner_executables = executables.iter().map(inner_executable).collect();
        // Ours stay until the work has ended, as the driver's own do.
        let kept = (buffers, slots, executables);
        let done = Box::new(move |outcome| {
            drop(kept);
            drop(alive);
            done(outcome);
        });
        self.inner.submit(Work {
            commands,
            buffers: inner_buffers,
            slots: inner_slots,
            executables: inner_executables,
            control,
            done,
        });
    }

    fn lost(&self) -> Option<Error> {
        self.inner.lost()
    }

    fn trim(&self) -> Result<()> {
        self.inner.trim()
    }
}

fn inner_view(view: &BufferView) -> BufferView {
    let own = view.buffer.as_any().downcast_ref::<CountedBuffer>();
    BufferView { buffer: own.map_or_else(|| view.buffer.clone(), |own| own.inner.clone()), ..*view }
}

fn inner_executable(executable: &Arc<dyn Executable>) -> Arc<dyn Executable> {
    let own = executable.as_any().downcast_ref::<CountedExecutable>();
    own.map_or_else(|| executable.clone(), |own| own.inner.clone())
}

struct CountedBuffer {
    inner: Arc<dyn Buffer>,
    _alive: [Alive; 2],
}

impl Buffer for CountedBuffer {
    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn read(&self, offset: u64, length: u64, into: Vec<u8>) -> Transfer<Vec<u8>> {
        self.inner.read(offset, length, into)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Transfer<()> {
        self.inner.write(offset, bytes)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct CountedExecutable {
    inner: Arc<dyn Executable>,
    _alive: Alive,
}

impl Executable for CountedExecutable {
    fn functions(&self) -> &[Function] {
        self.inner.functions()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
