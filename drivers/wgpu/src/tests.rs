//! What only a driver's inside can show.

use crate::{Config, WgpuFactory, adapter, backend::Backend, device::WgpuDevice};
use hal_driver::{BufferParams, Code, Control, Device, Factory, Work};
use metrics::{Counter, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use std::{
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};

/// What the driver tells of its devices that hang.
static WEDGED: Mutex<Vec<(String, f64)>> = Mutex::new(Vec::new());

struct Gauges;

struct Wedged(String);

impl Recorder for Gauges {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Gauge::from_arc(Arc::new(Wedged(format!("{} {}", key.name(), labels.join(" ")))))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

impl GaugeFn for Wedged {
    fn increment(&self, value: f64) {
        WEDGED.lock().unwrap().push((self.0.clone(), value));
    }

    fn decrement(&self, value: f64) {
        self.increment(-value);
    }

    fn set(&self, _: f64) {
        unreachable!("it counts");
    }
}

/// Last of this process's tests with a device: it leaves a software adapter busy for hours. It stands alone for that reason; other tests with
/// devices are in `tests/`.
#[test]
fn a_device_that_hangs_is_given_up_and_its_adapter_takes_no_more() {
    let Some(adapter) = Backend::Vulkan.instance(false).ok().and_then(|it| adapter::list(Backend::Vulkan, &it).pop())
    else {
        assert!(std::env::var_os("HAL_REQUIRE_VULKAN").is_none(), "there is no Vulkan device");
        return println!("skipped: there is no Vulkan device");
    };
    if !adapter.is_software() {
        return println!("skipped: a GPU is not made to hang on purpose");
    }
    metrics::set_global_recorder(Gauges).unwrap();
    let device = WgpuDevice::new(adapter, &Config::new()).unwrap();
    let buffer = device.allocate(&BufferParams::default(), 4).unwrap();
    let state = device.handle.state.clone();
    // A job that behaves as no kernel of a tenant can: a grid that takes hours, in one native submission.
    state.push(crate::state::Item::Job(Box::new(|native| native.hang().unwrap())));
    let (sender, ended) = mpsc::channel();
    device.submit(Work {
        commands: Arc::new([]),
        buffers: Vec::new(),
        slots: Vec::new(),
        executables: Arc::new([]),
        control: Arc::new(Control::new(None)),
        done: Box::new(move |outcome| sender.send(outcome).unwrap()),
    });
    let begin = Instant::now();
    let error = ended.recv_timeout(Duration::from_secs(60)).unwrap().unwrap_err();
    println!("given up after {:?}", begin.elapsed());
    assert_eq!(error.code, Code::Unavailable, "{error}");
    assert_eq!(device.lost().unwrap().code, Code::Unavailable);
    assert_eq!(device.allocate(&BufferParams::default(), 4).err().unwrap().code, Code::Unavailable);
    let path = &state.adapter.info.path;
    assert_eq!(*WEDGED.lock().unwrap(), [(format!("hal_wgpu_wedged_devices driver=vulkan device={path}"), 1.0)]);
    // Neither of these may wait for the device.
    let begin = Instant::now();
    drop((buffer, device));
    assert!(begin.elapsed() < Duration::from_secs(1));
    let driver = WgpuFactory::new(Config::new()).create("vulkan").unwrap();
    let other = driver.open(&state.adapter.info.path, &[]).unwrap();
    // It is still so some time later: the thread does not count as back while the device works.
    std::thread::sleep(Duration::from_secs(2));
    let error = other.allocate(&BufferParams::default(), 4).err().unwrap();
    assert!(error.code == Code::Unavailable && error.message.contains("hangs"), "{error}");
}
