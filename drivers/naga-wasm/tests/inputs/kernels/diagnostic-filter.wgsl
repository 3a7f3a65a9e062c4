diagnostic(off, derivative_uniformity);
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@diagnostic(warning, derivative_uniformity)
fn twice(x: u32) -> u32 {
    if x > 3u { return x * 2u; }
    return x;
}
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = twice(id.x);
}
