//! The first failure of a semaphore stands, keeps its code and text, and reaches whatever waits for it.
#![no_main]

use test_guests::work::{at, direct, fill, nothing, semaphore, transfers};
use test_guests::{
    Error, LONG, Outcome, StatusCode, WaitMode, check, check::fine, check::refused, check::same, guest, memory, null,
};

guest!(run);

fn run() -> Outcome {
    let device = null()?;
    let buffer = memory::buffer(&device, 4)?;
    let (failing, healthy) = (semaphore(&device)?, semaphore(&device)?);
    let (first, second) = (semaphore(&device)?, semaphore(&device)?);
    let batch = transfers(&[&buffer], vec![fill(direct(0), &[1])]);
    fine(device.submit(&[at(&failing, 1)], &batch, &[at(&first, 1)], None), "work behind the failing semaphore")?;
    fine(device.submit(&[at(&first, 1)], &nothing(), &[at(&second, 7)], None), "work behind that work")?;

    let error = |code, message: &str| Error { code, message: message.into(), limit: None };
    failing.fail(&error(StatusCode::DataLoss, "the moon is gone"));
    failing.fail(&error(StatusCode::Cancelled, "too late"));
    for (semaphore, name) in
        [(&failing, "the failed semaphore"), (&first, "what waited"), (&second, "what waited for that")]
    {
        let what = &format!("waiting for {name}");
        let failure = refused(semaphore.wait(9, LONG), StatusCode::DataLoss, what)?;
        check::explained::<()>(Err(failure), StatusCode::DataLoss, &["the moon is gone"], what)?;
        refused(semaphore.query(), StatusCode::DataLoss, &format!("the value of {name}"))?;
        refused(semaphore.signal(10), StatusCode::DataLoss, &format!("signalling {name}"))?;
    }
    let points = [at(&healthy, 1), at(&failing, 1)];
    for mode in [WaitMode::All, WaitMode::Any] {
        refused(
            device.wait_semaphores(&points, mode, LONG),
            StatusCode::DataLoss,
            "a wait with a failed semaphore in it",
        )?;
    }
    same(memory::bytes(&buffer)?, vec![0; 4], "the buffer of the work that must not have run")?;
    same(fine(healthy.query(), "the other semaphore")?, 0, "its value")
}
