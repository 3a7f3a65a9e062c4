//! What kernels may use beyond storage and constants.

use crate::{
    case::Suite,
    commands::{dispatch, le, part, whole},
    target::{BufferRef, Command, Dispatch, DispatchBinding, OverrideValue, Target, Workgroups},
};

fn bound(binding: u32, buffer: BufferRef) -> DispatchBinding {
    DispatchBinding { binding, buffer }
}

pub(super) fn kernel<T: Target>(suite: &mut Suite<'_, T>) {
    // Whoever writes the SPIR-V resolves the override, to the same value: it is in the module already.
    suite.formats("UniformAndOverride", |cx| {
        let source = cx.source("uniform")?;
        let factor = [("factor", OverrideValue::U32(3))];
        let overrides: &[_] = if cx.format == "wgsl" { &factor } else { &[] };
        let kernel = cx.fine(cx.target.load_executable(&cx.device, cx.format, overrides, &source), "loading")?;
        let (numbers, output) = (cx.buffer_of_numbers(&[1, 2, 3, 4])?, cx.buffer(16)?);
        let command = Command::Dispatch(Dispatch {
            executable: 0,
            function: 0,
            workgroups: Workgroups::Direct([1, 1, 1]),
            constants: Box::new([]),
            // Numbers may have holes, and bindings may come in any order.
            bindings: Box::new([bound(3, whole(1)), bound(0, whole(0))]),
        });
        cx.submit_and_wait(&[&numbers, &output], &[&kernel], vec![command])?;
        cx.holds_numbers(&output, &[3, 6, 9, 12], "a uniform times an override")
    });
    suite.formats("WorkgroupMemoryAndAtomics", |cx| {
        let kernel = cx.kernel("reduce")?;
        let numbers: Vec<u32> = (0..64 * 16).map(|at| at * 31 % 97).collect();
        let (input, sums, total) = (cx.buffer_of_numbers(&numbers)?, cx.buffer(64)?, cx.buffer(4)?);
        let command = dispatch(0, 16, &[], &[whole(0), whole(1), whole(2)]);
        cx.submit_and_wait(&[&input, &sums, &total], &[&kernel], vec![command])?;
        let expected: Vec<u32> = numbers.chunks(64).map(|part| part.iter().sum()).collect();
        cx.holds_numbers(&sums, &expected, "the sum of each workgroup")?;
        cx.holds_numbers(&total, &[numbers.iter().sum()], "the sum of all")
    });
    suite.formats("OutOfBoundsStaysInside", |cx| {
        let step = cx.limit("binding-offset-alignment")?;
        let kernel = cx.kernel("lengths")?;
        let secret = 0x5EC4_E700u32.to_le_bytes();
        for past in [0u32, 1, 100, 1 << 20, u32::MAX / 4, u32::MAX - 8, u32::MAX - 3] {
            let mut before = secret.repeat((step * 3 / 4) as usize);
            before[step as usize..step as usize + 16].fill(0);
            let data = cx.buffer_of(&before)?;
            let neighbour = cx.buffer_of(&secret.repeat(64))?;
            let output = cx.buffer_of_numbers(&[0, 0, past])?;
            let command = dispatch(0, 1, &[], &[part(0, step, 16), whole(1)]);
            cx.submit_and_wait(&[&data, &output], &[&kernel], vec![command])?;
            let found = cx.bytes(&output)?;
            cx.same(found[..4].to_vec(), le(&[4]), "the length that the kernel sees")?;
            cx.ensure(found[4..8] != secret, || format!("{past} past the end, a kernel read what it has no right to"))?;
            let after = cx.bytes(&data)?;
            cx.same(after[..step as usize] == before[..step as usize], true, "what lies before the binding")?;
            cx.same(after[step as usize + 16..] == before[step as usize + 16..], true, "what lies behind the binding")?;
            cx.holds(&neighbour, &secret.repeat(64), "another buffer")?;
        }
        Ok(())
    });
    suite.formats("LongLoop", |cx| {
        let (kernel, input, output) = (cx.kernel("sum")?, cx.buffer_of_numbers(&[1, 2, 3, 4])?, cx.buffer(8)?);
        cx.submit_and_wait(&[&input, &output], &[&kernel], vec![dispatch(0, 2, &[], &[whole(0), whole(1)])])?;
        cx.holds_numbers(&output, &[125_000, 175_000], "50,000 rounds")
    });
}
