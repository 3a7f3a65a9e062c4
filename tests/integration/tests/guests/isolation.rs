//! Tenants side by side, and sessions that end in the middle.

use crate::ok::numbers;
use hal_core::Limit;
use hal_test_support::{Guest, cpu, null};
use std::time::Duration;

/// Others trap, hang and misbehave on the same drivers while one does its work, over and over.
#[test]
fn one_traps_while_another_works() {
    let (null, cpu) = (null(), cpu());
    let bad =
        ["trap_mid_recording", "trap_work_in_flight", "hang_guest_loop", "ok_handles_leaked", "trap_worst_drop_order"];
    let others: Vec<_> = bad
        .into_iter()
        .map(|name| {
            let guest = Guest::new(name).with(null.clone(), |grant| grant).with(cpu.clone(), |grant| grant);
            guest.timeout(Duration::from_secs(3)).start()
        })
        .collect();
    for _ in 0..5 {
        for name in ["ok_dispatch_entry_points", "ok_semaphore_two_devices", "ok_recording_slots"] {
            Guest::new(name).with(null.clone(), |grant| grant).with(cpu.clone(), |grant| grant).run().well();
        }
    }
    for other in others {
        other.end();
    }
}

/// One tenant uses up all that it was granted; another with a grant of its own on the same driver does not notice.
#[test]
fn one_uses_up_its_grant_and_another_does_not_notice() {
    let factory = null();
    let small = || hal_core::Limits::new().with(Limit::MemoryBytes, 1 << 20).with(Limit::Buffers, 64);
    let hoarder = Guest::new("limit_memory").with(factory.clone(), |grant| grant.limits(small())).start();
    Guest::new("ok_buffer_transfer").with(factory.clone(), |grant| grant.limits(small())).run().well();
    Guest::new("limit_buffers").with(factory, |grant| grant.limits(small())).run().well();
    hoarder.end().well();
}

/// The future of a call is dropped while the guest waits in the host: the session is over, and nothing is left of it.
#[test]
fn a_call_dropped_half_way_in_a_wait() {
    let running = Guest::new("hang_wait").null().timeout(Duration::from_secs(60)).start();
    running.wait_until_it_works();
    std::thread::sleep(Duration::from_millis(50));
    running.cancel();
}

/// The same while the guest computes, and while a kernel of its runs.
#[test]
fn a_call_dropped_half_way_in_the_guest_and_in_a_kernel() {
    for (name, input) in [("hang_guest_loop", ""), ("hang_call_loop", ""), ("hang_kernel", "cpu")] {
        let running = Guest::new(name).null().cpu().input(input).timeout(Duration::from_secs(60)).start();
        running.wait_until_it_works();
        std::thread::sleep(Duration::from_millis(150));
        running.cancel();
    }
}

/// After a trap, a deadline or a dropped call the session answers nothing any more.
#[test]
fn a_session_that_ended_badly_answers_nothing() {
    for (name, timeout) in [("trap_panic", 10_000), ("hang_guest_loop", 200)] {
        let guest = Guest::new(name).null().timeout(Duration::from_millis(timeout));
        let error = guest.call_again();
        assert!(matches!(error, hal_host::Error::Poisoned(_)), "{name}: {error}");
    }
    for name in ["hang_wait", "hang_guest_loop"] {
        let error = Guest::new(name).null().call_after_dropping(Duration::from_millis(500));
        assert!(matches!(error, hal_host::Error::Poisoned(_)), "{name}: {error}");
    }
}

/// Good guests can be called again, in the same session.
#[test]
fn a_session_that_ended_well_can_be_called_again() {
    let guest = Guest::new("ok_blob_read").null().blob("numbers", numbers());
    guest.times(3).run().well();
}

/// Many tenants at once, more than there are cores: all end well and nothing is left.
#[test]
fn many_tenants_at_once() {
    let factory = cpu();
    let running: Vec<_> = (0..24)
        .map(|n| {
            let name = ["ok_dispatch_constants", "ok_dispatch_barriers", "ok_handles_leaked"][n % 3];
            Guest::new(name).null().with(factory.clone(), |grant| grant).start()
        })
        .collect();
    for running in running {
        running.end().well();
    }
}
