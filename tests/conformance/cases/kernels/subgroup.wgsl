// What holds in subgroups of any size: their sums add up, and in each the first invocation comes first.
@group(0) @binding(0) var<storage, read_write> total: array<atomic<u32>, 2>;

@compute @workgroup_size(64)
fn subgroup(
    @builtin(local_invocation_index) at: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) size: u32,
) {
    let sum = subgroupAdd(at);
    if lane == 0u { atomicAdd(&total[0], sum); }
    let first = subgroupBroadcastFirst(lane) == 0u && subgroupAll(lane < size);
    if first && subgroupExclusiveAdd(1u) == lane { atomicAdd(&total[1], 1u); }
}
