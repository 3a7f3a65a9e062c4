//! Loading, and what a loaded executable says of itself.

use crate::{
    case::Suite,
    target::{BindingInfo, Target},
};

pub(super) fn cache<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("CantPrepareUnknownFormat", |cx| {
        for format in ["FOO?", "", "WGSL", "wgsl ", "vmvx-bytecode-fb"] {
            cx.same(cx.target.can_load(&cx.device, format), false, &format!("whether {format:?} can be loaded"))?;
        }
        Ok(())
    });
    suite.formats("PrepareExecutable", |cx| {
        cx.same(cx.target.can_load(&cx.device, cx.format), true, "whether the format can be loaded")?;
        let formats = cx.target.device_info(&cx.device).formats;
        cx.ensure(formats.iter().any(|format| format == cx.format), || {
            format!("expected {} among {formats:?}", cx.format)
        })?;
        cx.kernel("abs").map(|_| ())
    });
}

pub(super) fn executable<T: Target>(suite: &mut Suite<'_, T>) {
    suite.formats("ExportCount", |cx| {
        cx.same(cx.target.functions(&cx.kernel("abs")?).len(), 1, "functions of one entry point")?;
        cx.same(cx.target.functions(&cx.kernel("negate_and_double")?).len(), 2, "functions of two entry points")
    });
    suite.formats("ExportInfo", |cx| {
        let functions = cx.target.functions(&cx.kernel("scale_and_offset")?);
        let function = &functions[0];
        cx.same(function.name.as_str(), "scale_and_offset", "its name")?;
        cx.same(function.constant_bytes, 8, "bytes of its two constants")?;
        cx.same(function.workgroup_size, [1, 1, 1], "its workgroup size")?;
        let bindings = vec![
            BindingInfo { binding: 0, reads: true, writes: false },
            BindingInfo { binding: 1, reads: false, writes: true },
        ];
        cx.same(function.bindings.clone(), bindings, "its two bindings")
    });
    suite.formats("ExportInfoByUse", |cx| {
        let functions = cx.target.functions(&cx.kernel("reduce")?);
        cx.same(functions[0].workgroup_size, [64, 1, 1], "its workgroup size")?;
        let numbers: Vec<u32> = functions[0].bindings.iter().map(|binding| binding.binding).collect();
        cx.same(numbers, vec![0, 1, 2], "the bindings it uses")?;
        cx.same(functions[0].bindings[1].writes, true, "whether it writes the sums")
    });
    suite.formats("CloseRefusesUse", |cx| {
        let (kernel, output) = (cx.kernel("workgroup_ids")?, cx.buffer_of(&[0xFF; 4])?);
        let run = || {
            cx.try_submit_and_wait(
                &[&output],
                &[&kernel],
                vec![crate::commands::dispatch(0, 1, &[], &[crate::commands::whole(0)])],
            )
        };
        cx.fine(run(), "a dispatch")?;
        cx.holds_numbers(&output, &[0], "its output")?;
        cx.target.close_executable(&kernel);
        cx.target.close_executable(&kernel);
        cx.refused(run(), crate::target::Code::FailedPrecondition, "a dispatch of a closed executable").map(|_| ())
    });
}
