//! Allocation.

use crate::{
    case::Suite,
    commands::params,
    target::{BufferParams, Code, MemoryAccess, MemoryType, Target, Usage},
};

pub(super) fn allocator<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("BaselineBufferCompatibility", |cx| {
        let fares = |memory, usage, size| {
            let params = BufferParams { memory, usage, ..params() };
            cx.target.buffer_compatibility(&cx.device, &params, size)
        };
        let transfer = Usage::TRANSFER_SOURCE | Usage::TRANSFER_TARGET;
        let some = [MemoryType::HOST_VISIBLE | MemoryType::DEVICE_VISIBLE, MemoryType::DEVICE_LOCAL];
        let fine = some.into_iter().any(|memory| {
            let fared = fares(memory, transfer, 32);
            fared.allocatable && fared.transferable && !fared.dispatchable && fared.size >= 32
        });
        cx.ensure(fine, || "no memory can be allocated and transferred".into())?;
        let storage = Usage::DISPATCH_STORAGE_READ | Usage::DISPATCH_STORAGE_WRITE;
        let fared = fares(MemoryType::DEVICE_LOCAL, storage, 32);
        cx.ensure(fared.allocatable && fared.dispatchable && fared.size >= 32, || {
            format!("expected memory that can be bound, got {fared:?}")
        })?;
        let fared = fares(MemoryType::OPTIMAL, transfer, u64::MAX);
        cx.ensure(!fared.allocatable && !fared.transferable, || format!("u64::MAX bytes cannot be, got {fared:?}"))
    });
    suite.case("AllocateBuffer", |cx| {
        let asked = BufferParams {
            memory: MemoryType::DEVICE_LOCAL,
            usage: Usage::TRANSFER_SOURCE | Usage::TRANSFER_TARGET,
            access: MemoryAccess::READ | MemoryAccess::WRITE,
            label: "asked".into(),
        };
        for size in [1, 5, 64, 1 << 20] {
            let buffer = cx.fine(cx.target.allocate(&cx.device, &asked, size), "allocating")?;
            let info = cx.target.buffer_info(&buffer);
            cx.ensure(info.memory.contains(asked.memory), || format!("asked for {}, got {info:?}", asked.memory))?;
            cx.same((info.usage, info.access), (asked.usage, asked.access), "usage and access")?;
            cx.same((info.size, info.offset, info.transient), (size, 0, false), "size, offset, transient")?;
        }
        Ok(())
    });
    suite.case("AllocateEmptyBuffer", |cx| {
        let buffer = cx.buffer(0)?;
        cx.same(cx.target.buffer_info(&buffer).size, 0, "its size")?;
        cx.write(&buffer, 0, &[])?;
        cx.holds(&buffer, &[], "an empty buffer")?;
        cx.refused(cx.target.read(&buffer, 0, 1), Code::OutOfRange, "reading a byte of it").map(|_| ())
    });
    suite.case("NoAccessMeansAll", |cx| {
        let info = cx.target.buffer_info(&cx.buffer(4)?);
        cx.same(info.access, MemoryAccess::all(), "the access of a buffer made without any bit")
    });
    suite.case("UnalignedSizes", |cx| {
        for size in [1, 2, 3, 5, 17, 63, 65, 4095, 4097] {
            let bytes = crate::commands::sample(size);
            let buffer = cx.buffer_of(&bytes)?;
            cx.holds(&buffer, &bytes, &format!("a buffer of {size} bytes"))?;
        }
        Ok(())
    });
    // An optimist asks for more than there can be; the next allocation works.
    suite.case("OutOfMemoryIsAValue", |cx| {
        let params = params();
        let refused = cx.target.allocate(&cx.device, &params, u64::MAX);
        cx.refused(refused, Code::ResourceExhausted, "a buffer of u64::MAX bytes")?;
        let refused = cx.target.allocate(&cx.device, &params, 1 << 50);
        cx.refused(refused, Code::ResourceExhausted, "a buffer of 1 PiB")?;
        let buffer = cx.buffer_of(&[1, 2, 3, 4])?;
        cx.holds(&buffer, &[1, 2, 3, 4], "the next buffer")
    });
}
