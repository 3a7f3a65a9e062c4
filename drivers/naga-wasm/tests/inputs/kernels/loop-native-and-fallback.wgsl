@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0u;
    for (var i = 0u; i < id.x; i++) { sum += i; }
    for (var i = 3; i >= 0; i -= 1) { sum = sum * 3u + u32(i); }
    for (var i = 0u; i < 40u; ) { i += 1u + id.x; if i % 5u == 0u { continue; } sum += i; }
    for (var i = 0u;; i += 7u) { if i > 30u { break; } sum ^= i; }
    while sum > 500u { sum = sum / 2u; }
    o[id.x] = sum;
}
