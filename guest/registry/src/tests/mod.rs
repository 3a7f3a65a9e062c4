//! What the registry does, operation by operation, against factories that can be told how to behave.

mod fake;
mod misbehaving;
mod model;
mod operations;
mod text;

use crate::{Error, Registry};
use alloc::{string::String, vec::Vec};
use fake::Fake;

fn names(registry: &Registry<Fake>) -> Vec<String> {
    registry.enumerate().unwrap().into_iter().map(|driver| driver.name).collect()
}

/// A registry with these factories, in order.
fn registry_of<'a>(factories: impl IntoIterator<Item = &'a Fake>) -> Registry<Fake> {
    let registry = Registry::new();
    for factory in factories {
        registry.register_factory(factory).unwrap();
    }
    registry
}

#[track_caller]
fn assert_says(error: &Error, parts: &[&str]) {
    for part in parts {
        assert!(error.message.contains(part), "{part:?} is missing in {:?}", error.message);
    }
}
