//! Recordings with kernels, executed more than once or later.

use super::dispatch::signed;
use crate::{
    Context, Outcome,
    case::Suite,
    commands::{dispatch, dispatch_of, part, slot, table_of, update, whole},
    target::{Batch, Code, Command, SlotBinding, Target, Workgroups},
};

/// A recording that doubles slot 0 into slot 1.
fn doubling<T: Target>(cx: &Context<'_, T>, groups: u32) -> Outcome<T::Recording> {
    let kernel = cx.kernel("negate_and_double")?;
    let double = cx.function(&kernel, "double")?;
    let commands = vec![dispatch(double, groups, &[], &[slot(0), slot(1)])];
    let batch = Batch { buffers: Vec::new(), executables: vec![&kernel], commands };
    // The executable is dropped here: the recording keeps it.
    cx.fine(cx.target.create_recording(&cx.device, &batch, 2), "recording")
}

/// Negates slot 0 into slot 1 and doubles slot 0 into slot 2.
fn two_kernels<T: Target>(cx: &Context<'_, T>) -> Outcome<T::Recording> {
    let kernel = cx.kernel("negate_and_double")?;
    let (negate, double) = (cx.function(&kernel, "negate")?, cx.function(&kernel, "double")?);
    let commands = vec![dispatch(negate, 2, &[], &[slot(0), slot(1)]), dispatch(double, 2, &[], &[slot(0), slot(2)])];
    let batch = Batch { buffers: Vec::new(), executables: vec![&kernel], commands };
    cx.fine(cx.target.create_recording(&cx.device, &batch, 3), "recording")
}

/// Fills the slots and waits.
fn run<T: Target>(cx: &Context<'_, T>, recording: &T::Recording, buffers: &[&T::Buffer]) -> Outcome {
    let done = cx.semaphore(0)?;
    cx.execute(&[], recording, buffers, &table_of(buffers.len()), &[(&done, 1)])?;
    cx.wait(&done, 1)
}

fn two_kernel_rounds<T: Target>(cx: &Context<'_, T>, rounds: i32) -> Outcome {
    let recording = two_kernels(cx)?;
    for round in 1..=rounds {
        let input = cx.buffer_of_numbers(&signed(&[round, -round]))?;
        let (negated, doubled) = (cx.buffer(8)?, cx.buffer(8)?);
        run(cx, &recording, &[&input, &negated, &doubled])?;
        cx.holds_numbers(&negated, &signed(&[-round, round]), "negated")?;
        cx.holds_numbers(&doubled, &signed(&[round * 2, -round * 2]), "doubled")?;
    }
    Ok(())
}

pub(super) fn reuse<T: Target>(suite: &mut Suite<'_, T>) {
    suite.formats("ResubmitWithDifferentBindings", |cx| {
        let recording = doubling(cx, 2)?;
        let input = cx.buffer_of_numbers(&[3, 4])?;
        let outputs = [cx.buffer(8)?, cx.buffer(8)?, cx.buffer(8)?];
        for (round, output) in outputs.iter().enumerate() {
            cx.write(&input, 0, &crate::commands::le(&[3 + round as u32, 4]))?;
            run(cx, &recording, &[&input, output])?;
        }
        for (round, output) in outputs.iter().enumerate() {
            cx.holds_numbers(output, &[6 + 2 * round as u32, 8], &format!("the output of round {round}"))?;
        }
        Ok(())
    });
    suite.formats("LargeWorkgroupCount", |cx| {
        let recording = doubling(cx, 1024)?;
        let numbers: Vec<u32> = (0..1024).collect();
        let (input, output) = (cx.buffer_of_numbers(&numbers)?, cx.buffer(4096)?);
        run(cx, &recording, &[&input, &output])?;
        cx.holds_numbers(&output, &numbers.iter().map(|number| number * 2).collect::<Vec<_>>(), "1,024 workgroups")
    });
    suite.formats("MixedDirectAndIndirectBindings", |cx| {
        let kernel = cx.kernel("negate_and_double")?;
        let double = cx.function(&kernel, "double")?;
        let input = cx.buffer_of_numbers(&[3, 4])?;
        let outputs = [cx.buffer(8)?, cx.buffer(8)?];
        let commands = vec![dispatch(double, 2, &[], &[whole(0), slot(0)])];
        let batch = Batch { buffers: vec![&input], executables: vec![&kernel], commands };
        let recording = cx.fine(cx.target.create_recording(&cx.device, &batch, 1), "recording")?;
        for output in &outputs {
            run(cx, &recording, &[output])?;
            cx.holds_numbers(output, &[6, 8], "a direct input and an output in a slot")?;
        }
        Ok(())
    });
    suite.formats("DeferredExecuteRetainsDispatchBindingTable", |cx| {
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        let output = cx.buffer(8)?;
        {
            let recording = doubling(cx, 2)?;
            let input = cx.buffer_of_numbers(&[30, 40])?;
            cx.execute(&[(&gate, 1)], &recording, &[&input, &output], &table_of(2), &[(&done, 1)])?;
            // Recording, executable, input and table are gone from here on.
            cx.target.close_recording(&recording);
            cx.target.close_buffer(&input);
        }
        cx.refused(cx.target.wait(&done, 1, 0), Code::DeadlineExceeded, "its signal before its wait is met")?;
        cx.signal(&gate, 1)?;
        cx.wait(&done, 1)?;
        cx.holds_numbers(&output, &[60, 80], "the output")
    });
    suite.formats("AllocaExecuteDeallocaCycle", |cx| {
        let (recording, timeline) = (doubling(cx, 2)?, cx.semaphore(0)?);
        for round in 0..3u32 {
            let at = u64::from(round) * 10;
            let output = cx.buffer(8)?;
            let input = cx.alloca(&[(&timeline, at)], 8, &[(&timeline, at + 1)])?;
            let upload = vec![update(whole(0), &crate::commands::le(&[round + 1, round + 2]))];
            cx.submit(&[(&timeline, at + 1)], &[&input], &[], upload, &[(&timeline, at + 2)])?;
            let waits = [(&timeline, at + 2)];
            cx.execute(&waits, &recording, &[&input, &output], &table_of(2), &[(&timeline, at + 3)])?;
            cx.dealloca(&[(&timeline, at + 3)], &input, &[(&timeline, at + 10)])?;
            cx.wait(&timeline, at + 10)?;
            cx.holds_numbers(&output, &[2 * (round + 1), 2 * (round + 2)], &format!("round {round}"))?;
        }
        Ok(())
    });
    suite.formats("PipelinedAllocaExecuteDealloca", |cx| {
        let recording = doubling(cx, 2)?;
        let timelines = [cx.semaphore(0)?, cx.semaphore(0)?];
        let outputs = [cx.buffer(8)?, cx.buffer(8)?];
        let mut inputs = Vec::new();
        for ((timeline, output), number) in timelines.iter().zip(&outputs).zip([100, 200]) {
            let input = cx.alloca(&[], 8, &[(timeline, 1)])?;
            let upload = vec![update(whole(0), &crate::commands::le(&[number, number + 1]))];
            cx.submit(&[(timeline, 1)], &[&input], &[], upload, &[(timeline, 2)])?;
            cx.execute(&[(timeline, 2)], &recording, &[&input, output], &table_of(2), &[(timeline, 3)])?;
            inputs.push(input);
        }
        for (timeline, input) in timelines.iter().zip(&inputs) {
            cx.dealloca(&[(timeline, 3)], input, &[(timeline, 4)])?;
        }
        for ((timeline, output), number) in timelines.iter().zip(&outputs).zip([100, 200]) {
            cx.wait(timeline, 4)?;
            cx.holds_numbers(output, &[number * 2, number * 2 + 2], "an output")?;
        }
        Ok(())
    });
    suite.formats("MultipleDispatchesInSingleCommandBuffer", |cx| two_kernel_rounds(cx, 1));
    suite.formats("MultiDispatchMultiResubmit", |cx| two_kernel_rounds(cx, 5));
    suite.formats("SlotsAtOffsets", |cx| {
        // What a slot holds begins somewhere, and a command's offset counts from there.
        let step = cx.limit("binding-offset-alignment")?;
        let kernel = cx.kernel("negate_and_double")?;
        let double = cx.function(&kernel, "double")?;
        let range = |index, offset| crate::target::BufferRef { offset, length: Some(8), ..slot(index) };
        let command = dispatch_of(0, double, Workgroups::Direct([2, 1, 1]), &[], &[range(0, step), range(1, step)]);
        let batch = Batch { buffers: Vec::new(), executables: vec![&kernel], commands: vec![command] };
        let recording = cx.fine(cx.target.create_recording(&cx.device, &batch, 2), "recording")?;
        let buffer = cx.buffer(step * 6)?;
        cx.submit_and_wait(
            &[&buffer],
            &[],
            vec![update(part(0, step * 2, 8), &crate::commands::le(&[7, 8])), Command::Barrier],
        )?;
        let bind = |offset| SlotBinding { buffer: 0, offset, length: Some(step * 2) };
        let done = cx.semaphore(0)?;
        cx.execute(&[], &recording, &[&buffer], &[bind(step), bind(step * 4)], &[(&done, 1)])?;
        cx.wait(&done, 1)?;
        let mut expected = vec![0; (step * 6) as usize];
        expected[(step * 2) as usize..(step * 2) as usize + 8].copy_from_slice(&crate::commands::le(&[7, 8]));
        expected[(step * 5) as usize..(step * 5) as usize + 8].copy_from_slice(&crate::commands::le(&[14, 16]));
        cx.holds(&buffer, &expected, "one buffer in both slots")
    });
}
