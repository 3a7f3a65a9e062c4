//! "max-source-bytes": a kernel source of exactly that length is compiled, one byte more is refused without being looked at.
#![no_main]

use test_guests::kernels::{WORKGROUP_NUMBERS, try_load};
use test_guests::{Outcome, check, check::fine, check::refused, cpu, guest};

guest!(run);

fn run() -> Outcome {
    let device = cpu()?;
    let most = usize::try_from(check::limit(&device, "max-source-bytes")?).map_err(|error| error.to_string())?;
    let padded = |length: usize| format!("{WORKGROUP_NUMBERS}//{}", "x".repeat(length - WORKGROUP_NUMBERS.len() - 2));
    fine(try_load(&device, &padded(most)), "a source as long as is allowed")?;
    refused(try_load(&device, &padded(most + 1)), test_guests::StatusCode::ResourceExhausted, "one byte more")?;
    fine(try_load(&device, WORKGROUP_NUMBERS), "a short one afterwards").map(drop)
}
