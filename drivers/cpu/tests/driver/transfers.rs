//! Reads, writes, fills, updates, copies, blobs.

use crate::support::*;
use hal_driver::{Blob, Code, Command, Control, Error, Result};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

struct Counting;

impl Blob for Counting {
    fn length(&self) -> u64 {
        u64::MAX
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        assert!(into.len() <= 1 << 20, "what is staged is bounded");
        into.iter_mut().zip(offset..).for_each(|(byte, at)| *byte = (at % 251) as u8);
        Ok(())
    }
}

struct Gone;

impl Blob for Gone {
    fn length(&self) -> u64 {
        100
    }

    fn read_at(&self, _offset: u64, _into: &mut [u8]) -> Result<()> {
        Err(Error::new(Code::DataLoss, "the file is gone"))
    }
}

struct Panics;

impl Blob for Panics {
    fn length(&self) -> u64 {
        100
    }

    fn read_at(&self, _offset: u64, _into: &mut [u8]) -> Result<()> {
        panic!("a defect of the host, on purpose")
    }
}

#[test]
fn host_transfers_at_odd_offsets() {
    for name in DRIVERS {
        let device = device(name);
        let buffer = allocate(&*device, 11);
        done(buffer.write(3, b"abcde"));
        assert_eq!(bytes(&*buffer), b"\0\0\0abcde\0\0\0");
        assert_eq!(done(buffer.read(4, 3, b"kept:".to_vec())), b"kept:bcd");
        assert_eq!(done(buffer.read(11, 0, Vec::new())), b"");
    }
}

#[test]
fn commands_at_odd_offsets() {
    for name in DRIVERS {
        let device = device(name);
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
        Job::new(&[&a, &b]).run(&*device, commands).unwrap();
        assert_eq!(bytes(&*a), [0, 7, 7, 7, 0, 1, 2, 1, 2, 1, 2, 0, 0, b'x', b'y', 0]);
        assert_eq!(bytes(&*b), [0, 0, 7, 0, 1, 2, 1, 2, 1, 2, 0, 0, 7, 0, 1, 0]);
    }
}

#[test]
fn long_fills_copies_and_blobs() {
    const LENGTH: u64 = 9_000_001;
    for name in DRIVERS {
        let device = device(name);
        let (a, b) = (allocate(&*device, LENGTH + 7), allocate(&*device, LENGTH + 7));
        let commands = vec![
            Command::ReadBlob { blob: Arc::new(Counting), blob_offset: 5, target: at(0, 3, LENGTH) },
            Command::Fill { target: at(1, 1, LENGTH - 1), pattern: [1, 2, 3, 4] },
            Command::Barrier,
            Command::Copy { source: at(0, 3, LENGTH / 2), target: at(1, 5, LENGTH / 2) },
        ];
        Job::new(&[&a, &b]).run(&*device, commands).unwrap();
        let (a, b) = (bytes(&*a), bytes(&*b));
        let counted = |at: usize| ((at as u64 + 5) % 251) as u8;
        assert!(a[3..][..LENGTH as usize].iter().enumerate().all(|(at, &byte)| byte == counted(at)));
        assert_eq!((a[2], a[LENGTH as usize + 3]), (0, 0));
        assert!(b[5..][..LENGTH as usize / 2].iter().enumerate().all(|(at, &byte)| byte == counted(at)));
        let rest = LENGTH as usize / 2 + 5..LENGTH as usize;
        assert!(rest.clone().all(|at| b[at] == [1, 2, 3, 4][(at - 1) % 4]), "{rest:?}");
        assert_eq!((b[0], b[LENGTH as usize]), (0, 0));
    }
}

#[test]
fn a_blob_that_fails_fails_the_work() {
    for name in DRIVERS {
        let device = device(name);
        let buffer = allocate(&*device, 100);
        let blob = |blob| vec![Command::ReadBlob { blob, blob_offset: 0, target: at(0, 0, 100) }];
        let error = Job::new(&[&buffer]).run(&*device, blob(Arc::new(Gone))).unwrap_err();
        assert_eq!(error.code, Code::DataLoss);
        assert!(device.lost().is_none());
        let error = Job::new(&[&buffer]).run(&*device, blob(Arc::new(Panics))).unwrap_err();
        assert_eq!(error.code, Code::Internal);
        assert!(device.lost().is_some(), "after a panic nobody knows what holds");
    }
}

#[test]
fn stops_when_told() {
    for name in DRIVERS {
        let device = device(name);
        let buffer = allocate(&*device, 4);
        let fill = || vec![Command::Fill { target: at(0, 0, 4), pattern: [1; 4] }];
        let late = Job::new(&[&buffer]).under(Control::new(Some(Instant::now())));
        assert_eq!(late.run(&*device, fill()).unwrap_err().code, Code::DeadlineExceeded);
        let stopped = Job::new(&[&buffer]);
        stopped.control.stop(Error::new(Code::Cancelled, "the tenant ended"));
        assert_eq!(stopped.run(&*device, fill()).unwrap_err().code, Code::Cancelled);
        assert_eq!(bytes(&*buffer), [0; 4]);
    }
}

#[test]
fn a_long_transfer_ends_at_its_deadline() {
    for name in DRIVERS {
        let device = device(name);
        let buffer = allocate(&*device, 256 << 20);
        let begin = Instant::now();
        let job = Job::new(&[&buffer]).under(Control::new(Some(begin + Duration::from_millis(10))));
        let fills = vec![Command::Fill { target: whole(0), pattern: [1, 2, 3, 4] }; 100];
        assert_eq!(job.run(&*device, fills).unwrap_err().code, Code::DeadlineExceeded);
        assert!(begin.elapsed() < Duration::from_secs(1), "only after {:?}", begin.elapsed());
    }
}

#[test]
fn a_hole_in_the_checks_is_an_error() {
    for name in DRIVERS {
        let (device, other) = (device(name), device(name));
        let (buffer, foreign) = (allocate(&*device, 4), allocate(&*other, 4));
        let fill = |target| vec![Command::Fill { target, pattern: [1; 4] }];
        for (index, offset, length) in [(2, 0, 4), (0, 1, 4), (0, u64::MAX, 4), (1, 0, 4)] {
            let outcome = Job::new(&[&buffer, &foreign]).run(&*device, fill(at(index, offset, length)));
            assert_eq!(outcome.unwrap_err().code, Code::Internal);
        }
        let hal_driver::Transfer::Done(read) = buffer.read(u64::MAX, 2, Vec::new()) else { panic!() };
        assert_eq!(read.unwrap_err().code, Code::Internal);
        assert!(device.lost().is_none());
    }
}

#[test]
fn timing_says_how_long_it_waited_and_ran() {
    for name in DRIVERS {
        let device = device(name);
        let buffer = allocate(&*device, 32 << 20);
        let fills = vec![Command::Fill { target: whole(0), pattern: [1, 2, 3, 4] }; 3];
        let job = Job::new(&[&buffer]);
        let begin = Instant::now();
        let outcomes: Vec<_> = (0..3).map(|_| job.submit(&*device, fills.clone())).collect();
        let timings: Vec<_> = outcomes.iter().map(|outcome| outcome.recv().unwrap().unwrap()).collect();
        let took = begin.elapsed();
        assert!(timings.iter().all(|timing| timing.device.unwrap() > Duration::ZERO && timing.queue < took));
        assert!(
            timings.iter().map(|timing| timing.device.unwrap()).sum::<Duration>() <= took,
            "works of a device are in a row"
        );
    }
}
