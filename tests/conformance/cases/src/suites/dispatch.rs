//! Kernels: bindings, constants, entry points, workgroups; recorded, and straight to the queue.

use crate::{
    Context, Outcome,
    case::Suite,
    commands::{bits, dispatch, dispatch_of, le, part, whole},
    target::{Code, Target, Workgroups},
};

pub(super) fn bindings<T: Target>(suite: &mut Suite<'_, T>) {
    // IREE binds elements 1 and 2 of 4; devices align offsets, so here two elements lie behind an offset that fits.
    suite.forms_and_formats("DispatchAbs", |cx| {
        let kernel = cx.kernel("abs")?;
        let offset = cx.limit("binding-offset-alignment")?;
        let size = (offset * 2 + 8) as usize;
        let mut input = le(&bits(&[-1.0])).repeat(size / 4);
        input[offset as usize..offset as usize + 8].copy_from_slice(&le(&bits(&[-2.5, 3.25])));
        let (input, output) = (cx.buffer_of(&input)?, cx.buffer_of(&vec![0x55; size])?);
        let bound = [part(0, offset, 8), part(1, offset, 8)];
        cx.record_and_run(&[&input, &output], &[&kernel], vec![dispatch(0, 2, &[], &bound)])?;
        let mut expected = vec![0x55; size];
        expected[offset as usize..offset as usize + 8].copy_from_slice(&le(&bits(&[2.5, 3.25])));
        cx.holds(&output, &expected, "only the bound elements")
    });
    suite.forms_and_formats("BindingsOfOneBuffer", |cx| {
        let kernel = cx.kernel("negate_and_double")?;
        let offset = cx.limit("binding-offset-alignment")?;
        let double = cx.function(&kernel, "double")?;
        let mut before = vec![0x55; (offset * 3) as usize];
        before[..8].copy_from_slice(&le(&[3, 4]));
        let buffer = cx.buffer_of(&before)?;
        let bound = [part(0, 0, 8), part(0, offset * 2, 8)];
        cx.record_and_run(&[&buffer], &[&kernel], vec![dispatch(double, 2, &[], &bound)])?;
        let mut expected = before.clone();
        expected[(offset * 2) as usize..(offset * 2) as usize + 8].copy_from_slice(&le(&[6, 8]));
        cx.holds(&buffer, &expected, "one part of a buffer read, another written")
    });
    suite.formats("BindingOfASubspan", |cx| {
        let kernel = cx.kernel("negate_and_double")?;
        let offset = cx.limit("binding-offset-alignment")?;
        let double = cx.function(&kernel, "double")?;
        let parent = cx.buffer(offset * 4)?;
        cx.write(&parent, offset, &le(&[5, 6]))?;
        let (input, output) = (cx.subspan(&parent, offset, 8)?, cx.subspan(&parent, offset * 2, offset * 2)?);
        let bound = [whole(0), part(1, offset, 8)];
        cx.submit_and_wait(&[&input, &output], &[&kernel], vec![dispatch(double, 2, &[], &bound)])?;
        let mut expected = vec![0; (offset * 4) as usize];
        expected[offset as usize..offset as usize + 8].copy_from_slice(&le(&[5, 6]));
        expected[(offset * 3) as usize..(offset * 3) as usize + 8].copy_from_slice(&le(&[10, 12]));
        cx.holds(&parent, &expected, "the buffer of both subspans")
    });
}

pub(super) fn constants<T: Target>(suite: &mut Suite<'_, T>) {
    suite.forms_and_formats("DispatchWithDispatchConstants", |cx| {
        let (kernel, output) = (cx.kernel("constants")?, cx.buffer(16)?);
        let numbers = [0x1122_3344, 0x5566_7788, 0x99AA_BBCC, 0xDDEE_FF01];
        let bytes = le(&numbers);
        cx.record_and_run(&[&output], &[&kernel], vec![dispatch(0, 1, &bytes, &[whole(0)])])?;
        cx.holds_numbers(&output, &numbers, "four constants in order")
    });
}

pub(super) fn constants_and_bindings<T: Target>(suite: &mut Suite<'_, T>) {
    suite.forms_and_formats("ScaleAndOffset", |cx| {
        let kernel = cx.kernel("scale_and_offset")?;
        let (input, output) = (cx.buffer_of_numbers(&bits(&[1.0, 2.0, 3.0, 4.0]))?, cx.buffer(16)?);
        let constants = le(&bits(&[3.0, 10.0]));
        let commands = vec![dispatch(0, 4, &constants, &[whole(0), whole(1)])];
        cx.record_and_run(&[&input, &output], &[&kernel], commands)?;
        cx.holds_numbers(&output, &bits(&[13.0, 16.0, 19.0, 22.0]), "scaled and offset")
    });
}

/// As the kernel sees them.
pub(super) fn signed(numbers: &[i32]) -> Vec<u32> {
    numbers.iter().map(|number| *number as u32).collect()
}

pub(super) fn entry_points<T: Target>(suite: &mut Suite<'_, T>) {
    suite.forms_and_formats("NegateAndDouble", |cx| {
        let kernel = cx.kernel("negate_and_double")?;
        let (negate, double) = (cx.function(&kernel, "negate")?, cx.function(&kernel, "double")?);
        let input = cx.buffer_of_numbers(&signed(&[1, -2, 3, 40]))?;
        let (negated, doubled) = (cx.buffer(16)?, cx.buffer(16)?);
        let commands =
            vec![dispatch(negate, 4, &[], &[whole(0), whole(1)]), dispatch(double, 4, &[], &[whole(0), whole(2)])];
        cx.record_and_run(&[&input, &negated, &doubled], &[&kernel], commands)?;
        cx.holds_numbers(&negated, &signed(&[-1, 2, -3, -40]), "negated")?;
        cx.holds_numbers(&doubled, &signed(&[2, -4, 6, 80]), "doubled")
    });
}

pub(super) fn workgroups<T: Target>(suite: &mut Suite<'_, T>) {
    suite.forms_and_formats("WriteWorkgroupIds", |cx| {
        let (kernel, output) = (cx.kernel("workgroup_ids")?, cx.buffer_of(&[0xFF; 128])?);
        cx.record_and_run(&[&output], &[&kernel], vec![dispatch(0, 32, &[], &[whole(0)])])?;
        cx.holds_numbers(&output, &(0..32).collect::<Vec<_>>(), "the ids of 32 workgroups")
    });
    suite.formats("ThreeDimensions", |cx| {
        let (kernel, output) = (cx.kernel("mark")?, cx.buffer(2 * 3 * 4 * 4)?);
        let command = dispatch_of(0, 0, Workgroups::Direct([2, 3, 4]), &[], &[whole(0)]);
        cx.submit_and_wait(&[&output], &[&kernel], vec![command])?;
        let mut expected = Vec::new();
        for z in 0..4 {
            for y in 0..3 {
                expected.extend((0..2).map(|x| 1 + x + 100 * y + 10000 * z));
            }
        }
        cx.holds_numbers(&output, &expected, "the ids of 2 x 3 x 4 workgroups")
    });
    suite.formats("MostWorkgroupsInOneDimension", |cx| {
        let most = cx.limit("max-workgroups-per-dimension")?.min(65_535) as u32;
        let (kernel, output) = (cx.kernel("mark")?, cx.buffer(u64::from(most) * 4)?);
        let command = dispatch_of(0, 0, Workgroups::Direct([1, most, 1]), &[], &[whole(0)]);
        cx.submit_and_wait(&[&output], &[&kernel], vec![command])?;
        let expected: Vec<u32> = (0..most).map(|y| 1 + 100 * y).collect();
        cx.holds_numbers(&output, &expected, "the ids of as many workgroups as may be, along y")
    });
}

/// Doubles a number behind `wait`.
fn doubling<T: Target>(cx: &Context<'_, T>, groups: [u32; 3], gated: bool, expected: u32) -> Outcome {
    let kernel = cx.kernel("negate_and_double")?;
    let double = cx.function(&kernel, "double")?;
    let (input, output) = (cx.buffer_of_numbers(&[21])?, cx.buffer_of_numbers(&[7])?);
    let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
    let command = dispatch_of(0, double, Workgroups::Direct(groups), &[], &[whole(0), whole(1)]);
    let wait = [(&gate, 1)];
    cx.submit(if gated { &wait } else { &[] }, &[&input, &output], &[&kernel], vec![command], &[(&done, 1)])?;
    if gated {
        cx.refused(cx.target.wait(&done, 1, 0), Code::DeadlineExceeded, "its signal before its wait is met")?;
        cx.value_is(&done, 0, "its signal before its wait is met")?;
        cx.signal(&gate, 1)?;
    }
    cx.wait(&done, 1)?;
    cx.holds_numbers(&output, &[expected], "the output")
}

pub(super) fn queued<T: Target>(suite: &mut Suite<'_, T>) {
    suite.formats("DispatchWithConstantsAndBindings", |cx| {
        let kernel = cx.kernel("scale_and_offset")?;
        let (input, output) = (cx.buffer_of_numbers(&bits(&[1.0, -2.0]))?, cx.buffer(8)?);
        let command = dispatch(0, 2, &le(&bits(&[0.5, 1.0])), &[whole(0), whole(1)]);
        cx.submit_and_wait(&[&input, &output], &[&kernel], vec![command])?;
        cx.holds_numbers(&output, &bits(&[1.5, 0.0]), "scaled and offset")
    });
    suite.formats("NoopDispatchSignalsAndDoesNotTouchBuffers", |cx| {
        [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]].into_iter().try_for_each(|groups| doubling(cx, groups, false, 7))
    });
    suite.formats("DeferredNoopDispatch", |cx| doubling(cx, [0, 0, 0], true, 7));
    suite.formats("DeferredWaitBeforeSignalDispatch", |cx| doubling(cx, [1, 1, 1], true, 42));
}
