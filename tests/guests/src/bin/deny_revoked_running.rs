//! The host revokes the grant while a kernel runs that never ends: the wait for it is `permission-denied`, and so is all that comes after.
//! The input is the scheme. Then it waits on the null device, so that it lives until the host revokes that as well.
#![no_main]

use test_guests::kernels::{ENDLESS, WORKGROUP_NUMBERS, load, try_load};
use test_guests::work::{at, batch, direct, dispatch, nothing, semaphore};
use test_guests::{FOR_EVER, Outcome, StatusCode, check::fine, check::refused, guest, memory, null, open};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let idle = null()?;
    let never = semaphore(&idle)?;
    let device = open(&format!("{input}://"))?;
    let endless = load(&device, ENDLESS)?;
    let buffer = memory::buffer(&device, 4096)?;
    let (done, behind) = (semaphore(&device)?, semaphore(&device)?);
    let denied = StatusCode::PermissionDenied;

    let work = batch(&[&buffer], &[&endless], vec![dispatch(0, 8, &[], &[direct(0)])]);
    fine(device.submit(&[], &work, &[at(&done, 1)], None), "an endless kernel")?;
    // A device that runs work on the calling thread gets here when the kernel was stopped.
    let queued = device.submit(&[at(&done, 1)], &nothing(), &[at(&behind, 1)], None);
    if input == "local-sync" {
        refused(queued, denied, "submitting")?;
    } else {
        fine(queued, "work behind it")?;
        refused(behind.wait(1, FOR_EVER), denied, "waiting for the work behind it")?;
    }
    refused(done.wait(1, FOR_EVER), denied, "waiting for the kernel")?;
    refused(buffer.read(0, 4), denied, "reading what it wrote")?;
    refused(device.submit(&[], &work, &[at(&done, 2)], None), denied, "submitting it again")?;
    refused(try_load(&device, WORKGROUP_NUMBERS), denied, "another kernel")?;

    refused(never.wait(1, FOR_EVER), denied, "the wait during which the other grant is revoked")?;
    Ok("denied".into())
}
