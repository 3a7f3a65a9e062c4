//! Computes `y = a * x + y` on a device and compares with what this program computes itself.
//!
//! Arguments: the device's URI (default `cpu://`), the number of elements (default 1,000,000).

use hal_guest::{args, prelude::*, println, run};

run!(main);

const A: f32 = 2.5;

/// Enough workgroups to fill a device; the kernel strides over the rest.
const MAX_WORKGROUPS: u32 = 1024;

fn main() -> Result<()> {
    let (uri, count) = arguments()?;
    let device = Registry::default().create_device(&uri)?;

    let x: Vec<f32> = (0..count).map(|i| (i % 1000) as f32).collect();
    let y: Vec<f32> = (0..count).map(|i| (i % 7) as f32).collect();
    let x_buffer = device.buffer_from(&x)?;
    let y_buffer = device.buffer_from(&y)?;

    let kernels = device.load_wgsl(include_str!("saxpy.wgsl"))?;
    let saxpy = kernels.function("saxpy")?;
    let [workgroups, ..] = saxpy.workgroups_for([count, 1, 1]);
    let dispatch = saxpy
        .dispatch(workgroups.min(MAX_WORKGROUPS))
        .bind(0, &x_buffer)
        .bind(1, &y_buffer)
        .constant(A)
        .constant(count);
    device.run(&Batch::new().dispatch(dispatch))?;

    let result = y_buffer.to_vec::<f32>()?;
    for (i, ((x, y), result)) in x.iter().zip(&y).zip(&result).enumerate() {
        // Exact: every value is a small multiple of a half, so neither rounding nor fusing can tell.
        if A * x + y != *result {
            return Err(Error::new(Code::DataLoss, format!("element {i}: {A} * {x} + {y} is not {result}")));
        }
    }
    println!("saxpy on {uri}: {count} elements, all as computed here");
    Ok(())
}

fn arguments() -> Result<(String, u32)> {
    let mut args = args().skip(1);
    let uri = args.next().unwrap_or_else(|| "cpu://".into());
    let count = args.next().unwrap_or_else(|| "1000000".into());
    match (count.parse(), args.next()) {
        (Ok(count @ 1..), None) => Ok((uri, count)),
        _ => Err(Error::new(Code::InvalidArgument, "usage: saxpy [URI] [ELEMENTS], with at least one element")),
    }
}
