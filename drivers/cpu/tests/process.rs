//! What only a process of its own can measure: memory and processor time of the whole.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: clippy.toml relaxes only what stands inside a #[test] function"
)]

use hal_driver::{BufferParams, Factory, Transfer};
use hal_driver_cpu::{Config, CpuFactory};
use std::{
    fs,
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
