//! Bulk data between a guest and a device, beside a copy in the host's own memory.

use crate::{
    measure::{each, pair},
    table::Row,
    tenants::Bench,
};
use anyhow::Result;
use std::hint::black_box;

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
    Ok(rows)
}
