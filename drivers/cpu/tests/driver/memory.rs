//! Allocation: limits, zeroes, reuse.

use crate::support::*;
use hal_driver::{BufferParams, Code, Command};
use std::sync::Arc;

#[test]
fn sizes_are_exact_and_limited() {
    for name in DRIVERS {
        let device = small_device(name, 8 << 20);
        assert_eq!(device.limits().max_buffer_bytes, 8 << 20);
        assert_eq!(allocate(&*device, 0).size(), 0);
        assert_eq!(allocate(&*device, 33).size(), 33);
        let whole = allocate(&*device, 8 << 20);
        assert!(bytes(&*whole).iter().all(|&byte| byte == 0));
        for size in [1, 1 << 20, u64::MAX] {
            assert_eq!(device.allocate(&BufferParams::default(), size).err().unwrap().code, Code::ResourceExhausted);
        }
        drop(whole);
        let halves = [allocate(&*device, 4 << 20), allocate(&*device, 4 << 20)];
        assert_eq!(device.allocate(&BufferParams::default(), 1).err().unwrap().code, Code::ResourceExhausted);
        drop(halves);
        allocate(&*device, 8 << 20);
    }
}

#[test]
fn memory_that_was_used_before_reads_as_zero() {
    for name in DRIVERS {
        let device = small_device(name, 32 << 20);
        for round in 0..20_u64 {
            // Sizes on both sides of where clearing changes its way, and of every granule.
            let sizes = [1, 63, 64, 65, 4097, 100_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1 + round * 4096, 3 << 20];
            let buffers: Vec<_> = sizes.iter().map(|&size| allocate(&*device, size)).collect();
            for buffer in &buffers {
                assert!(
                    bytes(&**buffer).iter().all(|&byte| byte == 0),
                    "{name}, round {round}, {} bytes",
                    buffer.size()
                );
            }
            for buffer in &buffers {
                done(buffer.write(0, &vec![0xAB; buffer.size() as usize]));
            }
            if round % 5 == 4 {
                device.trim().unwrap();
            }
            for buffer in &buffers {
                assert!(bytes(&**buffer).iter().all(|&byte| byte == 0xAB), "trimming took what is in use");
            }
        }
    }
}

#[test]
fn buffers_do_not_overlap() {
    for name in DRIVERS {
        let device = small_device(name, 4 << 20);
        let buffers: Vec<_> = (0..100_u8).map(|index| (index, allocate(&*device, 1 + u64::from(index) * 37))).collect();
        for (index, buffer) in &buffers {
            done(buffer.write(0, &vec![*index; buffer.size() as usize]));
        }
        for (index, buffer) in &buffers {
            assert!(bytes(&**buffer).iter().all(|byte| byte == index));
        }
    }
}

#[test]
fn devices_share_nothing() {
    let (a, b) = (device("cpu"), device("cpu"));
    let (in_a, in_b) = (allocate(&*a, 64), allocate(&*b, 64));
    done(in_a.write(0, &[1; 64]));
    assert_eq!(bytes(&*in_b), [0; 64]);
    drop(a);
    assert_eq!(bytes(&*in_a), [1; 64], "a buffer keeps its device alive");
}

#[test]
fn work_in_flight_keeps_its_buffers() {
    let device = device("local-task");
    let (a, b) = (allocate(&*device, 64 << 20), allocate(&*device, 4));
    let fills = vec![Command::Fill { target: whole(0), pattern: [1, 2, 3, 4] }; 4];
    let first = Job::new(&[&a]).submit(&*device, fills);
    let weak = Arc::downgrade(&a);
    drop(a);
    let second = Job::new(&[&b]).submit(&*device, vec![Command::Fill { target: whole(0), pattern: [1; 4] }]);
    assert!(first.recv().unwrap().is_ok());
    assert!(weak.upgrade().is_none(), "memory is free before the news of the end is out");
    assert!(second.recv().unwrap().is_ok());
    assert_eq!(bytes(&*b), [1; 4]);
}
