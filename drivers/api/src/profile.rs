//! The portable profile: what any device can be expected to take.

use crate::Limits;

/// What WebGPU's default limits promise of every GPU, and so what a kernel may count on that is to run everywhere. `profile=portable`
/// among the parameters of an opening makes the host enforce it on any driver's device, which then also lists no features. It bounds:
///
/// | limit | portable |
/// |---|---|
/// | `max-bindings` | 8, uniform ones included |
/// | `max-storage-binding-bytes` | 128 MiB |
/// | `max-uniform-bytes` | 64 KiB |
/// | `binding-offset-alignment` | 256 |
/// | `max-workgroup-memory-bytes` | 16 KiB |
/// | `max-invocations-per-workgroup` | 256 |
/// | `max-workgroups-per-dimension` | 65,535 |
/// | `max-constant-bytes` | 128 |
///
/// All other numbers stay the device's.
pub const PORTABLE: Limits = Limits {
    max_buffer_bytes: u64::MAX,
    max_bindings: 8,
    max_constant_bytes: 128,
    binding_offset_alignment: 256,
    binding_length_multiple: 1,
    max_uniform_bytes: 64 << 10,
    max_storage_binding_bytes: 128 << 20,
    max_workgroups_per_dimension: 65_535,
    max_workgroups: u64::MAX,
    max_invocations_per_workgroup: 256,
    max_workgroup_memory_bytes: 16 << 10,
    max_loop_iterations: u64::MAX,
};

impl Limits {
    /// What is within these limits and the other's.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        Self {
            max_buffer_bytes: self.max_buffer_bytes.min(other.max_buffer_bytes),
            max_bindings: self.max_bindings.min(other.max_bindings),
            max_constant_bytes: self.max_constant_bytes.min(other.max_constant_bytes),
            // Powers of two on every device, so that the larger one is a multiple of the smaller one.
            binding_offset_alignment: self.binding_offset_alignment.max(other.binding_offset_alignment),
            binding_length_multiple: self.binding_length_multiple.max(other.binding_length_multiple),
            max_uniform_bytes: self.max_uniform_bytes.min(other.max_uniform_bytes),
            max_storage_binding_bytes: self.max_storage_binding_bytes.min(other.max_storage_binding_bytes),
            max_workgroups_per_dimension: self.max_workgroups_per_dimension.min(other.max_workgroups_per_dimension),
            max_workgroups: self.max_workgroups.min(other.max_workgroups),
            max_invocations_per_workgroup: self.max_invocations_per_workgroup.min(other.max_invocations_per_workgroup),
            max_workgroup_memory_bytes: self.max_workgroup_memory_bytes.min(other.max_workgroup_memory_bytes),
            max_loop_iterations: self.max_loop_iterations.min(other.max_loop_iterations),
        }
    }
}
