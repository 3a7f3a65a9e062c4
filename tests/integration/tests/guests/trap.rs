//! Guests that trap in the middle of something: their session ends, everything native goes, others go on.

use hal_test_support::Guest;

#[test]
fn trap_mid_recording() {
    Guest::new("trap_mid_recording").cpu().run().trapped("unreachable");
}

#[test]
fn trap_work_in_flight() {
    Guest::new("trap_work_in_flight").cpu().run().trapped("unreachable");
}

#[test]
fn trap_worst_drop_order() {
    Guest::new("trap_worst_drop_order").null().run().trapped("unreachable");
}

#[test]
fn trap_stack() {
    Guest::new("trap_stack").null().run().trapped("stack");
}

#[test]
fn trap_memory() {
    Guest::new("trap_memory").null().guest_memory(8 << 20).run().trapped("unreachable");
}

#[test]
fn trap_panic() {
    Guest::new("trap_panic").null().run().trapped("unreachable");
}

/// More bytes in one call than the engine lifts: what lies between `transfer-bytes` and that is a value, see `limit_transfer_bytes`.
#[test]
fn trap_huge_call() {
    let guest = Guest::new("trap_huge_call").null().guest_memory(192 << 20);
    guest.input((100u64 << 20).to_string()).run().trapped("fuel");
}

#[test]
fn trap_handles() {
    Guest::new("trap_handles").null().handles(65_536).run().trapped("handle");
    // Without that, the registry's own memory ends it.
    Guest::new("trap_handles").null().run().trapped("unreachable");
}

#[test]
fn trap_broken_value() {
    for (input, text) in [("text", "utf-8"), ("name", "utf8"), ("mode", "discriminant")] {
        let ended = Guest::new("trap_broken_value").null().input(input).run();
        ended.trapped(text);
    }
}
