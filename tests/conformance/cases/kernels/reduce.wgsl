// Workgroup memory, barriers, atomics: the sum of what each workgroup of 64 reads, and of all of them.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> total: atomic<u32>;
var<workgroup> part: array<u32, 64>;

@compute @workgroup_size(64)
fn reduce(
    @builtin(global_invocation_id) global: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    part[local] = input[global.x];
    workgroupBarrier();
    for (var step = 32u; step > 0u; step >>= 1u) {
        if local < step { part[local] += part[local + step]; }
        workgroupBarrier();
    }
    if local == 0u {
        sums[group.x] = part[0];
        atomicAdd(&total, part[0]);
    }
}
