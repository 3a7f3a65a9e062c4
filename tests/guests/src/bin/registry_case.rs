//! Names are matched exactly: no folding of case, no trimming, no prefix. Granted is a factory that lists `null`.
#![no_main]

use test_guests::{Outcome, Registry, StatusCode, check::explained, check::fine, check::refused, guest};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    fine(registry.try_create("null"), "the exact name")?;
    for name in ["", "NULL", "Null", " null", "null ", "nul", "nullx", "null:", "null\u{0}"] {
        explained(registry.try_create(name), StatusCode::NotFound, &["null"], &format!("the name {name:?}"))?;
    }
    for uri in ["", ":", ":x", "://", "NULL://", " null://"] {
        refused(registry.create_device(uri), StatusCode::NotFound, &format!("the URI {uri:?}"))?;
    }
    Ok(())
}
