//! A device that is opened with `profile=portable` publishes no more than any device takes, refuses more, and computes all the same.
#![no_main]

use test_guests::check::{explained, fine, limit, refused, same};
use test_guests::kernels::{SCALE_AND_OFFSET, load, try_load};
use test_guests::{Device, Error, Outcome, Registry, StatusCode, guest, memory, open, work};

guest!(run);

const PORTABLE: [(&str, u64); 8] = [
    ("max-bindings", 8),
    ("max-storage-binding-bytes", 128 << 20),
    ("max-uniform-bytes", 64 << 10),
    ("binding-offset-alignment", 256),
    ("max-workgroup-memory-bytes", 16 << 10),
    ("max-invocations-per-workgroup", 256),
    ("max-workgroups-per-dimension", 65_535),
    ("max-constant-bytes", 128),
];

fn kernel(size: u32, words: u32, bindings: u32) -> String {
    let declared =
        (0..bindings).map(|n| format!("@group(0) @binding({n}) var<storage, read_write> b{n}: array<u32>;\n"));
    let written = (0..bindings).map(|n| format!("b{n}[i] = tile[i % {words}u];\n"));
    format!(
        "var<workgroup> tile: array<u32, {words}>;
        {}
        @compute @workgroup_size({size})
        fn f(@builtin(local_invocation_index) i: u32) {{ {} }}",
        declared.collect::<String>(),
        written.collect::<String>(),
    )
}

fn run() -> Outcome {
    for scheme in ["cpu", "local-sync"] {
        let (plain, device) = (open(&format!("{scheme}://"))?, open(&format!("{scheme}://?profile=portable"))?);
        for (name, value) in PORTABLE {
            let expected = if name.starts_with("binding-") {
                limit(&plain, name)?.max(value)
            } else {
                limit(&plain, name)?.min(value)
            };
            same(limit(&device, name)?, expected, &format!("{name} of {scheme} with the profile"))?;
        }
        same(device.info().features, vec![], "features with the profile")?;
        kernels(&plain, &device)?;
        fine(double_at(&plain, 16)?, "a binding at 16 without the profile")?;
        let words = ["binding-offset-alignment", "256"];
        explained(double_at(&device, 16)?, StatusCode::InvalidArgument, &words, "a binding at 16")?;
        fine(double_at(&device, 256)?, "a binding at 256")?;
    }
    let unknown = Registry::default().create_device("cpu://0?profile=tiny");
    explained(unknown, StatusCode::InvalidArgument, &["tiny", "portable"], "another profile")?;
    let other = Registry::default().create_device("cpu://0?profile=portable&x=1");
    refused(other, StatusCode::InvalidArgument, "a parameter that the driver does not know, beside the profile")
        .map(drop)
}

fn kernels(plain: &Device, device: &Device) -> Outcome {
    load(device, &kernel(256, 4096, 8))?;
    for (name, source) in [
        ("max-invocations-per-workgroup", kernel(257, 16, 1)),
        ("max-workgroup-memory-bytes", kernel(64, 4097, 1)),
        ("max-bindings", kernel(64, 16, 9)),
    ] {
        load(plain, &source)?;
        let error = explained(try_load(device, &source), StatusCode::Incompatible, &[name], name)?;
        same(error.limit.map(|hit| hit.limit), Some(name.to_owned()), "the limit that was hit")?;
    }
    Ok(())
}

/// Doubles one number that lies at `offset` of a buffer.
fn double_at(device: &Device, offset: u64) -> Outcome<Result<(), Error>> {
    let (from, to) = (memory::numbers(device, &[1u32; 128])?, memory::buffer(device, 4)?);
    let scale = load(device, SCALE_AND_OFFSET)?;
    let input = work::part(work::direct(0), offset, 4);
    let command = work::dispatch(0, 1, &[2, 0, 0, 0, 0, 0, 0, 0], &[input, work::direct(1)]);
    let result = work::try_run(device, work::batch(&[&from, &to], &[&scale], vec![command]));
    if result.is_ok() {
        same(memory::read_numbers::<u32>(&to)?, vec![2], "the number that was doubled")?;
    }
    Ok(result)
}
