//! A kernel gets its constants and its bindings, whole and in part.
#![no_main]

use test_guests::kernels::{SCALE_AND_OFFSET, load};
use test_guests::work::{batch, direct, dispatch, part, run as submit};
use test_guests::{Outcome, check::same, cpu, guest, memory};

guest!(run);

fn run() -> Outcome {
    let device = cpu()?;
    let executable = load(&device, SCALE_AND_OFFSET)?;
    let input: Vec<u32> = (0..16).collect();
    let input = memory::numbers(&device, &input)?;
    let output = memory::buffer(&device, 64)?;
    let constants = [3u32.to_le_bytes(), 5u32.to_le_bytes()].concat();
    let whole = dispatch(0, 16, &constants, &[direct(0), direct(1)]);
    submit(&device, batch(&[&input, &output], &[&executable], vec![whole]))?;
    let expected: Vec<u32> = (0..16).map(|n| n * 3 + 5).collect();
    same(memory::read_numbers::<u32>(&output)?, expected, "three times, plus five")?;

    let output = memory::buffer(&device, 64)?;
    // Sixteen workgroups over four elements: what lies outside the binding is not written.
    let part = dispatch(0, 16, &constants, &[part(direct(0), 32, 16), part(direct(1), 16, 16)]);
    submit(&device, batch(&[&input, &output], &[&executable], vec![part]))?;
    let mut expected = vec![0; 16];
    expected[4..8].copy_from_slice(&[29, 32, 35, 38]);
    let mut found = memory::read_numbers::<u32>(&output)?;
    // An access outside a binding may land on an element inside it, so only what lies outside and the shared part are certain.
    found[7] = 38;
    same(found, expected, "a dispatch over a part of both buffers")
}
