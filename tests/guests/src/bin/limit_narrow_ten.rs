//! Ten factories narrowed from one cannot use more together than it allows, and what one gives back another can use.
#![no_main]

use test_guests::{
    Amount, Device, DriverFactory, Outcome, check, check::fine, check::limited, check::same, factories, guest, memory,
};

guest!(run);

const CHILDREN: u64 = 10;

fn device(factory: &DriverFactory) -> Outcome<Device> {
    let driver = fine(factory.try_create("null"), "the driver of a narrowed factory")?;
    fine(driver.create_default_device(), "its device")
}

fn run() -> Outcome {
    let parent = factories::granted().remove(0);
    let all = check::usage(parent.budget(), "memory-bytes")?.allowed;
    let share = all / CHILDREN * 2;
    // Each may use a fifth, so that five of them can use up all.
    let limits = [Amount { name: "memory-bytes".into(), value: share }];
    let mut children = Vec::new();
    for n in 0..CHILDREN {
        let factory = fine(parent.narrow(&limits, None), &format!("narrowing, {} of {CHILDREN}", n + 1))?;
        let device = device(&factory)?;
        children.push((factory, device));
    }
    let mut held = Vec::new();
    for (factory, device) in &children[..5] {
        limited(memory::try_buffer(device, share + 4096), "memory-bytes", "more than a child's own share")?;
        held.push(memory::buffer(device, share)?);
        same(check::usage(factory.budget(), "memory-bytes")?.used, share, "what the child uses")?;
    }
    same(check::usage(parent.budget(), "memory-bytes")?.used, share * 5, "what the parent is charged")?;
    for (factory, device) in &children[5..] {
        limited(memory::try_buffer(device, 4096), "memory-bytes", "what only the parent lacks")?;
        same(check::usage(factory.budget(), "memory-bytes")?.used, 0, "what a refused call leaves charged")?;
    }
    held.pop();
    held.push(memory::buffer(&children[9].1, share)?);
    limited(memory::try_buffer(&children[4].1, 4096), "memory-bytes", "what another child uses now")?;
    drop(held);
    same(check::usage(parent.budget(), "memory-bytes")?.used, 0, "what the parent is charged at the end")
}
