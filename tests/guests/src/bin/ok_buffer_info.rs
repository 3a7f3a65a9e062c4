//! A buffer says for its whole life what it was asked to be; a subspan says where it lies and has no more rights.
#![no_main]

use test_guests::{BufferUsage, MemoryAccess, Outcome, check::fine, check::same, ensure, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let mut params = memory::with_usage(BufferUsage::TRANSFER_SOURCE | BufferUsage::MAPPING_SCOPED);
    params.access = MemoryAccess::READ;
    params.label = "weights".into();
    let buffer = fine(device.allocate(&params, 100), "allocating")?;
    let info = buffer.info();
    same((info.size, info.offset, info.transient), (100, 0, false), "size, offset and transient")?;
    ensure!(info.usage.contains(params.usage), "expected usage with {:?}, got {:?}", params.usage, info.usage);
    same(info.access, MemoryAccess::READ, "access")?;
    same(info.label, "weights".into(), "label")?;

    let outer = fine(buffer.subspan(10, 50), "subspan of a buffer")?;
    let inner = fine(outer.subspan(5, 20), "subspan of a subspan")?;
    let info = inner.info();
    same((info.size, info.offset, info.transient), (20, 15, false), "size, offset and transient of the inner subspan")?;
    same(info.access, MemoryAccess::READ, "access of the inner subspan")?;

    let all = memory::buffer(&device, 4)?.info().access;
    same(all, MemoryAccess::empty() | MemoryAccess::all(), "access of a buffer that asked for none")
}
