@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@group(0) @binding(1) var<storage, read_write> n: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = clamp(o[id.x], 1, 2.5) + max(2, o[id.x]) + min(3.0, o[id.x]) + mix(1, o[id.x], 0.5) + pow(2, 3);
    n[id.x] = clamp(n[id.x], 1, 20) + select(1, n[id.x], id.x > 4u) + countOneBits(0xff0u) + insertBits(n[id.x], 5, 4, 3);
}
