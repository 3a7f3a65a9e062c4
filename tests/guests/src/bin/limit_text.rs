//! Bounds on text, each at its edge: a URI of 4,096 bytes, a name of 256, 128 parameters, a label of 64; above it the text is not echoed.
#![no_main]

use test_guests::{Outcome, Registry, StatusCode, check::fine, check::refused, ensure, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    let driver = fine(registry.try_create("null"), "the driver")?;
    let uri = |length: usize| format!("null://?{}", "p".repeat(length - 8));
    for open in
        [&|uri: &str| registry.create_device(uri) as Result<_, _>, &|uri: &str| driver.create_device_by_uri(uri)]
            as [&dyn Fn(&str) -> Result<test_guests::Device, test_guests::Error>; 2]
    {
        // Taken apart: what is wrong with it is its parameter.
        let error = refused(open(&uri(4096)), StatusCode::InvalidArgument, "a URI of 4,096 bytes")?;
        ensure!(error.message.contains("parameter"), "expected the parameter to be named, got {}", error.message);
        silent(error)?;
        let error = refused(open(&uri(4097)), StatusCode::InvalidArgument, "a URI of 4,097 bytes")?;
        ensure!(error.message.contains("4097"), "expected the length to be named, got {}", error.message);
        silent(error)?;
        silent(refused(open(&uri(1 << 20)), StatusCode::InvalidArgument, "a URI of a mebibyte")?)?;
    }
    refused(registry.try_create(&"p".repeat(256)), StatusCode::NotFound, "a name of 256 bytes")?;
    silent(refused(registry.try_create(&"p".repeat(257)), StatusCode::InvalidArgument, "a name of 257 bytes")?)?;

    let parameters = |n: usize| format!("null://?{}", vec!["a=b"; n].join("&"));
    let known =
        refused(registry.create_device(&parameters(128)), StatusCode::InvalidArgument, "128 parameters nobody knows")?;
    ensure!(known.message.contains("\"a\""), "expected 128 parameters to be looked at, got {}", known.message);
    let many = refused(registry.create_device(&parameters(129)), StatusCode::InvalidArgument, "129 parameters")?;
    ensure!(many.message.contains("128"), "expected the bound of 128 to be named, got {}", many.message);
    let list = vec![("a".to_string(), "b".to_string()); 129];
    let many =
        refused(driver.create_device_by_path("", &list), StatusCode::InvalidArgument, "129 parameters in a list")?;
    ensure!(many.message.contains("128"), "expected the bound of 128 to be named, got {}", many.message);

    let device = null()?;
    let recording = |label: &str| device.create_recording(&test_guests::work::nothing(), 0, label);
    fine(recording(&"l".repeat(64)), "a label of 64 bytes")?;
    refused(recording(&"l".repeat(65)), StatusCode::InvalidArgument, "a label of 65 bytes")?;
    let labelled = |label: String| device.allocate(&test_guests::BufferParams { label, ..memory::params() }, 1);
    silent(refused(labelled("p".repeat(1 << 20)), StatusCode::InvalidArgument, "a label of a mebibyte")?)
}

fn silent(error: test_guests::Error) -> Outcome {
    ensure!(!error.message.contains(&"p".repeat(129)), "an overlong text is echoed: {}", error.message);
    Ok(())
}
