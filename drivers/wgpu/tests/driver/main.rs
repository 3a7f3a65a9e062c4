//! What only this driver can show, on whatever Vulkan device the machine has; what every driver does is `tests/conformance`'s.
//!
//! Without a device every test passes with a printed reason, unless `HAL_REQUIRE_VULKAN=1` demands one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests: clippy.toml relaxes only what stands inside a #[test] function"
)]

mod bounds;
mod keep;
mod kernels;
mod listing;
mod order;
mod transfers;

use hal_driver::{
    Binding, Buffer, BufferParams, BufferRef, BufferView, Command, Control, Device, Dispatch, DispatchBinding, Driver,
    Error, Executable, Factory, LoadRequest, Result, Source, Timing, Transfer, Work, Workgroups,
};
use hal_driver_wgpu::{Config, WgpuFactory};
use std::{
    future::Future,
    pin::pin,
    sync::{Arc, mpsc},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

/// The driver, if there is one with a device.
fn driver() -> Option<Arc<dyn Driver>> {
    driver_with(Config::new())
}

fn driver_with(config: Config) -> Option<Arc<dyn Driver>> {
    let found = WgpuFactory::new(config).create("vulkan").and_then(|driver| match driver.devices()?.is_empty() {
        true => Err(Error::new(hal_driver::Code::Unavailable, "there is no Vulkan device")),
        false => Ok(driver),
    });
    match found {
        Ok(driver) => Some(driver),
        Err(error) if std::env::var("HAL_REQUIRE_VULKAN").is_ok_and(|value| value == "1") => {
            panic!("HAL_REQUIRE_VULKAN=1, but: {error}")
        }
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// A new device, if there is one.
fn device() -> Option<Arc<dyn Device>> {
    let driver = driver()?;
    let path = driver.devices().unwrap()[0].path.clone();
    Some(driver.open(&path, &[]).unwrap())
}

fn allocate(device: &dyn Device, size: u64) -> Arc<dyn Buffer> {
    device.allocate(&BufferParams::default(), size).unwrap()
}

/// Waits for a transfer as an executor does.
fn finish<T>(transfer: Transfer<T>) -> Result<T> {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(transfer.finish());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => thread::park_timeout(Duration::from_secs(60)),
        }
    }
}

fn bytes(buffer: &dyn Buffer) -> Vec<u8> {
    finish(buffer.read(0, buffer.size(), Vec::new())).unwrap()
}

fn words(buffer: &dyn Buffer) -> Vec<u32> {
    bytes(buffer).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn write(buffer: &dyn Buffer, offset: u64, bytes: &[u8]) {
    finish(buffer.write(offset, bytes)).unwrap();
}

fn at(index: u32, offset: u64, length: u64) -> BufferRef {
    BufferRef { source: Source::Direct(index), offset, length: Some(length) }
}

fn load(device: &dyn Device, source: &str) -> Result<Arc<dyn Executable>> {
    device.load(&LoadRequest { format: "wgsl", bytes: source.as_bytes(), overrides: &[], label: "test" })
}

/// Submits commands and answers how they ended.
fn submit(
    device: &dyn Device,
    buffers: &[&Arc<dyn Buffer>],
    executable: Option<&Arc<dyn Executable>>,
    commands: Vec<Command>,
    control: Arc<Control>,
) -> mpsc::Receiver<Result<Timing>> {
    let (sender, receiver) = mpsc::channel();
    let view = |buffer: &Arc<dyn Buffer>| BufferView { buffer: buffer.clone(), offset: 0, length: buffer.size() };
    device.submit(Work {
        commands: commands.into(),
        buffers: buffers.iter().map(|buffer| view(buffer)).collect(),
        slots: Vec::new(),
        executables: executable.cloned().into_iter().collect(),
        control,
        done: Box::new(move |outcome| sender.send(outcome).unwrap()),
    });
    receiver
}

fn run(
    device: &dyn Device,
    buffers: &[&Arc<dyn Buffer>],
    executable: Option<&Arc<dyn Executable>>,
    commands: Vec<Command>,
) -> Result<Timing> {
    let control = Arc::new(Control::new(Some(Instant::now() + Duration::from_secs(60))));
    submit(device, buffers, executable, commands, control).recv_timeout(Duration::from_secs(120)).expect("an end")
}

/// A dispatch of the first function with whole buffers for its bindings, in order.
fn dispatch(executable: &Arc<dyn Executable>, groups: [u32; 3]) -> Command {
    let bound = |(index, binding): (u32, &Binding)| DispatchBinding {
        binding: binding.binding,
        buffer: BufferRef { source: Source::Direct(index), offset: 0, length: None },
    };
    Command::Dispatch(Dispatch {
        executable: 0,
        function: 0,
        workgroups: Workgroups::Direct(groups),
        constants: Box::default(),
        bindings: (0..).zip(&executable.functions()[0].bindings).map(bound).collect(),
    })
}
