//! A registry takes exactly 64 factories; the next is refused, and again taken once there is room. Granted is one factory.
#![no_main]

use test_guests::{
    Outcome, Registry, StatusCode, check::explained, check::fine, check::refused, check::same, factories, guest,
};

guest!(run);

const CAPACITY: usize = 64;

fn run() -> Outcome {
    let granted = factories::granted().remove(0);
    let registry = Registry::new();
    let mut narrowed = Vec::new();
    for n in 0..CAPACITY {
        narrowed.push(fine(granted.narrow(&[], None), "narrowing")?);
        fine(registry.register_factory(&narrowed[n]), &format!("registering factory {} of {CAPACITY}", n + 1))?;
    }
    same(registry.enumerate().len(), CAPACITY, "drivers of a full registry")?;
    explained(registry.register_factory(&granted), StatusCode::ResourceExhausted, &["64"], "one too many")?;
    refused(registry.register_factory(&narrowed[63]), StatusCode::AlreadyExists, "one that is in the full registry")?;
    same(registry.enumerate().len(), CAPACITY, "drivers after the refusals")?;
    fine(registry.unregister_factory(&narrowed[10]), "making room")?;
    fine(registry.register_factory(&granted), "one more where there is room")?;
    explained(registry.register_factory(&narrowed[10]), StatusCode::ResourceExhausted, &["64"], "one too many again")?;
    fine(registry.try_create("null"), "creating from a full registry").map(drop)
}
