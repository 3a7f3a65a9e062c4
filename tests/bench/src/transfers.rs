//! Bulk data between a guest and a device, beside a copy in the host's own memory.

use crate::{
    kernels::driver,
    measure::{each, pair},
    table::Row,
    tenants::Bench,
};
use anyhow::Result;
use hal_driver::{Blob, BufferParams, BufferRef, BufferView, Code, Command, Error, Source};
use hal_driver_cpu::{Config, CpuFactory};
use rustix::fs::{MemfdFlags, memfd_create};
use std::{fs::File, hint::black_box, io::Write, os::unix::fs::FileExt, slice, sync::Arc};

/// Sizes in bytes with the repetitions that make a call long enough to be timed.
const SIZES: [(usize, &str, u32); 3] = [(4 << 10, "4 KiB", 400), (1 << 20, "1 MiB", 20), (16 << 20, "16 MiB", 2)];

/// Measures the group.
///
/// # Errors
/// What any of it answers.
pub fn measure() -> Result<Vec<Row>> {
    let bench = Bench::new()?;
    let mut guest = bench.guest()?;
    let mut rows = Vec::new();
    for (size, name, rounds) in SIZES {
        let source = vec![7_u8; size];
        let mut target = vec![0_u8; size];
        for operation in ["write", "read"] {
            let copied = pair(
                || guest.each(operation, rounds, size),
                || {
                    each(rounds, || {
                        (0..rounds).for_each(|_| black_box(&mut target).copy_from_slice(black_box(&source)));
                        Ok(())
                    })
                },
            )?;
            // Bytes a nanosecond are gigabytes a second.
            let name = format!("buffer.{operation} {name} / memcpy");
            rows.push(Row::paired("transfers", name, &copied, "ns").shown("GB/s", |time| size as f64 / time));
        }
    }
    rows.push(blob()?);
    Ok(rows)
}

/// Bytes of the blob: a small model's weights.
const BLOB_BYTES: usize = 256 << 20;

/// What a device pays once for a model's weights, as no driver's kernels read a blob in place: its bytes, out of the page cache, into a buffer.
fn blob() -> Result<Row> {
    // Its pages are those of the page cache, as a file's are that was read before.
    let mut file = File::from(memfd_create("weights", MemfdFlags::CLOEXEC)?);
    let mut target = vec![7_u8; BLOB_BYTES];
    file.write_all(&target)?;
    let source = target.clone();
    let factory = CpuFactory::new(Config::new())?;
    let device = driver::open(&*driver::driver(&factory, "local-task")?)?;
    let buffer = device.allocate(&BufferParams::default(), BLOB_BYTES as u64)?;
    let view = BufferView { offset: 0, length: buffer.size(), buffer };
    let whole = BufferRef { source: Source::Direct(0), offset: 0, length: None };
    let read = Command::ReadBlob { blob: Arc::new(Weights(file)), blob_offset: 0, target: whole };
    let (commands, none) = (Arc::from([read]), Arc::from([]));
    let loaded = pair(
        || each(1, || driver::finish(&*device, &commands, slice::from_ref(&view), &none).map(drop)),
        || {
            each(1, || {
                black_box(&mut target).copy_from_slice(black_box(&source));
                Ok(())
            })
        },
    )?;
    let row =
        Row::paired("transfers", "blob of 256 MiB into a buffer of local-task / memcpy".to_owned(), &loaded, "ns");
    Ok(row.shown("GB/s", |time| BLOB_BYTES as f64 / time))
}

/// A file of that size.
struct Weights(File);

impl Blob for Weights {
    fn length(&self) -> u64 {
        BLOB_BYTES as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> hal_driver::Result<()> {
        self.0.read_exact_at(into, offset).map_err(|error| Error::new(Code::DataLoss, error.to_string()))
    }
}
