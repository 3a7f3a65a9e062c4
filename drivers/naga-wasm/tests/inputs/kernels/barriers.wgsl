@group(0) @binding(0) var<storage, read_write> o: array<u32>;
var<workgroup> w: array<u32, 8>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    w[l] = o[id.x];
    storageBarrier();
    workgroupBarrier();
    let next = w[(l + 1u) % 8u];
    workgroupBarrier();
    w[l] = next * 3u;
    subgroupBarrier();
    workgroupBarrier();
    o[id.x] = w[7u - l];
}
