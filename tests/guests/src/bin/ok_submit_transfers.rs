//! Fill, update and copy in one submission, ordered by barriers, with patterns of one, two and four bytes.
#![no_main]

use test_guests::work::{copy, direct, fill, part, run as submit, transfers, update};
use test_guests::{Command, Outcome, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let a = memory::buffer(&device, 16)?;
    let b = memory::buffer(&device, 16)?;
    let commands = vec![
        fill(part(direct(0), 0, 5), &[0xaa]),
        fill(part(direct(0), 6, 4), &[1, 2]),
        fill(part(direct(0), 12, 4), &[3, 4, 5, 6]),
        Command::Barrier,
        update(part(direct(0), 4, 2), &[7, 8]),
        Command::Barrier,
        copy(part(direct(0), 3, 10), part(direct(1), 5, 10)),
    ];
    submit(&device, transfers(&[&a, &b], commands))?;
    let expected = vec![0xaa, 0xaa, 0xaa, 0xaa, 7, 8, 1, 2, 1, 2, 0, 0, 3, 4, 5, 6];
    same(memory::bytes(&b)?[5..15].to_vec(), expected[3..13].to_vec(), "the copy")?;
    same(memory::bytes(&b)?[..5].to_vec(), vec![0; 5], "what lies before the copy")?;
    same(memory::bytes(&a)?, expected, "the filled and updated buffer")
}
