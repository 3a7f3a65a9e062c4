//! Guests that meet each limit at its exact edge and go on.

use crate::ok::{limited, numbers};
use hal_core::{Limit, Limits};
use hal_test_support::{Guest, cpu, null};

fn on_null(name: &str, limit: Limit, value: u64) {
    Guest::new(name).with(null(), |grant| grant.limits(limited(limit, value))).run().well();
}

#[test]
fn limit_memory() {
    on_null("limit_memory", Limit::MemoryBytes, 1 << 20);
}

#[test]
fn limit_buffers() {
    on_null("limit_buffers", Limit::Buffers, 17);
}

#[test]
fn limit_semaphores() {
    on_null("limit_semaphores", Limit::Semaphores, 17);
}

#[test]
fn limit_recordings() {
    on_null("limit_recordings", Limit::Recordings, 17);
}

#[test]
fn limit_executables() {
    let limits = limited(Limit::Executables, 3);
    Guest::new("limit_executables").with(cpu(), |grant| grant.limits(limits)).run().well();
}

#[test]
fn limit_devices() {
    on_null("limit_devices", Limit::Devices, 3);
}

#[test]
fn limit_drivers() {
    on_null("limit_drivers", Limit::Drivers, 5);
}

#[test]
fn limit_factories() {
    on_null("limit_factories", Limit::Factories, 9);
}

#[test]
fn limit_blobs() {
    let guest = Guest::new("limit_blobs").null().blob("numbers", numbers());
    guest.session_limits(limited(Limit::Blobs, 3)).input("3").run().well();
}

#[test]
fn limit_submissions() {
    on_null("limit_submissions", Limit::Submissions, 13);
}

#[test]
fn limit_host_bytes() {
    on_null("limit_host_bytes", Limit::HostBytes, 1 << 20);
}

#[test]
fn limit_transfer_bytes() {
    let limits = limited(Limit::TransferBytes, 100);
    let guest = Guest::new("limit_transfer_bytes").with(null(), |grant| grant.limits(limits.clone()));
    guest.session_limits(limits).blob("numbers", numbers()).run().well();
}

/// At the default the guest moves 16 MiB and is refused 32 MiB as a value: the engine's cap on a call's bytes lies above.
#[test]
fn limit_transfer_bytes_of_the_default() {
    let guest = Guest::new("limit_transfer_bytes").null().blob("numbers", vec![7; (16 << 20) + 1]);
    guest.guest_memory(192 << 20).run().well();
}

#[test]
fn limit_update_bytes() {
    on_null("limit_update_bytes", Limit::UpdateBytes, 1000);
}

#[test]
fn limit_source_bytes() {
    let limits = limited(Limit::SourceBytes, 4096);
    Guest::new("limit_source_bytes").with(cpu(), |grant| grant.limits(limits)).run().well();
}

#[test]
fn limit_narrow_ten() {
    let limits = limited(Limit::MemoryBytes, 10 << 20).with(Limit::Devices, 20);
    Guest::new("limit_narrow_ten").with(null(), |grant| grant.limits(limits)).run().well();
}

#[test]
fn limit_narrow_numbers() {
    Guest::new("limit_narrow_numbers").null().run().well();
}

#[test]
fn limit_close_behind_wait() {
    on_null("limit_close_behind_wait", Limit::MemoryBytes, 1 << 20);
}

#[test]
fn limit_subspan_of_dropped() {
    on_null("limit_subspan_of_dropped", Limit::MemoryBytes, 1 << 20);
}

#[test]
fn limit_recording_of_dropped() {
    on_null("limit_recording_of_dropped", Limit::MemoryBytes, 1 << 20);
}

#[test]
fn limit_handles_of_one() {
    on_null("limit_handles_of_one", Limit::MemoryBytes, 1 << 20);
}

#[test]
fn limit_text() {
    Guest::new("limit_text").null().run().well();
}

#[test]
fn limit_tables() {
    Guest::new("limit_tables").null().run().well();
}

/// With the defaults of every quota: together they lie below the engine's cap on handles.
#[test]
fn limit_handles() {
    Guest::new("limit_handles").null().run().well();
}

#[test]
fn limit_guest_memory() {
    let limit = 16u64 << 20;
    let report = Guest::new("limit_guest_memory").null().guest_memory(limit).input(limit.to_string()).run().well();
    println!("{report}");
}

#[test]
fn limit_kernel_time() {
    for scheme in ["local-sync", "local-task", "cpu"] {
        let limits = Limits::new().with(Limit::SubmissionTimeNs, 200_000_000);
        Guest::new("limit_kernel_time").with(cpu(), |grant| grant.limits(limits)).input(scheme).run().well();
    }
}
