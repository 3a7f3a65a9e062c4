//! Without a grant there is nothing: an empty list, no factories, no blobs, and an error that says how to grant.
#![no_main]

use test_guests::{
    Outcome, Registry, StatusCode, blobs, check::explained, check::refused, check::same, factories, guest,
};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    same(registry.enumerate().len(), 0, "drivers")?;
    same(registry.enumerate_detailed().failures.len(), 0, "failures")?;
    same(factories::granted().len(), 0, "factories")?;
    same(blobs::granted().len(), 0, "blobs")?;
    explained(registry.create_device("cpu://"), StatusCode::NotFound, &["grant"], "a device without a grant")?;
    refused(blobs::open("numbers"), StatusCode::NotFound, "a blob without a grant").map(drop)
}
