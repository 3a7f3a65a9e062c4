@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var total = 0u;
    for (var i = 0u; i < 3u + id.x % 4u; i++) {
        var fresh: array<u32, 3>;
        var count: u32;
        fresh[i % 3u] += i + 1u;
        count += fresh[0] + fresh[1] + fresh[2];
        total = total * 10u + count;
    }
    o[id.x] = total;
}
