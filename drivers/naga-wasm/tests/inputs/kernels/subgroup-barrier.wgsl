var<workgroup> w: array<u32, 8>;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    w[l] = o[id.x];
    subgroupBarrier();
    o[id.x] = w[l ^ 1u] * 2u + w[l ^ 2u];
}
