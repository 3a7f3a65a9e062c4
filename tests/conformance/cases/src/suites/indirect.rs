//! Dispatches whose workgroup counts lie in a buffer.

use crate::{
    Context, Outcome,
    case::Suite,
    commands::{dispatch, dispatch_indirect, fill, part, update, whole},
    target::{Command, Target},
};

/// 32 numbers of which the first so many are the workgroups' ids.
fn ids(groups: usize) -> Vec<u32> {
    (0..32).map(|id| if (id as usize) < groups { id } else { u32::MAX }).collect()
}

/// Buffers: the counts, the output. `before` stands before the dispatch in one recording, `counts` is what the dispatch reads.
fn recorded_with<T: Target>(
    cx: &Context<'_, T>,
    before: Vec<Command>,
    counts: (T::Buffer, crate::target::BufferRef),
    groups: usize,
) -> Outcome {
    let (kernel, counter) = (cx.kernel("workgroup_ids")?, cx.kernel("counts")?);
    let output = cx.buffer_of(&[0xFF; 128])?;
    let mut commands = before;
    commands.push(dispatch_indirect(0, counts.1, &[], &[whole(1)]));
    cx.record_and_run(&[&counts.0, &output], &[&kernel, &counter], commands)?;
    cx.holds_numbers(&output, &ids(groups), "the ids of the workgroups that ran")
}

/// A dispatch of the second executable that writes counts.
fn counting(count: u32) -> Command {
    let mut command = dispatch(0, 1, &count.to_le_bytes(), &[whole(0)]);
    if let Command::Dispatch(dispatch) = &mut command {
        dispatch.executable = 1;
    }
    command
}

pub(super) fn recorded<T: Target>(suite: &mut Suite<'_, T>) {
    suite.forms_and_formats("StaticParametersFromQueueUpdate", |cx| {
        let counts = cx.buffer(12)?;
        cx.submit_and_wait(&[&counts], &[], vec![update(whole(0), &crate::commands::le(&[4, 1, 1]))])?;
        recorded_with(cx, Vec::new(), (counts, part(0, 0, 12)), 4)
    });
    suite.forms_and_formats("WholeBufferParameterRef", |cx| {
        recorded_with(cx, Vec::new(), (cx.buffer_of_numbers(&[4, 1, 1])?, whole(0)), 4)
    });
    suite.forms_and_formats("DynamicParametersFromUpdate", |cx| {
        let before = vec![update(whole(0), &crate::commands::le(&[4, 1, 1])), Command::Barrier];
        recorded_with(cx, before, (cx.buffer(12)?, whole(0)), 4)
    });
    suite.forms_and_formats("DynamicParametersFromFill", |cx| {
        let before = vec![fill(whole(0), &[1, 0, 0, 0]), Command::Barrier];
        recorded_with(cx, before, (cx.buffer(12)?, whole(0)), 1)
    });
    suite.forms_and_formats("DynamicParametersFromDispatch", |cx| {
        recorded_with(cx, vec![counting(4), Command::Barrier], (cx.buffer(12)?, whole(0)), 4)
    });
    suite.forms_and_formats("SubAllocatedParameterBuffer", |cx| {
        let parent = cx.buffer_of_numbers(&[32, 1, 1, 0, 4, 1, 1, 0])?;
        let counts = cx.subspan(&parent, 16, 12)?;
        recorded_with(cx, Vec::new(), (counts, whole(0)), 4)
    });
    suite.formats("CountsOfZero", |cx| recorded_with(cx, Vec::new(), (cx.buffer_of_numbers(&[4, 0, 1])?, whole(0)), 0));
    suite.formats("CountsWrittenForTheNextDispatch", |cx| {
        // The counts are read by one dispatch, written by the next, and read again.
        let (kernel, counter) = (cx.kernel("workgroup_ids")?, cx.kernel("counts")?);
        let counts = cx.buffer_of_numbers(&[2, 1, 1])?;
        let (first, second) = (cx.buffer_of(&[0xFF; 128])?, cx.buffer_of(&[0xFF; 128])?);
        let commands = vec![
            dispatch_indirect(0, whole(0), &[], &[whole(1)]),
            Command::Barrier,
            counting(5),
            Command::Barrier,
            dispatch_indirect(0, whole(0), &[], &[whole(2)]),
        ];
        cx.submit_and_wait(&[&counts, &first, &second], &[&kernel, &counter], commands)?;
        cx.holds_numbers(&first, &ids(2), "with the counts before")?;
        cx.holds_numbers(&second, &ids(5), "with the counts after")
    });
}

pub(super) fn queued<T: Target>(suite: &mut Suite<'_, T>) {
    fn run<T: Target>(cx: &Context<'_, T>, counts: &T::Buffer, reference: crate::target::BufferRef) -> Outcome {
        let (kernel, output) = (cx.kernel("workgroup_ids")?, cx.buffer_of(&[0xFF; 128])?);
        let command = dispatch_indirect(0, reference, &[], &[whole(1)]);
        cx.submit_and_wait(&[counts, &output], &[&kernel], vec![command])?;
        cx.holds_numbers(&output, &ids(4), "the ids of four workgroups")
    }
    suite.formats("StaticParameters", |cx| run(cx, &cx.buffer_of_numbers(&[9, 9, 4, 1, 1, 9])?, part(0, 8, 12)));
    suite.formats("DynamicParameters", |cx| {
        let (kernel, counter) = (cx.kernel("workgroup_ids")?, cx.kernel("counts")?);
        let (counts, output, timeline) = (cx.buffer(12)?, cx.buffer_of(&[0xFF; 128])?, cx.semaphore(0)?);
        // The consumer first.
        let command = dispatch_indirect(0, whole(0), &[], &[whole(1)]);
        cx.submit(&[(&timeline, 1)], &[&counts, &output], &[&kernel], vec![command], &[(&timeline, 2)])?;
        let command = dispatch(0, 1, &4u32.to_le_bytes(), &[whole(0)]);
        cx.submit(&[], &[&counts], &[&counter], vec![command], &[(&timeline, 1)])?;
        cx.wait(&timeline, 2)?;
        cx.holds_numbers(&output, &ids(4), "the ids of four workgroups")
    });
    suite.formats("WholeBufferParameterRef", |cx| run(cx, &cx.buffer_of_numbers(&[4, 1, 1])?, whole(0)));
}
