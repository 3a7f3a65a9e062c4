@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let votes = subgroupBallot(o[id.x] % 3u != 0u);
    o[id.x] = firstTrailingBit(votes.x) * 100u + firstLeadingBit(votes.x) * 10u + countOneBits(votes.x);
}
