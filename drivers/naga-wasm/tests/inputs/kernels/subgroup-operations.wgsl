@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@group(0) @binding(1) var<storage, read_write> f: array<vec2<f32>>;
@compute @workgroup_size(8) fn main(
    @builtin(global_invocation_id) id: vec3<u32>, @builtin(num_subgroups) count: u32, @builtin(subgroup_id) at: u32,
    @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32
) {
    subgroupBarrier();
    let v = o[id.x];
    var x = subgroupBallot((lane & 1u) == 1u).x + subgroupBallot().x * 16u;
    x = x * 3u + u32(subgroupAll(lane != 9u)) + u32(subgroupAny(lane == 0u)) * 2u;
    x = x * 3u + subgroupAdd(v) + subgroupMul(v) + subgroupMin(v) * 5u + subgroupMax(v) * 7u;
    x = x * 3u + subgroupAnd(v) + subgroupOr(v) * 5u + subgroupXor(v) * 7u;
    x = x * 3u + subgroupExclusiveAdd(v) + subgroupExclusiveMul(v) * 5u + subgroupInclusiveAdd(v) * 7u + subgroupInclusiveMul(v);
    x = x * 3u + subgroupBroadcastFirst(v) + subgroupBroadcast(v, 3u) * 5u;
    x = x * 3u + subgroupShuffle(v, size - 1u - lane) + subgroupShuffleXor(v, size - 1u) * 5u;
    x = x * 3u + quadBroadcast(v, 2u) + quadSwapX(v) * 5u + quadSwapY(v) * 7u + quadSwapDiagonal(v) * 11u;
    x += select(0u, subgroupShuffleDown(v, 1u), lane < 3u) * 13u;
    x += select(0u, subgroupShuffleUp(v, 1u), lane > 0u) * 17u;
    o[id.x] = x + count + at;
    f[id.x] = subgroupMax(f[id.x]) + subgroupShuffleXor(f[id.x], 1u);
}
