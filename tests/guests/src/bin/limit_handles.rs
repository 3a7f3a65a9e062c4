//! A guest that never drops a handle meets its quotas, as values, before the engine's cap on handles, which is a trap.
#![no_main]

use std::mem::forget;
use test_guests::work::nothing;
use test_guests::{Error, Outcome, Registry, check::fine, check::limited, check::same, factories, guest, memory, null};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    let factory = factories::granted().remove(0);
    let device = null()?;
    until("semaphores", || device.create_semaphore(0))?;
    until("buffers", || memory::try_buffer(&device, 0))?;
    until("recordings", || device.create_recording(&nothing(), 0, ""))?;
    until("devices", || registry.create_device("null://"))?;
    until("drivers", || registry.try_create("null"))?;
    until("factories", || factory.duplicate())?;
    same(fine(factory.enumerate(), "listing at the end")?.len(), 1, "drivers")
}

/// Makes and forgets things until the limit called `name` is hit, ten times over.
fn until<T>(name: &str, mut make: impl FnMut() -> Result<T, Error>) -> Outcome {
    for n in 0.. {
        match make() {
            Ok(made) => forget(made),
            refused => {
                limited(refused, name, &format!("{name} after {n} were made"))?;
                break;
            }
        }
    }
    for _ in 0..10 {
        limited(make(), name, &format!("{name} at the limit"))?;
    }
    Ok(())
}
