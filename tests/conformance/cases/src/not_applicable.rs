//! Cases of IREE's suite that have no operation behind them here, or are somebody else's to check.

/// A case that is not run, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotApplicable {
    /// IREE's suite, or the part of our own list.
    pub suite: &'static str,
    /// Its cases.
    pub cases: &'static [&'static str],
    /// Why, and where the like of it is tested.
    pub reason: &'static str,
}

/// All of them.
pub const NOT_APPLICABLE: &[NotApplicable] = &[
    NotApplicable {
        suite: "BufferMappingTest",
        cases: &[
            "ZeroWholeBuffer",
            "ZeroWithOffset",
            "ZeroSubspan",
            "FillEmpty",
            "FillWholeBuffer",
            "FillWithOffset",
            "FillSubspan",
        ],
        reason: "the host's own access to a buffer is read and write; zeroing and filling are commands (CommandBufferFillBufferTest)",
    },
    NotApplicable {
        suite: "BufferMappingTest",
        cases: &["CopyData"],
        reason: "there is no copy between buffers outside of the queue (CommandBufferCopyBufferTest)",
    },
    NotApplicable { suite: "EventTest", cases: &["(the whole suite)"], reason: "it is empty; barriers order a batch" },
    NotApplicable {
        suite: "ExecutableCacheTest",
        cases: &["Create"],
        reason: "there is no cache object; a device caches by itself",
    },
    NotApplicable {
        suite: "ExecutableTest",
        cases: &["ExportInfoOutOfRange", "LookupExportByNameNotFound", "LookupExportByName"],
        reason: "`functions` is a list; a dispatch of a function past its end is KernelRefusals/FunctionPastTheEnd, and looking one up by name is the guest SDK's",
    },
    NotApplicable {
        suite: "QueueAllocaTest",
        cases: &["BufferMetadata (its device and queue)"],
        reason: "a buffer does not name its device (WIT has no cycles) and a device has one queue; size, usage and the rest are checked",
    },
    NotApplicable {
        suite: "QueueHostCallTest",
        cases: &[
            "EnqueueBeforeSignal",
            "NoWaitSemaphores",
            "NonBlockingFlag",
            "AsyncCallback",
            "CallbackReturnsError",
            "CallbackReturnsErrorAfterWait",
        ],
        reason: "no callbacks cross the boundary: a guest waits and signals",
    },
    NotApplicable {
        suite: "FileTest",
        cases: &["WriteSubrangeWithOffsets", "ChainedWriteThenReadWithSemaphores", "LargeRangeRoundTrip"],
        reason: "blobs are read-only in 0.1",
    },
    NotApplicable {
        suite: "SemaphoreThreadTest",
        cases: &["WaitForFiniteTime (absolute timeouts)"],
        reason: "there is no clock in the interface: timeouts are relative, 0 is a poll, the largest is for ever",
    },
    NotApplicable {
        suite: "Isolation",
        cases: &["a handle never given out, of another tenant, dropped, of another type"],
        reason: "a handle is a Rust value natively; through WIT it is a trap: tests/guests deny_handle_forged, _dropped, _dropped_twice, _other_kind",
    },
    NotApplicable {
        suite: "Isolation",
        cases: &["a trap in the middle of a recording, with work in flight, the worst order of drops"],
        reason: "the end of a tenant, not of a driver: tests/guests trap_mid_recording, trap_work_in_flight, trap_worst_drop_order",
    },
    NotApplicable {
        suite: "Budgets",
        cases: &["guest memory, instantiations, wall time of a call"],
        reason: "the host's, not a driver's: tests/guests limit_guest_memory, hang_*; host/tests tenants",
    },
    NotApplicable {
        suite: "Refusals",
        cases: &["an executable of 100 MiB"],
        reason: "refused by size before any copy (KernelRefusals/SourceAboveTheLimit); that much in one call ends the session: tests/guests trap_huge_call",
    },
    NotApplicable {
        suite: "Registry",
        cases: &["(all of registry.md)"],
        reason: "the registry component's own: guest/registry, tests/guests registry_*, with a model in registry_model",
    },
];
