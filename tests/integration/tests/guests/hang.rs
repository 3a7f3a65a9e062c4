//! Guests that never end by themselves.

use hal_core::{Limit, Limits};
use hal_test_support::{Guest, cpu};
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_millis(400);
/// How much later than its deadline a call may end on a loaded machine with few cores.
const SLACK: Duration = Duration::from_secs(4);

fn timed<T>(run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let ended = run();
    let took = start.elapsed();
    assert!(took >= TIMEOUT / 2 && took < TIMEOUT + SLACK, "a call with {TIMEOUT:?} ended after {took:?}");
    ended
}

#[test]
fn hang_guest_loop() {
    timed(|| Guest::new("hang_guest_loop").null().timeout(TIMEOUT).run()).stopped();
}

#[test]
fn hang_call_loop() {
    timed(|| Guest::new("hang_call_loop").null().timeout(TIMEOUT).run()).stopped();
}

#[test]
fn hang_wait() {
    let report = timed(|| Guest::new("hang_wait").null().timeout(TIMEOUT).run()).well();
    assert_eq!(report, "deadline-exceeded");
}

#[test]
fn hang_wait_then_loop() {
    timed(|| Guest::new("hang_wait_then_loop").null().timeout(TIMEOUT).run()).stopped();
}

/// The kernel may run longer than the call: waiting for it ends as a value, and the end of the session stops it.
#[test]
fn hang_kernel() {
    for scheme in ["local-task", "cpu"] {
        let report = timed(|| Guest::new("hang_kernel").cpu().timeout(TIMEOUT).input(scheme).run()).well();
        assert_eq!(report, "deadline-exceeded");
    }
}

/// A device that runs work on the calling thread: the kernel is stopped by its submission's own time.
#[test]
fn hang_kernel_on_calling_thread() {
    let limits = Limits::new().with(Limit::SubmissionTimeNs, 100_000_000);
    let guest = Guest::new("hang_kernel").with(cpu(), |grant| grant.limits(limits));
    let report = guest.timeout(Duration::from_secs(20)).input("local-sync").run().well();
    assert_eq!(report, "deadline-exceeded");
}

#[test]
fn hang_kernel_left() {
    let report = Guest::new("hang_kernel_left").cpu().input("cpu").run().well();
    assert_eq!(report, "left");
}
