//! The host's own access to buffers, and blobs.

use crate::{
    blob_bytes,
    case::Suite,
    commands::{fill, params, part, sample},
    target::{BufferParams, Code, MemoryType, Target, Usage},
};

pub(super) fn mapping<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("AllocatorSupportsBufferMapping", |cx| {
        let usage = Usage::TRANSFER_SOURCE | Usage::TRANSFER_TARGET | Usage::MAPPING_SCOPED;
        let memory = MemoryType::HOST_VISIBLE | MemoryType::DEVICE_VISIBLE;
        let params = BufferParams { memory, usage, ..params() };
        let fared = cx.target.buffer_compatibility(&cx.device, &params, 16);
        cx.ensure(fared.allocatable, || format!("expected memory that the host can reach, got {fared:?}"))?;
        let buffer = cx.fine(cx.target.allocate(&cx.device, &params, 16), "allocating")?;
        cx.write(&buffer, 0, &[3; 16])?;
        cx.holds(&buffer, &[3; 16], "what the host wrote")
    });
    suite.case("ReadData", |cx| {
        let buffer = cx.buffer(16)?;
        cx.submit_and_wait(&[&buffer], &[], vec![fill(part(0, 0, 16), &[0xEF, 0xBE, 0xAD, 0xDE])])?;
        let expected = [0xEF, 0xBE, 0xAD, 0xDE].repeat(4);
        cx.holds(&buffer, &expected, "all of it")?;
        cx.same(cx.read(&buffer, 4, 8)?, expected[4..12].to_vec(), "a part of it")?;
        cx.same(cx.read(&buffer, 3, 5)?, expected[3..8].to_vec(), "an odd part of it")
    });
    suite.case("ReadDataSubspan", |cx| {
        let bytes = sample(16);
        let buffer = cx.buffer_of(&bytes)?;
        let view = cx.subspan(&buffer, 4, 8)?;
        cx.holds(&view, &bytes[4..12], "the subspan")?;
        cx.same(cx.read(&view, 2, 5)?, bytes[6..11].to_vec(), "a part of the subspan")
    });
    suite.case("WriteDataWholeBuffer", |cx| {
        let buffer = cx.buffer(16)?;
        cx.write(&buffer, 0, &sample(16))?;
        cx.holds(&buffer, &sample(16), "what was written")
    });
    suite.case("WriteDataWithOffset", |cx| {
        let buffer = cx.buffer(16)?;
        cx.write(&buffer, 4, &[9; 8])?;
        let mut expected = vec![0; 16];
        expected[4..12].fill(9);
        cx.holds(&buffer, &expected, "only bytes 4 to 11")?;
        cx.write(&buffer, 3, &[5; 1])?;
        expected[3] = 5;
        cx.holds(&buffer, &expected, "and byte 3")
    });
    suite.case("WriteDataSubspan", |cx| {
        let buffer = cx.buffer(16)?;
        let view = cx.subspan(&buffer, 4, 8)?;
        cx.same((cx.target.buffer_info(&view).offset, cx.target.buffer_info(&view).size), (4, 8), "the view")?;
        cx.write(&view, 2, &[9; 4])?;
        let mut expected = vec![0; 16];
        expected[6..10].fill(9);
        cx.holds(&buffer, &expected, "the buffer")?;
        cx.holds(&view, &expected[4..12], "the subspan")
    });
    suite.case("MapRangeRead", |cx| {
        let buffer = cx.buffer(64)?;
        cx.submit_and_wait(&[&buffer], &[], vec![fill(part(0, 0, 64), &[0xCD])])?;
        cx.same(cx.read(&buffer, 17, 20)?, vec![0xCD; 20], "what the device wrote")
    });
    suite.case("MapRangeWrite", |cx| {
        let buffer = cx.buffer_of(&[0xEE; 64])?;
        cx.write(&buffer, 17, &sample(20))?;
        let mut expected = vec![0xEE; 64];
        expected[17..37].copy_from_slice(&sample(20));
        cx.holds(&buffer, &expected, "what the host wrote over")
    });
    suite.case("LargestTransfer", |cx| {
        let most = cx.limit("transfer-bytes")?;
        let buffer = cx.buffer(most + 16)?;
        let bytes = sample(most);
        cx.write(&buffer, 16, &bytes)?;
        cx.same(cx.read(&buffer, 16, most)? == bytes, true, "the largest transfer")?;
        let above = cx.target.read(&buffer, 0, most + 1);
        let hit = cx.limited(above, "transfer-bytes", "a read one byte larger")?;
        cx.same((hit.asked, hit.allowed), (most + 1, most), "asked and allowed")?;
        let above = cx.target.write(&buffer, 0, &vec![0; most as usize + 1]);
        cx.limited(above, "transfer-bytes", "a write one byte larger")?;
        cx.same(cx.read(&buffer, 0, 16)?, vec![0; 16], "what lies before, after the refused write")
    });
}

pub(super) fn file<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("ReadEntireFile", |cx| {
        let bytes = blob_bytes();
        let length = bytes.len() as u64;
        let (buffer, done) = (cx.buffer(length)?, cx.semaphore(0)?);
        let queued = cx.target.read_blob(&cx.device, &[], 0, &buffer, 0, length, &[(&done, 1)]);
        cx.fine(queued, "queueing the read")?;
        cx.wait(&done, 1)?;
        cx.holds(&buffer, &bytes, "the whole blob")
    });
    suite.case("ReadSubrangeWithOffsets", |cx| {
        let bytes = blob_bytes();
        let buffer = cx.buffer_of(&[0xEE; 1000])?;
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        let queued = cx.target.read_blob(&cx.device, &[(&gate, 1)], 1003, &buffer, 13, 701, &[(&done, 1)]);
        cx.fine(queued, "queueing the read")?;
        cx.refused(cx.target.wait(&done, 1, 0), Code::DeadlineExceeded, "its signal before its wait is met")?;
        cx.signal(&gate, 1)?;
        cx.wait(&done, 1)?;
        let mut expected = vec![0xEE; 1000];
        expected[13..714].copy_from_slice(&bytes[1003..1704]);
        cx.holds(&buffer, &expected, "a part of the blob at odd offsets")
    });
    suite.case("ReadPastTheEnds", |cx| {
        let length = blob_bytes().len() as u64;
        let buffer = cx.buffer_of(&[0xEE; 16])?;
        let done = cx.semaphore(0)?;
        let read = |from, to, length| cx.target.read_blob(&cx.device, &[], from, &buffer, to, length, &[(&done, 1)]);
        for (from, to, bytes) in [(length, 0, 1), (length - 3, 0, 4), (0, 13, 4), (u64::MAX, 0, 1), (0, u64::MAX, 1)] {
            cx.refused(read(from, to, bytes), Code::OutOfRange, &format!("{bytes} bytes from {from} to {to}"))?;
        }
        cx.fine(read(length, 16, 0), "nothing from the end to the end")?;
        cx.wait(&done, 1)?;
        cx.holds(&buffer, &[0xEE; 16], "the buffer")
    });
}
