//! Devices, buffers and works in a few words.

use hal_driver::{
    Buffer, BufferParams, BufferRef, BufferView, Command, Control, Device, Driver, Executable, Factory, LoadRequest,
    Result, Source, Timing, Transfer, Work,
};
use hal_driver_cpu::{Config, CpuFactory};
use std::{
    sync::{Arc, LazyLock, mpsc},
    time::Duration,
};

pub const DRIVERS: [&str; 2] = ["local-sync", "local-task"];

static FACTORY: LazyLock<CpuFactory> = LazyLock::new(|| CpuFactory::new(Config::new().workers(4)).unwrap());

pub fn driver(name: &str) -> Arc<dyn Driver> {
    FACTORY.create(name).unwrap()
}

pub fn device(name: &str) -> Arc<dyn Device> {
    driver(name).open("0", &[]).unwrap()
}

pub fn small_device(name: &str, memory_bytes: u64) -> Arc<dyn Device> {
    let factory = CpuFactory::new(Config::new().workers(2).memory_bytes(memory_bytes)).unwrap();
    factory.create(name).unwrap().open("0", &[]).unwrap()
}

pub fn allocate(device: &dyn Device, size: u64) -> Arc<dyn Buffer> {
    device.allocate(&BufferParams::default(), size).unwrap()
}

pub fn done<T>(transfer: Transfer<T>) -> T {
    match transfer {
        Transfer::Done(result) => result.unwrap(),
        Transfer::Pending(_) => panic!("host memory needs no staging"),
    }
}

pub fn bytes(buffer: &dyn Buffer) -> Vec<u8> {
    done(buffer.read(0, buffer.size(), Vec::new()))
}

pub fn words(buffer: &dyn Buffer) -> Vec<u32> {
    bytes(buffer).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

pub fn write_words(buffer: &dyn Buffer, offset: u64, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    done(buffer.write(offset, &bytes));
}

pub fn at(index: u32, offset: u64, length: u64) -> BufferRef {
    BufferRef { source: Source::Direct(index), offset, length: Some(length) }
}

pub fn whole(index: u32) -> BufferRef {
    BufferRef { source: Source::Direct(index), offset: 0, length: None }
}

pub fn load(device: &dyn Device, source: &str) -> Result<Arc<dyn Executable>> {
    device.load(&LoadRequest { format: "wgsl", bytes: source.as_bytes(), overrides: &[], label: "" })
}

/// What a work is made of, other than its commands.
pub struct Job {
    buffers: Vec<Arc<dyn Buffer>>,
    executables: Vec<Arc<dyn Executable>>,
    pub control: Arc<Control>,
}

impl Job {
    pub fn new(buffers: &[&Arc<dyn Buffer>]) -> Self {
        let buffers = buffers.iter().map(|&buffer| buffer.clone()).collect();
        Self { buffers, executables: Vec::new(), control: Arc::new(Control::new(None)) }
    }

    pub fn with(self, executable: &Arc<dyn Executable>) -> Self {
        Self { executables: vec![executable.clone()], ..self }
    }

    pub fn under(self, control: Control) -> Self {
        Self { control: Arc::new(control), ..self }
    }

    pub fn submit(&self, device: &dyn Device, commands: Vec<Command>) -> mpsc::Receiver<Result<Timing>> {
        let (sender, receiver) = mpsc::channel();
        let view = |buffer: &Arc<dyn Buffer>| BufferView { buffer: buffer.clone(), offset: 0, length: buffer.size() };
        device.submit(Work {
            commands: commands.into(),
            buffers: self.buffers.iter().map(view).collect(),
            slots: Vec::new(),
            executables: self.executables.clone().into(),
            control: self.control.clone(),
            done: Box::new(move |outcome| drop(sender.send(outcome))),
        });
        receiver
    }

    pub fn run(&self, device: &dyn Device, commands: Vec<Command>) -> Result<Timing> {
        let receiver = self.submit(device, commands);
        let outcome = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(receiver.recv().is_err(), "done was called twice");
        outcome
    }
}
