// Atomic sums that carry from one word into the other.
@group(0) @binding(0) var<storage, read_write> total: atomic<u64>;

@compute @workgroup_size(64)
fn wide_atomic(@builtin(global_invocation_id) id: vec3<u32>) {
    atomicAdd(&total, u64(id.x) * 0x10000001lu);
}
