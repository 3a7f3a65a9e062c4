// Atomic sums of whole numbers as f32: exact in any order.
@group(0) @binding(0) var<storage, read_write> total: atomic<f32>;

@compute @workgroup_size(64)
fn float_atomic(@builtin(global_invocation_id) id: vec3<u32>) {
    atomicAdd(&total, f32(id.x));
}
