//! Kernels and dispatches that are refused.

use crate::{
    Context, LONG, Outcome,
    case::Suite,
    commands::{bits, dispatch, dispatch_indirect, dispatch_of, le, part, whole},
    target::{
        Batch, BufferParams, BufferRef, Code, Command, MemoryAccess, OverrideValue, Result, Target, Usage, Workgroups,
    },
};

/// The device compiles and runs a kernel.
fn still_runs<T: Target>(cx: &Context<'_, T>) -> Outcome {
    let (kernel, output) = (cx.kernel("workgroup_ids")?, cx.buffer_of(&[0xFF; 16])?);
    cx.submit_and_wait(&[&output], &[&kernel], vec![dispatch(0, 3, &[], &[whole(0)])])?;
    cx.holds_numbers(&output, &[0, 1, 2, u32::MAX], "a dispatch after the refusals")
}

pub(super) fn kernels<T: Target>(suite: &mut Suite<'_, T>) {
    suite.formats("UnknownFormat", |cx| {
        let source = cx.source("abs")?;
        for format in ["FOO?", "", "ptx", "vmvx-bytecode-fb", &"x".repeat(10_000)] {
            let loaded = cx.target.load_executable(&cx.device, format, &[], &source);
            let error = cx.refused(loaded, Code::Incompatible, "a format that nobody loads")?;
            cx.ensure(error.message.len() < 1000, || format!("a message of {} bytes", error.message.len()))?;
        }
        still_runs(cx)
    });
    suite.formats("EmptyOrTruncated", |cx| {
        let source = cx.source("reduce")?;
        let load = |bytes: &[u8]| cx.target.load_executable(&cx.device, cx.format, &[], bytes);
        for length in [1, 3, 4, 5, 19, 20, 21, 100, source.len() / 2, source.len() / 2 + 2, source.len() - 4] {
            let loaded = load(&source[..length.min(source.len())]);
            // What is left of a text may be all comment.
            if cx.format == "wgsl" && length < 100 && loaded.is_ok() {
                continue;
            }
            cx.refused_with(
                loaded,
                &[Code::InvalidArgument, Code::Incompatible],
                &format!("the first {length} bytes"),
            )?;
        }
        if cx.format == "spirv" {
            cx.refused(load(&[]), Code::InvalidArgument, "no bytes")?;
        }
        cx.refused_with(load(&[0xFF; 64]), &[Code::InvalidArgument, Code::Incompatible], "nonsense")?;
        still_runs(cx)
    });
    suite.formats("SourceAboveTheLimit", |cx| {
        let most = cx.limit("max-source-bytes")?;
        let loaded = cx.target.load_executable(&cx.device, cx.format, &[], &vec![b' '; most as usize + 1]);
        let hit = cx.limited(loaded, "max-source-bytes", "a source one byte above the limit")?;
        cx.same((hit.asked, hit.allowed), (most + 1, most), "asked and allowed")?;
        still_runs(cx)
    });
    suite.formats("WrongSourceHasAPlace", |cx| {
        for source in ["@compute @workgroup_size(1)\nfn f() {\n    let x: u32 = 1.5;\n}\n", "\n\nfn f( {"] {
            // The case is about text; the other format is loaded behind it to see that nothing broke.
            let loaded = cx.target.load_executable(&cx.device, "wgsl", &[], source.as_bytes());
            let error = cx.refused(loaded, Code::InvalidArgument, "a source with an error")?;
            cx.ensure(error.message.contains("3:") || error.message.contains("line 3"), || {
                format!("expected a message with line 3 and a column, got {error}")
            })?;
        }
        still_runs(cx)
    });
    suite.formats("BarrierThatNotAllReach", |cx| {
        let with = |body: &str| {
            format!(
                "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
                 @compute @workgroup_size(4) fn f(@builtin(local_invocation_index) at: u32) {{\n{body}\n}}\n"
            )
        };
        // As above, the text is in one format only.
        let load = |body| cx.target.load_executable(&cx.device, "wgsl", &[], with(body).as_bytes());
        for body in [
            "if at == 1u {\n workgroupBarrier(); }",
            "data[at] = 1u; if data[0] == 1u { return; }\n storageBarrier();",
            "for (var i = 0u; i < at; i++) {\n workgroupBarrier(); }",
        ] {
            let error = cx.refused(load(body), Code::InvalidArgument, body)?;
            cx.ensure(error.message.contains("4:2"), || format!("expected the barrier's place, 4:2, got {error}"))?;
        }
        cx.succeeds(load("if data[0] == at { data[at] = 1u; } workgroupBarrier();"), "one that all reach")?;
        still_runs(cx)
    });
    suite.formats("MoreThanTheDeviceHas", |cx| {
        // As above, the text is in one format only.
        let load = |source: &str| cx.target.load_executable(&cx.device, "wgsl", &[], source.as_bytes());
        let invocations = cx.limit("max-invocations-per-workgroup")?;
        let words = cx.limit("max-workgroup-memory-bytes")? / 4;
        let sized = |size: u64| format!("@compute @workgroup_size(1, {size}) fn f() {{}}");
        let shared = |words: u64| {
            format!(
                "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
                 var<workgroup> kept: array<u32, {words}>;\n\
                 @compute @workgroup_size(1) fn f() {{ data[0] = kept[data[1]]; }}"
            )
        };
        for (source, limit, needed, most) in [
            (sized(invocations + 1), "max-invocations-per-workgroup", invocations + 1, invocations),
            (shared(words + 1), "max-workgroup-memory-bytes", words * 4 + 4, words * 4),
        ] {
            let error = cx.refused(load(&source), Code::Incompatible, limit)?;
            let text = format!("\"f\" needs {needed}, but this device's \"{limit}\" is {most};");
            cx.ensure(error.message.contains(&text), || format!("expected {text}, got {error}"))?;
        }
        cx.succeeds(load(&sized(invocations)), "as many invocations as there may be")?;
        cx.succeeds(load(&shared(words)), "as much workgroup memory as there may be")?;
        still_runs(cx)
    });
    suite.case("Overrides", |cx| {
        if !cx.target.can_load(&cx.device, "wgsl") {
            let loaded = cx.target.load_executable(&cx.device, "wgsl", &[], b"");
            return cx.refused(loaded, Code::Incompatible, "a device that loads no kernels").map(|_| ());
        }
        let source = cx.source("uniform")?;
        let load = |overrides: &[_]| cx.target.load_executable(&cx.device, "wgsl", overrides, &source);
        let (factor, wrong) = (("factor", OverrideValue::U32(3)), Code::InvalidArgument);
        cx.refused(load(&[]), wrong, "an override that is missing")?;
        cx.refused(load(&[factor, ("factory", OverrideValue::U32(3))]), wrong, "an override that is unknown")?;
        cx.refused(load(&[factor, factor]), wrong, "an override given twice")?;
        for value in [OverrideValue::F32(3.0), OverrideValue::I32(3), OverrideValue::Bool(true)] {
            cx.refused(load(&[("factor", value)]), wrong, &format!("an override given as {value:?}"))?;
        }
        cx.succeeds(load(&[factor]), "the right one").map(|_| ())
    });
}

struct Doubling<T: Target> {
    kernel: T::Executable,
    function: u32,
    input: T::Buffer,
    output: T::Buffer,
}

impl<T: Target> Doubling<T> {
    fn new(cx: &Context<'_, T>) -> Outcome<Self> {
        let kernel = cx.kernel("negate_and_double")?;
        let function = cx.function(&kernel, "double")?;
        Ok(Self { kernel, function, input: cx.buffer_of_numbers(&[3; 256])?, output: cx.buffer_of_numbers(&[7; 256])? })
    }

    fn command(&self, groups: [u32; 3], constants: &[u8], bindings: &[BufferRef]) -> Command {
        dispatch_of(0, self.function, Workgroups::Direct(groups), constants, bindings)
    }

    fn refuses(&self, cx: &Context<'_, T>, command: Command, code: Code, what: &str) -> Outcome {
        let batch = || Batch {
            buffers: vec![&self.input, &self.output],
            executables: vec![&self.kernel],
            commands: vec![command.clone()],
        };
        cx.refused(cx.target.create_recording(&cx.device, &batch(), 0), code, &format!("{what}, recorded"))?;
        cx.refused(cx.target.submit(&cx.device, &[], &batch(), &[]), code, &format!("{what}, submitted")).map(|_| ())
    }

    fn unharmed(&self, cx: &Context<'_, T>) -> Outcome {
        cx.holds_numbers(&self.output, &[7; 256], "the output after the refusals")?;
        let command = self.command([256, 1, 1], &[], &[whole(0), whole(1)]);
        cx.submit_and_wait(&[&self.input, &self.output], &[&self.kernel], vec![command])?;
        cx.holds_numbers(&self.output, &[6; 256], "a dispatch after the refusals")
    }
}

pub(super) fn dispatches<T: Target>(suite: &mut Suite<'_, T>) {
    suite.formats("FunctionPastTheEnd", |cx| {
        let doubling = Doubling::new(cx)?;
        let at = |executable, function| {
            dispatch_of(executable, function, Workgroups::Direct([1, 1, 1]), &[], &[whole(0), whole(1)])
        };
        doubling.refuses(cx, at(0, 2), Code::OutOfRange, "the function past the last")?;
        doubling.refuses(cx, at(0, 100), Code::OutOfRange, "function 100")?;
        doubling.refuses(cx, at(1, 0), Code::OutOfRange, "the executable past the last")?;
        doubling.unharmed(cx)
    });
    suite.formats("ConstantsOfTheWrongLength", |cx| {
        let doubling = Doubling::new(cx)?;
        let bound = [whole(0), whole(1)];
        doubling.refuses(cx, doubling.command([1; 3], &[0; 4], &bound), Code::InvalidArgument, "constants for none")?;
        let kernel = cx.kernel("scale_and_offset")?;
        let constants = le(&bits(&[2.0, 1.0, 0.0]));
        for length in [0, 4, 7, 12] {
            let command = dispatch(0, 1, &constants[..length], &bound);
            let run = cx.try_submit(&[], &[&doubling.input, &doubling.output], &[&kernel], vec![command], &[]);
            cx.refused(run, Code::InvalidArgument, &format!("{length} bytes of constants for 8"))?;
        }
        doubling.unharmed(cx)
    });
    suite.formats("BindingsThatDoNotFit", |cx| {
        let doubling = Doubling::new(cx)?;
        let wrong = Code::InvalidArgument;
        let refuses = |bindings: &[BufferRef], code, what| {
            doubling.refuses(cx, doubling.command([1; 3], &[], bindings), code, what)
        };
        refuses(&[], wrong, "no bindings")?;
        refuses(&[whole(0)], wrong, "one of two bindings")?;
        refuses(&[part(0, 0, 0), whole(1)], wrong, "a binding of no bytes")?;
        refuses(&[whole(0), whole(2)], Code::OutOfRange, "a buffer past the table")?;
        refuses(&[whole(0), part(1, 0, 1028)], Code::OutOfRange, "a range past the end")?;
        let step = cx.limit("binding-offset-alignment")?;
        refuses(&[part(0, step / 2, 8), whole(1)], wrong, "an offset of half the alignment")?;
        refuses(&[part(0, 4, 8), whole(1)], wrong, "an offset of 4")?;
        let multiple = cx.limit("binding-length-multiple")?;
        refuses(&[part(0, 0, multiple * 2 - 1), whole(1)], wrong, "a length that is no multiple")?;
        let mut twice = doubling.command([1; 3], &[], &[whole(0), whole(1), whole(1)]);
        if let Command::Dispatch(dispatch) = &mut twice {
            dispatch.bindings[2].binding = 1;
        }
        doubling.refuses(cx, twice, wrong, "a binding given twice")?;
        doubling.unharmed(cx)
    });
    suite.formats("WrittenRangesThatOverlap", |cx| {
        let doubling = Doubling::new(cx)?;
        let step = cx.limit("binding-offset-alignment")?;
        for bindings in [[whole(0), whole(0)], [part(0, 0, step + 4), part(0, step, 8)]] {
            let command = doubling.command([1; 3], &[], &bindings);
            doubling.refuses(cx, command, Code::InvalidArgument, "a range that is read and written")?;
        }
        // The counts of an indirect dispatch may not be written by it either.
        let counts = dispatch_indirect(doubling.function, part(1, 0, 12), &[], &[whole(0), whole(1)]);
        doubling.refuses(cx, counts, Code::InvalidArgument, "counts that are written")?;
        doubling.unharmed(cx)
    });
    suite.formats("TooManyWorkgroups", |cx| {
        let doubling = Doubling::new(cx)?;
        let most = cx.limit("max-workgroups-per-dimension")?;
        let above = u32::try_from(most + 1).map_err(|_| format!("a limit of {most}"))?;
        for groups in [[above, 1, 1], [1, above, 1], [1, 1, above], [u32::MAX, 1, 1], [u32::MAX; 3]] {
            let command = doubling.command(groups, &[], &[whole(0), whole(1)]);
            let run = cx.try_submit(
                &[],
                &[&doubling.input, &doubling.output],
                &[&doubling.kernel],
                vec![command.clone()],
                &[],
            );
            cx.limited(run, "max-workgroups-per-dimension", &format!("{groups:?} workgroups"))?;
            doubling.refuses(cx, command, Code::ResourceExhausted, &format!("{groups:?} workgroups"))?;
        }
        doubling.unharmed(cx)
    });
    suite.formats("UsageAndAccess", |cx| {
        let doubling = Doubling::new(cx)?;
        let transfer = Usage::TRANSFER_SOURCE | Usage::TRANSFER_TARGET | Usage::MAPPING_SCOPED;
        let run = |input: &T::Buffer, output: &T::Buffer| -> Result<()> {
            let command = doubling.command([1; 3], &[], &[whole(0), whole(1)]);
            cx.try_submit_and_wait(&[input, output], &[&doubling.kernel], vec![command])
        };
        let (unread, unwritten) = (
            cx.buffer_for(transfer | Usage::DISPATCH_STORAGE_WRITE, 16)?,
            cx.buffer_for(transfer | Usage::DISPATCH_STORAGE_READ, 16)?,
        );
        let denied = Code::PermissionDenied;
        cx.refused(run(&unread, &doubling.output), denied, "an input that may not be read by kernels")?;
        cx.refused(run(&doubling.input, &unwritten), denied, "an output that may not be written by kernels")?;
        let params = BufferParams { access: MemoryAccess::READ, ..crate::commands::params() };
        let fixed = cx.fine(cx.target.allocate(&cx.device, &params, 16), "read-only memory")?;
        cx.refused(run(&doubling.input, &fixed), denied, "an output that may not be written at all")?;
        cx.holds(&unwritten, &[0; 16], "what was not written")?;
        // What they may be used for works: by use, not by declaration.
        cx.succeeds(run(&unwritten, &unread), "the one read, the other written")?;
        doubling.unharmed(cx)
    });
    suite.formats("ObjectsOfAnotherDevice", |cx| {
        let doubling = Doubling::new(cx)?;
        let other = cx.another_device()?;
        let source = cx.source("negate_and_double")?;
        let loaded = cx.target.load_executable(&other, cx.format, &[], &source);
        let theirs = cx.fine(loaded, "loading on another device")?;
        let command = doubling.command([1; 3], &[], &[whole(0), whole(1)]);
        let run = cx.try_submit(&[], &[&doubling.input, &doubling.output], &[&theirs], vec![command], &[]);
        cx.refused(run, Code::InvalidArgument, "another device's executable")?;
        doubling.unharmed(cx)
    });
}

/// A dispatch over workgroup ids with counts in a buffer.
fn counted<T: Target>(cx: &Context<'_, T>, counts: &T::Buffer, reference: BufferRef, output: &T::Buffer) -> Result<()> {
    let kernel = cx.target.kernel("workgroup_ids", cx.format).unwrap_or_default();
    let kernel = cx.target.load_executable(&cx.device, cx.format, &[], &kernel)?;
    let done = cx.target.create_semaphore(&cx.device, 0)?;
    let command = dispatch_indirect(0, reference, &[], &[whole(1)]);
    cx.try_submit(&[], &[counts, output], &[&kernel], vec![command], &[(&done, 1)])?;
    cx.target.wait(&done, 1, LONG)
}

pub(super) fn indirect<T: Target>(suite: &mut Suite<'_, T>) {
    suite.formats("CountsAboveTheLimit", |cx| {
        let most = cx.limit("max-workgroups-per-dimension")? as u32;
        let output = cx.buffer_of(&[0xFF; 128])?;
        for counts in [[most + 1, 1, 1], [1, most + 1, 1], [1, 1, most + 1], [u32::MAX, 1, 1], [u32::MAX; 3]] {
            let buffer = cx.buffer_of_numbers(&counts)?;
            let run = counted(cx, &buffer, whole(0), &output);
            cx.refused(run, Code::OutOfRange, &format!("counts {counts:?} for at most {most}"))?;
            cx.holds(&output, &[0xFF; 128], "what no workgroup may touch")?;
        }
        // One that is zero means no work, whatever the others are within the limit.
        let buffer = cx.buffer_of_numbers(&[most, 0, most])?;
        cx.succeeds(counted(cx, &buffer, whole(0), &output), "counts with a zero")?;
        cx.holds(&output, &[0xFF; 128], "what no workgroup touched")?;
        let buffer = cx.buffer_of_numbers(&[4, 1, 1])?;
        cx.succeeds(counted(cx, &buffer, whole(0), &output), "counts within the limit")?;
        cx.same(cx.read(&output, 0, 20)?, le(&[0, 1, 2, 3, u32::MAX]), "four workgroups")
    });
    suite.formats("CountsAtTheLimit", |cx| {
        let most = cx.limit("max-workgroups-per-dimension")? as u32;
        let (buffer, output) = (cx.buffer_of_numbers(&[most, 1, 1])?, cx.buffer(u64::from(most) * 4)?);
        cx.succeeds(counted(cx, &buffer, whole(0), &output), "counts at the limit")?;
        cx.holds_numbers(&output, &(0..most).collect::<Vec<_>>(), "as many workgroups as may be")
    });
    suite.formats("WhereCountsLie", |cx| {
        let (buffer, output) = (cx.buffer_of_numbers(&[4, 1, 1, 1])?, cx.buffer_of(&[0xFF; 128])?);
        let refused =
            |reference, code, what| cx.refused(counted(cx, &buffer, reference, &output), code, what).map(|_| ());
        refused(part(0, 2, 12), Code::InvalidArgument, "counts at an offset of 2")?;
        refused(part(0, 1, 12), Code::InvalidArgument, "counts at an offset of 1")?;
        refused(part(0, 8, 12), Code::OutOfRange, "counts that end past the buffer")?;
        refused(part(0, 0, 8), Code::OutOfRange, "counts in 8 bytes")?;
        refused(BufferRef { offset: 8, ..whole(0) }, Code::OutOfRange, "counts in the last 8 bytes")?;
        let plain = cx.buffer_for(Usage::TRANSFER_SOURCE | Usage::TRANSFER_TARGET, 12)?;
        cx.refused(counted(cx, &plain, whole(0), &output), Code::PermissionDenied, "a buffer that may hold no counts")?;
        cx.holds(&output, &[0xFF; 128], "what no workgroup touched")?;
        cx.succeeds(counted(cx, &buffer, part(0, 0, 12), &output), "counts that lie well")?;
        cx.same(cx.read(&output, 0, 20)?, le(&[0, 1, 2, 3, u32::MAX]), "four workgroups")
    });
}
