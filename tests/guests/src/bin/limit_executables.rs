//! "executables": exactly as many as are granted, also when they have one source.
#![no_main]

use test_guests::kernels::{WORKGROUP_NUMBERS, try_load};
use test_guests::{Outcome, check, cpu, guest};

guest!(run);

fn run() -> Outcome {
    let device = cpu()?;
    check::edge(|| device.budget(), "executables", || try_load(&device, WORKGROUP_NUMBERS))
}
