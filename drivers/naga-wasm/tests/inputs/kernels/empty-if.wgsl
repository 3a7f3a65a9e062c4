@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x == 0u { }
    if id.x == 1u { } else { o[id.x] = 3u; }
    if id.x == 2u { } else if id.x == 3u { } else { }
    _ = 1 + 1;
    return;
}
