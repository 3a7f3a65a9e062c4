//! What only a process of its own can measure: memory and processor time of the whole.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: clippy.toml relaxes only what stands inside a #[test] function"
)]

use hal_driver::{
    BufferParams, BufferRef, BufferView, Command, Control, Device, Dispatch, DispatchBinding, Factory, LoadRequest,
    Source, Transfer, Work, Workgroups,
};
use hal_driver_cpu::{Config, CpuFactory};
use std::{
    fs,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

fn status(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

fn mappings() -> usize {
    fs::read_to_string("/proc/self/maps").unwrap().lines().count()
}

fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = fields.iter().skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

/// Loads a kernel and runs enough of it that all workers take part.
fn dispatch(device: &dyn Device) {
    const SOURCE: &str = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] += 1u; }
    ";
    let request = LoadRequest { format: "wgsl", bytes: SOURCE.as_bytes(), overrides: &[], label: "" };
    let executable = device.load(&request).unwrap();
    let buffer = device.allocate(&BufferParams::default(), 4 << 20).unwrap();
    let data = BufferRef { source: Source::Direct(0), offset: 0, length: None };
    let (sender, receiver) = mpsc::channel();
    device.submit(Work {
        commands: Arc::new([Command::Dispatch(Dispatch {
            executable: 0,
            function: 0,
            workgroups: Workgroups::Direct([1 << 14, 1, 1]),
            constants: Box::new([]),
            bindings: Box::new([DispatchBinding { binding: 0, buffer: data }]),
        })]),
        buffers: vec![BufferView { buffer: buffer.clone(), offset: 0, length: buffer.size() }],
        slots: Vec::new(),
        executables: Arc::new([executable]),
        control: Arc::new(Control::new(None)),
        done: Box::new(move |outcome| drop(sender.send(outcome))),
    });
    receiver.recv().unwrap().unwrap();
}

/// One test, so that nothing else runs in the process.
#[test]
fn devices_come_and_go_without_a_trace() {
    let factory = CpuFactory::new(Config::new().workers(2)).unwrap();
    for name in ["local-sync", "local-task"] {
        let driver = factory.create(name).unwrap();
        let round = |bytes: u64| {
            let device = driver.open("0", &[]).unwrap();
            let buffer = device.allocate(&BufferParams::default(), bytes).unwrap();
            let Transfer::Done(written) = buffer.write(0, &vec![1; bytes as usize]) else { return };
            written.unwrap();
        };
        (0..50).for_each(|_| round(2 << 20));
        let before = (status("VmRSS"), status("VmSize"), status("Threads"));
        let maps = mappings();
        (0..1000).for_each(|_| round(2 << 20));
        std::thread::sleep(Duration::from_millis(200));
        let after = (status("VmRSS"), status("VmSize"), status("Threads"));
        println!("{name}: RSS {} -> {} kB, {} -> {} mappings over 1,000 devices", before.0, after.0, maps, mappings());
        assert!(after.0 < before.0 + 8192, "resident memory grew: {before:?} {after:?}");
        assert!(after.1 < before.1 + 65_536, "address space leaked: {before:?} {after:?}");
        assert!(after.2 <= 4, "threads: {after:?}");
        assert!(mappings() < maps + 16);

        let begin = Instant::now();
        (0..200).for_each(|_| drop(driver.open("0", &[]).unwrap()));
        println!("{name}: opening and closing a device takes {:?}", begin.elapsed() / 200);

        let kernels = || {
            let device = driver.open("0", &[]).unwrap();
            dispatch(&*device);
            device.trim().unwrap();
            dispatch(&*device);
        };
        (0..5).for_each(|_| kernels());
        let (before, maps) = ((status("VmRSS"), status("VmSize")), mappings());
        (0..30).for_each(|_| kernels());
        std::thread::sleep(Duration::from_millis(200));
        let after = (status("VmRSS"), status("VmSize"));
        println!(
            "{name}: RSS {} -> {} kB, {maps} -> {} mappings over 30 devices with kernels",
            before.0,
            after.0,
            mappings()
        );
        assert!(
            after.0 < before.0 + 8192 && after.1 < before.1 + (1 << 20),
            "kernels stay behind: {before:?} {after:?}"
        );
        assert!(mappings() < maps + 32);

        let device = driver.open("0", &[]).unwrap();
        let big = device.allocate(&BufferParams::default(), 64 << 20).unwrap();
        let Transfer::Done(written) = big.write(0, &vec![1; 64 << 20]) else { return };
        written.unwrap();
        let full = status("VmRSS");
        drop(big);
        device.trim().unwrap();
        assert!(status("VmRSS") + 60_000 < full, "a large buffer's memory goes back to the system");
    }
    let before = processor_time();
    std::thread::sleep(Duration::from_millis(500));
    assert!(processor_time() - before <= Duration::from_millis(20), "idle workers use the processor");
    drop(factory);
    std::thread::sleep(Duration::from_millis(200));
    assert!(status("Threads") <= 2, "the pool's threads outlive it");
}
