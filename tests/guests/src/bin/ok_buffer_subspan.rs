//! A subspan and its parent see the same bytes, through reads, writes and queued work.
#![no_main]

use test_guests::work::{direct, fill, part, run as submit, transfers, update};
use test_guests::{Outcome, check::fine, check::same, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let parent = memory::buffer(&device, 32)?;
    let child = fine(parent.subspan(8, 16), "subspan")?;
    let grandchild = fine(child.subspan(4, 4), "subspan of a subspan")?;

    memory::write(&child, &[1; 16])?;
    submit(&device, transfers(&[&grandchild], vec![fill(direct(0), &[2])]))?;
    submit(&device, transfers(&[&child], vec![update(part(direct(0), 14, 2), &[3, 4])]))?;
    let mut expected = vec![0; 32];
    expected[8..24].copy_from_slice(&[1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 3, 4]);
    same(memory::bytes(&parent)?, expected.clone(), "the parent")?;

    drop(parent);
    same(memory::bytes(&child)?, expected[8..24].to_vec(), "the child after its parent was dropped")?;
    drop(child);
    same(memory::bytes(&grandchild)?, vec![2; 4], "the grandchild after both were dropped")?;
    let empty = fine(grandchild.subspan(4, 0), "an empty subspan at the end")?;
    same(empty.info().size, 0, "its size")
}
