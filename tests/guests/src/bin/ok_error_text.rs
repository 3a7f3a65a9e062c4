//! Errors say what was asked and what there is, and quote little of the caller's own text, escaped.
#![no_main]

use test_guests::{
    Outcome, Registry, StatusCode, check::explained, check::fine, check::refused, ensure, guest, memory, null,
};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    let unknown = registry.create_device("abacus://desk");
    explained(unknown, StatusCode::NotFound, &["abacus", "null"], "a driver that is not there")?;
    let path = registry.create_device("null://9");
    explained(path, StatusCode::NotFound, &["null://9", "0"], "a device that is not there")?;
    let parameter = registry.create_device("null://?colour=red");
    explained(parameter, StatusCode::InvalidArgument, &["colour"], "a parameter that nobody knows")?;

    let long = "x".repeat(250);
    for (result, what) in [
        (registry.try_create(&long).map(drop), "a long name"),
        (registry.create_device(&format!("null://{}", "y".repeat(3000))).map(drop), "a long path"),
        (registry.create_device(&format!("null://?{}=1", "z".repeat(3000))).map(drop), "a long parameter"),
        (registry.create_device("null://\u{7}\n\u{1b}[2J").map(drop), "control characters"),
    ] {
        let Err(error) = result else { return Err(format!("{what}: expected an error")) };
        ensure!(error.message.len() < 1024, "{what}: expected a short message, got {} bytes", error.message.len());
        for letter in ["x", "y", "z"] {
            ensure!(
                !error.message.contains(&letter.repeat(129)),
                "{what}: quotes more than 128 bytes: {}",
                error.message
            );
        }
        ensure!(!error.message.chars().any(char::is_control), "{what}: not escaped: {:?}", error.message);
    }

    let device = null()?;
    let buffer = memory::buffer(&device, 16)?;
    let past = buffer.read(10, 7);
    explained(past, StatusCode::OutOfRange, &["16"], "a range past the end")?;
    let label = test_guests::BufferParams { label: "l".repeat(65), ..memory::params() };
    refused(device.allocate(&label, 4), StatusCode::InvalidArgument, "a label of 65 bytes")?;
    let label = test_guests::BufferParams { label: "l".repeat(64), ..memory::params() };
    fine(device.allocate(&label, 4), "a label of 64 bytes")?;
    Ok(())
}
