var<workgroup> count: atomic<u32>;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    atomicAdd(&count, id.x);
    if workgroupUniformLoad(&count) > 30u { workgroupBarrier(); o[id.x] = 7u; } else { o[id.x] = workgroupUniformLoad(&count); }
}
