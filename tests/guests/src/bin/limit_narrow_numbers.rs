//! A narrowed factory has the limits that were lowered and the parent's for the rest; a higher one is cut, an unknown one refused.
#![no_main]

use test_guests::{
    Amount, DriverFactory, Outcome, StatusCode, check, check::fine, check::refused, check::same, factories, guest,
};

guest!(run);

fn limit(factory: &DriverFactory, name: &str) -> Outcome<u64> {
    let found = factory.limits().into_iter().find(|amount| amount.name == name);
    found.map(|amount| amount.value).ok_or_else(|| format!("no limit {name}; there are {:?}", factory.limits()))
}

fn run() -> Outcome {
    let parent = factories::granted().remove(0);
    let amount = |name: &str, value| Amount { name: name.into(), value };
    let child = fine(parent.narrow(&[amount("buffers", 3), amount("memory-bytes", u64::MAX)], None), "narrowing")?;
    same(child.id() != parent.id(), true, "whether a narrowed factory has an id of its own")?;
    same(limit(&child, "buffers")?, 3, "a limit that was lowered")?;
    for name in ["memory-bytes", "semaphores", "recordings", "transfer-bytes"] {
        same(limit(&child, name)?, limit(&parent, name)?, &format!("{name}, which was not lowered"))?;
    }
    let grandchild = fine(child.narrow(&[amount("buffers", 100)], None), "narrowing the narrowed one")?;
    same(limit(&grandchild, "buffers")?, 3, "a limit that cannot rise again")?;
    let device = fine(fine(grandchild.try_create("null"), "driver")?.create_default_device(), "device")?;
    check::edge(|| device.budget(), "buffers", || test_guests::memory::try_buffer(&device, 1))?;

    let unknown = parent.narrow(&[amount("hats", 1)], None);
    refused(unknown, StatusCode::InvalidArgument, "a limit that nobody knows")?;
    let twin = fine(parent.duplicate(), "duplicating")?;
    same(twin.id(), parent.id(), "the id of a duplicate")
}
