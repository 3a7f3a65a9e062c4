//! Dispatches that do not fit their function or the device are refused by the call, and write nothing.
#![no_main]

use test_guests::kernels::{NEGATE_AND_DOUBLE, SCALE_AND_OFFSET, load};
use test_guests::work::{batch, direct, dispatch, part, try_run};
use test_guests::{
    BufferUsage, Command, DispatchBinding, Outcome, StatusCode, Workgroups, check, check::refused, check::same, cpu,
    guest, memory,
};

guest!(run);

fn run() -> Outcome {
    let device = cpu()?;
    let (scale, negate) = (load(&device, SCALE_AND_OFFSET)?, load(&device, NEGATE_AND_DOUBLE)?);
    let foreign = load(&cpu()?, SCALE_AND_OFFSET)?;
    let input = memory::numbers(&device, &[1u32; 64])?;
    let output = memory::buffer(&device, 256)?;
    let plain = BufferUsage::TRANSFER_SOURCE | BufferUsage::TRANSFER_TARGET | BufferUsage::MAPPING_SCOPED;
    let readable = device.allocate(&memory::with_usage(plain | BufferUsage::DISPATCH_STORAGE_READ), 256);
    let readable = check::fine(readable, "a buffer that kernels may only read")?;
    let buffers = [&input, &output, &readable];
    let good = &[direct(0), direct(1)];
    let counts = check::limit(&device, "max-workgroups-per-dimension")?;
    let over = u32::try_from(counts + 1).unwrap_or(u32::MAX);
    let edit = |change: fn(&mut test_guests::DispatchCommand)| match dispatch(0, 1, &[0; 8], good) {
        Command::Dispatch(mut command) => {
            change(&mut command);
            Command::Dispatch(command)
        }
        other => other,
    };
    for (command, code, what) in [
        (dispatch(0, 1, &[0; 4], good), StatusCode::InvalidArgument, "too few constants"),
        (dispatch(0, 1, &[0; 12], good), StatusCode::InvalidArgument, "too many constants"),
        (dispatch(0, 1, &[0; 8], &[direct(0)]), StatusCode::InvalidArgument, "a binding too few"),
        (dispatch(1, 1, &[0; 8], good), StatusCode::OutOfRange, "a function past the end"),
        (edit(|c| c.executable = 2), StatusCode::OutOfRange, "an executable past the table"),
        (edit(|c| c.bindings[1].binding = 0), StatusCode::InvalidArgument, "one binding twice"),
        (edit(|c| c.bindings.swap_remove(1).binding = 9), StatusCode::InvalidArgument, "a binding left out"),
        (
            dispatch(0, 1, &[0; 8], &[direct(0), direct(2)]),
            StatusCode::PermissionDenied,
            "writing what kernels may only read",
        ),
        (
            dispatch(0, 1, &[0; 8], &[direct(1), part(direct(1), 0, 64)]),
            StatusCode::InvalidArgument,
            "overlapping bindings of which one is written",
        ),
        (
            dispatch(0, 1, &[0; 8], &[part(direct(0), 4, 64), direct(1)]),
            StatusCode::InvalidArgument,
            "a misaligned binding",
        ),
        (
            dispatch(0, 1, &[0; 8], &[part(direct(0), 0, 6), direct(1)]),
            StatusCode::InvalidArgument,
            "a binding of odd length",
        ),
        (
            dispatch(0, 1, &[0; 8], &[part(direct(0), 0, 257), direct(1)]),
            StatusCode::OutOfRange,
            "a binding past the end",
        ),
        (dispatch(0, over, &[0; 8], good), StatusCode::ResourceExhausted, "workgroups above the device's limit"),
    ] {
        let tables = batch(&buffers, &[&scale, &negate], vec![command]);
        refused(device.create_recording(&tables, 0, ""), code, &format!("recording {what}"))?;
        refused(try_run(&device, tables), code, what)?;
    }
    let named = batch(&buffers, &[&foreign], vec![dispatch(0, 1, &[0; 8], good)]);
    refused(try_run(&device, named), StatusCode::InvalidArgument, "an executable of another device")?;
    let extra = edit(|c| c.workgroups = Workgroups::Direct((0, 0, 0)));
    check::fine(try_run(&device, batch(&buffers, &[&scale], vec![extra])), "no workgroups at all")?;
    let unused: DispatchBinding = DispatchBinding { binding: 1, buffer: direct(9) };
    let mut indexed = dispatch(0, 1, &[0; 8], good);
    if let Command::Dispatch(command) = &mut indexed {
        command.bindings[1] = unused;
    }
    refused(
        try_run(&device, batch(&buffers, &[&scale], vec![indexed])),
        StatusCode::OutOfRange,
        "a binding past the table",
    )?;
    same(memory::bytes(&output)?, vec![0; 256], "the output after all the refusals")
}
