//! "factories": exactly as many duplicates and narrowed ones as are granted; a registry's own handles are among them.
#![no_main]

use test_guests::{Outcome, Registry, check, check::fine, check::limited, check::same, factories, guest};

guest!(run);

fn run() -> Outcome {
    let factory = factories::granted().remove(0);
    check::edge(|| factory.budget(), "factories", || factory.duplicate())?;
    check::edge(|| factory.budget(), "factories", || factory.narrow(&[], None))?;

    let before = check::usage(factory.budget(), "factories")?;
    let mut held = Vec::new();
    for _ in before.used..before.allowed {
        held.push(fine(factory.duplicate(), "duplicating")?);
    }
    let registry = Registry::new();
    limited(registry.register_factory(&factory), "factories", "registering needs a handle of its own")?;
    same(registry.enumerate().len(), 0, "drivers of a registry that took nothing")?;
    held.pop();
    fine(registry.register_factory(&factory), "registering once there is room")?;
    drop(registry);
    drop(held);
    same(check::usage(factory.budget(), "factories")?.used, before.used, "used after all were given back")
}
