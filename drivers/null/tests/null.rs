//! What the null driver does, through the traits alone.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests: clippy.toml relaxes only what stands inside a #[test] function"
)]

use hal_driver::{
    Blob, Buffer, BufferParams, BufferRef, BufferView, Code, Command, Control, Device, Dispatch, Error, Factory,
    LoadRequest, Result, Source, Timing, Transfer, Work, Workgroups,
};
use hal_driver_null::NullFactory;
use std::{
    sync::{Arc, mpsc},
    time::Instant,
};

fn device() -> Arc<dyn Device> {
    NullFactory::new().create("null").unwrap().open("0", &[]).unwrap()
}

fn allocate(device: &dyn Device, size: u64) -> Arc<dyn Buffer> {
    device.allocate(&BufferParams::default(), size).unwrap()
}

fn done<T>(transfer: Transfer<T>) -> T {
    match transfer {
        Transfer::Done(result) => result.unwrap(),
        Transfer::Pending(_) => panic!("host memory needs no staging"),
    }
}

fn bytes(buffer: &dyn Buffer) -> Vec<u8> {
    done(buffer.read(0, buffer.size(), Vec::new()))
}

fn at(index: u32, offset: u64, length: u64) -> BufferRef {
    BufferRef { source: Source::Direct(index), offset, length: Some(length) }
}

fn run_with(
    device: &dyn Device,
    buffers: &[&Arc<dyn Buffer>],
    commands: Vec<Command>,
    control: Control,
) -> Result<Timing> {
    let (sender, receiver) = mpsc::channel();
    let view = |buffer: &Arc<dyn Buffer>| BufferView { buffer: buffer.clone(), offset: 0, length: buffer.size() };
    device.submit(Work {
        commands: commands.into(),
        buffers: buffers.iter().map(|buffer| view(buffer)).collect(),
        slots: Vec::new(),
        executables: Arc::new([]),
        control: Arc::new(control),
        done: Box::new(move |outcome| sender.send(outcome).unwrap()),
    });
    let outcome = receiver.recv().unwrap();
    assert!(receiver.recv().is_err(), "done was called twice");
    outcome
}

fn run(device: &dyn Device, buffers: &[&Arc<dyn Buffer>], commands: Vec<Command>) -> Result<Timing> {
    run_with(device, buffers, commands, Control::new(None))
}

struct Counting;

impl Blob for Counting {
    fn length(&self) -> u64 {
        1 << 20
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        into.iter_mut().zip(offset..).for_each(|(byte, at)| *byte = (at % 251) as u8);
        Ok(())
    }
}

#[test]
fn lists_one_driver_with_one_device() {
    let factory = NullFactory::new();
    assert_eq!(factory.drivers().unwrap().len(), 1);
    assert_eq!(factory.create("cpu").err().unwrap().code, Code::NotFound);
    let driver = factory.create("null").unwrap();
    let devices = driver.devices().unwrap();
    assert_eq!(devices.len(), 1);
    assert!(devices[0].formats.is_empty());
    assert!(driver.details("0").is_ok());
    assert_eq!(driver.open("1", &[]).err().unwrap().code, Code::NotFound);
    let error = driver.open("0", &[("speed".into(), "high".into())]).err().unwrap();
    assert_eq!(error.code, Code::InvalidArgument);
    assert!(error.message.contains("speed"), "{error}");
}

#[test]
fn memory_is_zeroed_exact_and_limited() {
    let device = device();
    assert!(bytes(&*allocate(&*device, 33)).iter().all(|&byte| byte == 0));
    assert_eq!(allocate(&*device, 0).size(), 0);
    let limit = device.limits().max_buffer_bytes;
    let half = allocate(&*device, limit / 2);
    let error = device.allocate(&BufferParams::default(), limit / 2 + 1).err().unwrap();
    assert_eq!(error.code, Code::ResourceExhausted);
    drop(half);
    drop(allocate(&*device, limit / 2 + 1));
}

#[test]
fn host_transfers_at_odd_offsets() {
    let device = device();
    let buffer = allocate(&*device, 11);
    done(buffer.write(3, b"abcde"));
    assert_eq!(bytes(&*buffer), b"\0\0\0abcde\0\0\0");
    assert_eq!(done(buffer.read(4, 3, b"kept:".to_vec())), b"kept:bcd");
}

#[test]
fn commands_at_odd_offsets() {
    let device = device();
    let (a, b) = (allocate(&*device, 16), allocate(&*device, 16));
    let commands = vec![
        Command::Fill { target: at(0, 1, 3), pattern: [7; 4] },
        Command::Fill { target: at(0, 5, 6), pattern: [1, 2, 1, 2] },
        Command::Update { target: at(0, 13, 2), bytes: Arc::new(*b"xy") },
        Command::Barrier,
        Command::Copy { source: at(0, 3, 9), target: at(1, 2, 9) },
        Command::Barrier,
        Command::Copy { source: at(1, 2, 3), target: at(1, 12, 3) },
    ];
    run(&*device, &[&a, &b], commands).unwrap();
    assert_eq!(bytes(&*a), [0, 7, 7, 7, 0, 1, 2, 1, 2, 1, 2, 0, 0, b'x', b'y', 0]);
    assert_eq!(bytes(&*b), [0, 0, 7, 0, 1, 2, 1, 2, 1, 2, 0, 0, 7, 0, 1, 0]);
}

#[test]
fn blobs_longer_than_the_stage() {
    let device = device();
    let buffer = allocate(&*device, 700_001);
    let blob = Arc::new(Counting);
    run(&*device, &[&buffer], vec![Command::ReadBlob { blob, blob_offset: 5, target: at(0, 1, 700_000) }]).unwrap();
    let bytes = bytes(&*buffer);
    assert_eq!(bytes[0], 0);
    assert!(bytes[1..].iter().zip(5_u64..).all(|(&byte, at)| byte == (at % 251) as u8));
}

#[test]
fn kernels_are_refused() {
    let device = device();
    let request = LoadRequest { format: "wgsl", bytes: b"", overrides: &[], label: "" };
    assert_eq!(device.load(&request).err().unwrap().code, Code::Unimplemented);
    let dispatch = Dispatch {
        executable: 0,
        function: 0,
        workgroups: Workgroups::Direct([1; 3]),
        constants: Box::new([]),
        bindings: Box::new([]),
    };
    assert_eq!(run(&*device, &[], vec![Command::Dispatch(dispatch)]).unwrap_err().code, Code::Unimplemented);
}

#[test]
fn stops_when_told() {
    let device = device();
    let buffer = allocate(&*device, 4);
    let fill = || vec![Command::Fill { target: at(0, 0, 4), pattern: [1; 4] }];
    let late = Control::new(Some(Instant::now()));
    assert_eq!(run_with(&*device, &[&buffer], fill(), late).unwrap_err().code, Code::DeadlineExceeded);
    let stopped = Control::new(None);
    stopped.stop(Error::new(Code::Cancelled, "the tenant ended"));
    assert_eq!(run_with(&*device, &[&buffer], fill(), stopped).unwrap_err().code, Code::Cancelled);
    assert_eq!(bytes(&*buffer), [0; 4]);
}

#[test]
fn a_hole_in_the_checks_is_an_error() {
    let device = device();
    let buffer = allocate(&*device, 4);
    let fill = |target| vec![Command::Fill { target, pattern: [1; 4] }];
    assert_eq!(run(&*device, &[&buffer], fill(at(1, 0, 4))).unwrap_err().code, Code::Internal);
    assert_eq!(run(&*device, &[&buffer], fill(at(0, 1, 4))).unwrap_err().code, Code::Internal);
    let Transfer::Done(read) = buffer.read(u64::MAX, 2, Vec::new()) else { panic!("host memory needs no staging") };
    assert_eq!(read.unwrap_err().code, Code::Internal);
}
