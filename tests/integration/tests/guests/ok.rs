//! Guests that do what is allowed, and end well.

use hal_core::{Limit, Reveal};
use hal_test_support::{Guest, cpu, null};

fn on_null(name: &str) {
    Guest::new(name).null().run().well();
}

fn on_cpu(name: &str) {
    Guest::new(name).cpu().run().well();
}

/// The blob that guests which read one expect.
pub fn numbers() -> Vec<u8> {
    (0..=255).collect()
}

#[test]
fn ok_registry_open() {
    let report = Guest::new("ok_registry_open")
        .with(null(), |grant| grant.reveal(Reveal::All).limits(many_devices()))
        .with(cpu(), |grant| grant.limits(many_devices()))
        .run()
        .well();
    assert_eq!(report, "null cpu local-sync local-task");
}

fn many_devices() -> hal_core::Limits {
    hal_core::Limits::new().with(Limit::Devices, 64)
}

#[test]
fn ok_buffer_transfer() {
    on_null("ok_buffer_transfer");
}

#[test]
fn ok_buffer_info() {
    on_null("ok_buffer_info");
}

#[test]
fn ok_buffer_subspan() {
    on_null("ok_buffer_subspan");
}

#[test]
fn ok_submit_transfers() {
    on_null("ok_submit_transfers");
}

#[test]
fn ok_submit_captures_update() {
    on_null("ok_submit_captures_update");
}

#[test]
fn ok_semaphore_values() {
    on_null("ok_semaphore_values");
}

#[test]
fn ok_semaphore_failure() {
    on_null("ok_semaphore_failure");
}

#[test]
fn ok_semaphore_order() {
    on_null("ok_semaphore_order");
}

#[test]
fn ok_semaphore_two_devices() {
    Guest::new("ok_semaphore_two_devices").null().cpu().run().well();
}

#[test]
fn ok_recording_slots() {
    on_null("ok_recording_slots");
}

#[test]
fn ok_recording_deferred() {
    on_null("ok_recording_deferred");
}

#[test]
fn ok_alloca_chain() {
    on_null("ok_alloca_chain");
}

#[test]
fn ok_alloca_failed_wait() {
    on_null("ok_alloca_failed_wait");
}

#[test]
fn ok_blob_read() {
    Guest::new("ok_blob_read").null().blob("numbers", numbers()).run().well();
}

#[test]
fn ok_dispatch_constants() {
    on_cpu("ok_dispatch_constants");
}

#[test]
fn ok_dispatch_entry_points() {
    on_cpu("ok_dispatch_entry_points");
}

#[test]
fn ok_dispatch_indirect() {
    on_cpu("ok_dispatch_indirect");
}

#[test]
fn ok_dispatch_overrides() {
    on_cpu("ok_dispatch_overrides");
}

#[test]
fn ok_dispatch_workgroups() {
    on_cpu("ok_dispatch_workgroups");
}

#[test]
fn ok_dispatch_barriers() {
    on_cpu("ok_dispatch_barriers");
}

#[test]
fn ok_executable_functions() {
    on_cpu("ok_executable_functions");
}

#[test]
fn ok_kernel_bounds() {
    on_cpu("ok_kernel_bounds");
}

#[test]
fn ok_kernel_error_text() {
    on_cpu("ok_kernel_error_text");
}

#[test]
fn ok_timings_tagged() {
    on_null("ok_timings_tagged");
}

#[test]
fn ok_error_text() {
    on_null("ok_error_text");
}

#[test]
fn ok_device_numbers() {
    on_null("ok_device_numbers");
}

#[test]
fn ok_device_profile() {
    Guest::new("ok_device_profile").with(cpu(), |grant| grant.limits(many_devices())).run().well();
}

#[test]
fn ok_close_everything() {
    on_null("ok_close_everything");
}

#[test]
fn ok_close_device() {
    on_null("ok_close_device");
}

#[test]
fn ok_device_outlives_driver() {
    on_null("ok_device_outlives_driver");
}

#[test]
fn ok_handles_leaked() {
    on_null("ok_handles_leaked");
}

/// Two tenants one after the other on one driver: the second finds the first one's memory, zeroed.
#[test]
fn ok_memory_zeroed() {
    for (scheme, factory) in [("null", null()), ("cpu", cpu())] {
        for tenant in 0..2 {
            let guest = Guest::new("ok_memory_zeroed").input(scheme);
            let guest = guest.with(factory.clone(), |grant| grant.limits(limited(Limit::MemoryBytes, 4 << 20)));
            println!("{scheme}, tenant {tenant}");
            guest.run().well();
        }
    }
}

pub fn limited(limit: Limit, value: u64) -> hal_core::Limits {
    hal_core::Limits::new().with(limit, value)
}
