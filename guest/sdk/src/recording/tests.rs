//! What a batch looks like when it crosses. The handles are numbers that nobody gave out, so nothing may be called on them or dropped.

use super::*;
use crate::bindings::hal::device::buffer::Buffer as RawBuffer;
use crate::bindings::hal::device::executable::{Executable as RawExecutable, FunctionInfo};
use crate::{Buffer, Executable, slot};
use std::mem::ManuallyDrop;

fn buffer(handle: u32) -> ManuallyDrop<Buffer> {
    // SAFETY: the handle is only compared; it is never dropped.
    ManuallyDrop::new(unsafe { RawBuffer::from_handle(handle) }.into())
}

fn executable(handle: u32, names: &[&str]) -> ManuallyDrop<Executable> {
    let function = |name: &&str| FunctionInfo {
        name: name.to_string(),
        workgroup_size: (64, 2, 1),
        bindings: Vec::new(),
        constant_bytes: 0,
    };
    // SAFETY: as above.
    let raw = unsafe { RawExecutable::from_handle(handle) };
    ManuallyDrop::new(Executable::with_functions(raw, names.iter().map(function).collect()))
}

fn handles(batch: &Batch<'_>) -> (Vec<u32>, Vec<u32>) {
    let buffers = batch.raw.buffers.iter().map(|raw| raw.handle()).collect();
    (buffers, batch.raw.executables.iter().map(|raw| raw.handle()).collect())
}

fn show(batch: &Batch<'_>) -> Vec<String> {
    batch.commands().iter().map(|command| format!("{command:?}")).collect()
}

#[test]
fn each_handle_crosses_once() {
    let (a, b) = (buffer(7), buffer(3));
    let kernels = executable(9, &["f", "g"]);
    let (f, g) = (kernels.function("f").unwrap(), kernels.function("g").unwrap());
    let mut batch = Batch::new().copy(&*a, &*b).fill(&*b, 0u8);
    for _ in 0..100 {
        batch = batch.barrier().dispatch(f.dispatch(1).bind(0, &*a).bind(1, &*b)).dispatch(g.dispatch(1).bind(0, &*b));
    }
    assert_eq!(handles(&batch), (vec![7, 3], vec![9]));
    assert_eq!(batch.commands().len(), 302);
    let last = show(&batch).pop().unwrap();
    assert!(last.contains("executable: 0, function: 1") && last.contains("Direct(1)"), "{last}");
}

#[test]
fn ranges_are_offset_and_length_in_bytes() {
    let a = buffer(1);
    let of = |slice: Slice<'_>| (slice.offset, slice.length);
    assert_eq!(of((&*a).into()), (0, None));
    assert_eq!(of(a.slice(..)), (0, None));
    assert_eq!(of(a.slice(4..)), (4, None));
    assert_eq!(of(a.slice(4..12)), (4, Some(8)));
    assert_eq!(of(a.slice(4..=12)), (4, Some(9)));
    assert_eq!(of(a.slice(..0)), (0, Some(0)));
    assert_eq!(of(a.slice(8..24).slice(4..)), (12, Some(12)));
    assert_eq!(of(slot(2).slice(8..).slice(..4)), (8, Some(4)));
    // Backwards, or past the end of the outer range: longer than any buffer, so that it is refused and not cut short.
    assert_eq!(of(a.slice(Bound(8, 4))), (8, Some(u64::MAX)));
    assert_eq!(of(a.slice(0..4).slice(5..)), (5, Some(u64::MAX)));
    assert_eq!(of(a.slice(0..4).slice(2..100)), (2, Some(u64::MAX)));
}

/// A range that the compiler does not see through.
struct Bound(u64, u64);

impl std::ops::RangeBounds<u64> for Bound {
    fn start_bound(&self) -> std::ops::Bound<&u64> {
        std::ops::Bound::Included(&self.0)
    }

    fn end_bound(&self) -> std::ops::Bound<&u64> {
        std::ops::Bound::Excluded(&self.1)
    }
}

#[test]
fn data_crosses_as_its_bytes() {
    let a = buffer(1);
    let batch = Batch::new().fill(a.slice(..8), 0x0102_0304u32).update(a.slice(8..), &[1u16, 2]);
    assert_eq!(
        show(&batch),
        [
            "Command::Fill(FillCommand { target: BufferRef { source: BufferSource::Direct(0), offset: 0, length: Some(8) }, \
             pattern: [4, 3, 2, 1] })",
            "Command::Update(UpdateCommand { target: BufferRef { source: BufferSource::Direct(0), offset: 8, length: Some(4) }, \
             bytes: [1, 0, 2, 0] })",
        ]
    );
}

#[test]
fn a_dispatch_has_its_counts_constants_and_bindings_in_order() {
    let (a, counts) = (buffer(1), buffer(2));
    let kernels = executable(1, &["f"]);
    let f = kernels.function("f").unwrap();
    let batch = Batch::new()
        .dispatch(f.dispatch([2, 3]).bind(4, a.slice(16..)).constant(1u32).constant([2u16, 3]))
        .dispatch(f.dispatch(counts.slice(4..)).bind(0, slot(5)));
    let shown = show(&batch);
    assert!(shown[0].contains("Direct((2, 3, 1)), constants: [1, 0, 0, 0, 2, 0, 3, 0]"), "{}", shown[0]);
    assert!(shown[0].contains("binding: 4, buffer: BufferRef { source: BufferSource::Direct(0), offset: 16"));
    assert!(shown[1].contains("Indirect(BufferRef { source: BufferSource::Direct(1), offset: 4"), "{}", shown[1]);
    assert!(shown[1].contains("BufferSource::Slot(5)"));
}

#[test]
fn a_function_is_found_by_name_or_the_error_says_which_there_are() {
    let kernels = executable(1, &["f", "g"]);
    let g = kernels.function("g").unwrap();
    assert_eq!((g.index(), g.info().name.as_str()), (1, "g"));
    assert_eq!(g.workgroups_for([129, 2, 0]), [3, 1, 0]);
    let error = kernels.function("h").unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert_eq!(error.to_string(), "not-found: no function \"h\"; there are: f, g");
}

#[test]
fn slots_are_filled_from_a_flat_table() {
    let (a, b) = (buffer(1), buffer(2));
    let table = SlotTable::new(&[b.slice(..), a.slice(4..8), b.slice(8..)]).unwrap();
    assert_eq!(table.buffers.iter().map(|raw| raw.handle()).collect::<Vec<_>>(), [2, 1]);
    let bindings: Vec<_> = table.bindings.iter().map(|at| (at.buffer, at.offset, at.length)).collect();
    assert_eq!(bindings, [(0, 0, None), (1, 4, Some(4)), (0, 8, None)]);
    assert_eq!(SlotTable::new(&[slot(0)]).unwrap_err().code(), Code::InvalidArgument);
}
