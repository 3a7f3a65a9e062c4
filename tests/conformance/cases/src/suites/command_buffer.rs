//! Recorded transfers. Where a case says so, with direct references and through a binding table.

use crate::{
    Context, Outcome,
    case::Suite,
    commands::{copy, fill, params, part, sample, update, whole},
    target::{Batch, BufferParams, Command, MemoryType, Target, Usage},
};

pub(super) fn basic<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("Create", |cx| {
        let batch = Batch { buffers: Vec::new(), executables: Vec::new(), commands: vec![Command::Barrier] };
        let recording = cx.fine(cx.target.create_recording(&cx.device, &batch, 0), "recording a barrier")?;
        cx.succeeds(cx.run_recorded(&recording, &[]).map_err(failed), "executing it")
    });
    suite.case("BeginEnd", |cx| {
        let batch = Batch { buffers: Vec::new(), executables: Vec::new(), commands: Vec::new() };
        cx.succeeds(cx.target.create_recording(&cx.device, &batch, 0), "an empty recording").map(|_| ())
    });
    suite.case("SubmitEmpty", |cx| {
        let batch = Batch { buffers: Vec::new(), executables: Vec::new(), commands: Vec::new() };
        let recording = cx.fine(cx.target.create_recording(&cx.device, &batch, 0), "an empty recording")?;
        let done = cx.semaphore(0)?;
        cx.execute(&[], &recording, &[], &[], &[(&done, 1)])?;
        cx.wait(&done, 1)?;
        cx.value_is(&done, 1, "its signal")
    });
}

fn failed(text: String) -> crate::target::Error {
    crate::target::Error { code: crate::target::Code::Unknown, message: text, limit: None }
}

/// Sizes around what devices like to be aligned to.
const SIZES: [u64; 13] = [4, 5, 7, 8, 15, 16, 31, 64, 65, 255, 1024, 4099, 65536];
/// How far offsets are from a multiple of 16: aligned to 16, to 8, to 4, to a byte.
const OFFSETS: [(u64, u64); 4] = [(16, 32), (8, 24), (4, 12), (3, 5)];

/// The sizes and alignments of copies, through `run`.
pub(super) fn copy_classes<T: Target>(
    cx: &Context<'_, T>,
    run: impl Fn(&[&T::Buffer], Vec<Command>) -> Outcome,
) -> Outcome {
    for (from, to) in OFFSETS {
        for size in SIZES.into_iter().chain([1 << 20]) {
            let bytes = sample(from + size + 9);
            let source = cx.buffer_of(&bytes)?;
            let target = cx.buffer_of(&vec![0xEE; (to + size + 9) as usize])?;
            run(&[&source, &target], vec![copy(part(0, from, size), part(1, to, size))])?;
            let mut expected = vec![0xEE; (to + size + 9) as usize];
            expected[to as usize..(to + size) as usize].copy_from_slice(&bytes[from as usize..(from + size) as usize]);
            cx.holds(&target, &expected, &format!("{size} bytes from {from} to {to}"))?;
        }
    }
    Ok(())
}

pub(super) fn copies<T: Target>(suite: &mut Suite<'_, T>) {
    suite.forms("CopyWholeBuffer", |cx| {
        let device_local = BufferParams { memory: MemoryType::DEVICE_LOCAL, ..params() };
        let source = cx.buffer_of(&sample(1024))?;
        let target = cx.fine(cx.target.allocate(&cx.device, &device_local, 1024), "device-local memory")?;
        cx.record_and_run(&[&source, &target], &[], vec![copy(whole(0), whole(1))])?;
        cx.holds(&target, &sample(1024), "the copy")?;
        cx.holds(&source, &sample(1024), "the source")
    });
    suite.forms("CopySubBuffer", |cx| {
        let (source, target) = (cx.buffer_of(&sample(16))?, cx.buffer(20)?);
        cx.record_and_run(
            &[&source, &target],
            &[],
            vec![fill(part(1, 0, 8), &[0x11]), copy(part(0, 4, 8), part(1, 8, 8)), fill(part(1, 16, 4), &[0x22])],
        )?;
        let mut expected = vec![0x11; 8];
        expected.extend(&sample(16)[4..12]);
        expected.extend([0x22; 4]);
        cx.holds(&target, &expected, "fill, copy, fill")
    });
    suite.forms("CopySizeAndAlignmentClasses", |cx| {
        copy_classes(cx, |buffers, commands| cx.record_and_run(buffers, &[], commands))
    });
    suite.forms("CopyInsideOneBuffer", |cx| {
        let bytes = sample(100);
        let buffer = cx.buffer_of(&bytes)?;
        cx.record_and_run(&[&buffer], &[], vec![copy(part(0, 3, 40), part(0, 43, 40))])?;
        let mut expected = bytes.clone();
        expected[43..83].copy_from_slice(&bytes[3..43]);
        cx.holds(&buffer, &expected, "two ranges of one buffer that touch")
    });
}

/// Fills a part of a buffer of zeros.
fn filled<T: Target>(cx: &Context<'_, T>, pattern: &[u8], size: u64, offset: u64, length: u64) -> Outcome {
    let buffer = cx.buffer_of(&vec![0; size as usize])?;
    cx.record_and_run(&[&buffer], &[], vec![fill(part(0, offset, length), pattern)])?;
    let mut expected = vec![0; size as usize];
    for (at, byte) in pattern.iter().cycle().take(length as usize).enumerate() {
        expected[offset as usize + at] = *byte;
    }
    cx.holds(&buffer, &expected, &format!("{pattern:02x?} from {offset}, {length} bytes of {size}"))
}

/// Bytes of the pattern, size, offset and length of nineteen fills.
const FILL_CLASSES: [(usize, u64, u64, u64); 19] = [
    (1, 16, 1, 1),
    (1, 16, 3, 5),
    (1, 33, 7, 19),
    (1, 64, 0, 64),
    (1, 65, 1, 63),
    (1, 1024, 255, 257),
    (1, 65539, 1, 65537),
    (2, 16, 2, 2),
    (2, 16, 6, 10),
    (2, 34, 2, 30),
    (2, 64, 0, 64),
    (2, 1026, 254, 260),
    (2, 65540, 2, 65536),
    (4, 16, 4, 4),
    (4, 32, 8, 20),
    (4, 64, 0, 64),
    (4, 1028, 252, 264),
    (4, 65536, 0, 65536),
    (4, 65544, 4, 65532),
];

const PATTERN: [u8; 4] = [0xAB, 0xCD, 0x12, 0x34];

pub(super) fn fills<T: Target>(suite: &mut Suite<'_, T>) {
    suite.forms("Pattern1_Size1_Offset0_Length1", |cx| filled(cx, &PATTERN[..1], 1, 0, 1));
    suite.forms("Pattern1_Size5_Offset0_Length5", |cx| filled(cx, &PATTERN[..1], 5, 0, 5));
    suite.forms("Pattern1_Size16_Offset0_Length1", |cx| filled(cx, &PATTERN[..1], 16, 0, 1));
    suite.forms("Pattern1_Size16_Offset0_Length3", |cx| filled(cx, &PATTERN[..1], 16, 0, 3));
    suite.forms("Pattern1_Size16_Offset0_Length8", |cx| filled(cx, &PATTERN[..1], 16, 0, 8));
    suite.forms("Pattern1_Size16_Offset2_Length8", |cx| filled(cx, &PATTERN[..1], 16, 2, 8));
    suite.forms("Pattern2_Size2_Offset0_Length2", |cx| filled(cx, &PATTERN[..2], 2, 0, 2));
    suite.forms("Pattern2_Size16_Offset0_Length8", |cx| filled(cx, &PATTERN[..2], 16, 0, 8));
    suite.forms("Pattern2_Size16_Offset0_Length10", |cx| filled(cx, &PATTERN[..2], 16, 0, 10));
    suite.forms("Pattern2_Size16_Offset2_Length8", |cx| filled(cx, &PATTERN[..2], 16, 2, 8));
    suite.forms("Pattern4_Size4_Offset0_Length4", |cx| filled(cx, &PATTERN, 4, 0, 4));
    // A buffer of four bytes has no offset 16; the original's name stands for an offset at the end of twenty.
    suite.forms("Pattern4_Size4_Offset16_Length4", |cx| filled(cx, &PATTERN, 20, 16, 4));
    suite.forms("Pattern4_Size16_Offset0_Length8", |cx| filled(cx, &PATTERN, 16, 0, 8));
    suite.forms("Pattern4_Size16_Offset8_Length8", |cx| filled(cx, &PATTERN, 16, 8, 8));
    suite.forms("FillSizeAlignmentAndPatternClasses", |cx| {
        FILL_CLASSES
            .into_iter()
            .try_for_each(|(pattern, size, offset, length)| filled(cx, &PATTERN[..pattern], size, offset, length))
    });
}

pub(super) fn updates<T: Target>(suite: &mut Suite<'_, T>) {
    suite.forms("WholeBuffer", |cx| updated(cx, 16));
    suite.forms("LargerPayload", |cx| updated(cx, 256));
    suite.forms("WithOffsets", |cx| {
        let buffer = cx.buffer(16)?;
        let bytes = sample(12);
        cx.record_and_run(&[&buffer], &[], vec![update(part(0, 4, 8), &bytes[4..])])?;
        let mut expected = vec![0; 16];
        expected[4..12].copy_from_slice(&bytes[4..]);
        cx.holds(&buffer, &expected, "bytes 4 to 11")
    });
    suite.forms("Subspan", |cx| {
        let buffer = cx.buffer_of(&[0xEE; 32])?;
        let view = cx.subspan(&buffer, 8, 16)?;
        cx.record_and_run(&[&view], &[], vec![update(part(0, 4, 8), &sample(8))])?;
        let mut expected = vec![0xEE; 32];
        expected[12..20].copy_from_slice(&sample(8));
        cx.holds(&buffer, &expected, "the buffer")?;
        cx.holds(&view, &expected[8..24], "the subspan")
    });
}

fn updated<T: Target>(cx: &Context<'_, T>, size: u64) -> Outcome {
    let buffer = cx.buffer(size)?;
    cx.record_and_run(&[&buffer], &[], vec![update(whole(0), &sample(size))])?;
    cx.holds(&buffer, &sample(size), "the update")
}

/// Recordings in a row.
const ROUNDS: u32 = 200;

pub(super) fn stress<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("RapidFillSubmit", |cx| {
        let (buffer, done) = (cx.buffer(1024)?, cx.semaphore(0)?);
        for round in 1..=ROUNDS {
            let recording = cx.record(&[&buffer], &[], vec![fill(whole(0), &round.to_le_bytes())])?;
            let before = u64::from(round - 1);
            cx.execute_recorded(&[(&done, before)], &recording, &[&buffer], &[(&done, before + 1)])?;
        }
        cx.wait(&done, ROUNDS.into())?;
        cx.holds_numbers(&buffer, &[ROUNDS; 256], "the last pattern")
    });
    suite.case("RapidCopySubmit", |cx| {
        let (source, target) = (cx.buffer(256)?, cx.buffer(256)?);
        for round in 1..=ROUNDS {
            cx.write(&source, 0, &[round as u8; 256])?;
            cx.record_and_run(&[&source, &target], &[], vec![copy(whole(0), whole(1))])?;
        }
        cx.holds(&target, &[ROUNDS as u8; 256], "the last pattern")
    });
    suite.case("LargeFillCommandBuffer", |cx| {
        let buffer = cx.buffer(2048)?;
        let commands = (0..512u32).map(|at| fill(part(0, u64::from(at) * 4, 4), &(at * 3 + 1).to_le_bytes())).collect();
        let recording = cx.record(&[&buffer], &[], commands)?;
        let expected: Vec<u32> = (0..512).map(|at| at * 3 + 1).collect();
        for round in ["once", "once more"] {
            cx.write(&buffer, 0, &[0; 2048])?;
            cx.run_recorded(&recording, &[&buffer])?;
            cx.holds_numbers(&buffer, &expected, round)?;
        }
        Ok(())
    });
    // A thousand rounds of everything, dropped each time: the budget is as it was.
    suite.case("DroppedHandlesGiveBack", |cx| {
        let names = ["memory-bytes", "buffers", "recordings", "semaphores", "submissions", "host-bytes"];
        let usage = || names.iter().map(|name| Ok((*name, cx.used(name)?.used))).collect::<Outcome<Vec<_>>>();
        let before = usage()?;
        for round in 0..1000u32 {
            let buffer = cx.fine(
                cx.target.allocate(&cx.device, &BufferParams { usage: Usage::all(), ..params() }, 4096),
                &format!("allocating in round {round}"),
            )?;
            let view = cx.subspan(&buffer, 16, 64)?;
            let recording = cx.record(&[&view], &[], vec![fill(whole(0), &[round as u8])])?;
            let done = cx.semaphore(0)?;
            cx.execute_recorded(&[], &recording, &[&view], &[(&done, 1)])?;
            cx.wait(&done, 1)?;
            if round % 250 == 0 {
                cx.holds(&view, &[round as u8; 64], "the round's fill")?;
            }
        }
        before.into_iter().try_for_each(|(name, used)| cx.settles(name, used))
    });
}
