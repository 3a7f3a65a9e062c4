//! A buffer holds what was written to it, whole and in parts; fresh memory is zero.
#![no_main]

use test_guests::{Outcome, check::fine, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, 64)?;
    same(memory::bytes(&buffer)?, vec![0; 64], "fresh memory")?;

    let whole: Vec<u8> = (0..64).collect();
    memory::write(&buffer, &whole)?;
    same(memory::bytes(&buffer)?, whole.clone(), "all that was written")?;
    same(fine(buffer.read(13, 7), "reading a part")?, whole[13..20].to_vec(), "a part of what was written")?;

    fine(buffer.write(61, &[1, 2, 3]), "writing the last three bytes")?;
    let mut expected = whole;
    expected[61..].copy_from_slice(&[1, 2, 3]);
    same(memory::bytes(&buffer)?, expected, "after a write at the end")?;

    same(fine(buffer.read(64, 0), "reading nothing at the end")?, vec![], "nothing")?;
    fine(buffer.write(64, &[]), "writing nothing at the end")?;
    same(memory::buffer(&device, 0)?.info().size, 0, "the size of an empty buffer")
}
