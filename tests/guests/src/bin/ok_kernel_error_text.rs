//! A kernel that does not compile is refused with line and column; a format that nobody loads is not an error to ask for.
#![no_main]

use test_guests::kernels::{try_load, wgsl};
use test_guests::{Outcome, StatusCode, check::refused, check::same, cpu, ensure, guest};

guest!(run);

fn run() -> Outcome {
    let device = cpu()?;
    same(["wgsl", "spirv", "ptx", ""].map(|format| device.can_load(format)), [true, true, false, false], "formats")?;
    for (source, line) in [
        ("@compute @workgroup_size(1)\nfn f() {\n    let x: u32 = 1.5;\n}\n", "3"),
        ("@compute @workgroup_size(1)\nfn f() {\n    nonsense(1u);\n}\n", "3"),
        ("@compute @workgroup_size(1)\nfn f( {}\n", "2"),
    ] {
        let error = refused(try_load(&device, source), StatusCode::InvalidArgument, "a kernel with an error")?;
        ensure!(
            error.message.contains(&format!("{line}:")) || error.message.contains(&format!("line {line}")),
            "expected a message with line {line}, got {:?}",
            error.message
        );
    }
    for (format, bytes, code) in [
        ("ptx", &b"// nothing"[..], StatusCode::Incompatible),
        ("wgsl", b"\xff\xfe", StatusCode::InvalidArgument),
        ("spirv", b"", StatusCode::InvalidArgument),
        ("spirv", b"\x03\x02\x23\x07\x00", StatusCode::InvalidArgument),
    ] {
        let params = test_guests::ExecutableParams { format: format.into(), ..wgsl() };
        refused(device.load_executable(&params, bytes), code, &format!("{} bytes as {format}", bytes.len()))?;
    }
    Ok(())
}
