//! Guests that ask for what they have no right to.

use crate::ok::numbers;
use hal_core::Reveal;
use hal_test_support::{Fake, Guest, cpu};
use std::time::Duration;

fn on_null(name: &str) {
    Guest::new(name).null().run().well();
}

fn many() -> Fake {
    Fake::new("many", &["many"]).paths(&["a", "b", "c", "d"])
}

#[test]
fn deny_driver_not_granted() {
    on_null("deny_driver_not_granted");
}

#[test]
fn deny_nothing_granted() {
    Guest::new("deny_nothing_granted").run().well();
}

#[test]
fn deny_device_not_granted() {
    let granted = ["many/b", "many/d"];
    Guest::new("deny_device_not_granted")
        .with(many().arc(), |grant| grant.devices(granted).reveal(Reveal::All))
        .run()
        .well();
}

#[test]
fn deny_device_narrowed() {
    Guest::new("deny_device_narrowed").with(many().arc(), |grant| grant.reveal(Reveal::All)).run().well();
}

#[test]
fn deny_blob_not_granted() {
    Guest::new("deny_blob_not_granted").blob("numbers", numbers()).run().well();
}

/// Numbers that were never given out, in particular some that are in use in another tenant's session.
#[test]
fn deny_handle_forged() {
    let other = Guest::new("hang_wait").null().timeout(Duration::from_secs(60)).start();
    other.wait_until_it_works();
    for number in [0, 40, 41, 42, 12_345, u32::MAX >> 2, u32::MAX] {
        let ended = Guest::new("deny_handle_forged").null().input(number.to_string()).run();
        ended.trapped("handle");
    }
    drop(other);
}

#[test]
fn deny_handle_other_kind() {
    Guest::new("deny_handle_other_kind").null().run().trapped("handle");
}

#[test]
fn deny_handle_dropped() {
    Guest::new("deny_handle_dropped").null().run().trapped("handle");
}

#[test]
fn deny_handle_dropped_twice() {
    Guest::new("deny_handle_dropped_twice").null().run().trapped("handle");
}

#[test]
fn deny_usage() {
    on_null("deny_usage");
}

#[test]
fn deny_access() {
    on_null("deny_access");
}

#[test]
fn deny_range() {
    on_null("deny_range");
}

#[test]
fn deny_commands() {
    on_null("deny_commands");
}

#[test]
fn deny_dispatch() {
    Guest::new("deny_dispatch").cpu().run().well();
}

#[test]
fn deny_signal_no_advance() {
    on_null("deny_signal_no_advance");
}

#[test]
fn deny_use_after_dealloca() {
    on_null("deny_use_after_dealloca");
}

/// The host takes the grant back while the guest waits.
#[test]
fn deny_revoked() {
    for scheme in ["null", "cpu"] {
        let guest = Guest::new("deny_revoked").input(scheme);
        let guest = if scheme == "null" { guest.null() } else { guest.cpu() };
        let running = guest.start();
        running.wait_until_it_works();
        // Time to get from its device to the wait.
        std::thread::sleep(Duration::from_millis(300));
        assert!(running.revoke(0), "there is a grant to revoke");
        let report = running.end().well();
        assert!(report.starts_with("denied"), "{report}");
    }
}

/// The host takes the grant back while a kernel runs that never ends. The kernel is stopped by that and not by the guest's end: the guest
/// lives on, on its other grant, and meanwhile others compute on the same processors.
#[test]
fn deny_revoked_running() {
    for scheme in ["local-task", "cpu", "local-sync"] {
        let factory = cpu();
        let guest = Guest::new("deny_revoked_running").with(factory.clone(), |grant| grant).null().input(scheme);
        let running = guest.start();
        running.wait_until("started no kernel", |counts| counts[0].works() > 0);
        // Time to get from the start of the work to the kernel, and to the wait.
        std::thread::sleep(Duration::from_millis(300));
        Guest::new("ok_buffer_transfer").null().run().well();
        assert!(running.counts()[0].works() > 0, "{scheme}: the kernel ended by itself");

        assert!(running.revoke(0), "there is a grant to revoke");
        running.wait_until("left its kernel running", |counts| counts[0].works() == 0);
        Guest::new("ok_dispatch_workgroups").with(factory, |grant| grant).run().well();
        assert!(running.revoke(1), "there is another grant to revoke");
        assert_eq!(running.end().well(), "denied");
    }
}
