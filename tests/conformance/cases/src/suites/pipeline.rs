//! Several steps after another.

use super::dispatch::signed;
use crate::{
    Context, Outcome,
    case::Suite,
    commands::{bits, copy, dispatch, le, slot, table_of, update, whole},
    target::{Batch, Command, Target},
};

/// `out = in * 2 + 1`, and its constants.
fn scaling<T: Target>(cx: &Context<'_, T>) -> Outcome<(T::Executable, Vec<u8>)> {
    Ok((cx.kernel("scale_and_offset")?, le(&bits(&[2.0, 1.0]))))
}

pub(super) fn pipeline<T: Target>(suite: &mut Suite<'_, T>) {
    suite.formats("UpdateThenDispatch", |cx| {
        let (kernel, constants) = scaling(cx)?;
        let (input, output) = (cx.buffer(16)?, cx.buffer(16)?);
        let commands = vec![
            update(whole(0), &le(&bits(&[1.0, 2.0, 3.0, 4.0]))),
            Command::Barrier,
            dispatch(0, 4, &constants, &[whole(0), whole(1)]),
        ];
        cx.record_and_run(&[&input, &output], &[&kernel], commands)?;
        cx.holds_numbers(&output, &bits(&[3.0, 5.0, 7.0, 9.0]), "the output")
    });
    suite.formats("ChainedDispatches", |cx| {
        let (kernel, constants) = scaling(cx)?;
        let input = cx.buffer_of_numbers(&bits(&[1.0, 2.0]))?;
        let (middle, output) = (cx.buffer(8)?, cx.buffer(8)?);
        let commands = vec![
            dispatch(0, 2, &constants, &[whole(0), whole(1)]),
            Command::Barrier,
            dispatch(0, 2, &constants, &[whole(1), whole(2)]),
        ];
        cx.record_and_run(&[&input, &middle, &output], &[&kernel], commands)?;
        cx.holds_numbers(&middle, &bits(&[3.0, 5.0]), "between")?;
        cx.holds_numbers(&output, &bits(&[7.0, 11.0]), "the output")
    });
    suite.formats("FillDispatchDispatchPipeline", |cx| {
        let (kernel, constants) = scaling(cx)?;
        let (input, middle, output) = (cx.buffer(8)?, cx.buffer(8)?, cx.buffer(8)?);
        let commands = vec![
            update(whole(0), &le(&bits(&[4.0, 8.0]))),
            Command::Barrier,
            dispatch(0, 2, &constants, &[whole(0), whole(1)]),
            Command::Barrier,
            dispatch(0, 2, &constants, &[whole(1), whole(2)]),
        ];
        cx.record_and_run(&[&input, &middle, &output], &[&kernel], commands)?;
        cx.holds_numbers(&output, &bits(&[19.0, 35.0]), "the output")
    });
    suite.formats("TransientInputPipeline", |cx| {
        let (kernel, constants) = scaling(cx)?;
        let (output, timeline) = (cx.buffer(8)?, cx.semaphore(0)?);
        let input = cx.alloca(&[], 8, &[(&timeline, 1)])?;
        let upload = vec![update(whole(0), &le(&bits(&[5.0, 6.0])))];
        cx.submit(&[(&timeline, 1)], &[&input], &[], upload, &[(&timeline, 2)])?;
        let work = vec![dispatch(0, 2, &constants, &[whole(0), whole(1)])];
        cx.submit(&[(&timeline, 2)], &[&input, &output], &[&kernel], work, &[(&timeline, 3)])?;
        cx.dealloca(&[(&timeline, 3)], &input, &[(&timeline, 4)])?;
        cx.wait(&timeline, 4)?;
        cx.holds_numbers(&output, &bits(&[11.0, 13.0]), "the output")
    });
    suite.formats("ReusablePipelineWithDifferentInputs", |cx| {
        let kernel = cx.kernel("negate_and_double")?;
        let (negate, double) = (cx.function(&kernel, "negate")?, cx.function(&kernel, "double")?);
        let commands = vec![
            dispatch(negate, 2, &[], &[slot(0), slot(1)]),
            Command::Barrier,
            dispatch(double, 2, &[], &[slot(1), slot(2)]),
            Command::Barrier,
            copy(slot(2), slot(3)),
        ];
        let batch = Batch { buffers: Vec::new(), executables: vec![&kernel], commands };
        let recording = cx.fine(cx.target.create_recording(&cx.device, &batch, 4), "recording")?;
        for round in 1..=3i32 {
            let input = cx.buffer_of_numbers(&signed(&[round, round * 10]))?;
            let (middle, output, copied) = (cx.buffer(8)?, cx.buffer(8)?, cx.buffer(8)?);
            let done = cx.semaphore(0)?;
            cx.execute(&[], &recording, &[&input, &middle, &output, &copied], &table_of(4), &[(&done, 1)])?;
            cx.wait(&done, 1)?;
            cx.holds_numbers(&middle, &signed(&[-round, -round * 10]), "between")?;
            cx.holds_numbers(&copied, &signed(&[-round * 2, -round * 20]), "the output")?;
        }
        Ok(())
    });
}
